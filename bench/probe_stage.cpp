// Another program's scalar cl100k scanner, measured in the same run as ours: BYTEPAIR_PROBE is its source. Of that it
// uses CP (one class a code point: 0 other, 1 letter, 2 number, 3 white space), AC (the same of bytes, 4 beyond ASCII)
// and scalar_end(s, p, n).
#define main probe_main
#include BYTEPAIR_PROBE
#undef main

void probe_prepare(const unsigned char* classes) {
  CP = static_cast<unsigned char*>(std::malloc(0x110000 + 64));
  std::memcpy(CP, classes, 0x110000);
  for (int c = 0; c < 256; ++c) AC[c] = c < 128 ? CP[c] : 4;
}

std::size_t probe_count(const unsigned char* s, std::size_t n) { return scalar_count(s, n); }

std::size_t probe_end(const unsigned char* s, std::size_t p, std::size_t n) { return scalar_end(s, p, n); }
