#include "narrow.hpp"

#include <bit>

#include "errors.hpp"
#include "targets.hpp"

namespace bytepair {

namespace {

template <class Unit>
u8* narrow_plain(const Unit* units, std::size_t n, u8* out) {
  constexpr std::size_t kBlock = 16;
  for (std::size_t i = 0; i < n;) {
    const std::size_t stop = i + kBlock < n ? i + kBlock : n;
    u32 all = 0;
    for (std::size_t k = i; k < stop; ++k) all |= units[k];
    if (all < 0x80) {
      for (; i < stop; ++i) *out++ = static_cast<u8>(units[i]);
      continue;
    }
    for (; i < stop; ++i) {
      const u32 c = units[i];
      const auto put = [&](u32 byte) { *out++ = static_cast<u8>(byte); };
      if (c < 0x80) {
        put(c);
      } else if (c < 0x800) {
        put(0xC0 | c >> 6);
        put(0x80 | (c & 0x3F));
      } else if (c < 0x10000) {
        if (c >= 0xD800 && c <= 0xDFFF) return nullptr;
        put(0xE0 | c >> 12);
        put(0x80 | (c >> 6 & 0x3F));
        put(0x80 | (c & 0x3F));
      } else {
        put(0xF0 | c >> 18);
        put(0x80 | (c >> 12 & 0x3F));
        put(0x80 | (c >> 6 & 0x3F));
        put(0x80 | (c & 0x3F));
      }
    }
  }
  return out;
}

#if defined(BYTEPAIR_X86)

#define BYTEPAIR_NARROW BYTEPAIR_TARGET("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")

BYTEPAIR_NARROW inline __m512i sixteen(const u8* p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
BYTEPAIR_NARROW inline __m512i sixteen(const u16* p) { return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
BYTEPAIR_NARROW inline __m512i sixteen(const u32* p) { return _mm512_loadu_si512(p); }

// Sixteen characters at a time: each in a lane of four bytes, in their order, and then what no character has is left out.
template <class Unit>
BYTEPAIR_NARROW u8* narrow_avx512(const Unit* units, std::size_t n, u8* out) {
  const __m512i low6 = _mm512_set1_epi32(0x3F), tail = _mm512_set1_epi32(0x80);
  const auto over = [](__m512i c, u32 least) BYTEPAIR_NARROW { return _mm512_cmpge_epu32_mask(c, _mm512_set1_epi32(static_cast<int>(least))); };
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m512i c = sixteen(units + i);
    const __mmask16 two = over(c, 0x80);
    if (two == 0) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtepi32_epi8(c));
      out += 16;
      continue;
    }
    const __m512i last = _mm512_or_si512(tail, _mm512_and_si512(c, low6));  // of its bytes
    const __m512i up6 = _mm512_srli_epi32(c, 6);
    // Two bytes: 110xxxxx 10xxxxxx.
    __m512i bytes = _mm512_mask_or_epi32(c, two, _mm512_or_si512(up6, _mm512_set1_epi32(0xC0)), _mm512_slli_epi32(last, 8));
    __m512i wanted = _mm512_mask_blend_epi32(two, _mm512_set1_epi32(0x01), _mm512_set1_epi32(0x0101));
    if constexpr (sizeof(Unit) > 1) {
      const __mmask16 three = over(c, 0x800);
      if (three != 0) {
        if (_mm512_cmpeq_epi32_mask(_mm512_and_si512(c, _mm512_set1_epi32(static_cast<int>(0xFFFFF800))), _mm512_set1_epi32(0xD800)) != 0)
          return nullptr;
        const __m512i up12 = _mm512_srli_epi32(c, 12);
        const __m512i middle = _mm512_or_si512(tail, _mm512_and_si512(up6, low6));
        const __m512i behind = _mm512_or_si512(_mm512_slli_epi32(middle, 8), _mm512_slli_epi32(last, 16));
        bytes = _mm512_mask_or_epi32(bytes, three, _mm512_or_si512(up12, _mm512_set1_epi32(0xE0)), behind);
        wanted = _mm512_mask_mov_epi32(wanted, three, _mm512_set1_epi32(0x010101));
        if constexpr (sizeof(Unit) > 2) {
          const __mmask16 four = over(c, 0x10000);
          const __m512i second = _mm512_or_si512(tail, _mm512_and_si512(up12, low6));
          const __m512i first = _mm512_or_si512(_mm512_srli_epi32(c, 18), _mm512_set1_epi32(0xF0));
          const __m512i front = _mm512_or_si512(first, _mm512_slli_epi32(second, 8));
          bytes = _mm512_mask_or_epi32(bytes, four, front, _mm512_slli_epi32(behind, 8));
          wanted = _mm512_mask_mov_epi32(wanted, four, _mm512_set1_epi32(0x01010101));
        }
      }
    }
    const __mmask64 kept = _mm512_test_epi8_mask(wanted, wanted);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(kept, bytes));
    out += _mm_popcnt_u64(kept);
  }
  return narrow_plain(units + i, n - i, out);
}

#endif

}  // namespace

template <class Unit>
u8* narrow(const Unit* units, std::size_t n, u8* out, [[maybe_unused]] const Simd& level) {
#if defined(BYTEPAIR_X86)
  if (std::string_view(level.name) == "avx512") return narrow_avx512(units, n, out);
#endif
  return narrow_plain(units, n, out);
}

template u8* narrow<u8>(const u8*, std::size_t, u8*, const Simd&);
template u8* narrow<u16>(const u16*, std::size_t, u8*, const Simd&);
template u8* narrow<u32>(const u32*, std::size_t, u8*, const Simd&);

std::string_view GivenText::bytes(u8* own) const {
  if (is_bytes()) return {static_cast<const char*>(data_), size_};
  const u8* const end = width_ == 1   ? narrow(static_cast<const u8*>(data_), size_, own)
                        : width_ == 2 ? narrow(static_cast<const u16*>(data_), size_, own)
                                      : narrow(static_cast<const u32*>(data_), size_, own);
  if (!end) throw Surrogates();
  return {reinterpret_cast<const char*>(own), static_cast<std::size_t>(end - own)};
}

std::string_view GivenText::bytes(ByteBuffer& own) const {
  own.clear();
  return bytes(is_bytes() ? nullptr : own.room(room()));
}

}  // namespace bytepair
