// From text to pretokens and special tokens, whole or piece by piece: what counting and encoding share.
#pragma once

#include <algorithm>
#include <vector>

#include "specials.hpp"
#include "split.hpp"

namespace bytepair {

// Calls pretokens(start, ends, k) for k neighbouring pretokens, the first of which begins at start, and special(id) for
// all of s[from, n), in order. Each run between special tokens is cut on its own; the first one goes on behind
// s[from - context, from). With `lines`, each line of a run is cut on its own too.
template <bool lines = false, class OnPretokens, class OnSpecial>
void for_each_piece(const Splitter& splitter, const Specials* specials, Cursor& cursor, const u8* s, std::size_t from,
                    std::size_t n, std::size_t context, OnPretokens pretokens, OnSpecial special) {
  std::size_t at = from;
  while (at < n) {
    const Specials::Found found = specials ? specials->find(s, at, n) : Specials::Found{n, 0, kNone};
    if (at < found.start) {
      splitter.restart(cursor, s, at - (at == from ? context : 0), at);
      while (const std::size_t k = lines ? splitter.fill_lines(cursor, s, found.start)
                                         : splitter.fill(cursor, s, found.start, true)) {
        pretokens(at, cursor.ends.data(), k);
        at = cursor.ends[k - 1];
      }
    }
    at = found.start + found.length;
    if (found.id != kNone) special(found.id);
  }
}

// A text that comes in pieces, cut anywhere, within a character too. What it is cut into is what the whole text would
// be cut into; a piece's end waits until that is certain.
class Stream {
 public:
  // Calls pretokens(s, n, start, ends, k), within s[0, n), and special(id) for all that is certain. `last` ends the text,
  // and the stream is as new.
  template <class OnPretokens, class OnSpecial>
  void feed(const Splitter& splitter, const Specials* specials, const u8* piece, std::size_t size, bool last,
            OnPretokens pretokens, OnSpecial special) {
    // What waits is scanned again with what is new: not before there is enough of it, or many small pieces of a long
    // pretoken would cost its length squared.
    if (!last && waiting_.size() > kSmall && unscanned_ + size < waiting_.size() / 8) {
      waiting_.insert(waiting_.end(), piece, piece + size);
      unscanned_ += size;
      return;
    }
    unscanned_ = 0;
    const bool joined = !waiting_.empty();
    if (joined) waiting_.insert(waiting_.end(), piece, piece + size);
    const u8* const s = joined ? waiting_.data() : piece;
    const std::size_t n = joined ? waiting_.size() : size;
    const std::size_t done = certain(splitter, specials, s, n, last, pretokens, special);
    if (last) {
      waiting_.clear();
      context_ = 0;
      offset_ = 0;
      return;
    }
    const std::size_t gone = done - context_;
    if (joined)
      waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(gone));
    else
      waiting_.assign(s + gone, s + n);
    offset_ += gone;
  }

  std::size_t pending() const { return waiting_.size() - context_; }
  // Where s[0] of the callbacks stands in the text.
  u64 offset() const { return offset_; }

 private:
  static constexpr std::size_t kSmall = 1024;

  // Returns where the rest begins, and leaves in context_ how many bytes before it belong to the same run.
  template <class OnPretokens, class OnSpecial>
  std::size_t certain(const Splitter& splitter, const Specials* specials, const u8* s, std::size_t n, bool last,
                      OnPretokens pretokens, OnSpecial special) {
    std::size_t at = context_;
    const auto whole = [&](std::size_t to) {
      for_each_piece(splitter, specials, cursor_, s, at, to, context_,
                     [&](std::size_t start, const std::size_t* ends, std::size_t k) { pretokens(s, n, start, ends, k); },
                     special);
      at = to;
      context_ = 0;
    };
    if (last) {
      whole(n);
      return n;
    }
    // A special token may begin in the last bytes and go on in what comes next. One that begins before them is whole,
    // and so is all that stands before it.
    const std::size_t hold = specials && specials->longest() ? specials->longest() - 1 : 0;
    while (specials) {
      const Specials::Found found = specials->find(s, at, n);
      if (found.id == kNone || found.start + hold >= n) break;
      whole(found.start + found.length);
    }
    // Of the rest, what ends before those bytes is certain if what follows within the text leaves no choice.
    if (n <= at + hold) return at;
    const std::size_t run = at - context_;
    splitter.restart(cursor_, s, run, at);
    while (const std::size_t k = splitter.fill(cursor_, s, n - hold, false)) {
      pretokens(s, n, at, cursor_.ends.data(), k);
      at = cursor_.ends[k - 1];
    }
    context_ = std::min<std::size_t>(at - run, 4);  // the last character, at least
    return at;
  }

  std::vector<u8> waiting_;  // context_ bytes that were handed out, then what is not certain
  std::size_t context_ = 0, unscanned_ = 0;
  u64 offset_ = 0;
  Cursor cursor_;
};

}  // namespace bytepair
