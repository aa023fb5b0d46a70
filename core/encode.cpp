#include "encode.hpp"

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
  first_ranks_.resize(65536);
  for (std::size_t a = 0; a < 256; ++a) {
    for (std::size_t b = 0; b < 256; ++b) first_ranks_[a << 8 | b] = pairs_.rank(ids[a], ids[b]);
  }
}

// A pretoken of plain bytes, of at most Merger::kScanLimit: its tokens into `symbols`, whose number is returned.
std::size_t Encoder::merge_bytes(const u8* p, std::size_t n, const Merger& merger, u32* symbols) const {
  u32 ranks[Merger::kScanLimit];
  const u32* const ids = alphabet_.byte_ids();
  for (std::size_t i = 0; i < n; ++i) symbols[i] = ids[p[i]];
  for (std::size_t i = 0; i + 1 < n; ++i) ranks[i] = first_ranks_[static_cast<std::size_t>(p[i]) << 8 | p[i + 1]];
  return merger.merge_short(symbols, ranks, n);
}

// Where ids go: into a buffer, or nowhere, where only their number is asked for. A run of packed ones is written between
// begin(), which is told how many words there are at most, and end(); known(), for what the cache found, and append() must
// stand outside of that.
class Encoder::Ids {
 public:
  explicit Ids(IdBuffer& out) : out_(out) {}
  u32* begin(std::size_t words) { return out_.room(WordCache::kShortIds * (words + 1)); }
  static u32* packed(u32* to, const u32* ids) {
    std::memcpy(to, ids, WordCache::kShortIds * sizeof(u32));
    to[0] &= 0xFFFFFF;
    return to + (ids[0] >> 24);
  }
  void end(u32* to) { out_.end_at(to); }
  void known(const WordCache::Words& words) { out_.append_masked(words.ids, words.n); }
  void append(const WordCache::Words& words) { out_.append(words.ids, words.n); }

 private:
  IdBuffer& out_;
};

class Encoder::Number {
 public:
  static u64 begin(std::size_t) { return 0; }
  static u64 packed(u64 to, const u32* ids) { return to + (ids[0] >> 24); }
  void end(u64 to) { total_ += to; }
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
  alphabet_.symbols(s + start, length, start, state.symbols);
  state.merger.merge(state.symbols);
  return {state.symbols.data(), state.symbols.size()};
}

// The same, unless another thread has merged it already; what is merged here the others find.
WordCache::Words Encoder::merged_by_any(const MediumKey& key, const u8* s, std::size_t start, std::size_t length,
                                        State& state, u32* few) const {
  if (const std::size_t n = state.shared->find(key, few)) return {few, n};
  const WordCache::Words words = merged(s, start, length, state, few);
  if (words.n > 0 && words.n <= SharedWords::kIds && words.ids[0] >> 24 == 0) state.shared->insert(key, words.ids, words.n);
  return words;
}

// A pretoken of at most ShortKey::kMax bytes that is not where it is sought first.
template <class Sink>
void Encoder::short_word(const u8* s, std::size_t start, std::size_t end, std::size_t n, const ShortKey& key, u64 hash,
                         State& state, Sink& sink) const {
  WordCache& cache = state.cache;
  if (cache.works()) {
    if (const WordCache::Words known = cache.find_short(key, hash); known.ids) return sink.known(known);
  }
  u32 few[Merger::kScanLimit];
  WordCache::Words words{few, 1};
  if (!whole_ || (few[0] = whole_->find(key, hash)) == kNone) {
    if (state.shared)
      words = merged_by_any(medium_key(s + start, end - start, n - start), s, start, end - start, state, few);
    else
      words = merged(s, start, end - start, state, few);
  }
  cache.insert_short(key, hash, words.ids, words.n);
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
  u32 few[Merger::kScanLimit];
  WordCache::Words words{few, 1};
  if (!whole_ || (few[0] = whole_->find(p, length)) == kNone)
    words = medium && state.shared ? merged_by_any(key, s, start, length, state, few) : merged(s, start, length, state, few);
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
    return short_word(s, start, end, n, key, key.hash(), state, sink);
  }
  u64 hash = 0;
  if (length <= MediumKey::kMax)
    hash = medium_key(p, length, n - start).hash();
  else if (length <= WordCache::kLongest)
    hash = WordCache::long_hash(p, length);
  wide_word(s, start, end, n, hash, state, sink);
}

// Pretoken after pretoken, some at a time, in two passes: keys first, which asks the memory for the cache's lines, then
// the look-ups.
template <class Sink>
void Encoder::pretokens(const u8* s, std::size_t n, std::size_t start, const std::size_t* ends, std::size_t k,
                        State& state, Sink& sink) const {
  constexpr std::size_t kBatch = 128;
  const WordCache& cache = state.cache;
  std::size_t i = 0;
  if (!dropped_ && cache.works() && k > 1) {
    // The last ones end where no more bytes may be read behind them.
    std::size_t bulk = k;
    while (bulk > 0 && (bulk == 1 ? start : ends[bulk - 2]) + 32 > n) --bulk;
    ShortKey keys[kBatch];
    u64 hashes[kBatch];
    std::size_t unknown = 0;
    while (i < bulk) {
      const std::size_t size = std::min(bulk - i, kBatch);
      // Where the cache is of little use, the vocabulary will be asked too.
      const bool ask_whole = whole_ && unknown > kBatch / 4;
      unknown = 0;
      std::size_t at = start;
      for (std::size_t j = 0; j < size; ++j) {
        const std::size_t end = ends[i + j], length = end - at;
        if (length <= ShortKey::kMax) {
          keys[j] = open_short_key(s + at, length);
          hashes[j] = keys[j].hash();
          prefetch(cache.line(hashes[j]));
          if (ask_whole) whole_->prefetch_short(hashes[j]);
        } else if (length <= WordCache::kLongest) {
          hashes[j] = length <= MediumKey::kMax ? medium_key(s + at, length, 32).hash() : WordCache::long_hash(s + at, length);
          cache.prefetch_wide(hashes[j]);
        }
        at = end;
      }
      auto to = sink.begin(size);
      for (std::size_t j = 0; j < size; ++j, ++i) {
        const std::size_t end = ends[i];
        const bool is_short = end - start <= ShortKey::kMax;
        if (is_short) {
          if (const u32* ids = WordCache::find_in_line(cache.line(hashes[j]), CellKey(keys[j]))) {
            to = sink.packed(to, ids);
            start = end;
            continue;
          }
        }
        sink.end(to);
        ++unknown;
        if (is_short)
          short_word(s, start, end, n, keys[j], hashes[j], state, sink);
        else
          wide_word(s, start, end, n, hashes[j], state, sink);
        to = sink.begin(size - j);
        start = end;
      }
      sink.end(to);
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
  Ids sink(out);
  stream.feed(
      splitter(), specials, s, n, last,
      [&](const u8* text, std::size_t size, std::size_t start, const std::size_t* ends, std::size_t k) {
        pretokens(text, size, start, ends, k, state, sink);
      },
      [&](u32 id) { out.push(id); });
}

void Encoder::encode(const u8* s, std::size_t n, const Specials* specials, State& state, IdBuffer& out) const {
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
