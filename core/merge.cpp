#include "merge.hpp"

#include <algorithm>
#include <functional>

#include "errors.hpp"

namespace bytepair {

void Merger::merge(std::vector<u32>& symbols) {
  if (symbols.size() <= kScanLimit)
    merge_by_scan(symbols);
  else
    merge_by_heap(symbols);
}

void Merger::merge_by_scan(std::vector<u32>& symbols) {
  std::size_t n = symbols.size();
  if (n < 2) return;
  ranks_.resize(n);
  for (std::size_t i = 0; i + 1 < n; ++i) ranks_[i] = pairs_.rank(symbols[i], symbols[i + 1]);
  while (n > 1) {
    const auto lowest = std::min_element(ranks_.begin(), ranks_.begin() + static_cast<std::ptrdiff_t>(n - 1));
    const u32 rank = *lowest;
    if (rank == kNone) break;
    std::size_t i = static_cast<std::size_t>(lowest - ranks_.begin());
    if (order_ == Order::one_place) {
      symbols[i] = pairs_.find(symbols[i], symbols[i + 1])->id;
      symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      ranks_.erase(ranks_.begin() + static_cast<std::ptrdiff_t>(i));
      --n;
      if (i + 1 < n) ranks_[i] = pairs_.rank(symbols[i], symbols[i + 1]);
      if (i > 0) ranks_[i - 1] = pairs_.rank(symbols[i - 1], symbols[i]);
    } else {
      std::size_t to = i;
      for (; i < n; ++to) {
        const bool here = i + 1 < n && ranks_[i] == rank;
        symbols[to] = here ? pairs_.find(symbols[i], symbols[i + 1])->id : symbols[i];
        i += here ? 2 : 1;
      }
      n = to;
      for (std::size_t k = 0; k + 1 < n; ++k) ranks_[k] = pairs_.rank(symbols[k], symbols[k + 1]);
    }
  }
  symbols.resize(n);
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
      symbols[i] = pairs_.find(symbols[i], symbols[j])->id;
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
