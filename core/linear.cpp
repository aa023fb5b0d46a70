#include "linear.hpp"

#include <algorithm>

namespace bytepair {

Linear::Linear(const PairTable& pairs, bool whole_rank) : pairs_(pairs) {
  std::vector<Found> all(pairs.size()), found(pairs.size());
  std::size_t n = 0;
  u32 highest = 0, highest_rank = 0;
  pairs.each([&](u32 left, u32 right, u32 rank, u32 made) {
    all[n++] = {left, right, rank, made};
    highest = std::max({highest, left, right, made});
    highest_rank = std::max(highest_rank, rank);
  });
  std::vector<u32> starts(static_cast<std::size_t>(highest_rank) + 2, 0);
  for (const Found& pair : all) ++starts[pair.rank + 1];
  for (std::size_t rank = 1; rank < starts.size(); ++rank) starts[rank] += starts[rank - 1];
  for (const Found& pair : all) found[starts[pair.rank]++] = pair;

  parts_.resize(static_cast<std::size_t>(highest) + 1);
  if (!spelled_one_way(found) || (whole_rank && !in_order(found))) return;
  find_tokens(found);
}

// Whether every way to make a symbol spells the same atoms: by their number and a hash of them. Sets lengths_ and any
// parts of each.
bool Linear::spelled_one_way(const std::vector<Found>& found) {
  constexpr u64 kBase = 0x9E3779B97F4A7C15ull;
  for (const Found& pair : found) {
    if (parts_[pair.made].left == kNone) parts_[pair.made] = {pair.left, pair.right, kNone, kNone};
  }
  struct Spelling {
    u64 hash, power;  // power: of the base, to the length
  };
  std::vector<Spelling> spellings(parts_.size(), Spelling{0, 0});
  lengths_.assign(parts_.size(), 0);
  std::vector<u32> left;  // symbols whose parts are not spelled yet
  for (u32 id = 0; id < parts_.size(); ++id) {
    if (parts_[id].time == 0) {
      spellings[id] = {(id + 1) * 0xA0761D6478BD642Full, kBase};
      lengths_[id] = 1;
    }
  }
  const auto joined = [&](const u32 a, const u32 b) {
    return Spelling{spellings[a].hash * spellings[b].power + spellings[b].hash, spellings[a].power * spellings[b].power};
  };
  const auto spell_one = [&](u32 id) {
    const Parts& parts = parts_[id];
    if (lengths_[parts.left] == 0 || lengths_[parts.right] == 0) return false;
    if (lengths_[parts.left] + lengths_[parts.right] > kLongest) return false;
    spellings[id] = joined(parts.left, parts.right);
    lengths_[id] = lengths_[parts.left] + lengths_[parts.right];
    return true;
  };
  for (const Found& pair : found) {
    if (lengths_[pair.made] == 0 && !spell_one(pair.made)) left.push_back(pair.made);
  }
  // An unordered list: a round more for each part that is made later than its use, as far as they lie behind each other.
  for (int round = 0; !left.empty(); ++round) {
    const std::size_t before = left.size();
    left.erase(std::remove_if(left.begin(), left.end(), [&](u32 id) { return lengths_[id] != 0 || spell_one(id); }),
               left.end());
    if (left.size() == before || round > 64) return false;
  }
  return std::all_of(found.begin(), found.end(), [&](const Found& pair) {
    const Spelling whole = joined(pair.left, pair.right);
    return whole.hash == spellings[pair.made].hash && lengths_[pair.left] + lengths_[pair.right] == lengths_[pair.made];
  });
}

// Whether both orders are the same: no rank is shared, and every part of every pair is made before it.
bool Linear::in_order(const std::vector<Found>& found) const {
  std::vector<u32> last_made(parts_.size(), 0);  // the highest rank that makes it, from 1
  for (const Found& pair : found) last_made[pair.made] = pair.rank + 1;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i > 0 && found[i].rank == found[i - 1].rank) return false;
    if (last_made[found[i].left] > found[i].rank || last_made[found[i].right] > found[i].rank) return false;
  }
  return true;
}

// The symbols that merge to themselves when they stand alone: only these are ever tokens of a text.
void Linear::find_tokens(const std::vector<Found>& found) {
  Growing tree;
  tree.node.assign(parts_.size(), kNone);
  roots_.assign(parts_.size(), kNone);
  std::size_t slots = 1 << 10;
  while (slots < parts_.size() * 2) slots *= 2;
  slots_.assign(slots / 2, kEmpty);
  grow();
  for (u32 id = 0; id < parts_.size(); ++id) {
    if (parts_[id].time == 0) {
      roots_[id] = tree.node[id] = static_cast<u32>(tree.token.size());
      tree.token.push_back(id);
      tree.above.push_back(kNone);
    }
  }
  std::vector<u32> symbols;
  const auto add_from = [&](u32 node, u32 id) {
    for (const u32 symbol : symbols) node = add(tree, node, symbol);
    tree.token[node] = id;
    tree.node[id] = node;
  };
  // By rank, so that a regular token's parts are known: it merges to itself if a pair that makes it does, and nothing
  // goes over the joint before that.
  std::vector<u32> doubtful;
  for (const Found& pair : found) {
    if (tree.node[pair.made] != kNone) continue;
    const bool known = tree.node[pair.left] != kNone && tree.node[pair.right] != kNone &&
                       parts_[pair.left].time <= pair.rank && parts_[pair.right].time <= pair.rank;
    if (!known) {
      doubtful.push_back(pair.made);
    } else if (apart(pair.left, pair.right, pair.rank + 1)) {
      parts_[pair.made] = {pair.left, pair.right, pair.rank + 1, kNone};
      symbols.clear();
      spell(pair.right, symbols);
      add_from(tree.node[pair.left], pair.made);
    }
  }
  Scratch scratch;
  for (const u32 id : doubtful) {
    if (tree.node[id] != kNone) continue;
    scratch.symbols.clear();
    spell(id, scratch.symbols);
    symbols.assign(scratch.symbols.begin() + 1, scratch.symbols.end());
    const u32 root = roots_[scratch.symbols[0]];
    merge_alone(scratch);
    if (scratch.symbols.size() != 1 || scratch.symbols[0] != id) continue;  // two may be spelled alike
    irregular_.resize(parts_.size());
    irregular_[id] = true;
    add_from(root, id);
  }
  // A node's parent has the lower number.
  longest_.resize(tree.token.size());
  for (std::size_t node = 0; node < longest_.size(); ++node) {
    const u32 above = tree.above[node] == kNone ? kNone : longest_[tree.above[node]], id = tree.token[node];
    longest_[node] = id == kNone ? above : id;
    if (id != kNone) parts_[id].shorter = above;
  }
  usable_ = tree.token.size() <= kMaxNode;
}

// The node behind `node` on the way to a token.
u32 Linear::add(Growing& tree, u32 node, u32 symbol) {
  const u32 there = child(node, symbol);
  if (there != kNone) return there;
  if (2 * ++used_ > slots_.size()) grow();
  const u32 made = static_cast<u32>(tree.token.size());
  const u64 key = static_cast<u64>(node) << 21 | symbol;
  std::size_t i = place(key);
  while (slots_[i] != kEmpty) i = (i + 1) & mask_;
  slots_[i] = key << kNodeBits | (made & kMaxNode);
  tree.token.push_back(kNone);
  tree.above.push_back(node);
  return made;
}

void Linear::grow() {
  std::vector<u64> old(slots_.size() * 2, kEmpty);
  std::swap(old, slots_);
  mask_ = slots_.size() - 1;
  shift_ = 64;
  for (std::size_t s = slots_.size(); s > 1; s /= 2) --shift_;
  for (const u64 slot : old) {
    if (slot == kEmpty) continue;
    std::size_t i = place(slot >> kNodeBits);
    while (slots_[i] != kEmpty) i = (i + 1) & mask_;
    slots_[i] = slot;
  }
}

void Linear::spell(u32 id, std::vector<u32>& out) const {
  std::vector<u32> rest{id};
  while (!rest.empty()) {
    const u32 at = rest.back();
    rest.pop_back();
    if (parts_[at].time == 0) {
      out.push_back(at);
    } else {
      rest.push_back(parts_[at].right);
      rest.push_back(parts_[at].left);
    }
  }
}

// Whether the two, both regular, stay side by side up to `limit`: nothing goes over the border between them before.
bool Linear::apart(u32 left, u32 right, u32 limit) const {
  for (;;) {
    const u32 rank = pairs_.rank(left, right);
    if (rank != kNone && rank + 1 < limit) return false;
    const Parts& before = parts_[left];
    const Parts& behind = parts_[right];
    if ((before.time | behind.time) == 0) return true;
    // The later of the two merges is undone. Of two with one rank the left place goes first, and so does the border
    // before the right one's.
    if (before.time > behind.time) {
      limit = before.time;
      left = before.right;
    } else {
      limit = behind.time + 1;
      right = behind.left;
    }
  }
}

bool Linear::apart_by_merging(u32 left, u32 right, Scratch& scratch) const {
  scratch.symbols.clear();
  spell(left, scratch.symbols);
  spell(right, scratch.symbols);
  merge_alone(scratch);
  return scratch.symbols.size() == 2 && scratch.symbols[0] == left && scratch.symbols[1] == right;
}

// Merges scratch.symbols to the end, the lowest rank and its leftmost place first.
void Linear::merge_alone(Scratch& scratch) const {
  std::vector<u32>& symbols = scratch.symbols;
  std::vector<u32>& ranks = scratch.ranks;
  ranks.clear();
  for (std::size_t i = 0; i + 1 < symbols.size(); ++i) ranks.push_back(pairs_.rank(symbols[i], symbols[i + 1]));
  while (!ranks.empty()) {
    const auto lowest = std::min_element(ranks.begin(), ranks.end());
    if (*lowest == kNone) break;
    const std::size_t i = static_cast<std::size_t>(lowest - ranks.begin());
    symbols[i] = pairs_.made(symbols[i], symbols[i + 1], *lowest);
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    ranks.erase(lowest);
    if (i < ranks.size()) ranks[i] = pairs_.rank(symbols[i], symbols[i + 1]);
    if (i > 0) ranks[i - 1] = pairs_.rank(symbols[i - 1], symbols[i]);
  }
}

u32 Linear::longest(const u32* symbols, std::size_t n) const {
  u32 node = roots_[symbols[0]];
  for (std::size_t i = 1; i < n; ++i) {
    const u32 next = child(node, symbols[i]);
    if (next == kNone) break;
    node = next;
  }
  return longest_[node];
}

bool Linear::merge(const u32* symbols, std::size_t n, Scratch& scratch, std::vector<u32>& out) const {
  for (std::size_t i = 0; i < n; ++i) {
    if (symbols[i] >= roots_.size() || roots_[symbols[i]] == kNone) return false;
  }
  scratch.open.assign(n / 64 + 1, ~u64{0});
  const std::size_t first = out.size();
  std::size_t at = 0;
  u32 last = kNone, token = longest(symbols, n);
  while (at < n) {
    const std::size_t end = at + lengths_[token];
    if (scratch.open[end >> 6] >> (end & 63) & 1) {
      const bool fits = last == kNone || (is_regular(last) && is_regular(token) ? apart(last, token, kNone)
                                                                                : apart_by_merging(last, token, scratch));
      if (fits) {
        out.push_back(last = token);
        at = end;
        if (at < n) token = longest(symbols + at, n - at);
        continue;
      }
    }
    token = parts_[token].shorter;
    if (token != kNone) continue;
    // No token may stand here: nothing ends here, and the last token was too long or wrong.
    if (last == kNone) return false;
    scratch.open[at >> 6] &= ~(u64{1} << (at & 63));
    token = last;
    out.pop_back();
    at -= lengths_[token];
    last = out.size() > first ? out.back() : kNone;
  }
  return true;
}

}  // namespace bytepair
