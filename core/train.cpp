#include "train.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <unordered_map>

#include "errors.hpp"

namespace bytepair {

namespace {

constexpr u64 kEmptyKey = ~u64{0};
constexpr i64 kFewLimit = 1 << 16;

u64 join(u32 left, u32 right) { return static_cast<u64>(left) << 32 | right; }

}  // namespace

Trainer::Trainer(const u8* text, const i64* offsets, const i64* counts, std::size_t n_words, const ClassTable* dropped,
                 const Alphabet& alphabet, u32 n_symbols, i64 min_count)
    : counts_(counts, counts + n_words), min_count_(std::max<i64>(min_count, 1)), n_symbols_(n_symbols) {
  if (n_words >= kInside) throw Error(ErrorKind::training, "the corpus has too many distinct pretokens");
  cells_.push_back(kGap);
  word_of_.push_back(kNone);
  std::vector<u32> symbols;
  for (std::size_t w = 0; w < n_words; ++w) {
    const std::size_t n = static_cast<std::size_t>(offsets[w + 1] - offsets[w]);
    if (n == 0 || counts[w] <= 0) throw Error(ErrorKind::training, "a word is empty, or its count is not positive");
    const std::size_t end = static_cast<std::size_t>(offsets[w + 1]);
    if (dropped && dropped->run(text, end - n, end, 1) == end) continue;
    alphabet.symbols(text + offsets[w], n, static_cast<u64>(offsets[w]), symbols);
    if (cells_.size() + symbols.size() >= kInside)
      throw Error(ErrorKind::training, "the distinct pretokens have more than 4294967293 symbols");
    const i64 room = std::numeric_limits<i64>::max() - length_before_;
    if (counts[w] > room / static_cast<i64>(symbols.size()))
      throw Error(ErrorKind::training, "the corpus has more than 2^63 - 1 symbols: its counts are too high");
    length_before_ += counts[w] * static_cast<i64>(symbols.size());
    for (const u32 symbol : symbols) {
      if (symbol >= n_symbols) throw Error(ErrorKind::training, "a word has a symbol that the alphabet does not have");
      cells_.push_back(symbol);
      word_of_.push_back(static_cast<u32>(w));
    }
    cells_.push_back(kGap);
    word_of_.push_back(kNone);
  }
  length_now_ = length_before_;
  length_.assign(n_symbols, 1);
  touched_.resize(n_symbols);
  few_.assign(static_cast<std::size_t>(kFewLimit), 0);
  many_.assign(1024, {0, 0});
  index_.assign(1024, {kEmptyKey, kNone});
  index_mask_ = 1023;
  build_pairs();
}

// ---- the pairs there are ----

u32 Trainer::find_pair(u32 left, u32 right) const {
  const u64 key = join(left, right);
  for (std::size_t i = hash_words(key, 0) & index_mask_;; i = (i + 1) & index_mask_) {
    if (index_[i].first == key) return index_[i].second;
    if (index_[i].first == kEmptyKey) return kNone;
  }
}

void Trainer::grow_index() {
  std::vector<std::pair<u64, u32>> old(index_.size() * 2, {kEmptyKey, kNone});
  old.swap(index_);
  index_mask_ = index_.size() - 1;
  for (const auto& entry : old) {
    if (entry.first == kEmptyKey) continue;
    std::size_t i = hash_words(entry.first, 0) & index_mask_;
    while (index_[i].first != kEmptyKey) i = (i + 1) & index_mask_;
    index_[i] = entry;
  }
}

i64& Trainer::pairs_with(i64 count) {
  if (count < kFewLimit) return few_[static_cast<std::size_t>(count)];
  if (many_used_ * 2 >= many_.size()) {
    std::vector<std::pair<i64, i64>> old(many_.size() * 2, {0, 0});
    old.swap(many_);
    many_used_ = 0;
    for (const auto& entry : old) {
      if (entry.second != 0) pairs_with(entry.first) = entry.second;  // a count that no pair has any more goes
    }
  }
  const std::size_t mask = many_.size() - 1;
  std::size_t i = hash_words(static_cast<u64>(count), 1) & mask;
  for (; many_[i].first != 0; i = (i + 1) & mask) {
    if (many_[i].first == count) return many_[i].second;
  }
  many_[i].first = count;
  ++many_used_;
  return many_[i].second;
}

void Trainer::count_change(i64 from, i64 to) {
  if (from > 0) --pairs_with(from);
  if (to > 0) ++pairs_with(to);
}

// A pair under min_count can never win, since counts only fall: it is not kept at all.
void Trainer::add_pair(u32 left, u32 right, i64 count, std::size_t first, std::size_t end) {
  const u32 id = static_cast<u32>(pairs_.size());
  if (id == kNone) throw Error(ErrorKind::training, "the corpus has too many distinct pairs");
  pairs_.push_back({left, right, count, first, end});
  if (pairs_.size() * 2 > index_.size()) grow_index();
  const u64 key = join(left, right);
  std::size_t i = hash_words(key, 0) & index_mask_;
  while (index_[i].first != kEmptyKey) i = (i + 1) & index_mask_;
  index_[i] = {key, id};
  count_change(0, count);
  heap_.push({count, places_[first], id});
}

void Trainer::build_pairs() {
  struct Found {
    i64 count = 0;
    std::size_t places = 0;
    u32 left = 0, right = 0;
  };
  std::vector<Found> found;
  std::vector<std::pair<u64, u32>> at(1024, {kEmptyKey, kNone});
  // Byte alphabets are small enough for a plain table.
  const bool dense = n_symbols_ <= 1024;
  std::vector<u32> table(dense ? static_cast<std::size_t>(n_symbols_) * n_symbols_ : 0, kNone);
  const auto number = [&](u32 left, u32 right) -> u32 {
    if (dense) {
      u32& id = table[static_cast<std::size_t>(left) * n_symbols_ + right];
      if (id == kNone) {
        id = static_cast<u32>(found.size());
        found.push_back({0, 0, left, right});
      }
      return id;
    }
    const u64 key = join(left, right);
    std::size_t i = hash_words(key, 0) & (at.size() - 1);
    for (; at[i].first != kEmptyKey; i = (i + 1) & (at.size() - 1)) {
      if (at[i].first == key) return at[i].second;
    }
    const u32 id = static_cast<u32>(found.size());
    found.push_back({0, 0, left, right});
    at[i] = {key, id};
    if (found.size() * 2 > at.size()) {
      std::vector<std::pair<u64, u32>> old(at.size() * 2, {kEmptyKey, kNone});
      old.swap(at);
      for (const auto& entry : old) {
        if (entry.first == kEmptyKey) continue;
        std::size_t k = hash_words(entry.first, 0) & (at.size() - 1);
        while (at[k].first != kEmptyKey) k = (k + 1) & (at.size() - 1);
        at[k] = entry;
      }
    }
    return id;
  };
  for (std::size_t p = 1; p + 1 < cells_.size(); ++p) {
    if (cells_[p] == kGap || cells_[p + 1] == kGap) continue;
    Found& pair = found[number(cells_[p], cells_[p + 1])];
    pair.count += counts_[word_of_[p]];
    ++pair.places;
  }
  std::size_t total = 0;
  std::vector<std::size_t> to(found.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    to[k] = total;
    if (found[k].count >= min_count_) total += found[k].places;
  }
  places_.resize(total);
  for (std::size_t p = 1; p + 1 < cells_.size(); ++p) {
    if (cells_[p] == kGap || cells_[p + 1] == kGap) continue;
    const u32 k = number(cells_[p], cells_[p + 1]);
    if (found[k].count >= min_count_) places_[to[k]++] = static_cast<u32>(p);
  }
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (found[k].count >= min_count_)
      add_pair(found[k].left, found[k].right, found[k].count, to[k] - found[k].places, to[k]);
  }
}

// ---- one merge ----

bool Trainer::next_candidate(Candidate& best) {
  while (!heap_.empty()) {
    best = heap_.top();
    heap_.pop();
    Pair& pair = pairs_[best.pair];
    if (pair.count < min_count_) continue;
    while (pair.first < pair.end && !alive(pair, places_[pair.first])) ++pair.first;
    if (pair.first == pair.end) throw Error(ErrorKind::training, "internal: a counted pair has no place");
    const Candidate now{pair.count, places_[pair.first], best.pair};
    if (now.count == best.count && now.place == best.place) return true;
    heap_.push(now);
  }
  return false;
}

Trainer::Touched& Trainer::touch(u32 symbol) {
  Touched& t = touched_[symbol];
  if (!t.listed) {
    t.listed = true;
    touched_list_.push_back(symbol);
  }
  return t;
}

void Trainer::settle(u32 left, u32 right, i64 lost) {
  if (lost == 0) return;
  const u32 id = find_pair(left, right);
  if (id == kNone) return;
  count_change(pairs_[id].count, pairs_[id].count - lost);
  pairs_[id].count -= lost;
}

void Trainer::apply(u32 pair_index) {
  const Pair pair = pairs_[pair_index];
  const u32 a = pair.left, b = pair.right, made = static_cast<u32>(length_.size());
  Merge merge{a, b, pair.count, pairs_with(pair.count), 0, {kNone, kNone, kNone}};
  length_.push_back(length_[a] + length_[b]);
  touched_.emplace_back();
  const u32 la = length_[a], lb = length_[b];
  std::size_t examples = 0;
  for (std::size_t k = pair.first; k < pair.end; ++k) {
    const u32 p = places_[k];
    if (!alive(pair, p)) continue;
    const u32 q = p + la, after = q + lb;
    const u32 word = word_of_[p];
    const i64 count = counts_[word];
    const u32 before = cells_[p - 1], next = cells_[after];
    if (before != kGap) {
      Touched& t = touch(before);
      if (before == made) {
        touch(a).gained_right -= count;  // (made, a), born a moment ago, is (made, made) now
      } else {
        t.lost_left += count;
      }
      t.gained_left += count;
      ++t.places_left;
      born_left_.push_back({before, p - length_[before]});
    }
    if (next != kGap) {
      Touched& t = touch(next);
      if (a != b || next != b) t.lost_right += count;
      t.gained_right += count;
      ++t.places_right;
      born_right_.push_back({next, p});
    }
    if (q - 1 != p) cells_[q - 1] = kInside;
    if (q != after - 1) cells_[q] = kInside;
    cells_[p] = made;
    cells_[after - 1] = made;
    length_now_ -= count;
    if (examples < 3 && (examples == 0 || merge.examples[examples - 1] != word)) merge.examples[examples++] = word;
  }
  // The pair itself has no place left; what its overlapping places (aaa) lost is part of that.
  count_change(pair.count, 0);
  pairs_[pair_index].count = 0;
  merge.length_after = length_now_;
  merges_.push_back(merge);

  // The places of the new pairs, grouped by pair; within each they ascend, as the merge went from left to right.
  std::size_t total = places_.size();
  for (const u32 symbol : touched_list_) {
    Touched& t = touched_[symbol];
    t.at_left = total;
    if (t.gained_left >= min_count_) total += t.places_left;
    t.at_right = total;
    if (t.gained_right >= min_count_) total += t.places_right;
  }
  places_.resize(total);
  for (const auto& [symbol, place] : born_left_) {
    Touched& t = touched_[symbol];
    if (t.gained_left >= min_count_) places_[t.at_left++] = place;
  }
  for (const auto& [symbol, place] : born_right_) {
    Touched& t = touched_[symbol];
    if (t.gained_right >= min_count_) places_[t.at_right++] = place;
  }
  for (const u32 symbol : touched_list_) {
    Touched& t = touched_[symbol];
    settle(symbol, a, t.lost_left);
    settle(b, symbol, t.lost_right);
    if (t.gained_left >= min_count_) add_pair(symbol, made, t.gained_left, t.at_left - t.places_left, t.at_left);
    if (t.gained_right >= min_count_) add_pair(made, symbol, t.gained_right, t.at_right - t.places_right, t.at_right);
    t = Touched{};
  }
  touched_list_.clear();
  born_left_.clear();
  born_right_.clear();
}

std::size_t Trainer::run(std::size_t wanted, double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  Candidate best;
  while (!exhausted_ && merges_.size() < wanted) {
    if (length_.size() >= kInside) throw Error(ErrorKind::training, "more merges than ids");
    if (next_candidate(best))
      apply(best.pair);
    else
      exhausted_ = true;
    if (std::chrono::steady_clock::now() >= until) break;
  }
  return merges_.size();
}

// ---- what is left ----

std::vector<i64> Trainer::frequencies() const {
  std::vector<i64> out(length_.size(), 0);
  for (std::size_t p = 0; p < cells_.size();) {
    const u32 symbol = cells_[p];
    if (symbol == kGap) {
      ++p;
      continue;
    }
    out[symbol] += counts_[word_of_[p]];
    p += length_[symbol];
  }
  return out;
}

std::optional<Trainer::Best> Trainer::best_left() const {
  struct Seen {
    i64 count;
    std::size_t first;
  };
  std::unordered_map<u64, Seen> seen;
  for (std::size_t p = 0; p < cells_.size();) {
    const u32 left = cells_[p];
    const std::size_t next = p + (left == kGap ? 1 : length_[left]);
    if (left != kGap && cells_[next] != kGap)
      seen.try_emplace(join(left, cells_[next]), Seen{0, p}).first->second.count += counts_[word_of_[p]];
    p = next;
  }
  std::optional<Best> best;
  std::size_t first = 0;
  for (const auto& [pair, s] : seen) {
    if (!best || s.count > best->count || (s.count == best->count && s.first < first)) {
      best = Best{static_cast<u32>(pair >> 32), static_cast<u32>(pair), s.count};
      first = s.first;
    }
  }
  return best;
}

}  // namespace bytepair
