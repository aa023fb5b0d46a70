// The encoder's side of threads: who has which state, and documents shared out among workers.
#include <algorithm>
#include <exception>

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
  return merger.scratch_bytes() + (symbols.capacity() + ids.capacity()) * sizeof(u32) +
         cursor.ends.capacity() * sizeof(std::size_t) + padded.capacity();
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

void Encoder::encode_batch(const std::vector<std::string_view>& documents, const Specials* specials, unsigned threads,
                           IdBuffer& out, std::vector<i64>& counts) const {
  std::size_t total = 0;
  for (const auto& document : documents) total += document.size();
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
    std::size_t first, end = 0, bytes = 0, start = 0;  // units, their text, and where its ids stand among all
    IdBuffer ids{};
    std::exception_ptr error = nullptr;
  };
  std::vector<Unit> units;
  std::vector<Share> shares;
  const std::size_t size = useful == 1 ? total + 1 : std::clamp<std::size_t>(total / useful / 16, 65536, 1 << 22);
  std::size_t in_share = size;
  const auto add = [&](std::size_t document, std::size_t from, std::size_t to) {
    if (in_share >= size) {
      shares.push_back({units.size()});
      in_share = 0;
    }
    units.push_back({document, from, to});
    in_share += to - from;
    shares.back().end = units.size();
    shares.back().bytes = in_share;
  };
  for (std::size_t i = 0; i < documents.size(); ++i) {
    const u8* const s = reinterpret_cast<const u8*>(documents[i].data());
    const std::size_t n = documents[i].size();
    std::size_t from = 0;
    while (useful > 1 && n - from > 2 * size) {
      const std::size_t to = splitter().safe_cut(s, from + size, n, specials);
      add(i, from, to);
      from = to;
    }
    add(i, from, n);
  }

  if (useful > 1) shared_words();  // before the first of them learns
  run_in_parallel(shares.size(), useful, [&](std::size_t k) {
    Share& share = shares[k];
    try {
      const Lease state(*this);
      share.ids.reserve(share.bytes / 4 + 16);
      for (std::size_t u = share.first; u < share.end; ++u) {
        Unit& unit = units[u];
        const std::size_t before = share.ids.size();
        const u8* const s = reinterpret_cast<const u8*>(documents[unit.document].data());
        try {
          encode(s + unit.from, unit.to - unit.from, specials, *state, share.ids);
        } catch (UnknownCharacter& error) {
          error.document = unit.document;
          error.offset += unit.from;
          throw;
        }
        unit.count = static_cast<i64>(share.ids.size() - before);
      }
    } catch (...) {
      share.error = std::current_exception();
    }
  });
  std::size_t n_ids = 0;
  for (Share& share : shares) {
    if (share.error) std::rethrow_exception(share.error);
    share.start = n_ids;
    n_ids += share.ids.size();
  }
  if (shares.size() == 1) {
    out = std::move(shares[0].ids);
  } else {
    u32* const to = out.room(n_ids);
    // The copying is shared too: most of its time is the first touch of the memory.
    run_in_parallel(shares.size(), useful, [&](std::size_t k) {
      if (shares[k].ids.size()) std::memcpy(to + shares[k].start, shares[k].ids.data(), shares[k].ids.size() * sizeof(u32));
    });
    out.add(n_ids);
  }
  counts.assign(documents.size(), 0);
  for (const Unit& unit : units) counts[unit.document] += unit.count;
}

}  // namespace bytepair
