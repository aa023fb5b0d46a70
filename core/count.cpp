#include "count.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "errors.hpp"

namespace bytepair {

namespace {

bool before(u64 document, u64 offset, u64 other_document, u64 other_offset) {
  return document != other_document ? document < other_document : offset < other_offset;
}

u64 big_endian(u64 x) {
  u64 out = 0;
  for (int k = 0; k < 8; ++k) out = out << 8 | (x >> (8 * k) & 0xFF);
  return out;
}

// Sorts by `key`, stably, eleven bits at a time: words come in few ascending runs of places, or in any order of text.
template <class T>
void sort_by_key(std::vector<T>& items) {
  u64 most = 0;
  bool sorted = true;
  for (std::size_t i = 0; i < items.size(); ++i) {
    most |= items[i].key;
    sorted = sorted && (i == 0 || items[i - 1].key <= items[i].key);
  }
  if (sorted) return;
  std::vector<T> other(items.size());
  for (int shift = 0; shift < 64 && most >> shift; shift += 11) {
    std::size_t at[2048] = {};
    for (const T& item : items) ++at[item.key >> shift & 2047];
    std::size_t total = 0;
    for (std::size_t& place : at) {
      const std::size_t n = place;
      place = total;
      total += n;
    }
    for (const T& item : items) other[at[item.key >> shift & 2047]++] = item;
    items.swap(other);
  }
}

}  // namespace

void gather_words(const u8* text, const i64* offsets, std::size_t n_words, const i64* order, std::size_t n,
                  std::vector<u8>& out, std::vector<i64>& ends) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (order[i] < 0 || order[i] >= static_cast<i64>(n_words)) throw Error(ErrorKind::value, "words: a place is out of range");
    bytes += static_cast<std::size_t>(offsets[order[i] + 1] - offsets[order[i]]);
  }
  out.resize(bytes);
  ends.reserve(n + 1);
  ends.push_back(0);
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const auto length = static_cast<std::size_t>(offsets[order[i] + 1] - offsets[order[i]]);
    if (length) std::memcpy(out.data() + at, text + offsets[order[i]], length);
    at += length;
    ends.push_back(static_cast<i64>(at));
  }
}

Counter::Counter(std::optional<Splitter> splitter, std::optional<Specials> specials)
    : splitter_(std::move(splitter)), specials_(std::move(specials)) {
  if (specials_) line_specials_ = specials_->within_lines();
  clear();
}

void Counter::clear() {
  text_ = {};
  words_ = {};
  short_ = AlignedArray<Short>(256);
  medium_ = AlignedArray<Medium>(64);
  long_ = AlignedArray<Long>(64);
  n_short_ = n_medium_ = n_long_ = short_bytes_ = 0;
  latest_ = {0, 0};
}

i64 Counter::n_pretokens() const {
  i64 total = 0;
  for (const std::uintptr_t slot : slots_of_words()) total += found(slot).count;
  return total;
}

std::size_t Counter::bytes() const {
  const auto table = [](std::size_t used, std::size_t slots, std::size_t size) {
    return slots * size * (used * 8 > slots * 3 ? 3 : 1);  // both stand while words move from one to the next
  };
  return table(n_short_, short_.size(), sizeof(Short)) + table(n_medium_, medium_.size(), sizeof(Medium)) +
         table(n_long_, long_.size(), sizeof(Long)) + text_.capacity() + words_.capacity() * sizeof(Word) +
         words_.size() * 64 + short_bytes_ + text_.size();
}

// Makes room for so many words more, at most half of the slots taken.
void Counter::reserve(std::size_t n_short, std::size_t n_medium, std::size_t n_long) {
  const auto slots = [](std::size_t now, std::size_t wanted) {
    while (now < wanted * 2) now *= 2;
    return now;
  };
  if (const std::size_t n = slots(short_.size(), n_short_ + n_short); n > short_.size()) {
    AlignedArray<Short> old(n);
    std::swap(old, short_);
    for (const Short& slot : old) {
      if (slot.key.high == 0) continue;
      std::size_t i = slot.key.hash() & (n - 1);
      while (short_[i].key.high != 0) i = (i + 1) & (n - 1);
      short_[i] = slot;
    }
  }
  if (const std::size_t n = slots(medium_.size(), n_medium_ + n_medium); n > medium_.size()) {
    AlignedArray<Medium> old(n);
    std::swap(old, medium_);
    for (const Medium& slot : old) {
      if (slot.key.word[3] == 0) continue;
      std::size_t i = slot.key.hash() & (n - 1);
      while (medium_[i].key.word[3] != 0) i = (i + 1) & (n - 1);
      medium_[i] = slot;
    }
  }
  if (const std::size_t n = slots(long_.size(), n_long_ + n_long); n > long_.size()) {
    AlignedArray<Long> old(n);
    std::swap(old, long_);
    for (const Long& slot : old) {
      if (slot.count == 0) continue;
      std::size_t i = slot.hash & (n - 1);
      while (long_[i].count != 0) i = (i + 1) & (n - 1);
      long_[i] = slot;
    }
  }
}

u32 Counter::new_word(Word place) {
  if (words_.size() >= kNone - 1) throw Error(ErrorKind::training, "the corpus has more than 4294967293 distinct pretokens");
  words_.push_back(place);
  return static_cast<u32>(words_.size() - 1);
}

inline void Counter::again(i64& count, i64 more, u32 word, Word place) {
  if (more > std::numeric_limits<i64>::max() - count)
    throw Error(ErrorKind::training, "a pretoken comes more than 2^63 - 1 times; the counts are too high to be added");
  count += more;
  if (ordered_) return;
  Word& first = words_[word];
  if (before(place.document, place.offset, first.document, first.offset)) first = place;
}

void Counter::add_short(const ShortKey& key, u64 hash, i64 count, Word place) {
  const std::size_t mask = short_.size() - 1;
  std::size_t i = hash & mask;
  for (; short_[i].key.high != 0; i = (i + 1) & mask) {
    if (short_[i].key == key) return again(short_[i].count, count, short_[i].word, place);
  }
  short_[i] = {key, count, new_word(place), 0};
  short_bytes_ += key.high >> 56;
  ++n_short_;
  reserve(1, 0, 0);
}

void Counter::add_medium(const MediumKey& key, u64 hash, i64 count, Word place) {
  const std::size_t mask = medium_.size() - 1;
  std::size_t i = hash & mask;
  for (; medium_[i].key.word[3] != 0; i = (i + 1) & mask) {
    if (medium_[i].key == key) return again(medium_[i].count, count, medium_[i].word, place);
  }
  medium_[i] = {key, count, new_word(place), {}};
  short_bytes_ += key.word[3] >> 56;
  ++n_medium_;
  reserve(0, 1, 0);
}

void Counter::add_long(const u8* p, std::size_t n, i64 count, Word place) {
  const u64 hash = hash_bytes(p, n);
  const std::size_t mask = long_.size() - 1;
  std::size_t i = hash & mask;
  for (; long_[i].count != 0; i = (i + 1) & mask) {
    Long& slot = long_[i];
    if (slot.hash == hash && slot.length == n && std::memcmp(text_.data() + slot.start, p, n) == 0)
      return again(slot.count, count, slot.word, place);
  }
  long_[i] = {hash, text_.size(), n, count, new_word(place)};
  text_.insert(text_.end(), p, p + n);
  ++n_long_;
  reserve(0, 0, 1);
}

void Counter::add(const u8* p, std::size_t n, std::size_t room, i64 count, Word place) {
  if (n <= ShortKey::kMax) {
    const ShortKey key = short_key(p, n, room);
    return add_short(key, key.hash(), count, place);
  }
  if (n > MediumKey::kMax) return add_long(p, n, count, place);
  const MediumKey key = medium_key(p, n, room);
  add_medium(key, key.hash(), count, place);
}

// Pretoken after pretoken, in two passes: keys first, which asks the memory for the slots, then the counting. The text
// stands `offset` bytes into its document.
void Counter::pretokens(const u8* s, std::size_t n, std::size_t start, const std::size_t* ends, std::size_t k,
                        u64 document, u64 offset) {
  ordered_ = !before(document, offset + start, latest_.document, latest_.offset);
  if (ordered_) latest_ = {document, offset + ends[k - 1]};
  // The last ones end where no more bytes may be read behind them.
  std::size_t bulk = k;
  while (bulk > 0 && (bulk == 1 ? start : ends[bulk - 2]) + 32 > n) --bulk;
  if (!ordered_) bulk = 0;
  if (keys_.size() < bulk) {
    keys_.resize(bulk);
    hashes_.resize(bulk);
  }
  ShortKey* const keys = keys_.data();
  u64* const hashes = hashes_.data();
  std::size_t at = start;
  {
    const Short* const slots = &short_[0];
    const Medium* const medium = &medium_[0];
    const std::size_t mask = short_.size() - 1, medium_mask = medium_.size() - 1;
    for (std::size_t j = 0; j < bulk; ++j) {
      const std::size_t length = ends[j] - at;
      if (length <= ShortKey::kMax) {
        keys[j] = open_short_key(s + at, length);
        hashes[j] = keys[j].hash();
        prefetch(&slots[hashes[j] & mask]);
      } else if (length <= MediumKey::kMax) {
        hashes[j] = medium_key(s + at, length, 32).hash();
        prefetch(&medium[hashes[j] & medium_mask]);
      }
      at = ends[j];
    }
  }
  for (std::size_t i = 0; i < bulk; ++i) {
    const std::size_t end = ends[i], length = end - start;
    if (length <= ShortKey::kMax) {
      Short& slot = short_[hashes[i] & (short_.size() - 1)];
      if (slot.key == keys[i])
        ++slot.count;
      else
        add_short(keys[i], hashes[i], 1, {document, offset + start});
    } else if (length <= MediumKey::kMax) {
      const MediumKey key = medium_key(s + start, length, 32);
      Medium& slot = medium_[hashes[i] & (medium_.size() - 1)];
      if (slot.key == key)
        ++slot.count;
      else
        add_medium(key, hashes[i], 1, {document, offset + start});
    } else {
      add_long(s + start, length, 1, {document, offset + start});
    }
    start = end;
  }
  for (std::size_t i = bulk; i < k; ++i) {
    add(s + start, ends[i] - start, n - start, 1, {document, offset + start});
    start = ends[i];
  }
}

void Counter::feed(const u8* s, std::size_t n, u64 document, bool last, u64 offset, bool by_line) {
  if (!splitter_) throw Error(ErrorKind::value, "counter: this pattern's pretokens are cut outside of the core");
  if ((stream_.pending() > 0 || line_open_) && (document != document_ || by_line != by_line_))
    throw Error(ErrorKind::value, "counter: the document before this one was not ended");
  if (document != document_) fed_ = 0;
  document_ = document;
  by_line_ = by_line;
  if (by_line)
    feed_lines(s, n, document, last, offset);
  else
    feed_stream(s, n, document, last, offset);
}

void Counter::feed_stream(const u8* s, std::size_t n, u64 document, bool last, u64 offset) {
  const Specials* const specials = by_line_ ? (line_specials_ ? &*line_specials_ : nullptr)
                                            : (specials_ ? &*specials_ : nullptr);
  stream_.feed(
      *splitter_, specials, s, n, last,
      [&](const u8* text, std::size_t size, std::size_t start, const std::size_t* ends, std::size_t k) {
        pretokens(text, size, start, ends, k, document, offset + stream_.offset());
      },
      [](u32) {});
}

// What is whole lines is cut at once; a line that begins in one piece and ends in another is streamed as any text.
void Counter::feed_lines(const u8* s, std::size_t n, u64 document, bool last, u64 offset) {
  std::size_t at = 0;
  if (line_open_) {
    const void* const hit = n ? std::memchr(s, '\n', n) : nullptr;
    at = hit ? static_cast<std::size_t>(static_cast<const u8*>(hit) - s) + 1 : n;
    line_open_ = !hit && !last;
    feed_stream(s, at, document, !line_open_, offset + line_start_);
  }
  std::size_t end = n;
  while (!last && end > at && s[end - 1] != '\n') --end;
  for_each_piece<true>(
      *splitter_, line_specials_ ? &*line_specials_ : nullptr, cursor_, s, at, end, 0,
      [&](std::size_t start, const std::size_t* ends, std::size_t k) {
        pretokens(s, n, start, ends, k, document, offset + fed_);
      },
      [](u32) {});
  if (end < n) {
    line_open_ = true;
    line_start_ = fed_ + end;
    feed_stream(s + end, n - end, document, false, offset + line_start_);
  }
  fed_ = last ? 0 : fed_ + n;
}

void Counter::feed_ends(const u8* s, std::size_t n, const i64* ends, std::size_t n_ends, u64 document, u64 offset) {
  std::size_t at = 0;
  ordered_ = false;
  for (std::size_t i = 0; i < n_ends; ++i) {
    if (ends[i] <= static_cast<i64>(at) || ends[i] > static_cast<i64>(n))
      throw Error(ErrorKind::value, "counter: the ends of pretokens must ascend and lie in the text");
    const std::size_t end = static_cast<std::size_t>(ends[i]);
    add(s + at, end - at, n - at, 1, {document, offset + at});
    at = end;
  }
  // What stands behind all of this may be fed in order again.
  if (before(latest_.document, latest_.offset, document, offset + at)) latest_ = {document, offset + at};
}

void Counter::add_words(const u8* text, const i64* offsets, const i64* counts, const i64* documents, const i64* places,
                        std::size_t n) {
  ordered_ = false;
  latest_ = {~u64{0}, ~u64{0}};
  for (std::size_t i = 0; i < n; ++i) {
    if (offsets[i] >= offsets[i + 1] || counts[i] <= 0 || documents[i] < 0 || places[i] < 0)
      throw Error(ErrorKind::value, "counter: a word is empty, its count not positive, or its place negative");
    const auto from = static_cast<std::size_t>(offsets[i]);
    add(text + from, static_cast<std::size_t>(offsets[i + 1]) - from, static_cast<std::size_t>(offsets[n]) - from,
        counts[i], {static_cast<u64>(documents[i]), static_cast<u64>(places[i])});
  }
}

void Counter::merge(const Counter& other) {
  ordered_ = false;
  latest_ = {~u64{0}, ~u64{0}};
  // Room at once: slots that come in the order of their hashes would crowd a table that grows as they come.
  reserve(other.n_short_, other.n_medium_, other.n_long_);
  constexpr std::size_t kAhead = 16;
  for (std::size_t i = 0; i < other.short_.size(); ++i) {
    if (i + kAhead < other.short_.size()) prefetch(&short_[other.short_[i + kAhead].key.hash() & (short_.size() - 1)]);
    const Short& slot = other.short_[i];
    if (slot.key.high != 0) add_short(slot.key, slot.key.hash(), slot.count, other.words_[slot.word]);
  }
  for (const Medium& slot : other.medium_) {
    if (slot.key.word[3] != 0) add_medium(slot.key, slot.key.hash(), slot.count, other.words_[slot.word]);
  }
  for (const Long& slot : other.long_) {
    if (slot.count != 0) add_long(other.text_.data() + slot.start, slot.length, slot.count, other.words_[slot.word]);
  }
}

// Where each word lies, by its number: the address of its slot, and in the lowest two bits which table it is of.
std::vector<std::uintptr_t> Counter::slots_of_words() const {
  std::vector<std::uintptr_t> slots(words_.size());
  for (const Short& slot : short_) {
    if (slot.key.high != 0) slots[slot.word] = reinterpret_cast<std::uintptr_t>(&slot);
  }
  for (const Medium& slot : medium_) {
    if (slot.key.word[3] != 0) slots[slot.word] = reinterpret_cast<std::uintptr_t>(&slot) | 1;
  }
  for (const Long& slot : long_) {
    if (slot.count != 0) slots[slot.word] = reinterpret_cast<std::uintptr_t>(&slot) | 2;
  }
  return slots;
}

// The bytes of a key lie in memory as they stand in the text where the machine is little-endian, as all are that the
// keys are made for.
Counter::Found Counter::found(std::uintptr_t tagged) const {
  const std::uintptr_t address = tagged & ~std::uintptr_t{3};
  if ((tagged & 3) == 0) {
    const Short& slot = *reinterpret_cast<const Short*>(address);
    return {reinterpret_cast<const u8*>(&slot.key), slot.key.high >> 56, slot.count};
  }
  if ((tagged & 3) == 1) {
    const Medium& slot = *reinterpret_cast<const Medium*>(address);
    return {reinterpret_cast<const u8*>(&slot.key), slot.key.word[3] >> 56, slot.count};
  }
  const Long& slot = *reinterpret_cast<const Long*>(address);
  return {text_.data() + slot.start, slot.length, slot.count};
}

// The words that are wanted, in order.
std::vector<u32> Counter::order(const std::vector<std::uintptr_t>& slots, bool by_text, i64 min_count) const {
  std::vector<u32> order;
  order.reserve(words_.size());
  for (std::size_t i = 0; i < words_.size(); ++i) {
    if (min_count <= 1 || found(slots[i]).count >= min_count) order.push_back(static_cast<u32>(i));
  }
  const auto earlier = [&](u32 a, u32 b) {
    return before(words_[a].document, words_[a].offset, words_[b].document, words_[b].offset);
  };
  // Text that was fed in its order, by one thread, gave its words in order.
  if (!by_text && std::adjacent_find(order.begin(), order.end(), [&](u32 a, u32 b) { return !earlier(a, b); }) == order.end())
    return order;

  struct Item {
    u64 key;
    u32 word;
  };
  std::vector<Item> items;
  items.reserve(order.size());
  const auto smaller_text = [&](const Item& a, const Item& b) {
    const Found x = found(slots[a.word]), y = found(slots[b.word]);
    const int compared = std::memcmp(x.text, y.text, std::min(x.length, y.length));
    return compared != 0 ? compared < 0 : x.length < y.length;
  };
  if (by_text) {
    for (const u32 word : order) {
      const Found it = found(slots[word]);
      items.push_back({big_endian(load_part(it.text, std::min<std::size_t>(it.length, 8))), word});
    }
    std::sort(items.begin(), items.end(),
              [&](const Item& a, const Item& b) { return a.key != b.key ? a.key < b.key : smaller_text(a, b); });
  } else {
    u64 most_document = 0, most_offset = 0;
    for (const u32 word : order) {
      most_document = std::max(most_document, words_[word].document);
      most_offset = std::max(most_offset, words_[word].offset);
    }
    const int shift = static_cast<int>(std::bit_width(most_offset));
    const bool packed = static_cast<int>(std::bit_width(most_document)) + shift <= 64 && shift < 64;
    for (const u32 word : order)
      items.push_back({packed ? words_[word].document << shift | words_[word].offset : 0, word});
    if (packed)
      sort_by_key(items);
    else
      std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) { return earlier(a.word, b.word); });
    for (std::size_t i = 0, end; i < items.size(); i = end) {
      for (end = i + 1; end < items.size() && !earlier(items[i].word, items[end].word); ++end) {
      }
      if (end - i > 1)
        std::sort(items.begin() + static_cast<std::ptrdiff_t>(i), items.begin() + static_cast<std::ptrdiff_t>(end), smaller_text);
    }
  }
  for (std::size_t i = 0; i < items.size(); ++i) order[i] = items[i].word;
  return order;
}

Counter::Words Counter::words(bool by_text, i64 min_count) const {
  const std::vector<std::uintptr_t> slots = slots_of_words();
  const std::vector<u32> wanted = order(slots, by_text, min_count);
  Words out;
  out.text.resize(short_bytes_ + text_.size());
  for (std::vector<i64>* column : {&out.offsets, &out.counts, &out.documents, &out.places}) column->reserve(wanted.size() + 1);
  out.offsets.push_back(0);
  std::size_t at = 0;
  constexpr std::size_t kAhead = 16;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i + kAhead < wanted.size()) prefetch(reinterpret_cast<const void*>(slots[wanted[i + kAhead]]));
    const Found word = found(slots[wanted[i]]);
    std::memcpy(out.text.data() + at, word.text, word.length);
    at += word.length;
    out.offsets.push_back(static_cast<i64>(at));
    out.counts.push_back(word.count);
    out.documents.push_back(static_cast<i64>(words_[wanted[i]].document));
    out.places.push_back(static_cast<i64>(words_[wanted[i]].offset));
  }
  out.text.resize(at);
  return out;
}

}  // namespace bytepair
