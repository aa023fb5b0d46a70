#include "dropout.hpp"

#include <algorithm>
#include <exception>
#include <functional>

#include "errors.hpp"
#include "workers.hpp"

namespace bytepair {

void DropoutMerger::merge(std::vector<u32>& symbols, Draws draws, u64 threshold) {
  if (symbols.size() <= kScanLimit)
    merge_by_scan(symbols, draws, threshold);
  else
    merge_by_heap(symbols, draws, threshold);
}

void DropoutMerger::merge_by_scan(std::vector<u32>& symbols, Draws draws, u64 threshold) {
  const auto left_out = [&] { return draws.next() < threshold; };
  while (symbols.size() > 1) {
    places_.clear();
    ranks_.assign(symbols.size(), kNone);
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      ranks_[i] = pairs_.rank(symbols[i], symbols[i + 1]);
      if (ranks_[i] != kNone) places_.push_back(static_cast<u32>(i));
    }
    std::sort(places_.begin(), places_.end(),
              [&](u32 a, u32 b) { return ranks_[a] != ranks_[b] ? ranks_[a] < ranks_[b] : a < b; });
    std::size_t k = 0;
    while (k < places_.size() && left_out()) ++k;
    if (k == places_.size()) return;
    const u32 rank = ranks_[places_[k]];
    batch_.assign(1, places_[k]);
    if (order_ == Order::whole_rank) {
      for (++k; k < places_.size() && ranks_[places_[k]] == rank; ++k) {
        if (places_[k] != batch_.back() + 1 && !left_out()) batch_.push_back(places_[k]);
      }
    }
    for (std::size_t gone = 0; gone < batch_.size(); ++gone) {
      const std::size_t i = static_cast<std::size_t>(batch_[gone]) - gone;
      symbols[i] = pairs_.made(symbols[i], symbols[i + 1], rank);
      symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }
}

// What is left out of a step goes back into the heap at its end: some p / (1 - p) places, or all where they are fewer.
void DropoutMerger::merge_by_heap(std::vector<u32>& symbols, Draws draws, u64 threshold) {
  const std::size_t n = symbols.size();
  if (n >= kNone) throw Error(ErrorKind::value, "a pretoken has more than 4294967294 symbols");
  if (n < 2) return;
  const auto left_out = [&] { return draws.next() < threshold; };
  const auto later = std::greater<u64>();
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
  std::make_heap(heap_.begin(), heap_.end(), later);
  const auto push = [&](u64 entry) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), later);
  };
  const auto pop = [&] {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const u64 entry = heap_.back();
    heap_.pop_back();
    return entry;
  };
  const auto stands = [&](u64 entry) { return ranks_[static_cast<u32>(entry)] == entry >> 32; };
  const auto renew = [&](u32 i) {
    const u32 j = next_[i];
    ranks_[i] = j < n ? pairs_.rank(symbols[i], symbols[j]) : kNone;
    if (ranks_[i] != kNone) push(static_cast<u64>(ranks_[i]) << 32 | i);
  };
  for (;;) {
    left_out_.clear();
    batch_.clear();
    // A place that had its rank before, and has it again, has two entries: one draw.
    u64 entry = ~u64{0};
    while (!heap_.empty()) {
      const u64 found = pop();
      if (found == entry || !stands(found)) continue;
      entry = found;
      if (left_out()) {
        left_out_.push_back(found);
      } else {
        batch_.push_back(found);
        break;
      }
    }
    if (batch_.empty()) break;
    const u64 rank = entry >> 32;
    while (order_ == Order::whole_rank && !heap_.empty() && heap_.front() >> 32 == rank) {
      const u64 found = pop();
      if (found == entry || !stands(found)) continue;
      entry = found;
      if (next_[static_cast<u32>(batch_.back())] == static_cast<u32>(found)) continue;
      if (left_out())
        left_out_.push_back(found);
      else
        batch_.push_back(found);
    }
    for (const u64 one : batch_) {
      const u32 i = static_cast<u32>(one), j = next_[i];
      symbols[i] = pairs_.made(symbols[i], symbols[j], ranks_[i]);
      ranks_[j] = kNone;
      next_[i] = next_[j];
      if (next_[j] < n) previous_[next_[j]] = i;
      renew(i);
      if (previous_[i] != kNone) renew(previous_[i]);
    }
    for (const u64 one : left_out_) {
      if (stands(one)) push(one);
    }
  }
  std::size_t to = 0;
  for (std::size_t i = 0; i < n; i = next_[i]) symbols[to++] = symbols[i];
  symbols.resize(to);
}

DropoutEncoder::DropoutEncoder(Alphabet alphabet, PairTable pairs, Order order, std::optional<Splitter> splitter,
                               std::optional<ClassTable> dropped)
    : alphabet_(std::move(alphabet)),
      pairs_(std::move(pairs)),
      order_(order),
      splitter_(std::move(splitter)),
      dropped_(std::move(dropped)) {}

const Splitter& DropoutEncoder::splitter() const {
  if (!splitter_) throw Error(ErrorKind::value, "encoder: this pattern's pretokens are cut outside of the core");
  return *splitter_;
}

void DropoutEncoder::pretoken(const u8* s, std::size_t start, std::size_t end, u64 offset, Dropout dropout, Work& work,
                              IdBuffer& out) const {
  if (dropped_ && dropped_->run(s, start, end, 1) == end) return;
  const u64 place = offset + start;
  alphabet_.symbols(s + start, end - start, place, work.symbols);
  work.merger.merge(work.symbols, Draws(dropout.seed, place), dropout.threshold);
  out.append(work.symbols.data(), work.symbols.size());
}

void DropoutEncoder::encode(const u8* s, std::size_t n, const Specials* specials, Dropout dropout, u64 offset,
                            IdBuffer& out) const {
  Work work(*this);
  Cursor cursor;
  for_each_piece(
      splitter(), specials, cursor, s, 0, n, 0,
      [&](std::size_t start, const std::size_t* ends, std::size_t k) {
        for (std::size_t i = 0; i < k; ++i) {
          pretoken(s, start, ends[i], offset, dropout, work, out);
          start = ends[i];
        }
      },
      [&](u32 id) { out.push(id); });
}

void DropoutEncoder::encode_ends(const u8* s, std::size_t n, const i64* ends, std::size_t n_ends, Dropout dropout,
                                 u64 offset, IdBuffer& out) const {
  Work work(*this);
  std::size_t at = 0;
  for (std::size_t i = 0; i < n_ends; ++i) {
    if (ends[i] <= static_cast<i64>(at) || ends[i] > static_cast<i64>(n))
      throw Error(ErrorKind::value, "encoder: the ends of pretokens must ascend and lie in the text");
    const std::size_t end = static_cast<std::size_t>(ends[i]);
    pretoken(s, at, end, offset, dropout, work, out);
    at = end;
  }
  if (at != n) throw Error(ErrorKind::value, "encoder: the last pretoken must end where the text ends");
}

void DropoutEncoder::feed(Stream& stream, const u8* s, std::size_t n, bool last, const Specials* specials,
                          Dropout dropout, IdBuffer& out) const {
  Work work(*this);
  stream.feed(
      splitter(), specials, s, n, last,
      [&](const u8* text, std::size_t, std::size_t start, const std::size_t* ends, std::size_t k) {
        for (std::size_t i = 0; i < k; ++i) {
          pretoken(text, start, ends[i], stream.offset(), dropout, work, out);
          start = ends[i];
        }
      },
      [&](u32 id) { out.push(id); });
}

void DropoutEncoder::encode_batch(const std::vector<GivenText>& documents, const Specials* specials,
                                  unsigned threads, Dropout dropout, IdBuffer& out, std::vector<i64>& counts) const {
  std::size_t total = 0;
  for (const auto& document : documents) total += document.size();
  // Waking a thread takes some 10 microseconds: it should have at least 64 KiB to do.
  const unsigned useful =
      static_cast<unsigned>(std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(total / 65536, 1)));
  struct Share {
    std::size_t first, end = 0;
    IdBuffer ids{};
    std::exception_ptr error = nullptr;
  };
  std::vector<Share> shares;
  const std::size_t size = useful == 1 ? total + 1 : std::max<std::size_t>(total / useful / 8, 65536);
  std::size_t in_share = size;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (in_share >= size) {
      shares.push_back({i});
      in_share = 0;
    }
    in_share += documents[i].size();
    shares.back().end = i + 1;
  }
  counts.assign(documents.size(), 0);
  run_in_parallel(shares.size(), useful, [&](std::size_t k) {
    Share& share = shares[k];
    std::size_t i = share.first;
    ByteBuffer own;
    try {
      for (; i < share.end; ++i) {
        const std::size_t before = share.ids.size();
        const std::string_view text = documents[i].bytes(own);
        encode(reinterpret_cast<const u8*>(text.data()), text.size(), specials, {dropout.seed + i, dropout.threshold}, 0, share.ids);
        counts[i] = static_cast<i64>(share.ids.size() - before);
      }
    } catch (UnknownCharacter& error) {
      error.document = i;
      share.error = std::current_exception();
    } catch (const Surrogates&) {
      share.error = std::make_exception_ptr(Surrogates(i));
    } catch (...) {
      share.error = std::current_exception();
    }
  });
  for (const Share& share : shares) {
    if (share.error) std::rethrow_exception(share.error);
    out.append(share.ids.data(), share.ids.size());
  }
}

}  // namespace bytepair
