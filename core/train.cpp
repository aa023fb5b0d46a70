#include "train.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <unordered_map>

#include "errors.hpp"

namespace bytepair {

namespace {

constexpr u64 kFree = ~u64{0};            // a slot of the index without a pair
constexpr std::size_t kBuckets = 1 << 14;  // above this a count seldom has two pairs
constexpr std::size_t kAhead = 12;         // places that are fetched ahead of their use

u64 join(u32 left, u32 right) { return static_cast<u64>(left) << 32 | right; }

u64 hash_pair(u32 left, u32 right) {
  const u64 mixed = join(left, right) * 0x9E3779B97F4A7C15ull;
  return mixed ^ mixed >> 32;
}

constexpr u64 kTag = ~u64{0} << 32;

}  // namespace

Trainer::Trainer(const u8* text, const i64* offsets, const i64* counts, std::size_t n_words, const ClassTable* dropped,
                 const Alphabet& alphabet, u32 n_symbols, const Options& options)
    : numbers_(options.numbers),
      min_count_(std::max<i64>(options.min_count, 1)),
      n_symbols_(n_symbols),
      max_length_(options.max_length),
      ties_(options.ties) {
  if (n_words >= kInside) throw Error(ErrorKind::training, "the corpus has too many distinct pretokens");
  if ((ties_ != Ties::first && options.numbers.size() != n_symbols) ||
      (ties_ == Ties::greatest && options.texts.size() != n_symbols) ||
      (options.given && options.lengths.size() != n_symbols))
    throw Error(ErrorKind::training, "what is said of the symbols is not said of each one");
  if (options.given)
    length_ = options.lengths;
  else
    length_.assign(n_symbols, 1);
  if (ties_ == Ties::greatest) {
    for (const std::string& symbol : options.texts) {
      texts_.insert(texts_.end(), symbol.begin(), symbol.end());
      text_ends_.push_back(texts_.size());
    }
  }
  build_cells(text, offsets, counts, n_words, dropped, alphabet, options);
  length_now_ = length_before_;
  touched_at_.assign(n_symbols, kNone);
  buckets_.assign(kBuckets, kNone);
  bucket_ = kBuckets - 1;
  index_.assign(1024, kFree);
  index_mask_ = 1023;
  build_pairs();
}

// ---- the corpus ----

void Trainer::build_cells(const u8* text, const i64* offsets, const i64* counts, std::size_t n_words,
                          const ClassTable* dropped, const Alphabet& alphabet, const Options& options) {
  std::optional<Merger> merger;
  if (options.given) merger.emplace(*options.given, options.given_order);
  std::vector<u32> symbols;
  if (alphabet.is_plain_bytes()) cells_.reserve(static_cast<std::size_t>(offsets[n_words]) + n_words + 1);
  for (std::size_t w = 0; w < n_words; ++w) {
    const std::size_t n = static_cast<std::size_t>(offsets[w + 1] - offsets[w]);
    if (n == 0 || counts[w] <= 0) throw Error(ErrorKind::training, "a word is empty, or its count is not positive");
    const std::size_t end = static_cast<std::size_t>(offsets[w + 1]);
    if (dropped && dropped->run(text, end - n, end, 1) == end) continue;
    alphabet.symbols(text + offsets[w], n, static_cast<u64>(offsets[w]), symbols);
    const std::size_t n_cells = symbols.size();
    if (cells_.size() + n_cells + 1 >= kInside)
      throw Error(ErrorKind::training, "the distinct pretokens have more than 4294967293 symbols");
    if (merger) merger->merge(symbols);
    const i64 room = std::numeric_limits<i64>::max() - length_before_;
    if (counts[w] > room / static_cast<i64>(symbols.size()))
      throw Error(ErrorKind::training, "the corpus has more than 2^63 - 1 symbols: its counts are too high");
    length_before_ += counts[w] * static_cast<i64>(symbols.size());
    u32 weight = static_cast<u32>(std::min<i64>(counts[w], kLarge));
    if (weight == kLarge) {
      weight += static_cast<u32>(large_counts_.size());
      if (weight < kLarge) throw Error(ErrorKind::training, "too many words come more than 2147483647 times");
      large_counts_.push_back(counts[w]);
    }
    const auto long_word = [&](bool more) {
      if (n_cells <= kLongWord) return;
      const u32 here = static_cast<u32>(cells_.size());
      if (!long_words_.empty() && long_words_.back().end == kNone) long_words_.back().end = here;
      if (more) long_words_.push_back({here, kNone});
    };
    long_word(true);
    cells_.push_back({kGap, static_cast<u32>(w)});
    std::size_t filled = 0;
    for (const u32 symbol : symbols) {
      if (symbol == n_symbols_) {
        long_word(true);
        cells_.push_back({kGap, static_cast<u32>(w)});
        ++filled;
        continue;
      }
      if (symbol > n_symbols_) throw Error(ErrorKind::training, "a word has a symbol that the alphabet does not have");
      const u32 length = length_[symbol];
      filled += length;
      if (length == 0 || filled > n_cells) break;
      for (u32 k = 0; k < length; ++k) cells_.push_back({k == 0 || k + 1 == length ? symbol : kInside, weight});
    }
    long_word(false);
    if (filled != n_cells)
      throw Error(ErrorKind::training, "the lengths of the given tokens do not add up to those of the words");
  }
  cells_.push_back({kGap, kNone});
}

// The word that a place is in. Most words are short: the gap before is near. Of a long one `end` becomes its end.
u32 Trainer::word_at(u32 place, u32& end) const {
  u32 at = place;
  for (u32 steps = 0; steps < kLongWord; ++steps) {
    const Cell& before = cells_[at - 1];
    if (before.symbol == kGap) return before.weight;
    at -= length_[before.symbol];
  }
  const auto behind = std::upper_bound(long_words_.begin(), long_words_.end(), place,
                                       [](u32 wanted, const LongWord& word) { return wanted < word.gap; });
  end = (behind - 1)->end;
  return cells_[(behind - 1)->gap].weight;
}

// ---- the pairs there are ----

void Trainer::index_pair(u32 pair) {
  const u64 hash = hash_pair(pairs_[pair].left, pairs_[pair].right);
  std::size_t i = hash & index_mask_;
  while (index_[i] != kFree) i = (i + 1) & index_mask_;
  index_[i] = (hash & kTag) | pair;
}

u32 Trainer::find_pair(u32 left, u32 right) const {
  const u64 hash = hash_pair(left, right);
  for (std::size_t i = hash & index_mask_; index_[i] != kFree; i = (i + 1) & index_mask_) {
    if ((index_[i] ^ hash) >> 32) continue;
    const u32 pair = static_cast<u32>(index_[i]);
    if (pairs_[pair].left == left && pairs_[pair].right == right) return pair;
  }
  return kNone;
}

void Trainer::prefetch_index(u32 left, u32 right) const { prefetch(&index_[hash_pair(left, right) & index_mask_]); }

// A pair under min_count can never win, since counts only fall: it is not kept at all.
void Trainer::add_pair(u32 left, u32 right, i64 count, u32* places, u32 n_places) {
  if (pairs_.size() + 1 >= kNone) throw Error(ErrorKind::training, "the corpus has too many distinct pairs");
  pairs_.push_back({left, right, count, places, n_places, kNone});
  const u32 pair = static_cast<u32>(pairs_.size() - 1);
  if (pairs_.size() * 2 > index_.size()) {
    index_.assign(index_.size() * 4, kFree);
    index_mask_ = index_.size() - 1;
    for (u32 k = 0; k < pair; ++k) {
      if (pairs_[k].count > 0) index_pair(k);
    }
  }
  index_pair(pair);
  file(pair);
}

void Trainer::settle(u32 left, u32 right, i64 lost) {
  if (lost == 0) return;
  const u32 id = find_pair(left, right);
  if (id == kNone) return;
  if (pairs_[id].count == open_count_) --open_pairs_;
  pairs_[id].count -= lost;
}

void Trainer::build_pairs() {
  struct Found {
    i64 count = 0;
    u32 left = 0, right = 0;
    u32 n_places = 0;
    u32* places = nullptr;
  };
  std::vector<Found> found;
  // Byte alphabets are small enough for a plain table.
  const bool dense = n_symbols_ <= 1024;
  std::vector<u32> table(dense ? static_cast<std::size_t>(n_symbols_) * n_symbols_ : 0, kNone);
  std::vector<u32> slots(dense ? 0 : 1 << 12, kNone);
  const auto slot_of = [&](u32 left, u32 right) -> u32& {
    std::size_t i = hash_pair(left, right) & (slots.size() - 1);
    while (slots[i] != kNone && (found[slots[i]].left != left || found[slots[i]].right != right))
      i = (i + 1) & (slots.size() - 1);
    return slots[i];
  };
  const auto number = [&](u32 left, u32 right) -> u32 {
    u32& id = dense ? table[static_cast<std::size_t>(left) * n_symbols_ + right] : slot_of(left, right);
    if (id != kNone) return id;
    const u32 fresh = id = static_cast<u32>(found.size());
    found.push_back({0, left, right, 0, nullptr});
    if (!dense && found.size() * 2 > slots.size()) {
      slots.assign(slots.size() * 4, kNone);
      for (u32 k = 0; k < found.size(); ++k) slot_of(found[k].left, found[k].right) = k;
    }
    return fresh;
  };
  const auto each = [&](auto&& visit) {
    u32 left = kGap, at = 0;
    for (u32 p = 0; p < cells_.size();) {
      const u32 symbol = cells_[p].symbol;
      if (left != kGap && symbol != kGap) visit(found[number(left, symbol)], at);
      left = symbol;
      at = p;
      p += symbol == kGap ? 1 : length_[symbol];
    }
  };
  each([&](Found& pair, u32 place) {
    pair.count += count_at(place);
    ++pair.n_places;
  });
  const auto fits = [&](const Found& pair) {
    return length_[pair.left] <= max_length_ && length_[pair.right] <= max_length_ - length_[pair.left];
  };
  for (Found& pair : found) {
    if (pair.count >= min_count_ && fits(pair)) pair.places = arena_.take(pair.n_places);
    pair.n_places = 0;
  }
  each([&](Found& pair, u32 place) {
    if (pair.places) pair.places[pair.n_places++] = place;
  });
  pairs_.reserve(found.size() * 4);
  for (const Found& pair : found) {
    if (pair.places) add_pair(pair.left, pair.right, pair.count, pair.places, pair.n_places);
  }
}

// ---- whose turn it is ----

void Trainer::file(u32 id) {
  Pair& pair = pairs_[id];
  if (pair.count < min_count_) return;
  if (pair.count == open_count_) {
    ++open_pairs_;
    push({key_of(pair), id});
  } else if (pair.count < static_cast<i64>(kBuckets)) {
    pair.next = buckets_[static_cast<std::size_t>(pair.count)];
    buckets_[static_cast<std::size_t>(pair.count)] = id;
  } else {
    above_.push({pair.count, id});
  }
}

// What is wanted first has the lowest key.
u64 Trainer::key_of(const Pair& pair) const {
  return ties_ == Ties::first ? pair.places[0] : key_of(pair.left, pair.right);
}

u64 Trainer::key_of(u32 left, u32 right) const {
  if (ties_ == Ties::smallest) return join(number(left), number(right));
  const std::size_t start = left ? text_ends_[left - 1] : 0;
  const std::size_t n = std::min<std::size_t>(text_ends_[left] - start, 8);
  u64 key = 0;
  for (std::size_t k = 0; k < 8; ++k) key = key << 8 | (k < n ? texts_[start + k] : 0);
  return ~key;
}

// Whether a pair is before another one of the same count, where keys do not say.
bool Trainer::wins(u32 left, u32 right, u32 other_left, u32 other_right) const {
  const auto compare = [&](u32 a, u32 b) {
    const std::size_t from_a = a ? text_ends_[a - 1] : 0, from_b = b ? text_ends_[b - 1] : 0;
    const std::size_t n_a = text_ends_[a] - from_a, n_b = text_ends_[b] - from_b;
    const int differ = std::memcmp(texts_.data() + from_a, texts_.data() + from_b, std::min(n_a, n_b));
    return differ ? differ : n_a < n_b ? -1 : n_a > n_b ? 1 : 0;
  };
  if (const int differ = compare(left, other_left)) return differ > 0;
  if (const int differ = compare(right, other_right)) return differ > 0;
  return join(number(left), number(right)) < join(number(other_left), number(other_right));
}

bool Trainer::later(const Entry& a, const Entry& b) const {
  if (a.key != b.key) return a.key > b.key;
  if (ties_ != Ties::greatest) return a.pair > b.pair;
  return wins(pairs_[b.pair].left, pairs_[b.pair].right, pairs_[a.pair].left, pairs_[a.pair].right);
}

void Trainer::push(Entry entry) {
  open_.push_back(entry);
  std::push_heap(open_.begin(), open_.end(), [this](const Entry& a, const Entry& b) { return later(a, b); });
}

// Takes up the pairs of the highest count there is; false where no pair is frequent enough.
bool Trainer::open_bucket() {
  open_count_ = 0;
  open_pairs_ = 0;
  while (open_.empty() && !above_.empty()) {
    const i64 count = above_.top().first;
    for (; !above_.empty() && above_.top().first == count;) {
      const u32 id = above_.top().second;
      above_.pop();
      if (pairs_[id].count == count)
        open_.push_back({key_of(pairs_[id]), id});
      else
        file(id);
    }
    if (!open_.empty()) open_count_ = count;
  }
  for (; open_.empty() && static_cast<i64>(bucket_) >= min_count_; --bucket_) {
    const i64 count = static_cast<i64>(bucket_);
    u32 id = buckets_[bucket_];
    buckets_[bucket_] = kNone;
    while (id != kNone) {
      const u32 next = pairs_[id].next;
      if (next != kNone) prefetch(&pairs_[next]);
      if (pairs_[id].count == count)
        open_.push_back({key_of(pairs_[id]), id});
      else
        file(id);
      id = next;
    }
    if (!open_.empty()) open_count_ = count;
  }
  open_pairs_ = static_cast<i64>(open_.size());
  std::make_heap(open_.begin(), open_.end(), [this](const Entry& a, const Entry& b) { return later(a, b); });
  return !open_.empty();
}

// The pair that wins now, taken out of its bucket, or kNone.
u32 Trainer::next_pair() {
  const auto order = [this](const Entry& a, const Entry& b) { return later(a, b); };
  for (;;) {
    if (open_.empty() && !open_bucket()) return kNone;
    std::pop_heap(open_.begin(), open_.end(), order);
    const Entry entry = open_.back();
    open_.pop_back();
    Pair& pair = pairs_[entry.pair];
    if (pair.count != open_count_) {
      file(entry.pair);
      continue;
    }
    if (ties_ != Ties::first) return entry.pair;
    while (pair.n_places && !alive(pair, pair.places[0])) {
      ++pair.places;
      --pair.n_places;
    }
    if (pair.n_places == 0) throw Error(ErrorKind::training, "internal: a counted pair has no place");
    if (pair.places[0] == entry.key) return entry.pair;
    push({pair.places[0], entry.pair});  // out of date: it stood too early, never too late
  }
}

// ---- one merge ----

u32 Trainer::touch(u32 symbol) {
  u32& at = touched_at_[symbol];
  if (at == kNone) {
    at = static_cast<u32>(touched_.size());
    touched_.push_back({symbol});
  }
  return at;
}

void Trainer::apply(u32 pair_index) {
  const Pair pair = pairs_[pair_index];
  const u32 a = pair.left, b = pair.right, made = static_cast<u32>(length_.size());
  Merge merge{a, b, pair.count, open_pairs_, 0, {kNone, kNone, kNone}};
  --open_pairs_;
  pairs_[pair_index].count = 0;  // what its overlapping places (aaa) lose is part of that
  const u32 la = length_[a], lb = length_[b];
  length_.push_back(la + lb);
  touched_at_.push_back(kNone);
  if (ties_ == Ties::greatest) {
    for (const u32 part : {a, b}) {
      const std::size_t start = part ? text_ends_[part - 1] : 0, n = text_ends_[part] - start;
      texts_.resize(texts_.size() + n);
      std::memcpy(texts_.data() + texts_.size() - n, texts_.data() + start, n);
    }
    text_ends_.push_back(texts_.size());
  }
  std::size_t examples = 0;
  u32 known_end = 0;  // of the last example, if it is a long word
  i64 taken = 0;      // of (made, a), born a moment ago and (made, made) now
  Cell* const cells = cells_.data();
  for (u32 k = 0; k < pair.n_places; ++k) {
    if (k + kAhead < pair.n_places) prefetch(&cells[pair.places[k + kAhead]]);
    const u32 p = pair.places[k];
    const u32 q = p + la;
    if (cells[p].symbol != a || cells[q].symbol != b) continue;
    const u32 after = q + lb;
    const i64 count = count_at(p);
    const u32 before = cells[p - 1].symbol, next = cells[after].symbol;
    if (examples < 3 && p >= known_end) {
      const u32 word = word_at(p, known_end);
      if (examples == 0 || merge.examples[examples - 1] != word) merge.examples[examples++] = word;
    }
    if (before != kGap) {
      if (before == made) taken += count;
      const u32 at = touch(before);
      touched_[at].gained_left += count;
      ++touched_[at].n_left;
      born_left_.push_back({at, p});
    }
    if (next != kGap) {
      const u32 at = touch(next);
      touched_[at].gained_right += count;
      ++touched_[at].n_right;
      born_right_.push_back({at, p});
    }
    cells[q - 1].symbol = kInside;
    cells[q].symbol = kInside;
    cells[p].symbol = made;
    cells[after - 1].symbol = made;
    length_now_ -= count;
  }
  arena_.give_back(pair.places, pair.n_places);
  merge.length_after = length_now_;
  merges_.push_back(merge);

  // The places of the new pairs, grouped by pair; within each they ascend, as the merge went from left to right.
  const auto wanted = [&](const Touched& t, i64 gained) {
    return gained >= min_count_ && length_[t.symbol] <= max_length_ - std::min(max_length_, la + lb);
  };
  for (Touched& t : touched_) {
    if (wanted(t, t.gained_left)) t.places_left = arena_.take(t.n_left);
    if (wanted(t, t.gained_right - (t.symbol == a ? taken : 0))) t.places_right = arena_.take(t.n_right);
    t.n_left = t.n_right = 0;
  }
  for (const Born& born : born_left_) {
    Touched& t = touched_[born.touched];
    if (t.places_left) t.places_left[t.n_left++] = born.place - length_[t.symbol];
  }
  for (const Born& born : born_right_) {
    Touched& t = touched_[born.touched];
    if (t.places_right) t.places_right[t.n_right++] = born.place;
  }
  constexpr std::size_t kNear = 4;
  for (std::size_t k = 0; k < touched_.size(); ++k) {
    if (k + kNear < touched_.size()) {
      const Touched& t = touched_[k + kNear];
      if (t.gained_left) prefetch_index(t.symbol, a);
      if (t.gained_right) prefetch_index(b, t.symbol);
      if (t.places_left) prefetch_index(t.symbol, made);
      if (t.places_right) prefetch_index(made, t.symbol);
    }
    const Touched t = touched_[k];
    touched_at_[t.symbol] = kNone;
    if (t.symbol != made) {
      // What is gained was lost by the pair before; the merged pair itself has nothing more to lose.
      if (t.symbol != a || b != a) {
        settle(t.symbol, a, t.gained_left);
        settle(b, t.symbol, t.gained_right);
      }
    }
    if (t.places_left) add_pair(t.symbol, made, t.gained_left, t.places_left, t.n_left);
    if (t.places_right)
      add_pair(made, t.symbol, t.gained_right - (t.symbol == a ? taken : 0), t.places_right, t.n_right);
  }
  touched_.clear();
  born_left_.clear();
  born_right_.clear();
}

std::size_t Trainer::run(std::size_t wanted, double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!exhausted_ && merges_.size() < wanted) {
    if (length_.size() >= kInside) throw Error(ErrorKind::training, "more merges than ids");
    const u32 pair = next_pair();
    if (pair == kNone)
      exhausted_ = true;
    else
      apply(pair);
    if (std::chrono::steady_clock::now() >= until) break;
  }
  return merges_.size();
}

// ---- what is left ----

std::vector<i64> Trainer::frequencies() const {
  std::vector<i64> out(length_.size(), 0);
  for (u32 p = 0; p < cells_.size();) {
    const u32 symbol = cells_[p].symbol;
    if (symbol == kGap) {
      ++p;
      continue;
    }
    out[symbol] += count_at(p);
    p += length_[symbol];
  }
  return out;
}

std::optional<Trainer::Best> Trainer::best_left() {
  if (!exhausted_) {
    if (const u32 id = next_pair(); id != kNone) {
      const Pair& pair = pairs_[id];
      push({key_of(pair), id});
      return Best{pair.left, pair.right, pair.count};
    }
  }
  // What is too rare was not kept.
  struct Seen {
    i64 count;
    std::size_t first;
  };
  std::unordered_map<u64, Seen> seen;
  for (u32 p = 0; p < cells_.size();) {
    const u32 left = cells_[p].symbol;
    const u32 next = p + (left == kGap ? 1 : length_[left]);
    if (left != kGap && cells_[next].symbol != kGap && length_[left] + length_[cells_[next].symbol] <= max_length_)
      seen.try_emplace(join(left, cells_[next].symbol), Seen{0, p}).first->second.count += count_at(p);
    p = next;
  }
  std::optional<Best> best;
  u64 best_key = 0;
  for (const auto& [pair, s] : seen) {
    const u32 left = static_cast<u32>(pair >> 32), right = static_cast<u32>(pair);
    const u64 key = ties_ == Ties::first ? s.first : key_of(left, right);
    const bool before = key != best_key || ties_ != Ties::greatest ? key < best_key
                                                                   : wins(left, right, best->left, best->right);
    if (best && (s.count < best->count || (s.count == best->count && !before))) continue;
    best = Best{left, right, s.count};
    best_key = key;
  }
  return best;
}

}  // namespace bytepair
