// The encoder's side of threads: who has which state, and documents shared out among workers.
#include <algorithm>
#include <exception>
#include <mutex>

#include "encode.hpp"
#include "errors.hpp"
#include "workers.hpp"

namespace bytepair {

namespace {

// What a state keeps beside its cache. A pretoken of many megabytes needs far more, and gives it back.
constexpr std::size_t kScratch = 1 << 20;

// The first two threads have a half and a quarter of the budget, what all share an eighth, the others half of what is
// left each: so all together stay under it however many come.
constexpr std::size_t kShareOfShared = 8, kMostShared = 16 << 20;

std::size_t share_of(std::size_t number, std::size_t budget) {
  return number < 48 ? budget >> (number < 2 ? number + 1 : number + 2) : 0;
}

}  // namespace

std::size_t Encoder::State::scratch_bytes() const {
  return merger.scratch_bytes() + (symbols.capacity() + ids.capacity() + own_ids.capacity()) * sizeof(u32) +
         cursor.ends.capacity() * sizeof(std::size_t) + padded.capacity() + text.capacity() + (batch ? sizeof *batch : 0) + (lanes ? sizeof *lanes : 0);
}

// A state that would have less than a page has no cache. The first one is leased first: it has the largest, and has
// learned the most.
std::unique_ptr<Encoder::State> Encoder::take() const {
  std::size_t number;
  SharedWords* shared;
  {
    const ForkGuard guard(lock_);
    if (guard.left_behind) forget();
    shared = shared_.get();
    if (!idle_.empty()) {
      const auto first = std::min_element(idle_.begin(), idle_.end(),
                                          [](const auto& a, const auto& b) { return a->number < b->number; });
      std::swap(*first, idle_.back());
      auto state = std::move(idle_.back());
      idle_.pop_back();
      state->shared = shared;
      return state;
    }
    number = made_++;
  }
  if (number > 0) shared = shared_words();
  const std::size_t share = share_of(number, cache_bytes_);
  auto state = std::make_unique<State>(pairs_, order_, long_tables_, share >= 4096 ? share : 0);
  state->number = number;
  state->shared = shared;
  return state;
}

void Encoder::give_back(std::unique_ptr<State> state) const {
  if (state->scratch_bytes() > kScratch) {
    auto smaller = std::make_unique<State>(pairs_, order_, long_tables_, 0);
    std::swap(smaller->cache, state->cache);
    smaller->number = state->number;
    smaller->looked_up = state->looked_up;
    smaller->unknown = state->unknown;
    smaller->heard = state->heard;
    state = std::move(smaller);
  }
  const ForkGuard guard(lock_);
  if (guard.left_behind) forget();
  idle_.push_back(std::move(state));
}

SharedWords* Encoder::shared_words() const {
  {
    const ForkGuard guard(lock_);
    if (guard.left_behind) forget();
    if (shared_ || cache_bytes_ / kShareOfShared < 4096) return shared_.get();
  }
  // It takes too long to be made under the lock.
  auto made = std::make_unique<SharedWords>(std::min(cache_bytes_ / kShareOfShared, kMostShared));
  const ForkGuard guard(lock_);
  if (guard.left_behind) forget();
  if (!shared_) shared_ = std::move(made);
  return shared_.get();
}

// In a child of fork(), where another thread was about to change the list: what it held is left where it is.
void Encoder::forget() const {
  new (&idle_) std::vector<std::unique_ptr<State>>();
}

std::size_t Encoder::cached_bytes() const {
  const ForkGuard guard(lock_);
  if (guard.left_behind) forget();
  std::size_t total = shared_ ? shared_->bytes() : 0;
  for (const auto& state : idle_) total += state->cache.bytes();
  return total;
}

std::size_t Encoder::scratch_bytes() const {
  const ForkGuard guard(lock_);
  if (guard.left_behind) forget();
  std::size_t total = 0;
  for (const auto& state : idle_) total += state->scratch_bytes();
  return total;
}

void Encoder::encode_batch(const std::vector<GivenText>& documents, const Specials* specials, unsigned threads,
                           IdBuffer& out, std::vector<i64>& counts) const {
  std::size_t total = 0;
  for (const GivenText& document : documents) total += document.likely_bytes();
  // Waking a thread takes some 10 microseconds: it should have at least 64 KiB to do.
  const unsigned useful =
      static_cast<unsigned>(std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(total / 65536, 1)));

  // What is encoded at once: a document, or a part of a large one, between places where it may be cut. Neighbours make a
  // share, which one thread takes.
  struct Unit {
    std::size_t document, from, to;
    i64 count = 0;
  };
  struct Share {
    std::size_t first, end = 0, bytes = 0;  // units, and their text
    bool done = false;
    IdBuffer ids{};
    std::exception_ptr error = nullptr;
  };
  std::vector<Unit> units;
  std::vector<Share> shares;
  const std::size_t size = useful == 1 ? total + 1 : std::clamp<std::size_t>(total / useful / 16, 65536, 1 << 22);
  std::size_t in_share = size;
  const auto add = [&](std::size_t document, std::size_t from, std::size_t to, std::size_t bytes) {
    if (in_share >= size) {
      shares.push_back({units.size()});
      in_share = 0;
    }
    units.push_back({document, from, to});
    in_share += bytes;
    shares.back().end = units.size();
    shares.back().bytes = in_share;
  };
  std::vector<ByteBuffer> kept;  // the text of large documents, which is looked through before it is cut
  std::vector<std::string_view> large(documents.size());
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (useful == 1 || documents[i].likely_bytes() <= 2 * size) {
      add(i, 0, documents[i].size(), documents[i].likely_bytes());
      continue;
    }
    try {
      large[i] = documents[i].bytes(kept.emplace_back());
    } catch (const Surrogates&) {
      throw Surrogates(i);
    }
    const u8* const s = reinterpret_cast<const u8*>(large[i].data());
    const std::size_t n = large[i].size();
    std::size_t from = 0;
    while (n - from > 2 * size) {
      const std::size_t to = splitter().safe_cut(s, from + size, n, specials);
      add(i, from, to, to - from);
      from = to;
    }
    add(i, from, n, n - from);
  }

  if (useful > 1) shared_words();  // before the first of them learns
  // The ids of a share go to all others as soon as those before them are there, and their memory to another share: it has
  // been touched.
  std::mutex lock;
  std::vector<IdBuffer> free;
  std::size_t next = 0;
  bool moving = false;
  const auto hand_in = [&](Share& share) {
    std::unique_lock guard(lock);
    share.done = true;
    if (moving) return;
    moving = true;
    while (next < shares.size() && shares[next].done) {
      Share& first = shares[next++];
      guard.unlock();
      try {
        if (shares.size() == 1)
          out = std::move(first.ids);
        else
          out.append(first.ids.data(), first.ids.size());
      } catch (...) {
        first.error = std::current_exception();
      }
      first.ids.clear();
      guard.lock();
      free.push_back(std::move(first.ids));
    }
    moving = false;
  };
  if (shares.size() > 1) {
    out.reserve(likely_ids(total));
    free.reserve(shares.size());
  }
  run_in_parallel(shares.size(), useful, [&](std::size_t k) {
    Share& share = shares[k];
    try {
      const Lease state(*this);
      {
        const std::lock_guard guard(lock);
        if (!free.empty()) {
          share.ids = std::move(free.back());
          free.pop_back();
        }
      }
      share.ids.reserve(likely_ids(share.bytes));
      for (std::size_t u = share.first; u < share.end; ++u) {
        Unit& unit = units[u];
        const std::size_t before = share.ids.size();
        try {
          const std::string_view part = large[unit.document].empty() ? documents[unit.document].bytes((*state).text)
                                                                     : large[unit.document].substr(unit.from, unit.to - unit.from);
          encode(reinterpret_cast<const u8*>(part.data()), part.size(), specials, *state, share.ids);
        } catch (UnknownCharacter& error) {
          error.document = unit.document;
          error.offset += unit.from;
          throw;
        } catch (const Surrogates&) {
          throw Surrogates(unit.document);
        }
        unit.count = static_cast<i64>(share.ids.size() - before);
      }
    } catch (...) {
      share.error = std::current_exception();
    }
    hand_in(share);
  });
  for (const Share& share : shares) {
    if (share.error) std::rethrow_exception(share.error);
  }
  counts.assign(documents.size(), 0);
  for (const Unit& unit : units) counts[unit.document] += unit.count;
}

}  // namespace bytepair
