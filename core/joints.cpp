#include "joints.hpp"

#include <algorithm>

namespace bytepair {

namespace {

struct Pair {
  u32 left, right, made;
};

// For each symbol the atom at the end of its chain of parts; empty where a chain has no end.
std::vector<u32> atoms_of(const std::vector<u32>& part) {
  std::vector<u32> atoms(part.size(), kNone);
  for (u32 id = 0; id < part.size(); ++id) {
    u32 at = id;
    for (std::size_t steps = 0; atoms[at] == kNone && part[at] != kNone; at = part[at]) {
      if (++steps > part.size()) return {};
    }
    const u32 atom = atoms[at] == kNone ? at : atoms[at];
    for (at = id; atoms[at] == kNone; at = part[at]) {
      atoms[at] = atom;
      if (part[at] == kNone) break;
    }
  }
  return atoms;
}

}  // namespace

Joints::Joints(const PairTable& pairs) {
  std::vector<Pair> all;
  all.reserve(pairs.size());
  u32 highest = 0;
  pairs.each([&](u32 left, u32 right, u32, u32 made) {
    all.push_back({left, right, made});
    highest = std::max({highest, left, right, made});
  });
  std::vector<u32> left_part(highest + 1, kNone), right_part(highest + 1, kNone);
  for (const Pair& pair : all) {
    left_part[pair.made] = pair.left;
    right_part[pair.made] = pair.right;
  }
  const std::vector<u32> first = atoms_of(left_part), last = atoms_of(right_part);
  // A table may say that a symbol is made of itself, or of this and of that: then no place is known to be a border.
  sound_ = !first.empty() && !last.empty();
  for (const Pair& pair : all) {
    sound_ = sound_ && first[pair.left] == first[pair.made] && last[pair.right] == last[pair.made];
  }
  ends_.resize(highest + 1);
  bits_.assign(257 * 257 / 64 + 1, sound_ ? 0 : ~u64{0});
  if (!sound_) return;
  std::vector<u32> numbers(highest + 1, 0);
  u32 n_atoms = 0;
  for (const Pair& pair : all) {
    for (const u32 atom : {first[pair.left], last[pair.left], first[pair.right], last[pair.right]}) {
      if (numbers[atom] == 0) numbers[atom] = ++n_atoms;
    }
  }
  for (u32 id = 0; id <= highest; ++id) ends_[id] = {numbers[first[id]], numbers[last[id]]};
  // Bytes have a bit for each two of them; many atoms share bits, which costs a cut now and then.
  if (n_atoms > 256) {
    last_factor_ = 0x9E3779B1u;
    first_factor_ = 0x85EBCA6Bu;
    shift_ = 32 - 19;
    bits_.assign(std::size_t{1} << (19 - 6), 0);
  }
  for (const Pair& pair : all) {
    const u32 at = (ends_[pair.left].last * last_factor_ + ends_[pair.right].first * first_factor_) >> shift_;
    bits_[at >> 6] |= u64{1} << (at & 63);
  }
}

}  // namespace bytepair
