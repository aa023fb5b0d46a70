#include "lanes.hpp"

#include <bit>
#include <limits>
#include <string_view>

#include "targets.hpp"

namespace bytepair {

namespace {

constexpr int kPlaceBits = 6;
constexpr i32 kNoPair = std::numeric_limits<i32>::max();
static_assert(PairTable::kMaxRank < 1u << 24);

#if defined(BYTEPAIR_X86)

#define BYTEPAIR_LANES BYTEPAIR_TARGET("avx512f,avx512bw,avx512vl,avx512dq,avx512cd")

// Eight pairs that are looked for: the first slot of each is on its way.
struct Asked {
  __m512i key, place, turned;
  __mmask8 open;
};

BYTEPAIR_LANES inline __m512i slots_at(const PairTable::View& pairs, __mmask8 open, __m512i place) {
  return _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), open, place, pairs.slots, 8);
}

BYTEPAIR_LANES inline Asked ask(const PairTable::View& pairs, __mmask8 wanted, __m256i left, __m256i right) {
  Asked asked;
  asked.key = _mm512_or_si512(_mm512_slli_epi64(_mm512_cvtepu32_epi64(left), 21), _mm512_cvtepu32_epi64(right));
  const __m512i hash = _mm512_mullo_epi64(asked.key, _mm512_set1_epi64(static_cast<long long>(PairTable::kSpread)));
  const __m512i bit = _mm512_srl_epi64(hash, _mm_cvtsi32_si128(pairs.filter_shift));
  const __m512i word = _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), wanted, _mm512_srli_epi64(bit, 6), pairs.filter, 8);
  asked.open = _mm512_mask_test_epi64_mask(
      wanted, _mm512_srlv_epi64(word, _mm512_and_si512(bit, _mm512_set1_epi64(63))), _mm512_set1_epi64(1));
  asked.place = _mm512_srl_epi64(hash, _mm_cvtsi32_si128(pairs.shift));
  asked.turned = slots_at(pairs, asked.open, asked.place);
  return asked;
}

// Their ranks, or all bits.
BYTEPAIR_LANES inline __m256i answer(const PairTable::View& pairs, Asked asked) {
  const __m512i ones = _mm512_set1_epi64(-1);
  __m512i found = ones;
  for (;;) {
    const __m512i slot = _mm512_xor_si512(asked.turned, ones);
    const __mmask8 taken = _mm512_mask_test_epi64_mask(asked.open, asked.turned, asked.turned);
    const __mmask8 same = _mm512_mask_cmpeq_epi64_mask(taken, _mm512_srli_epi64(slot, PairTable::kRankBits), asked.key);
    found = _mm512_mask_and_epi64(found, same, slot, _mm512_set1_epi64(PairTable::kRankMask));
    asked.open = static_cast<__mmask8>(taken & ~same);
    if (asked.open == 0) return _mm512_cvtepi64_epi32(found);
    asked.place = _mm512_and_si512(_mm512_add_epi64(asked.place, _mm512_set1_epi64(1)),
                                   _mm512_set1_epi64(static_cast<long long>(pairs.mask)));
    asked.turned = slots_at(pairs, asked.open, asked.place);
  }
}

BYTEPAIR_LANES inline __m256i low_half(__m512i x) { return _mm512_castsi512_si256(x); }
BYTEPAIR_LANES inline __m256i high_half(__m512i x) { return _mm512_extracti64x4_epi64(x, 1); }
BYTEPAIR_LANES inline __m512i both_halves(__m256i low, __m256i high) {
  return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

// The place of the highest bit of each lane, -1 where there is none.
BYTEPAIR_LANES inline __m512i highest(__m512i bits) {
  return _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32(bits));
}
BYTEPAIR_LANES inline __m512i lowest_bit(__m512i bits) {
  return _mm512_and_si512(bits, _mm512_sub_epi32(_mm512_setzero_si512(), bits));
}

BYTEPAIR_LANES void merge_lanes(const PairTable::View& pairs, u32* symbols, i32* ranks, std::size_t rows, u32* alive) {
  const __m512i none = _mm512_set1_epi32(kNoPair), one = _mm512_set1_epi32(1), nowhere = _mm512_set1_epi32(-1);
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const auto at = [&](__m512i row) BYTEPAIR_LANES { return _mm512_add_epi32(_mm512_slli_epi32(row, 4), lane); };
  const auto pair = [&](__m512i rank, __m512i row) BYTEPAIR_LANES {
    const __mmask16 some = _mm512_cmpneq_epi32_mask(rank, nowhere);
    return _mm512_mask_or_epi32(none, some, _mm512_slli_epi32(rank, kPlaceBits), row);
  };
  __m512i there = _mm512_load_si512(alive), least = none;
  for (std::size_t k = 0; k < rows; ++k) least = _mm512_min_epi32(least, _mm512_load_si512(ranks + 16 * k));
  for (;;) {
    const __mmask16 active = _mm512_cmpneq_epi32_mask(least, none);
    if (active == 0) break;
    const __m512i i = _mm512_mask_and_epi32(nowhere, active, least, _mm512_set1_epi32((1 << kPlaceBits) - 1));
    const __m512i rank = _mm512_srli_epi32(least, kPlaceBits);
    const __m512i made = pairs.by_rank ? _mm512_mask_i32gather_epi32(rank, active, rank, pairs.by_rank, 4) : rank;
    const __m512i bit = _mm512_sllv_epi32(one, i), below = _mm512_sub_epi32(bit, one);
    const __m512i before = _mm512_and_si512(there, below);
    const __m512i after = _mm512_andnot_si512(_mm512_or_si512(below, bit), there), next = lowest_bit(after);
    const __m512i behind = _mm512_xor_si512(after, next);
    there = _mm512_mask_xor_epi32(there, active, there, next);
    const __m512i j = _mm512_mask_mov_epi32(nowhere, active, highest(next));
    const __mmask16 left = _mm512_mask_test_epi32_mask(active, before, before);
    const __mmask16 right = _mm512_mask_test_epi32_mask(active, behind, behind);
    const __m512i h = _mm512_mask_mov_epi32(nowhere, left, highest(before));
    _mm512_mask_i32scatter_epi32(symbols, active, at(i), made, 4);
    const __m512i to_right = _mm512_mask_i32gather_epi32(made, right, at(highest(lowest_bit(behind))), symbols, 4);
    const __m512i to_left = _mm512_mask_i32gather_epi32(made, left, at(h), symbols, 4);
    // All four are asked for before any is waited for.
    const Asked right_low = ask(pairs, static_cast<__mmask8>(right), low_half(made), low_half(to_right));
    const Asked right_high = ask(pairs, static_cast<__mmask8>(right >> 8), high_half(made), high_half(to_right));
    const Asked left_low = ask(pairs, static_cast<__mmask8>(left), low_half(to_left), low_half(made));
    const Asked left_high = ask(pairs, static_cast<__mmask8>(left >> 8), high_half(to_left), high_half(made));
    const __m512i at_i = pair(both_halves(answer(pairs, right_low), answer(pairs, right_high)), i);
    const __m512i at_h = pair(both_halves(answer(pairs, left_low), answer(pairs, left_high)), h);
    least = none;
    for (std::size_t k = 0; k < rows; ++k) {
      const __m512i row = _mm512_set1_epi32(static_cast<int>(k));
      __m512i now = _mm512_load_si512(ranks + 16 * k);
      now = _mm512_mask_mov_epi32(now, _mm512_cmpeq_epi32_mask(row, i), at_i);
      now = _mm512_mask_mov_epi32(now, _mm512_cmpeq_epi32_mask(row, j), none);
      now = _mm512_mask_mov_epi32(now, _mm512_cmpeq_epi32_mask(row, h), at_h);
      _mm512_store_si512(ranks + 16 * k, now);
      least = _mm512_min_epi32(least, now);
    }
  }
  _mm512_store_si512(alive, there);
}

#endif

}  // namespace

bool Lanes::work([[maybe_unused]] const Simd& level, [[maybe_unused]] const PairTable& pairs) {
#if defined(BYTEPAIR_X86)
  return std::string_view(level.name) == "avx512" && pairs.view().slots != nullptr;
#else
  return false;
#endif
}

void Lanes::add(const u8* p, std::size_t n) {
  for (; rows_ + 1 < n; ++rows_) std::fill_n(ranks_ + rows_ * kWords, kWords, kNoPair);
  const std::size_t word = words_++;
  for (std::size_t k = 0; k < n; ++k) symbols_[k * kWords + word] = byte_ids_[p[k]];
  for (std::size_t k = 0; k + 1 < n; ++k) {
    const u32 rank = first_ranks_[static_cast<std::size_t>(p[k]) << 8 | p[k + 1]];
    ranks_[k * kWords + word] = rank == kNone ? kNoPair : static_cast<i32>(rank << kPlaceBits | static_cast<u32>(k));
  }
  alive_[word] = ~u32{0} >> (kSymbols - n);
}

void Lanes::merge() {
  for (std::size_t word = words_; word < kWords; ++word) alive_[word] = 0;
#if defined(BYTEPAIR_X86)
  merge_lanes(pairs_, symbols_, ranks_, rows_, alive_);
#endif
}

std::size_t Lanes::tokens(std::size_t word, u32* ids) const {
  std::size_t n = 0;
  for (u32 left = alive_[word]; left; left &= left - 1)
    ids[n++] = symbols_[static_cast<std::size_t>(std::countr_zero(left)) * kWords + word];
  return n;
}

}  // namespace bytepair
