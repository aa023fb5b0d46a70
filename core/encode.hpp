// Text to ids: pretokens through a bounded word cache, misses through the merges.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "alphabet.hpp"
#include "fork.hpp"
#include "id_buffer.hpp"
#include "lanes.hpp"
#include "merge.hpp"
#include "narrow.hpp"
#include "shared_words.hpp"
#include "stream.hpp"
#include "word_cache.hpp"

namespace bytepair {

class Encoder {
 public:
  // What one thread needs while it encodes: its cache and scratch space. Leased from the encoder.
  struct State {
    State(const PairTable& pairs, Order order, LongTables& tables, std::size_t cache_bytes)
        : cache(cache_bytes, cell_level(simd())), merger(pairs, order, &tables) {}
    WordCache cache;
    Merger merger;
    Cursor cursor;
    std::vector<u32> symbols;
    std::vector<u8> padded;  // a short text, with bytes behind it that may be read
    IdBuffer ids;            // of a short text
    ByteBuffer text;         // that was given otherwise
    std::unique_ptr<Lanes> lanes;
    std::unique_ptr<WordBatch> batch;
    std::vector<u32> own_ids;  // of the batch
    bool keeps_few = false;    // of the words of this batch that it learns
    std::size_t looked_up = 1, unknown = 1;  // of the last words, and how many of them the cache did not know
    std::size_t scratch_bytes() const;

    SharedWords* shared = nullptr;  // where other threads encode too
    u64 heard = 0;                  // how far it has been read
    std::size_t number = 0;         // of the states that the encoder made
  };
  class Lease {
   public:
    explicit Lease(const Encoder& encoder) : encoder_(encoder), state_(encoder.take()) {}
    ~Lease() { encoder_.give_back(std::move(state_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    State& operator*() const { return *state_; }

   private:
    const Encoder& encoder_;
    std::unique_ptr<State> state_;
  };

  // `whole`: a pretoken that is one of these tokens is that token, whatever the merges say. No splitter: the caller
  // brings the ends of pretokens. `dropped`: a pretoken of nothing but its class 1 is left out (the classic scheme).
  // The states of all threads together, and what they share, hold at most cache_bytes of cache.
  Encoder(Alphabet alphabet, std::shared_ptr<const PairTable> pairs, Order order,
          std::shared_ptr<const TokenTable> whole, std::optional<Splitter> splitter, std::optional<ClassTable> dropped,
          std::size_t cache_bytes);

  // Room for the ids of most texts of so many bytes.
  static std::size_t likely_ids(std::size_t bytes) { return bytes / 3 + 16; }

  // Under this many bytes a text is copied to where more bytes may be read behind it.
  static constexpr std::size_t kShortText = 2048;

  // Appends the ids of s[0, n); the special tokens in `specials` (may be null) become their ids.
  void encode(const u8* s, std::size_t n, const Specials* specials, State& state, IdBuffer& out) const;
  // The same with pretokens that end at ends[0..n_ends), ascending, the last one at n.
  void encode_ends(const u8* s, std::size_t n, const i64* ends, std::size_t n_ends, State& state, IdBuffer& out) const;
  u64 count(const u8* s, std::size_t n, const Specials* specials, State& state) const;

  // Encodes the documents on up to `threads` threads; counts[i] ids belong to document i. Throws Surrogates, with its
  // number, for one that has some.
  void encode_batch(const std::vector<GivenText>& documents, const Specials* specials, unsigned threads,
                    IdBuffer& out, std::vector<i64>& counts) const;

  // Text in pieces: appends the ids that are certain, and with `last` the rest.
  void feed(Stream& stream, const u8* s, std::size_t n, bool last, const Specials* specials, State& state,
            IdBuffer& out) const;

  // What the caches of idle states hold now, and what the threads share.
  std::size_t cached_bytes() const;
  // What idle states keep beside their caches for the texts to come.
  std::size_t scratch_bytes() const;

 private:
  class Ids;
  class Number;
  template <class Sink>
  void pretokens(const u8* s, std::size_t n, std::size_t start, const std::size_t* ends, std::size_t k, State& state,
                 Sink& sink) const;
  struct Unknown;
  void learn(const u8* s, std::size_t start, const std::size_t* ends, WordBatch& batch, State& state) const;
  void merge_side_by_side(const Unknown* words, std::size_t n, WordBatch& batch, State& state) const;
  static void remember(const Unknown& word, const WordCache::Words& words, WordBatch& batch, State& state);
  static void share(const MediumKey& key, const WordCache::Words& words, const State& state);
  static void catch_up(State& state, std::size_t bytes);
  template <class Sink>
  void pretoken(const u8* s, std::size_t start, std::size_t end, std::size_t n, State& state, Sink& sink) const;
  template <class Sink>
  void short_word(const u8* s, std::size_t start, std::size_t end, std::size_t n, const ShortKey& key, u64 hash,
                  State& state, Sink& sink) const;
  template <class Sink>
  void wide_word(const u8* s, std::size_t start, std::size_t end, std::size_t n, u64 hash, State& state, Sink& sink) const;
  WordCache::Words merged(const u8* s, std::size_t start, std::size_t length, State& state, u32* few) const;
  static const u8* with_room(const u8* s, std::size_t n, State& state, std::size_t& readable);
  std::size_t merge_bytes(const u8* p, std::size_t n, const Merger& merger, u32* symbols) const;
  const Splitter& splitter() const;
  std::unique_ptr<State> take() const;
  void give_back(std::unique_ptr<State> state) const;
  SharedWords* shared_words() const;
  void forget() const;

  Alphabet alphabet_;
  std::shared_ptr<const PairTable> kept_pairs_;
  const PairTable& pairs_;
  Order order_;
  std::shared_ptr<const TokenTable> whole_;
  std::optional<Splitter> splitter_;
  std::optional<ClassTable> dropped_;
  std::size_t cache_bytes_;
  bool lanes_work_ = false;  // many unknown words are merged side by side
  std::vector<u32> first_ranks_;  // of two neighbouring bytes; empty where the alphabet is no plain bytes

  mutable LongTables long_tables_{pairs_, order_};  // after what it refers to
  mutable ForkLock lock_;
  mutable std::vector<std::unique_ptr<State>> idle_;
  mutable std::unique_ptr<SharedWords> shared_;  // made when a second thread comes
  mutable std::size_t made_ = 0;
};

}  // namespace bytepair
