#include "count.hpp"

#include <algorithm>

#include "errors.hpp"

namespace bytepair {

Counter::Counter(std::optional<Splitter> splitter, std::optional<Specials> specials)
    : splitter_(std::move(splitter)),
      specials_(std::move(specials)),
      slots_(1024, Slot{{0, 0}, kNone, 0}),
      mask_(1023) {}

void Counter::grow() {
  std::vector<Slot> old(slots_.size() * 2, Slot{{0, 0}, kNone, 0});
  old.swap(slots_);
  mask_ = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.word == kNone) continue;
    std::size_t i = slot.key.hash() & mask_;
    while (slots_[i].word != kNone) i = (i + 1) & mask_;
    slots_[i] = slot;
  }
}

void Counter::add(const u8* p, std::size_t n, std::size_t room, i64 count, u64 document, u64 offset) {
  n_pretokens_ += count;
  const bool is_short = n <= ShortKey::kMax;
  const ShortKey key = is_short ? short_key(p, n, room) : ShortKey{hash_bytes(p, n), kLong};
  std::size_t i = key.hash() & mask_;
  for (; slots_[i].word != kNone; i = (i + 1) & mask_) {
    if (!(slots_[i].key == key)) continue;
    Word& word = words_[slots_[i].word];
    if (!is_short && (word.length != n || std::memcmp(text_.data() + word.start, p, n) != 0)) continue;
    word.count += count;
    if (document < word.document || (document == word.document && offset < word.offset)) {
      word.document = document;
      word.offset = offset;
    }
    return;
  }
  if (words_.size() >= kNone - 1) throw Error(ErrorKind::training, "the corpus has more than 4294967293 distinct pretokens");
  slots_[i] = {key, static_cast<u32>(words_.size()), 0};
  words_.push_back({text_.size(), n, document, offset, count});
  text_.insert(text_.end(), p, p + n);
  if (words_.size() * 2 > slots_.size()) grow();
}

void Counter::feed(const u8* s, std::size_t n, u64 document, bool last, u64 offset) {
  if (!splitter_) throw Error(ErrorKind::value, "counter: this pattern's pretokens are cut outside of the core");
  if (stream_.pending() > 0 && document != document_)
    throw Error(ErrorKind::value, "counter: the document before this one was not ended");
  document_ = document;
  stream_.feed(
      *splitter_, specials_ ? &*specials_ : nullptr, s, n, last,
      [&](const u8* text, std::size_t size, std::size_t start, const std::size_t* ends, std::size_t k) {
        for (std::size_t i = 0; i < k; ++i) {
          add(text + start, ends[i] - start, size - start, 1, document, offset + stream_.offset() + start);
          start = ends[i];
        }
      },
      [](u32) {});
}

void Counter::feed_ends(const u8* s, std::size_t n, const i64* ends, std::size_t n_ends, u64 document, u64 offset) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < n_ends; ++i) {
    if (ends[i] <= static_cast<i64>(at) || ends[i] > static_cast<i64>(n))
      throw Error(ErrorKind::value, "counter: the ends of pretokens must ascend and lie in the text");
    const std::size_t end = static_cast<std::size_t>(ends[i]);
    add(s + at, end - at, n - at, 1, document, offset + at);
    at = end;
  }
}

void Counter::merge(const Counter& other) {
  for (const Word& word : other.words_) {
    const u8* p = other.text_.data() + word.start;
    add(p, word.length, other.text_.size() - word.start, word.count, word.document, word.offset);
  }
}

Counter::Words Counter::words() const {
  std::vector<u32> order(words_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<u32>(i);
  std::sort(order.begin(), order.end(), [&](u32 a, u32 b) {
    const Word &x = words_[a], &y = words_[b];
    return x.document != y.document ? x.document < y.document : x.offset < y.offset;
  });
  Words out;
  out.text.reserve(text_.size());
  out.offsets.reserve(order.size() + 1);
  out.counts.reserve(order.size());
  out.offsets.push_back(0);
  for (const u32 i : order) {
    const Word& word = words_[i];
    out.text.insert(out.text.end(), text_.begin() + static_cast<std::ptrdiff_t>(word.start),
                    text_.begin() + static_cast<std::ptrdiff_t>(word.start + word.length));
    out.offsets.push_back(static_cast<i64>(out.text.size()));
    out.counts.push_back(word.count);
  }
  return out;
}

}  // namespace bytepair
