#include "utf8.hpp"

namespace bytepair {

namespace {

constexpr std::size_t kBlock = 16;

bool is_ascii_block(const u8* s) {
  u64 low, high;
  std::memcpy(&low, s, 8);
  std::memcpy(&high, s + 8, 8);
  return ((low | high) & 0x8080808080808080u) == 0;
}

}  // namespace

Survey survey(const u8* s, std::size_t n) {
  Survey found;
  u32 kinds = 0;
  std::size_t characters = 0;
  std::size_t i = 0;
  while (i < n) {
    if (i + kBlock <= n && is_ascii_block(s + i)) {
      i += kBlock;
      characters += kBlock;
      continue;
    }
    const std::size_t stop = i + kBlock < n ? i + kBlock : n;
    while (i < stop) {
      const u32 a = s[i];
      ++characters;
      if (a < 0x80) {
        ++i;
        continue;
      }
      u32 length;
      const u32 c = decode_utf8(s, i, n, length);
      if (length == 1) {
        found.valid = false;
        return found;
      }
      kinds |= length == 2 ? (c < 0x100 ? u32{beyond_ascii} : u32{beyond_ascii | beyond_latin1})
               : length == 3 ? u32{beyond_ascii | beyond_latin1}
                             : u32{beyond_ascii | beyond_latin1 | beyond_bmp};
      i += length;
    }
  }
  found.characters = characters;
  found.kinds = static_cast<u8>(kinds);
  return found;
}

template <class Unit>
void widen(const u8* s, std::size_t n, Unit* out) {
  std::size_t i = 0;
  while (i < n) {
    if (i + kBlock <= n && is_ascii_block(s + i)) {
      for (std::size_t k = 0; k < kBlock; ++k) out[k] = s[i + k];
      out += kBlock;
      i += kBlock;
      continue;
    }
    const std::size_t stop = i + kBlock < n ? i + kBlock : n;
    while (i < stop) {
      const u32 a = s[i];
      if (a < 0x80) {
        *out++ = static_cast<Unit>(a);
        i += 1;
      } else if (a < 0xE0) {
        *out++ = static_cast<Unit>((a & 0x1F) << 6 | (s[i + 1] & 0x3Fu));
        i += 2;
      } else if (a < 0xF0) {
        *out++ = static_cast<Unit>((a & 0x0F) << 12 | (s[i + 1] & 0x3Fu) << 6 | (s[i + 2] & 0x3Fu));
        i += 3;
      } else {
        *out++ = static_cast<Unit>((a & 0x07) << 18 | (s[i + 1] & 0x3Fu) << 12 | (s[i + 2] & 0x3Fu) << 6 |
                                   (s[i + 3] & 0x3Fu));
        i += 4;
      }
    }
  }
}

template void widen<u8>(const u8*, std::size_t, u8*);
template void widen<u16>(const u8*, std::size_t, u16*);
template void widen<u32>(const u8*, std::size_t, u32*);

}  // namespace bytepair
