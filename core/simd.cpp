#include "simd.hpp"

#include <bit>
#include <cstdlib>

#include "targets.hpp"

namespace bytepair {

namespace {

// ---- plain 64-bit words: the twin that the others are held to ----

void classify_plain(const u8* s, const AsciiFlags& flags, Masks& out) {
  out = Masks{};
  for (int word = 0; word < 8; ++word) {
    u64 f = 0, bytes = 0;
    for (int i = 0; i < 8; ++i) {
      const u8 b = s[word * 8 + i];
      f |= static_cast<u64>(b < 0x80 ? flags.of[b] : 0) << (8 * i);
      bytes |= static_cast<u64>(b) << (8 * i);
    }
    // Gathers bit 0 of each byte into one byte (the classic multiplication).
    const auto gather = [](u64 x) { return ((x & 0x0101010101010101ull) * 0x0102040810204080ull) >> 56; };
    for (int k = 0; k < 8; ++k) out.flag[k] |= gather(f >> k) << (8 * word);
    const u64 high = bytes >> 7;
    if (!(high & 0x0101010101010101ull)) continue;
    out.high |= gather(high) << (8 * word);
    out.inner |= gather(high & ~bytes >> 6) << (8 * word);
    out.long_lead |= gather(high & bytes >> 6 & bytes >> 5) << (8 * word);
  }
}

std::size_t places_plain(u64 mask, std::size_t base, std::size_t* out) {
  const std::size_t n = static_cast<std::size_t>(std::popcount(mask));
  while (mask) {
    // Four at a time: writing a few too many costs less than asking after each.
    for (int k = 0; k < 4; ++k) {
      out[k] = base + static_cast<std::size_t>(std::countr_zero(mask));
      mask &= mask - 1;
    }
    out += 4;
  }
  return n;
}

constexpr Simd kPlain{"plain", classify_plain, places_plain};

#if defined(BYTEPAIR_X86)

// ---- AVX2: a table of 128 entries as eight shuffles of 16 ----

BYTEPAIR_TARGET("avx2") void classify_avx2(const u8* s, const AsciiFlags& flags, Masks& out) {
  __m256i found[2];
  for (int half = 0; half < 2; ++half) {
    const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(s + 32 * half));
    __m256i f = _mm256_setzero_si256();
    for (int row = 0; row < 8; ++row) {
      const __m256i table = _mm256_broadcastsi128_si256(
          _mm_load_si128(reinterpret_cast<const __m128i*>(flags.of + 16 * row)));
      // Bytes of this row keep their low four bits; all others get bit 7, and the shuffle gives 0 for them.
      const __m256i index = _mm256_adds_epu8(_mm256_xor_si256(v, _mm256_set1_epi8(static_cast<char>(row << 4))),
                                             _mm256_set1_epi8(0x70));
      f = _mm256_or_si256(f, _mm256_shuffle_epi8(table, index));
    }
    found[half] = f;
    const u64 high = static_cast<u32>(_mm256_movemask_epi8(v));
    const u64 inner = static_cast<u32>(_mm256_movemask_epi8(_mm256_cmpgt_epi8(_mm256_set1_epi8(-64), v)));
    const u64 long_lead = high & static_cast<u32>(_mm256_movemask_epi8(_mm256_cmpgt_epi8(v, _mm256_set1_epi8(-33))));
    out.high = half ? out.high | high << 32 : high;
    out.inner = half ? out.inner | inner << 32 : inner;
    out.long_lead = half ? out.long_lead | long_lead << 32 : long_lead;
  }
  for (int k = 7; k >= 0; --k) {
    const u64 low = static_cast<u32>(_mm256_movemask_epi8(found[0])), up = static_cast<u32>(_mm256_movemask_epi8(found[1]));
    out.flag[k] = low | up << 32;
    found[0] = _mm256_add_epi8(found[0], found[0]);
    found[1] = _mm256_add_epi8(found[1], found[1]);
  }
}

BYTEPAIR_TARGET("avx2,bmi,popcnt") std::size_t places_bmi(u64 mask, std::size_t base, std::size_t* out) {
  const std::size_t n = static_cast<std::size_t>(_mm_popcnt_u64(mask));
  while (mask) {
    for (int k = 0; k < 4; ++k) {
      out[k] = base + _tzcnt_u64(mask);
      mask = _blsr_u64(mask);
    }
    out += 4;
  }
  return n;
}

// ---- AVX-512 with VBMI: the whole table is one permutation ----

BYTEPAIR_TARGET("avx512f,avx512bw,avx512vl,avx512vbmi")
void classify_avx512(const u8* s, const AsciiFlags& flags, Masks& out) {
  const __m512i v = _mm512_loadu_si512(s);
  const __m512i f = _mm512_permutex2var_epi8(_mm512_load_si512(flags.of), v, _mm512_load_si512(flags.of + 64));
  const __mmask64 high = _mm512_movepi8_mask(v);
  out.high = high;
  out.inner = _mm512_cmplt_epi8_mask(v, _mm512_set1_epi8(-64));
  out.long_lead = _mm512_cmpge_epu8_mask(v, _mm512_set1_epi8(-32));
  for (int k = 0; k < 8; ++k)
    out.flag[k] = _mm512_mask_test_epi8_mask(~high, f, _mm512_set1_epi8(static_cast<char>(1 << k)));
}

BYTEPAIR_TARGET("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,popcnt")
std::size_t places_avx512(u64 mask, std::size_t base, std::size_t* out) {
  alignas(64) static const u8 iota[64] = {
      0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
      32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
  const std::size_t n = static_cast<std::size_t>(_mm_popcnt_u64(mask));
  __m512i packed = _mm512_maskz_compress_epi8(mask, _mm512_load_si512(iota));
  const __m512i from = _mm512_set1_epi64(static_cast<long long>(base));
  for (std::size_t k = 0; k < n; k += 16) {
    const __m128i low = _mm512_castsi512_si128(packed);
    _mm512_storeu_si512(out + k, _mm512_add_epi64(from, _mm512_cvtepu8_epi64(low)));
    _mm512_storeu_si512(out + k + 8, _mm512_add_epi64(from, _mm512_cvtepu8_epi64(_mm_unpackhi_epi64(low, low))));
    packed = _mm512_shuffle_i64x2(packed, packed, 0x39);  // the next 16 come down
  }
  return n;
}

constexpr Simd kAvx2{"avx2", classify_avx2, places_bmi};
constexpr Simd kAvx512{"avx512", classify_avx512, places_avx512};

bool has_avx2() {
#if defined(_MSC_VER) && !defined(__clang__)
  int r[4];
  __cpuid(r, 0);
  if (r[0] < 7) return false;
  __cpuid(r, 1);
  const bool os_saves = (r[2] & (1 << 27)) && (r[2] & (1 << 28)) && (_xgetbv(0) & 6) == 6 && (r[2] & (1 << 23));
  __cpuidex(r, 7, 0);
  return os_saves && (r[1] & (1 << 5)) && (r[1] & (1 << 3));
#else
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
#endif
}

bool has_avx512() {
#if defined(_MSC_VER) && !defined(__clang__)
  if (!has_avx2() || (_xgetbv(0) & 0xE6) != 0xE6) return false;
  int r[4];
  __cpuidex(r, 7, 0);
  const int ebx = 1 << 16 | 1 << 17 | 1 << 28 | 1 << 30 | 1 << 31, ecx = 1 << 1 | 1 << 6;
  if ((r[1] & ebx) != ebx || (r[2] & ecx) != ecx) return false;
  __cpuid(r, 1);
  return (r[2] & (1 << 25)) != 0;  // AES
#else
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("aes");
#endif
}

#endif  // BYTEPAIR_X86

#if defined(BYTEPAIR_ARM)

// ---- NEON: two tables of 64; masks by pairwise addition ----

u64 mask_of(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {  // each byte 0 or 0xFF
  const uint8x16_t bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t ab = vpaddq_u8(vandq_u8(a, bits), vandq_u8(b, bits));
  const uint8x16_t cd = vpaddq_u8(vandq_u8(c, bits), vandq_u8(d, bits));
  const uint8x16_t abcd = vpaddq_u8(ab, cd);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(abcd, abcd)), 0);
}

void classify_neon(const u8* s, const AsciiFlags& flags, Masks& out) {
  const uint8x16x4_t low = vld1q_u8_x4(flags.of), up = vld1q_u8_x4(flags.of + 64);
  uint8x16_t v[4], f[4];
  for (int i = 0; i < 4; ++i) {
    v[i] = vld1q_u8(s + 16 * i);
    f[i] = vqtbx4q_u8(vqtbl4q_u8(low, v[i]), up, vsubq_u8(v[i], vdupq_n_u8(64)));
  }
  const auto at_least = [&](u8 least) {
    const uint8x16_t x = vdupq_n_u8(least);
    return mask_of(vcgeq_u8(v[0], x), vcgeq_u8(v[1], x), vcgeq_u8(v[2], x), vcgeq_u8(v[3], x));
  };
  out.high = at_least(0x80);
  out.inner = out.high ? out.high & ~at_least(0xC0) : 0;
  out.long_lead = out.high ? at_least(0xE0) : 0;
  for (int k = 0; k < 8; ++k) {
    const uint8x16_t bit = vdupq_n_u8(static_cast<u8>(1 << k));
    out.flag[k] = mask_of(vtstq_u8(f[0], bit), vtstq_u8(f[1], bit), vtstq_u8(f[2], bit), vtstq_u8(f[3], bit));
  }
}

constexpr Simd kNeon{"neon", classify_neon, places_plain};

#endif  // BYTEPAIR_ARM

}  // namespace

const Simd* simd_named(const std::string& name) {
  if (name == "plain") return &kPlain;
#if defined(BYTEPAIR_X86)
  if (name == "avx2") return has_avx2() ? &kAvx2 : nullptr;
  if (name == "avx512") return has_avx512() ? &kAvx512 : nullptr;
#endif
#if defined(BYTEPAIR_ARM)
  if (name == "neon") return &kNeon;
#endif
  return nullptr;
}

const Simd& simd() {
  static const Simd* const chosen = [] {
    const char* forced = std::getenv("BYTEPAIR_SIMD");
    if (forced && *forced) {
      if (const Simd* found = simd_named(forced)) return found;
    }
    for (const char* name : {"avx512", "avx2", "neon"}) {
      if (const Simd* found = simd_named(name)) return found;
    }
    return &kPlain;
  }();
  return *chosen;
}

bool blocks_pay() {
  const char* forced = std::getenv("BYTEPAIR_SIMD");
  return &simd() != &kPlain || (forced && *forced);
}

}  // namespace bytepair
