#include "pairs.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "errors.hpp"

namespace bytepair {

void PairTable::resize(std::size_t slots) {
  std::vector<Slot> old(slots, Slot{kEmpty, kNone, kNone});
  old.swap(slots_);
  mask_ = slots - 1;
  shift_ = 64;
  for (std::size_t s = slots; s > 1; s /= 2) --shift_;
  for (const Slot& slot : old) {
    if (slot.key == kEmpty) continue;
    std::size_t i = place(slot.key);
    while (slots_[i].key != kEmpty) i = (i + 1) & mask_;
    slots_[i] = slot;
  }
}

bool PairTable::insert(u32 left, u32 right, u32 rank, u32 id) {
  if ((size_ + 1) * 2 > slots_.size()) resize(slots_.size() * 2);
  const u64 key = join(left, right);
  std::size_t i = place(key);
  for (; slots_[i].key != kEmpty; i = (i + 1) & mask_) {
    if (slots_[i].key == key) return false;
  }
  slots_[i] = {key, rank, id};
  ++size_;
  return true;
}

PairTable PairTable::of_merges(const u32* left, const u32* right, const u32* ids, const u32* ranks,
                               std::size_t n) {
  PairTable table;
  for (std::size_t i = 0; i < n; ++i) {
    const u32 rank = ranks ? ranks[i] : static_cast<u32>(i);
    if (rank == kNone) throw Error(ErrorKind::vocabulary, "merge " + std::to_string(i) + " has a rank that is none");
    if (!table.insert(left[i], right[i], rank, ids[i]))
      throw Error(ErrorKind::vocabulary, "merge " + std::to_string(i) + " is given twice");
  }
  return table;
}

PairTable PairTable::of_ranks(const TokenTable& tokens) {
  std::vector<std::size_t> lengths;  // that tokens have: only there can a token be split in two
  for (std::size_t i = 0; i < tokens.size(); ++i) lengths.push_back(tokens.token(i).size());
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  PairTable table;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view whole = tokens.token(i);
    const u8* const p = reinterpret_cast<const u8*>(whole.data());
    for (const std::size_t k : lengths) {
      if (k == 0) continue;
      if (k >= whole.size()) break;
      const u32 left = tokens.find(p, k);
      if (left == kNone) continue;
      const u32 right = tokens.find(p + k, whole.size() - k);
      if (right != kNone) table.insert(left, right, tokens.id(i), tokens.id(i));
    }
  }
  return table;
}

}  // namespace bytepair
