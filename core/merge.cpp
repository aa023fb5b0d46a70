#include "merge.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <string_view>

#include "errors.hpp"
#include "targets.hpp"

namespace bytepair {

namespace {

using Few = std::size_t (*)(const PairTable&, u32*, const u32*, std::size_t);

template <class Table>
void publish(std::atomic<const Table*>& place, std::unique_ptr<const Table> made) {
  const Table* none = nullptr;
  if (place.compare_exchange_strong(none, made.get(), std::memory_order_acq_rel)) made.release();
}

// Nothing moves: a symbol that was merged into the one before it only leaves `alive`. A pair's rank stands with its place
// below it, so that the least of all is the lowest rank's leftmost place; the loop over them has no branch.
BYTEPAIR_INLINE std::size_t merge_few(const PairTable& table, u32* symbols, const u32* ranks, std::size_t n) {
  if (n < 2) return n;
  constexpr int kPlaceBits = 6;
  constexpr i32 kNoPair = std::numeric_limits<i32>::max();
  static_assert(Merger::kScanLimit == 1u << kPlaceBits && PairTable::kMaxRank < 1u << 24);
  const auto pair = [](u32 rank, std::size_t at) {
    return rank == kNone ? kNoPair : static_cast<i32>(rank << kPlaceBits | static_cast<u32>(at));
  };
  alignas(32) i32 pairs[Merger::kScanLimit];
  const std::size_t size = (n + 6) / 8 * 8;  // n - 1 of them, in eights
  for (std::size_t k = 0; k < size; ++k) pairs[k] = k + 1 < n ? pair(ranks[k], k) : kNoPair;
  u64 alive = ~u64{0} >> (Merger::kScanLimit - n);
  for (;;) {
    i32 least = pairs[0];
    for (std::size_t k = 0; k < size; ++k) least = std::min(least, pairs[k]);
    if (least == kNoPair) break;
    const std::size_t i = static_cast<std::size_t>(least) & (Merger::kScanLimit - 1);
    const u64 before = alive & ((u64{1} << i) - 1);
    u64 behind = alive & ~before & (alive - 1 - before);  // all but i, the lowest of them
    const std::size_t j = static_cast<std::size_t>(std::countr_zero(behind));
    behind &= behind - 1;
    symbols[i] = table.made(symbols[i], symbols[j], static_cast<u32>(least) >> kPlaceBits);
    alive &= ~(u64{1} << j);
    pairs[j] = pairs[i] = kNoPair;
    if (behind) pairs[i] = pair(table.rank(symbols[i], symbols[std::countr_zero(behind)]), i);
    if (before) {
      const std::size_t h = 63 - static_cast<std::size_t>(std::countl_zero(before));
      pairs[h] = pair(table.rank(symbols[h], symbols[i]), h);
    }
  }
  std::size_t to = 0;
  for (; alive; alive &= alive - 1) symbols[to++] = symbols[std::countr_zero(alive)];
  return to;
}

std::size_t merge_few_plain(const PairTable& table, u32* symbols, const u32* ranks, std::size_t n) {
  return merge_few(table, symbols, ranks, n);
}

#if defined(BYTEPAIR_X86)
BYTEPAIR_TARGET("avx2,bmi")
std::size_t merge_few_avx2(const PairTable& table, u32* symbols, const u32* ranks, std::size_t n) {
  return merge_few(table, symbols, ranks, n);
}
#endif

Few few_of([[maybe_unused]] const Simd& level) {
#if defined(BYTEPAIR_X86)
  if (level.name == std::string_view("avx2") || level.name == std::string_view("avx512")) return merge_few_avx2;
#endif
  return merge_few_plain;
}

}  // namespace

Merger::Merger(const PairTable& pairs, Order order, LongTables* tables, const Simd& level)
    : pairs_(pairs), order_(order), tables_(tables), few_(few_of(level)) {}

LongTables::~LongTables() {
  delete joints_.load();
  delete linear_.load();
}

void LongTables::expect(std::size_t symbols) {
  if (joints() || seen_.fetch_add(symbols, std::memory_order_relaxed) + symbols < kJointsPay) return;
  publish(joints_, std::make_unique<const Joints>(pairs_));
}

void LongTables::expect_uncut(std::size_t symbols) {
  if (linear_.load(std::memory_order_acquire)) return;
  if (uncut_.fetch_add(symbols, std::memory_order_relaxed) + symbols < kLinearPays) return;
  publish(linear_, std::make_unique<const Linear>(pairs_, order_ == Order::whole_rank));
}

void Merger::merge(std::vector<u32>& symbols) {
  if (symbols.size() <= kScanLimit) return merge_by_scan(symbols);
  if (repeats(symbols.data(), symbols.size()) && merge_by_runs(symbols)) return;
  if (tables_) tables_->expect(symbols.size());
  if (const Joints* const joints = tables_ ? tables_->joints() : nullptr)
    merge_in_parts(symbols, *joints);
  else
    merge_by_heap(symbols);
}

// Cuts where nothing can join, and merges each part in the way that suits its length.
void Merger::merge_in_parts(std::vector<u32>& symbols, const Joints& joints) {
  const std::size_t n = symbols.size();
  tokens_.clear();
  for (std::size_t start = 0, end; start < n; start = end) {
    end = start + 1;
    while (end < n && joints.may_join(symbols[end - 1], symbols[end])) ++end;
    merge_part(symbols.data() + start, end - start);
  }
  symbols.swap(tokens_);
}

void Merger::merge_part(const u32* part, std::size_t n) {
  if (n == 1) return tokens_.push_back(*part);
  if (n > kScanLimit) tables_->expect_uncut(n);
  const Linear* const linear = n > kFewSymbols ? tables_->linear() : nullptr;
  if (linear && linear->merge(part, n, scratch_, tokens_)) return;
  part_.assign(part, part + n);
  n <= kScanLimit ? merge_by_scan(part_) : merge_by_heap(part_);
  tokens_.insert(tokens_.end(), part_.begin(), part_.end());
}

// Whether there are few runs of equal ones, as in a line of dashes.
template <class Unit>
bool Merger::repeats(const Unit* units, std::size_t n) {
  constexpr std::size_t kAtOnce = 1024;
  const std::size_t most = n / 16;
  std::size_t runs = 1;
  for (std::size_t i = 1; i < n;) {
    u32 more = 0;
    for (const std::size_t stop = std::min(n, i + kAtOnce); i < stop; ++i) more += units[i] != units[i - 1];
    if ((runs += more) > most) return false;
  }
  return true;
}

void Merger::push(std::vector<Run>& runs, u32 symbol, std::size_t count) {
  if (count == 0) return;
  if (!runs.empty() && runs.back().symbol == symbol)
    runs.back().count += count;
  else
    runs.push_back({symbol, count});
}

bool Merger::merge_runs_of(const u8* p, std::size_t n, const u32* ids, std::vector<u32>& out) {
  if (n <= kScanLimit || !repeats(p, n)) return false;
  runs_.clear();
  for (std::size_t i = 0, end; i < n; i = end) {
    end = i + 1;
    while (end + 8 <= n && load64(p + end) == p[i] * 0x0101010101010101ull) end += 8;
    while (end < n && p[end] == p[i]) ++end;
    push(runs_, ids[p[i]], end - i);
  }
  return merge_runs(out);
}

bool Merger::merge_by_runs(std::vector<u32>& symbols) {
  runs_.clear();
  for (const u32 symbol : symbols) push(runs_, symbol, 1);
  return merge_runs(symbols);
}

// All places of the lowest rank at once, from left to right, a run of equal symbols in one step: a million letters take
// some twenty rounds. Where places go one by one that is the same as long as no merge makes a pair, with the symbol
// before it or the one behind it, that would go next; false where one does, and `out` stays as it was.
bool Merger::merge_runs(std::vector<u32>& out) {
  for (;;) {
    u32 lowest = kNone;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (runs_[i].count > 1) lowest = std::min(lowest, pairs_.rank(runs_[i].symbol, runs_[i].symbol));
      if (i + 1 < runs_.size()) lowest = std::min(lowest, pairs_.rank(runs_[i].symbol, runs_[i + 1].symbol));
    }
    if (lowest == kNone) break;
    merged_.clear();
    const auto goes_next = [&](u32 left, u32 right) { return pairs_.rank(left, right) <= lowest; };
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const u32 symbol = runs_[i].symbol;
      const std::size_t next = i + 1;
      std::size_t count = runs_[i].count;
      if (count > 1 && pairs_.rank(symbol, symbol) == lowest) {
        const u32 made = pairs_.made(symbol, symbol, lowest);
        if (order_ == Order::one_place) {
          if (!merged_.empty() && goes_next(merged_.back().symbol, made)) return false;
          if (count > 2 && goes_next(made, symbol)) return false;
          if (count > 3 && goes_next(made, made)) return false;
          if (count % 2 == 0 && next < runs_.size() && goes_next(made, runs_[next].symbol)) return false;
        }
        push(merged_, made, count / 2);
        count %= 2;
      }
      if (count > 0 && next < runs_.size() && pairs_.rank(symbol, runs_[next].symbol) == lowest) {
        const u32 made = pairs_.made(symbol, runs_[next].symbol, lowest);
        push(merged_, symbol, count - 1);
        if (order_ == Order::one_place) {
          if (!merged_.empty() && goes_next(merged_.back().symbol, made)) return false;
          const bool more = runs_[next].count > 1;
          if ((more || next + 1 < runs_.size()) && goes_next(made, runs_[more ? next : next + 1].symbol)) return false;
        }
        push(merged_, made, 1);
        if (--runs_[next].count == 0) ++i;
      } else {
        push(merged_, symbol, count);
      }
    }
    runs_.swap(merged_);
  }
  out.clear();
  for (const Run& run : runs_) out.insert(out.end(), run.count, run.symbol);
  return true;
}

std::size_t Merger::merge_short(u32* symbols, u32* ranks, std::size_t n) const {
  if (order_ == Order::whole_rank) return merge_whole_ranks(symbols, ranks, n);
  return few_(pairs_, symbols, ranks, n);
}

std::size_t Merger::merge_whole_ranks(u32* symbols, u32* ranks, std::size_t n) const {
  while (n > 1) {
    const u32 rank = *std::min_element(ranks, ranks + n - 1);
    if (rank == kNone) break;
    std::size_t to = 0;
    for (std::size_t i = 0; i < n; ++to) {
      const bool here = i + 1 < n && ranks[i] == rank;
      symbols[to] = here ? pairs_.made(symbols[i], symbols[i + 1], rank) : symbols[i];
      i += here ? 2 : 1;
    }
    n = to;
    for (std::size_t k = 0; k + 1 < n; ++k) ranks[k] = pairs_.rank(symbols[k], symbols[k + 1]);
  }
  return n;
}

void Merger::merge_by_scan(std::vector<u32>& symbols) {
  const std::size_t n = symbols.size();
  if (n < 2) return;
  ranks_.resize(n);
  for (std::size_t i = 0; i + 1 < n; ++i) ranks_[i] = pairs_.rank(symbols[i], symbols[i + 1]);
  symbols.resize(merge_short(symbols.data(), ranks_.data(), n));
}

void Merger::merge_by_heap(std::vector<u32>& symbols) {
  const std::size_t n = symbols.size();
  if (n >= kNone) throw Error(ErrorKind::value, "a pretoken has more than 4294967294 symbols");
  if (n < 2) return;
  // ranks_[i]: the rank of the pair that starts at i now, kNone where there is none; a heap entry that says another
  // rank is out of date.
  ranks_.assign(n, kNone);
  next_.resize(n);
  previous_.resize(n);
  heap_.clear();
  for (std::size_t i = 0; i < n; ++i) {
    next_[i] = static_cast<u32>(i + 1);
    previous_[i] = static_cast<u32>(i) - 1;  // kNone before the first
    if (i + 1 == n) break;
    ranks_[i] = pairs_.rank(symbols[i], symbols[i + 1]);
    if (ranks_[i] != kNone) heap_.push_back(static_cast<u64>(ranks_[i]) << 32 | i);
  }
  const auto later = std::greater<u64>();
  std::make_heap(heap_.begin(), heap_.end(), later);
  const auto renew = [&](u32 i) {
    const u32 j = next_[i];
    ranks_[i] = j < n ? pairs_.rank(symbols[i], symbols[j]) : kNone;
    if (ranks_[i] == kNone) return;
    heap_.push_back(static_cast<u64>(ranks_[i]) << 32 | i);
    std::push_heap(heap_.begin(), heap_.end(), later);
  };
  while (!heap_.empty()) {
    const u64 lowest_rank = heap_.front() >> 32;
    batch_.clear();
    do {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      batch_.push_back(heap_.back());
      heap_.pop_back();
    } while (order_ == Order::whole_rank && !heap_.empty() && heap_.front() >> 32 == lowest_rank);
    for (const u64 entry : batch_) {
      const u32 i = static_cast<u32>(entry);
      if (ranks_[i] != lowest_rank) continue;
      const u32 j = next_[i];
      symbols[i] = pairs_.made(symbols[i], symbols[j], ranks_[i]);
      ranks_[j] = kNone;
      next_[i] = next_[j];
      if (next_[j] < n) previous_[next_[j]] = i;
      renew(i);
      if (previous_[i] != kNone) renew(previous_[i]);
    }
  }
  std::size_t to = 0;
  for (std::size_t i = 0; i < n; i = next_[i]) symbols[to++] = symbols[i];
  symbols.resize(to);
}

}  // namespace bytepair
