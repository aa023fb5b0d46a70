#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

#include "errors.hpp"
#include "merge.hpp"

namespace bytepair {

// Where a token comes out of merging, what merged within it is what would merge if it stood alone: the order of the steps
// within it is the same, and none went across its ends. So the last step is always the same, and of all the ways to split
// a token in two only that one can happen: a table of these gives the same ids as one of all, is some five times smaller,
// and far more of its look-ups end at once. The shorter tokens come first, for a token's parts are shorter than it is.
PairTable PairTable::of_ranks(const TokenTable& tokens) {
  std::vector<u32> order(tokens.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](u32 a, u32 b) { return tokens.token(a).size() < tokens.token(b).size(); });
  u32 letters[256];
  for (u32 b = 0; b < 256; ++b) {
    const u8 letter = static_cast<u8>(b);
    letters[b] = tokens.find(&letter, 1);
  }
  PairTable table;
  table.ids_are_ranks_ = true;
  std::size_t slots = 16;
  while (slots < 2 * tokens.size() + 2) slots *= 2;
  table.resize(slots);
  Merger merger(table, Order::one_place);
  std::vector<u32> symbols;
  for (const u32 i : order) {
    const std::string_view whole = tokens.token(i);
    if (tokens.id(i) > kMaxId)
      throw Error(ErrorKind::vocabulary, "rank " + std::to_string(tokens.id(i)) + " is above " + std::to_string(kMaxId));
    if (whole.size() < 2) continue;
    symbols.clear();
    for (const char c : whole) symbols.push_back(letters[static_cast<u8>(c)]);
    if (std::find(symbols.begin(), symbols.end(), kNone) != symbols.end()) continue;
    merger.merge(symbols);
    if (symbols.size() == 2) table.insert(symbols[0], symbols[1], tokens.id(i));
  }
  return table;
}

bool PairTable::reaches_all(const TokenTable& tokens, const u32* byte_ids) const {
  if (!ids_are_ranks_) return false;
  std::size_t wide = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view token = tokens.token(i);
    wide += token.size() > 1;
    if (token.size() == 1 && byte_ids[static_cast<u8>(token[0])] != tokens.id(i)) return false;
  }
  return wide == size_;
}

PairTable PairTable::of_every_split(const TokenTable& tokens) {
  std::vector<std::size_t> lengths;  // that tokens have: only there can a token be split in two
  std::vector<bool> seen;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t length = tokens.token(i).size();
    if (seen.size() <= length) seen.resize(length + 1);
    if (!seen[length]) lengths.push_back(length);
    seen[length] = true;
    if (tokens.id(i) > kMaxId)
      throw Error(ErrorKind::vocabulary, "rank " + std::to_string(tokens.id(i)) + " is above " + std::to_string(kMaxId));
  }
  std::sort(lengths.begin(), lengths.end());
  PairTable table;
  table.ids_are_ranks_ = true;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view whole = tokens.token(i);
    const u8* const p = reinterpret_cast<const u8*>(whole.data());
    for (const std::size_t k : lengths) {
      if (k == 0) continue;
      if (k >= whole.size()) break;
      const u32 left = tokens.find(p, k);
      if (left == kNone) continue;
      const u32 right = tokens.find(p + k, whole.size() - k);
      if (right != kNone) table.insert(left, right, tokens.id(i));
    }
  }
  return table;
}

}  // namespace bytepair
