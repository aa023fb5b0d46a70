#include "encode.hpp"

#include <utility>

#include "errors.hpp"

namespace bytepair {

Encoder::Encoder(Alphabet alphabet, std::shared_ptr<const PairTable> pairs, Order order,
                 std::shared_ptr<const TokenTable> whole, std::optional<Splitter> splitter,
                 std::optional<ClassTable> dropped, std::size_t cache_bytes)
    : alphabet_(std::move(alphabet)),
      kept_pairs_(std::move(pairs)),
      pairs_(*kept_pairs_),
      order_(order),
      whole_(std::move(whole)),
      splitter_(std::move(splitter)),
      dropped_(std::move(dropped)),
      cache_bytes_(cache_bytes) {
  if (!alphabet_.is_plain_bytes()) return;
  const u32* const ids = alphabet_.byte_ids();
  if (whole_ && order_ == Order::one_place && pairs_.reaches_all(*whole_, ids)) whole_.reset();
  first_ranks_.resize(65536);
  for (std::size_t a = 0; a < 256; ++a) {
    for (std::size_t b = 0; b < 256; ++b) first_ranks_[a << 8 | b] = pairs_.rank(ids[a], ids[b]);
  }
  lanes_work_ = order_ == Order::one_place && Lanes::work(simd(), pairs_);
}

// A pretoken of plain bytes, of at most Merger::kScanLimit: its tokens into `symbols`, whose number is returned.
std::size_t Encoder::merge_bytes(const u8* p, std::size_t n, const Merger& merger, u32* symbols) const {
  u32 ranks[Merger::kScanLimit];
  const u32* const ids = alphabet_.byte_ids();
  for (std::size_t i = 0; i < n; ++i) symbols[i] = ids[p[i]];
  for (std::size_t i = 0; i + 1 < n; ++i) ranks[i] = first_ranks_[static_cast<std::size_t>(p[i]) << 8 | p[i + 1]];
  return merger.merge_short(symbols, ranks, n);
}

// Where ids go: into a buffer, or nowhere, where only their number is asked for.
class Encoder::Ids {
 public:
  explicit Ids(IdBuffer& out) : out_(out) {}
  // From word `from` on as far as the cache knows them.
  std::size_t known(const WordCache& cache, const WordBatch& batch, std::size_t from) {
    const std::size_t room = kWideIds * (batch.size - from + 1) + 256;
    u32* at = out_.room(room);
    const std::size_t end = cache.copy(batch, from, at, room);
    out_.end_at(at);
    return end;
  }
  void known(const WordCache::Words& words) { out_.append_masked(words.ids, words.n); }
  void append(const WordCache::Words& words) { out_.append(words.ids, words.n); }

 private:
  IdBuffer& out_;
};

class Encoder::Number {
 public:
  std::size_t known(const WordCache& cache, const WordBatch& batch, std::size_t from) {
    return cache.count(batch, from, total_);
  }
  void known(const WordCache::Words& words) { total_ += words.n; }
  void append(const WordCache::Words& words) { total_ += words.n; }
  u64 total() const { return total_; }

 private:
  u64 total_ = 0;
};

// What the merges make of a pretoken; `few` has room for the ids of a short one.
WordCache::Words Encoder::merged(const u8* s, std::size_t start, std::size_t length, State& state, u32* few) const {
  if (!first_ranks_.empty() && length <= Merger::kScanLimit)
    return {few, merge_bytes(s + start, length, state.merger, few)};
  if (first_ranks_.empty() || !state.merger.merge_runs_of(s + start, length, alphabet_.byte_ids(), state.symbols)) {
    alphabet_.symbols(s + start, length, start, state.symbols);
    state.merger.merge(state.symbols);
  }
  return {state.symbols.data(), state.symbols.size()};
}

// Tells the other threads.
void Encoder::share(const MediumKey& key, const WordCache::Words& words, const State& state) {
  if (state.shared && !state.keeps_few && words.n > 0 && words.n <= SharedWords::kIds && words.ids[0] >> 24 == 0)
    state.shared->add(key, words.ids, words.n, static_cast<unsigned>(state.number));
}

// Learns what the other threads have told, as much of it as takes little beside a text of so many bytes.
void Encoder::catch_up(State& state, std::size_t bytes) {
  if (!state.shared) return;
  constexpr std::size_t kAtOnce = 16;
  std::size_t most = bytes / 16 + 1;
  WordCache& cache = state.cache;
  while (most > 0 && cache.works()) {
    SharedWords::Word words[kAtOnce];
    u64 hashes[kAtOnce];
    CellKey keys[kAtOnce];
    std::size_t n = 0, read = 0;
    for (; read < std::min(most, kAtOnce) && state.shared->next(state.heard, words[n]); ++read) {
      const SharedWords::Word& word = words[n];
      if (word.writer == state.number % SharedWords::kWriters) continue;
      const u64 length = word.key.word[3] >> 56;
      keys[n] = CellKey(ShortKey{word.key.word[0], word.key.word[1] | length << 56});
      hashes[n] = length <= ShortKey::kMax ? cache.hash(keys[n]) : word.key.hash();
      cache.ask_for(hashes[n], length <= ShortKey::kMax);
      ++n;
    }
    for (std::size_t k = 0; k < n; ++k) {
      const SharedWords::Word& word = words[k];
      if (word.key.word[3] >> 56 > ShortKey::kMax)
        cache.insert_medium(word.key, hashes[k], word.ids, word.n);
      else if (!cache.find_short(keys[k], hashes[k]).ids)
        cache.add_short(keys[k], hashes[k], word.ids, word.n);
    }
    if (read < kAtOnce) return;
    most -= read;
  }
}

// A pretoken of at most ShortKey::kMax bytes that is not where it is sought first.
template <class Sink>
void Encoder::short_word(const u8* s, std::size_t start, std::size_t end, std::size_t n, const ShortKey& key, u64 hash,
                         State& state, Sink& sink) const {
  WordCache& cache = state.cache;
  const CellKey cell_key(key);
  if (cache.works()) {
    if (const WordCache::Words known = cache.find_short(cell_key, hash); known.ids) return sink.known(known);
  }
  ++state.unknown;
  u32 few[Merger::kScanLimit];
  WordCache::Words words{few, 1};
  if (!whole_ || (few[0] = whole_->find(key, key.hash())) == kNone) {
    words = merged(s, start, end - start, state, few);
    if (state.shared) share(medium_key(s + start, end - start, n - start), words, state);
  }
  cache.insert_short(cell_key, hash, words.ids, words.n);
  sink.append(words);
}

// A longer one; `hash` is its medium key's, or that of its bytes, or any where the cache keeps nothing.
template <class Sink>
void Encoder::wide_word(const u8* s, std::size_t start, std::size_t end, std::size_t n, u64 hash, State& state,
                        Sink& sink) const {
  const u8* const p = s + start;
  const std::size_t length = end - start;
  const bool medium = length <= MediumKey::kMax;
  WordCache& cache = state.cache;
  MediumKey key{};
  if (medium) key = medium_key(p, length, n - start);
  if (cache.works()) {
    const WordCache::Words known = medium ? cache.find_medium(key, hash) : cache.find_long(p, length, hash);
    if (known.ids) return sink.known(known);
  }
  ++state.unknown;
  u32 few[Merger::kScanLimit];
  WordCache::Words words{few, 1};
  if (!whole_ || (few[0] = whole_->find(p, length)) == kNone) {
    words = merged(s, start, length, state, few);
    if (medium) share(key, words, state);
  }
  if (medium)
    cache.insert_medium(key, hash, words.ids, words.n);
  else
    cache.insert_long(p, length, hash, words.ids, words.n);
  sink.append(words);
}

template <class Sink>
void Encoder::pretoken(const u8* s, std::size_t start, std::size_t end, std::size_t n, State& state, Sink& sink) const {
  const u8* const p = s + start;
  const std::size_t length = end - start;
  if (dropped_ && dropped_->run(s, start, end, 1) == end) return;
  if (length <= ShortKey::kMax) {
    const ShortKey key = short_key(p, length, n - start);
    return short_word(s, start, end, n, key, state.cache.hash(CellKey(key)), state, sink);
  }
  u64 hash = 0;
  if (length <= MediumKey::kMax)
    hash = medium_key(p, length, n - start).hash();
  else if (length <= WordCache::kLongest)
    hash = WordCache::long_hash(p, length);
  wide_word(s, start, end, n, hash, state, sink);
}

namespace {

// So few new words are merged one by one.
constexpr std::size_t kFewLanes = 4;

}  // namespace

// A word of a batch that the cache does not know.
struct Encoder::Unknown {
  const u8* p;
  std::size_t length;
  u64 hash;  // in the cache
  std::size_t number;  // in the batch
};

// Words of a batch that are not where they are sought first, of up to MediumKey::kMax bytes each: the cache knows them
// afterwards, as far as it has room. 32 bytes may be read of each.
void Encoder::learn(const u8* s, std::size_t start, const std::size_t* ends, WordBatch& batch, State& state) const {
  WordCache& cache = state.cache;
  u32* const numbers = batch.numbers;
  const std::size_t n = cache.missing(batch, numbers);
  if (state.keeps_few) {
    state.own_ids.clear();
    std::fill_n(batch.own, batch.size, 0u);
  }
  const auto word = [&](std::size_t m) {
    const std::size_t j = numbers[m], from = j == 0 ? start : ends[j - 1];
    const bool is_short = ends[j] - from <= ShortKey::kMax;
    return Unknown{s + from, ends[j] - from, is_short ? cache.hash(batch.keys[j]) : batch.wide_hash(j), j};
  };
  if (whole_) {
    for (std::size_t m = 0; m < n; ++m) {
      if (const Unknown at = word(m); at.length <= ShortKey::kMax) whole_->prefetch_short(open_short_key(at.p, at.length).hash());
    }
  }
  u64 waiting[64] = {};  // hashes of words that were here before, each in the place of its lowest bits
  Unknown few[2][Lanes::kWords];  // that wait for lanes: short ones, and longer ones
  std::size_t n_few[2] = {0, 0};
  for (std::size_t m = 0; m < n; ++m) {
    const Unknown at = word(m);
    if (at.length > MediumKey::kMax || std::exchange(waiting[at.hash % 64], at.hash) == at.hash) continue;
    u32 id = kNone;
    const bool is_short = at.length <= ShortKey::kMax;
    if (is_short) {
      const ShortKey short_key = open_short_key(at.p, at.length);
      if (cache.find_short(CellKey(short_key), at.hash).ids) continue;
      if (whole_) id = whole_->find(short_key, short_key.hash());
    } else {
      if (cache.find_medium(medium_key(at.p, at.length, 32), at.hash).ids) continue;
      if (whole_) id = whole_->find(at.p, at.length);
    }
    if (id == kNone) {
      Unknown* const group = few[is_short ? 0 : 1];
      std::size_t& in_group = n_few[is_short ? 0 : 1];
      group[in_group] = at;
      if (++in_group < Lanes::kWords) continue;
      merge_side_by_side(group, in_group, batch, state);
      in_group = 0;
      continue;
    }
    ++state.unknown;
    remember(at, {&id, 1}, batch, state);
  }
  for (std::size_t g = 0; g < 2; ++g) merge_side_by_side(few[g], n_few[g], batch, state);
  if (!state.keeps_few) return;
  state.own_ids.resize(state.own_ids.size() + 4);  // which may be read
  batch.own_ids = state.own_ids.data();
}

void Encoder::merge_side_by_side(const Unknown* words, std::size_t n, WordBatch& batch, State& state) const {
  if (n < kFewLanes) return;  // one by one is faster
  state.unknown += n;
  if (!state.lanes) state.lanes = std::make_unique<Lanes>(pairs_, alphabet_.byte_ids(), first_ranks_.data());
  Lanes& lanes = *state.lanes;
  lanes.clear();
  for (std::size_t w = 0; w < n; ++w) lanes.add(words[w].p, words[w].length);
  lanes.merge();
  for (std::size_t w = 0; w < n; ++w) {
    u32 ids[Lanes::kSymbols];
    const WordCache::Words found{ids, lanes.tokens(w, ids)};
    if (state.shared) share(medium_key(words[w].p, words[w].length, 32), found, state);
    remember(words[w], found, batch, state);
  }
}

void Encoder::remember(const Unknown& word, const WordCache::Words& words, WordBatch& batch, State& state) {
  if (state.keeps_few) {
    state.own_ids.push_back(static_cast<u32>(words.n));
    batch.own[word.number] = static_cast<u32>(state.own_ids.size());
    state.own_ids.insert(state.own_ids.end(), words.ids, words.ids + words.n);
    if (word.hash >> 32 & 7) return;
  }
  if (word.length <= ShortKey::kMax)
    state.cache.add_short(CellKey(open_short_key(word.p, word.length)), word.hash, words.ids, words.n);
  else
    state.cache.insert_medium(medium_key(word.p, word.length, 32), word.hash, words.ids, words.n);
}

// Pretoken after pretoken, some at a time, in two passes: keys first, which asks the memory for the cache's lines, then
// the look-ups.
template <class Sink>
void Encoder::pretokens(const u8* s, std::size_t n, std::size_t start, const std::size_t* ends, std::size_t k,
                        State& state, Sink& sink) const {
  constexpr std::size_t kKnownBatch = 128;
  const WordCache& cache = state.cache;
  std::size_t i = 0;
  if (!dropped_ && cache.works() && k > 1) {
    // The last ones end where no more bytes may be read behind them.
    std::size_t bulk = k;
    while (bulk > 0 && (bulk == 1 ? start : ends[bulk - 2]) + 32 > n) --bulk;
    if (!state.batch) state.batch = std::make_unique_for_overwrite<WordBatch>();
    WordBatch& batch = *state.batch;
    while (i < bulk) {
      const bool many_unknown = lanes_work_ && state.unknown * 64 > state.looked_up;
      // Where most words are new, and many are there already, few will come again: most are not kept. One that comes again
      // and again is.
      state.keeps_few = many_unknown && 2 * state.unknown > state.looked_up && cache.is_large();
      // Where the cache is of little use, the vocabulary will be asked too.
      const bool ask_whole = whole_ && !lanes_work_ && state.unknown * 4 > state.looked_up;
      batch.size = std::min(bulk - i, many_unknown ? WordBatch::kWords : kKnownBatch);
      batch.own_ids = nullptr;
      cache.keys(s, start, ends + i, batch);
      if (ask_whole) {
        for (std::size_t j = 0, at = start; j < batch.size; at = ends[i + j++]) {
          const std::size_t length = ends[i + j] - at;
          if (length <= ShortKey::kMax) whole_->prefetch_short(open_short_key(s + at, length).hash());
        }
      }
      if (many_unknown) learn(s, start, ends + i, batch, state);
      for (std::size_t j = 0;; ++j) {
        j = sink.known(cache, batch, j);
        if (j == batch.size) break;
        const std::size_t from = i + j == 0 ? start : ends[i + j - 1], end = ends[i + j];
        if (end - from <= ShortKey::kMax)
          short_word(s, from, end, n, open_short_key(s + from, end - from), cache.hash(batch.keys[j]), state, sink);
        else
          wide_word(s, from, end, n, batch.wide_hash(j), state, sink);
      }
      if ((state.looked_up += batch.size) > 4 * WordBatch::kWords) {
        state.unknown /= 2;
        state.looked_up /= 2;
      }
      i += batch.size;
      start = ends[i - 1];
    }
  }
  for (; i < k; ++i) {
    pretoken(s, start, ends[i], n, state, sink);
    start = ends[i];
  }
}

const Splitter& Encoder::splitter() const {
  if (!splitter_) throw Error(ErrorKind::value, "encoder: this pattern's pretokens are cut outside of the core");
  return *splitter_;
}

void Encoder::feed(Stream& stream, const u8* s, std::size_t n, bool last, const Specials* specials, State& state,
                   IdBuffer& out) const {
  catch_up(state, n);
  Ids sink(out);
  stream.feed(
      splitter(), specials, s, n, last,
      [&](const u8* text, std::size_t size, std::size_t start, const std::size_t* ends, std::size_t k) {
        pretokens(text, size, start, ends, k, state, sink);
      },
      [&](u32 id) { out.push(id); });
}

void Encoder::encode(const u8* s, std::size_t n, const Specials* specials, State& state, IdBuffer& out) const {
  catch_up(state, n);
  std::size_t readable = n;
  s = with_room(s, n, state, readable);
  Ids sink(out);
  for_each_piece(
      splitter(), specials, state.cursor, s, 0, n, 0,
      [&](std::size_t start, const std::size_t* ends, std::size_t k) {
        pretokens(s, readable, start, ends, k, state, sink);
      },
      [&](u32 id) { out.push(id); });
}

const u8* Encoder::with_room(const u8* s, std::size_t n, State& state, std::size_t& readable) {
  if (n >= kShortText) return s;
  readable = n + 32;
  if (state.padded.size() < readable) state.padded.resize(kShortText + 32);
  if (n) std::memcpy(state.padded.data(), s, n);
  return state.padded.data();
}

void Encoder::encode_ends(const u8* s, std::size_t n, const i64* ends, std::size_t n_ends, State& state,
                          IdBuffer& out) const {
  Ids sink(out);
  std::size_t at = 0;
  for (std::size_t i = 0; i < n_ends; ++i) {
    if (ends[i] <= static_cast<i64>(at) || ends[i] > static_cast<i64>(n))
      throw Error(ErrorKind::value, "encoder: the ends of pretokens must ascend and lie in the text");
    pretoken(s, at, static_cast<std::size_t>(ends[i]), n, state, sink);
    at = static_cast<std::size_t>(ends[i]);
  }
  if (at != n) throw Error(ErrorKind::value, "encoder: the last pretoken must end where the text ends");
}

u64 Encoder::count(const u8* s, std::size_t n, const Specials* specials, State& state) const {
  catch_up(state, n);
  u64 n_specials = 0;
  std::size_t readable = n;
  s = with_room(s, n, state, readable);
  Number sink;
  for_each_piece(
      splitter(), specials, state.cursor, s, 0, n, 0,
      [&](std::size_t start, const std::size_t* ends, std::size_t k) {
        pretokens(s, readable, start, ends, k, state, sink);
      },
      [&](u32) { ++n_specials; });
  return sink.total() + n_specials;
}

}  // namespace bytepair
