// Counts the pretokens of a corpus: each distinct one, how often, and where it stood first. The text itself streams
// through and is not kept.
//
// As in the word cache, words lie apart by their length, short and medium ones with their bytes in the slot, and are
// asked for ahead of time. What comes again costs one look at its slot: where a word stood first is written once, since
// text is fed in its order, and looked at again only where it is not.
#pragma once

#include <optional>
#include <vector>

#include "aligned.hpp"
#include "stream.hpp"

namespace bytepair {

// The words text[offsets[i], offsets[i + 1]) for the places i in `order`, one behind the other, and where they end.
void gather_words(const u8* text, const i64* offsets, std::size_t n_words, const i64* order, std::size_t n,
                  std::vector<u8>& out, std::vector<i64>& ends);

class Counter {
 public:
  // No splitter: the caller brings the ends of pretokens.
  Counter(std::optional<Splitter> splitter, std::optional<Specials> specials);

  // The next piece of a document, in order; `last` ends the document. What is not certain yet waits for the next piece.
  // A part of a document that others count too begins `offset` bytes into it. With `by_line` each line of the document,
  // with the \n that ends it, is cut as a text of its own; its place is still where it stands in the document.
  void feed(const u8* s, std::size_t n, u64 document, bool last, u64 offset, bool by_line = false);
  // Pretokens s[0, ends[0]), s[ends[0], ends[1]) ... that begin `offset` bytes into the document.
  void feed_ends(const u8* s, std::size_t n, const i64* ends, std::size_t n_ends, u64 document, u64 offset);
  // Adds words text[offsets[i], offsets[i + 1]) that were counted elsewhere, each with its first place: counts are
  // summed, the earlier first place stays.
  void add_words(const u8* text, const i64* offsets, const i64* counts, const i64* documents, const i64* places,
                 std::size_t n);
  // Adds another's words.
  void merge(const Counter& other);
  // Forgets all words; a document in hand goes on.
  void clear();

  struct Words {
    std::vector<u8> text;
    std::vector<i64> offsets, counts, documents, places;
  };
  // The words in order of their first places (equal places, which only words of different origin have: of their bytes),
  // or in order of their bytes. Those that come fewer than min_count times are left out.
  Words words(bool by_text = false, i64 min_count = 1) const;

  std::size_t n_words() const { return words_.size(); }
  std::size_t pending() const { return stream_.pending(); }
  i64 n_pretokens() const;
  // The memory that it has, or will have when it next grows, and what words() takes besides.
  std::size_t bytes() const;

 private:
  struct Word {
    u64 document, offset;
  };
  struct alignas(32) Short {
    ShortKey key;
    i64 count;
    u32 word, unused;
  };
  struct alignas(64) Medium {
    MediumKey key;
    i64 count;
    u32 word, unused[5];
  };
  struct Long {
    u64 hash;
    std::size_t start, length;  // in text_
    i64 count;                  // 0: empty
    u32 word;
  };
  static_assert(sizeof(Short) == 32 && sizeof(Medium) == 64);
  // A word wherever it lies.
  struct Found {
    const u8* text;
    std::size_t length;
    i64 count;
  };

  void feed_lines(const u8* s, std::size_t n, u64 document, bool last, u64 offset);
  void feed_stream(const u8* s, std::size_t n, u64 document, bool last, u64 offset);
  void pretokens(const u8* s, std::size_t n, std::size_t start, const std::size_t* ends, std::size_t k, u64 document,
                 u64 offset);
  void add(const u8* p, std::size_t n, std::size_t room, i64 count, Word place);
  void add_short(const ShortKey& key, u64 hash, i64 count, Word place);
  void add_medium(const MediumKey& key, u64 hash, i64 count, Word place);
  void add_long(const u8* p, std::size_t n, i64 count, Word place);
  void again(i64& count, i64 more, u32 word, Word place);
  u32 new_word(Word place);
  void reserve(std::size_t n_short, std::size_t n_medium, std::size_t n_long);
  std::vector<std::uintptr_t> slots_of_words() const;
  Found found(std::uintptr_t tagged) const;
  std::vector<u32> order(const std::vector<std::uintptr_t>& slots, bool by_text, i64 min_count) const;

  std::optional<Splitter> splitter_;
  std::optional<Specials> specials_, line_specials_;
  std::vector<u8> text_;  // of long words
  std::vector<Word> words_;
  AlignedArray<Short> short_;
  AlignedArray<Medium> medium_;
  AlignedArray<Long> long_;
  std::size_t n_short_ = 0, n_medium_ = 0, n_long_ = 0;
  std::size_t short_bytes_ = 0;  // text of the short and medium words

  Word latest_{0, 0};  // where what was fed last ended: what is fed behind it cannot move a first place
  bool ordered_ = true;

  Stream stream_;
  Cursor cursor_;
  std::vector<ShortKey> keys_;  // of the pretokens in hand, and their hashes
  std::vector<u64> hashes_;
  u64 document_ = 0;
  bool by_line_ = false, line_open_ = false;  // a line has begun and waits in stream_
  u64 fed_ = 0, line_start_ = 0;              // bytes of the document, and where that line began
};

}  // namespace bytepair
