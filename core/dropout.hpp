// BPE-dropout (Provilkov et al. 2020): merging where each place may be left out, by numbers that depend on nothing but
// the seed and the place in the text.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "alphabet.hpp"
#include "id_buffer.hpp"
#include "merge.hpp"
#include "narrow.hpp"
#include "stream.hpp"

namespace bytepair {

// The numbers of one pretoken: splitmix64 (Steele, Lea and Flood 2014) from a state that its seed and offset give.
class Draws {
 public:
  Draws(u64 seed, u64 offset) : state_(mix(mix(seed + kStep) ^ offset)) {}
  // A number under 2^53.
  u64 next() { return mix(state_ += kStep) >> 11; }

 private:
  static constexpr u64 kStep = 0x9E3779B97F4A7C15ull;
  static u64 mix(u64 x) {
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
  }
  u64 state_;
};

// What one call asks for. A number under `threshold`, which is the probability times 2^53, leaves a place out.
struct Dropout {
  u64 seed, threshold;
};

// One step: the places where two symbols merge, by rank and then from left to right, draw a number each; the first that
// is not left out merges, and under Order::whole_rank so do the others of its rank that are not left out either. All
// places come back for the next step. Where all are left out, merging ends.
class DropoutMerger {
 public:
  DropoutMerger(const PairTable& pairs, Order order) : pairs_(pairs), order_(order) {}

  void merge(std::vector<u32>& symbols, Draws draws, u64 threshold);

  // The two ways, for the tests that hold them equal: short ones look through all places, long ones keep a heap.
  void merge_by_scan(std::vector<u32>& symbols, Draws draws, u64 threshold);
  void merge_by_heap(std::vector<u32>& symbols, Draws draws, u64 threshold);

 private:
  static constexpr std::size_t kScanLimit = 64;

  const PairTable& pairs_;
  Order order_;
  std::vector<u32> ranks_, next_, previous_, places_;
  std::vector<u64> heap_, left_out_, batch_;
};

// Text to ids with dropout. It keeps no cache: what a pretoken becomes depends on where it stands.
class DropoutEncoder {
 public:
  // As for Encoder. A pretoken that is a token has no way past the merges here.
  DropoutEncoder(Alphabet alphabet, PairTable pairs, Order order, std::optional<Splitter> splitter,
                 std::optional<ClassTable> dropped);

  // Appends the ids of s[0, n), which begins at `offset` of its document.
  void encode(const u8* s, std::size_t n, const Specials* specials, Dropout dropout, u64 offset, IdBuffer& out) const;
  void encode_ends(const u8* s, std::size_t n, const i64* ends, std::size_t n_ends, Dropout dropout, u64 offset,
                   IdBuffer& out) const;
  void feed(Stream& stream, const u8* s, std::size_t n, bool last, const Specials* specials, Dropout dropout,
            IdBuffer& out) const;
  // Document i has the seed `dropout.seed` + i.
  void encode_batch(const std::vector<GivenText>& documents, const Specials* specials, unsigned threads,
                    Dropout dropout, IdBuffer& out, std::vector<i64>& counts) const;

 private:
  struct Work {
    explicit Work(const DropoutEncoder& encoder) : merger(encoder.pairs_, encoder.order_) {}
    DropoutMerger merger;
    std::vector<u32> symbols;
  };
  void pretoken(const u8* s, std::size_t start, std::size_t end, u64 offset, Dropout dropout, Work& work,
                IdBuffer& out) const;
  const Splitter& splitter() const;

  Alphabet alphabet_;
  PairTable pairs_;
  Order order_;
  std::optional<Splitter> splitter_;
  std::optional<ClassTable> dropped_;
};

}  // namespace bytepair
