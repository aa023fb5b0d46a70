#include "encode.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>

#include "errors.hpp"

namespace bytepair {

Encoder::Encoder(Alphabet alphabet, PairTable pairs, Order order, std::shared_ptr<const TokenTable> whole,
                 std::optional<Splitter> splitter, std::optional<ClassTable> dropped, std::size_t cache_bytes)
    : alphabet_(std::move(alphabet)),
      pairs_(std::move(pairs)),
      order_(order),
      whole_(std::move(whole)),
      splitter_(std::move(splitter)),
      dropped_(std::move(dropped)),
      cache_bytes_(cache_bytes) {}

// State k has half of what the k states before it left over, so that all together stay under the budget however many
// threads come; a state that would have less than a page has no cache.
std::unique_ptr<Encoder::State> Encoder::take() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!idle_.empty()) {
    auto state = std::move(idle_.back());
    idle_.pop_back();
    return state;
  }
  const std::size_t share = made_ < 48 ? cache_bytes_ >> (made_ + 1) : 0;
  ++made_;
  return std::make_unique<State>(pairs_, order_, share >= 4096 ? share : 0);
}

void Encoder::give_back(std::unique_ptr<State> state) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(state));
}

std::size_t Encoder::cached_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::size_t total = 0;
  for (const auto& state : idle_) total += state->cache.bytes();
  return total;
}

void Encoder::miss(const u8* s, std::size_t start, std::size_t end, State& state) const {
  if (whole_) {
    if (const u32 id = whole_->find(s + start, end - start); id != kNone) {
      state.symbols.assign(1, id);
      return;
    }
  }
  alphabet_.symbols(s + start, end - start, start, state.symbols);
  state.merger.merge(state.symbols);
}

void Encoder::pretoken(const u8* s, std::size_t start, std::size_t end, std::size_t n, State& state,
                       IdBuffer& out) const {
  const u8* p = s + start;
  const std::size_t length = end - start;
  if (dropped_ && dropped_->run(s, start, end, 1) == end) return;
  if (length <= ShortKey::kMax) {
    if (const WordCache::Slot* slot = state.cache.find_short(short_key(p, length, n - start))) {
      u32* to = out.room(WordCache::kShortIds);
      std::memcpy(to, slot->ids, sizeof slot->ids);
      to[0] &= 0xFFFFFF;
      out.add(slot->ids[0] >> 24);
      return;
    }
  }
  if (const WordCache::Words words = state.cache.find_long(p, length); words.ids) {
    out.append(words.ids, words.n);
    return;
  }
  miss(s, start, end, state);
  state.cache.insert(p, length, n - start, state.symbols.data(), state.symbols.size());
  out.append(state.symbols.data(), state.symbols.size());
}

template <class AfterPretoken>
void Encoder::encode_with(const u8* s, std::size_t n, const Specials* specials, State& state, IdBuffer& out,
                          AfterPretoken after) const {
  for_each_piece(
      splitter(), specials, state.cursor, s, 0, n, 0,
      [&](std::size_t start, std::size_t end) {
        pretoken(s, start, end, n, state, out);
        after();
      },
      [&](u32 id, std::size_t) {
        out.push(id);
        after();
      });
}

const Splitter& Encoder::splitter() const {
  if (!splitter_) throw Error(ErrorKind::value, "encoder: this pattern's pretokens are cut outside of the core");
  return *splitter_;
}

void Encoder::feed(Stream& stream, const u8* s, std::size_t n, bool last, const Specials* specials, State& state,
                   IdBuffer& out) const {
  stream.feed(
      splitter(), specials, s, n, last,
      [&](const u8* text, std::size_t start, std::size_t end, std::size_t size) {
        pretoken(text, start, end, size, state, out);
      },
      [&](u32 id) { out.push(id); });
}

void Encoder::encode(const u8* s, std::size_t n, const Specials* specials, State& state, IdBuffer& out) const {
  encode_with(s, n, specials, state, out, [] {});
}

void Encoder::encode_ends(const u8* s, std::size_t n, const i64* ends, std::size_t n_ends, State& state,
                          IdBuffer& out) const {
  std::size_t at = 0;
  for (std::size_t i = 0; i < n_ends; ++i) {
    if (ends[i] <= static_cast<i64>(at) || ends[i] > static_cast<i64>(n))
      throw Error(ErrorKind::value, "encoder: the ends of pretokens must ascend and lie in the text");
    pretoken(s, at, static_cast<std::size_t>(ends[i]), n, state, out);
    at = static_cast<std::size_t>(ends[i]);
  }
  if (at != n) throw Error(ErrorKind::value, "encoder: the last pretoken must end where the text ends");
}

u64 Encoder::count(const u8* s, std::size_t n, const Specials* specials, State& state) const {
  u64 total = 0;
  state.counted.clear();
  encode_with(s, n, specials, state, state.counted, [&] {
    if (state.counted.size() < 4096) return;
    total += state.counted.size();
    state.counted.clear();
  });
  return total + state.counted.size();
}

void Encoder::encode_batch(const std::vector<std::string_view>& documents, const Specials* specials, unsigned threads,
                           IdBuffer& out, std::vector<i64>& counts) const {
  std::size_t total = 0;
  for (const auto& document : documents) total += document.size();
  // A thread costs some 20 microseconds to start: it should have at least 64 KiB to do.
  const std::size_t useful = std::clamp<std::size_t>(threads, 1, total / 65536 + 1);

  // What is encoded at once: a document, or a part of a large one, between places where it may be cut.
  struct Unit {
    std::size_t document, from, to;
    i64 count = 0;
  };
  std::vector<Unit> units;
  const std::size_t large = std::max<std::size_t>(total / useful / 2, 65536);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const u8* const s = reinterpret_cast<const u8*>(documents[i].data());
    const std::size_t n = documents[i].size();
    std::size_t from = 0;
    while (useful > 1 && n - from > 2 * large) {
      const std::size_t to = splitter().safe_cut(s, from + large, n, specials);
      units.push_back({i, from, to});
      from = to;
    }
    units.push_back({i, from, n});
  }

  const auto work = [&](std::size_t first, std::size_t end, State& state, IdBuffer& ids) {
    for (std::size_t k = first; k < end; ++k) {
      Unit& unit = units[k];
      const std::size_t before = ids.size();
      const u8* const s = reinterpret_cast<const u8*>(documents[unit.document].data());
      try {
        encode(s + unit.from, unit.to - unit.from, specials, state, ids);
      } catch (UnknownCharacter& error) {
        error.document = unit.document;
        error.offset += unit.from;
        throw;
      }
      unit.count = static_cast<i64>(ids.size() - before);
    }
  };
  struct Share {
    std::size_t first, end;
    IdBuffer ids;
    std::exception_ptr error;
  };
  std::vector<Share> shares;
  std::size_t next = 0, seen = 0;
  for (std::size_t k = 0; k < useful; ++k) {
    const std::size_t first = next;
    while (next < units.size() && (seen < total * (k + 1) / useful || k + 1 == useful)) {
      seen += units[next].to - units[next].from;
      ++next;
    }
    if (next > first) shares.push_back({first, next, {}, nullptr});
  }
  std::vector<std::unique_ptr<Lease>> leases;
  for (std::size_t k = 0; k < shares.size(); ++k) leases.push_back(std::make_unique<Lease>(*this));
  const auto run = [&](std::size_t k) {
    try {
      work(shares[k].first, shares[k].end, **leases[k], shares[k].ids);
    } catch (...) {
      shares[k].error = std::current_exception();
    }
  };
  std::vector<std::thread> workers;
  std::size_t started = std::min<std::size_t>(shares.size(), 1);
  try {
    for (; started < shares.size(); ++started) workers.emplace_back(run, started);
  } catch (const std::system_error&) {
    // no more threads to be had: the rest is done here
  }
  if (!shares.empty()) run(0);
  for (std::size_t k = started; k < shares.size(); ++k) run(k);
  for (auto& worker : workers) worker.join();
  for (auto& share : shares) {
    if (share.error) std::rethrow_exception(share.error);
    if (out.size() == 0 && shares.size() == 1)
      out = std::move(share.ids);
    else
      out.append(share.ids.data(), share.ids.size());
  }
  counts.assign(documents.size(), 0);
  for (const Unit& unit : units) counts[unit.document] += unit.count;
}

}  // namespace bytepair
