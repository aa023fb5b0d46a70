// Counts the pretokens of a corpus: each distinct one, how often, and where it stood first. The text itself streams
// through and is not kept.
#pragma once

#include <optional>
#include <vector>

#include "stream.hpp"

namespace bytepair {

class Counter {
 public:
  // No splitter: the caller brings the ends of pretokens.
  Counter(std::optional<Splitter> splitter, std::optional<Specials> specials);

  // The next piece of a document, in order; `last` ends the document. What is not certain yet waits for the next piece.
  // A part of a document that others count too begins `offset` bytes into it.
  void feed(const u8* s, std::size_t n, u64 document, bool last, u64 offset);
  // Pretokens s[0, ends[0]), s[ends[0], ends[1]) ... that begin `offset` bytes into the document.
  void feed_ends(const u8* s, std::size_t n, const i64* ends, std::size_t n_ends, u64 document, u64 offset);
  // Adds another's words: counts are summed, the earlier first place stays.
  void merge(const Counter& other);

  struct Words {
    std::vector<u8> text;
    std::vector<i64> offsets, counts;
  };
  // The words in order of their first places.
  Words words() const;

  std::size_t n_words() const { return words_.size(); }
  std::size_t pending() const { return stream_.pending(); }
  i64 n_pretokens() const { return n_pretokens_; }

 private:
  struct Word {
    std::size_t start;  // in text_
    std::size_t length;
    u64 document, offset;
    i64 count;
  };
  void add(const u8* p, std::size_t n, std::size_t room, i64 count, u64 document, u64 offset);
  void grow();

  struct Slot {
    ShortKey key;  // of a short word; a long one has its hash in `low` and 1 << 63 in `high`
    u32 word;
    u32 unused;
  };
  static constexpr u64 kLong = u64{1} << 63;

  std::optional<Splitter> splitter_;
  std::optional<Specials> specials_;
  std::vector<u8> text_;
  std::vector<Word> words_;
  std::vector<Slot> slots_;
  std::size_t mask_;
  i64 n_pretokens_ = 0;

  Stream stream_;
  u64 document_ = 0;
};

}  // namespace bytepair
