#include "automaton.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "errors.hpp"

namespace bytepair {

Automaton::Automaton(ClassTable classes, const Tables& tables)
    : classes_(std::move(classes)), stride_(classes_.n_classes() + 1), width_(tables.width) {
  const auto check = [](bool sound, const char* what) {
    if (!sound) throw Error(ErrorKind::value, std::string("automaton: ") + what);
  };
  const std::size_t size = tables.next.size(), n_states = tables.levels.size();
  check(n_states > 0 && size == n_states * stride_, "next has a wrong size");
  check(tables.action.size() == size, "action has a wrong size");
  check(size < std::size_t{1} << (32 - kWorkBits), "it is too large");
  check(tables.begin.size() == stride_, "begin has a wrong size");
  check(tables.strong.size() == static_cast<std::size_t>(classes_.n_classes()) * classes_.n_classes(),
        "strong has a wrong size");
  check(tables.width > 0 && tables.width < 1024, "it has no level, or too many");
  const std::vector<u16> nothing{0, 0, 0}, border{1, 0, 1, 0, kHere};
  check(tables.actions.size() >= 2 && tables.actions.size() < 1u << (kWorkBits - 4), "it has too few or many actions");
  check(tables.actions[0] == nothing && tables.actions[1] == border, "actions 0 and 1 are not the common ones");
  for (const std::vector<u16>& code : tables.actions) {
    check(code.size() >= 3 && code.size() == 3u + 2u * code[2] && code[0] <= width_ && code[1] <= 2, "an action is malformed");
    Action action{static_cast<int>(code[0]) - 1, code[1] == 0 ? 0 : code[1] == 1 ? kGap : kLastGap, static_cast<u32>(moves_.size()), 0};
    for (std::size_t i = 3; i < code.size(); i += 2) {
      check(code[i] < width_ && (code[i + 1] < width_ || code[i + 1] == kHere), "an action moves a mark that is not there");
      moves_.push_back({code[i], code[i + 1]});
    }
    action.end_move = static_cast<u32>(moves_.size());
    has_gaps_ = has_gaps_ || action.flag != 0;
    actions_.push_back(action);
  }
  strong_ = tables.strong;
  for (std::size_t i = 0; i < size; ++i)
    check(tables.next[i] < n_states && tables.action[i] < actions_.size(), "a state or action is out of range");
  for (const u16 state : tables.begin) {
    check(state < n_states && tables.levels[state] == 1, "it begins in no state, or in one of more levels");
    for (std::size_t c = 0; c < stride_; ++c)
      check(actions_[tables.action[state * stride_ + c]].accepts < 0, "it ends a pretoken before its first character");
    begin_.push_back(state * stride_);
  }
  for (const u16 levels : tables.levels) {
    check(levels >= 1 && levels <= width_, "a state has no level, or too many");
    one_level_.push_back(levels == 1);
  }
  for (std::size_t i = 0; i < size; ++i) {
    const bool at_end = i % stride_ == stride_ - 1;
    const bool before = one_level_[i / stride_], after = at_end || one_level_[tables.next[i]];
    u32 work = tables.action[i];
    // The common cases leave a state of one level for another; and nothing can happen between others.
    if (work > 1 || before != after || (work == 1 && !before))
      work = 16 * work + 2 + before + (after && !at_end ? 4 : 0) +
             (tables.next[i] == i / stride_ && repeats(actions_[work]) ? 8 : 0);
    table_.push_back(tables.next[i] * stride_ << kWorkBits | work);
  }
  build_pairs();
}

// Whether doing it for one character and then for the next leaves what doing it for the next alone would.
bool Automaton::repeats(const Action& action) const {
  if (action.accepts < 0) return false;
  for (u32 i = action.first_move; i < action.end_move; ++i) {
    if (moves_[i].from != kHere || moves_[i].to <= action.accepts) return false;
  }
  return true;
}

void Automaton::build_pairs() {
  const u32 n = classes_.n_classes(), n_states = static_cast<u32>(table_.size() / stride_);
  for (u32 c = 0; c < 128; ++c) {
    ascii_[c] = classes_.of(c);
    ascii_first_[c] = static_cast<u16>(ascii_[c] * n);
  }
  pair_shift_ = static_cast<u32>(std::bit_width(n * n - 1));
  if (static_cast<std::size_t>(n_states) * n * n > kPairLimit) return;
  pair_row_.resize(table_.size());
  for (u32 state = 0; state < n_states; ++state) {
    pair_row_[state * stride_] = static_cast<u16>(state << pair_shift_);
    pairs_.resize(static_cast<std::size_t>(state) << pair_shift_);
    for (u32 a = 0; a < n; ++a) {
      const u32 first = table_[state * stride_ + a];
      for (u32 b = 0; b < n; ++b) {
        const u32 second = table_[(first >> kWorkBits) + b];
        const u32 one = first & kWorkMask, two = second & kWorkMask;
        const u32 next = (second >> kWorkBits) / stride_ << pair_shift_;
        pairs_.push_back(one > 1 || two > 1 ? 4 : next << 3 | two << 1 | one);
      }
    }
  }
}

// Work above 1 for a character that begins at `here`; returns how many borders there are now.
std::size_t Automaton::act(u32 work, std::size_t here, std::size_t found, Cursor& cursor) const {
  const Action& action = actions_[work >> 4];
  std::size_t* const marks = cursor.marks.data();
  if (work & 1) marks[0] = found;
  if (action.accepts >= 0) {
    found = std::min(found, marks[action.accepts]);
    cursor.ends[found++] = here | action.flag;
  }
  for (u32 i = action.first_move; i < action.end_move; ++i)
    marks[moves_[i].to] = moves_[i].from == kHere ? found : marks[moves_[i].from];
  return work & 4 ? std::min(found, marks[0]) : found;  // what only levels that are gone have written goes with them
}

std::size_t Automaton::fill(Cursor& cursor, const u8* s, std::size_t n, bool last, std::size_t wanted) const {
  drop_handed(cursor);
  if (cursor.finished) return 0;
  if (!last) n = whole_characters(s, n);
  if (cursor.marks.empty()) {
    cursor.marks.assign(width_, 0);
    cursor.row = cursor.begin == kNone ? begin_.back() : begin_[cursor.begin];
  }
  const u32* const table = table_.data();
  const u32* const pairs = pairs_.empty() ? nullptr : pairs_.data();
  u32 row = cursor.row;
  std::size_t i = cursor.scanned, k = cursor.found;
  for (;;) {
    const std::size_t limit = k + wanted;
    if (cursor.ends.size() < limit + 4) cursor.ends.resize(limit + 4);
    std::size_t* const ends = cursor.ends.data();
    while (i < n && k < limit) {
      if (pairs && i + 1 < n && (s[i] | s[i + 1]) < 0x80) {
        u32 pair_row = pair_row_[row];
        while (i + 1 < n && k < limit && (s[i] | s[i + 1]) < 0x80) {
          const u32 entry = pairs[pair_row + ascii_first_[s[i]] + ascii_[s[i + 1]]];
          if (entry & 4) break;
          ends[k] = i;
          k += entry & 1;
          ends[k] = i + 1;
          k += entry >> 1 & 1;
          pair_row = entry >> 3;
          i += 2;
        }
        row = (pair_row >> pair_shift_) * stride_;
        if (i == n || k >= limit) break;
      }
      u32 length;
      const u8 c = classes_.at(s, i, n, length);
      const u32 entry = table[row + c];
      const u32 work = entry & kWorkMask;
      if (work > 1) {
        if (work & 8) {
          for (; i + length < n && s[i + length] < 0x80 && ascii_[s[i + length]] == c; length = 1) i += length;
        }
        k = act(work, i, k, cursor);
      } else {
        ends[k] = i;
        k += work;
      }
      row = entry >> kWorkBits;
      i += length;
    }
    cursor.row = row;
    cursor.scanned = i;
    if (i == n && last) {
      const u32 work = table[row + stride_ - 1] & kWorkMask;
      if (work > 1) k = act(work, n, k, cursor);
      if (work == 1) ends[k++] = n;
      cursor.finished = true;
      cursor.found = k;
      return hand_out(cursor, k);
    }
    cursor.found = k;
    const std::size_t certain = hand_out(cursor, one_level_[row / stride_] ? k : std::min(k, cursor.marks[0]));
    if (certain > 0 || i == n) return certain;
    k = cursor.found;
    wanted *= 2;
  }
}

std::size_t Automaton::fill_lines(Cursor& cursor, const u8* s, std::size_t n, std::size_t wanted) const {
  for (;;) {
    if (cursor.line_end == 0) {
      const void* const hit = cursor.at < n ? std::memchr(s + cursor.at, '\n', n - cursor.at) : nullptr;
      cursor.line_end = hit ? static_cast<std::size_t>(static_cast<const u8*>(hit) - s) + 1 : n;
    }
    const std::size_t end = cursor.line_end;
    if (const std::size_t k = fill(cursor, s, end, true, wanted)) return k;
    if (end == n) return 0;
    cursor.restart(end);
  }
}

// The class of the character that ends at `at`, in a text that begins at `from` < at.
u8 Automaton::class_before(const u8* s, std::size_t from, std::size_t at) const {
  std::size_t i = at - 1;
  while (i > from && at - i < 4 && (s[i] & 0xC0) == 0x80) --i;
  u32 length;
  const u8 c = classes_.at(s, i, at, length);
  return i + length == at ? c : classes_.of(0xDC00u | s[at - 1]);
}

void Automaton::restart(Cursor& cursor, const u8* s, std::size_t from, std::size_t at) const {
  cursor.restart(at);
  if (at > from) cursor.begin = class_before(s, from, at);
}

std::size_t Automaton::safe_cut(const u8* s, std::size_t from, std::size_t n) const {
  for (std::size_t at = from + 1; at < n; ++at) {
    if ((s[at] & 0xC0) == 0x80) continue;  // within a character, or perhaps so
    u32 length;
    const u8 before = class_before(s, 0, at), behind = classes_.at(s, at, n, length);
    if (strong_[static_cast<std::size_t>(before) * classes_.n_classes() + behind]) return at;
  }
  return n;
}

void Automaton::drop_handed(Cursor& cursor) {
  if (cursor.handed == 0) return;
  const auto begin = cursor.ends.begin();
  std::copy(begin + static_cast<std::ptrdiff_t>(cursor.handed), begin + static_cast<std::ptrdiff_t>(cursor.found), begin);
  cursor.found -= cursor.handed;
  for (std::size_t& mark : cursor.marks) mark -= std::min(mark, cursor.handed);
  cursor.handed = 0;
}

// Neighbouring gaps are one pretoken. A gap at the end of what is certain waits for what comes after it.
std::size_t Automaton::hand_out(Cursor& cursor, std::size_t certain) const {
  if (has_gaps_) {
    std::size_t to = 0;
    for (std::size_t i = 0; i < certain; ++i) {
      if ((cursor.ends[i] & kGap) && i + 1 < certain && (cursor.ends[i + 1] & (kGap | kLastGap))) continue;
      cursor.ends[to++] = cursor.ends[i];
    }
    if (const std::size_t gone = certain - to; gone > 0) {
      for (std::size_t i = certain; i < cursor.found; ++i) cursor.ends[i - gone] = cursor.ends[i];
      for (std::size_t& mark : cursor.marks) mark -= std::min(mark, gone);
      cursor.found -= gone;
      certain = to;
    }
    if (certain > 0 && !cursor.finished && (cursor.ends[certain - 1] & kGap)) --certain;
    for (std::size_t i = 0; i < certain; ++i) cursor.ends[i] &= ~(kGap | kLastGap);
  }
  cursor.handed = certain;
  if (certain > 0) cursor.at = cursor.ends[certain - 1];
  return certain;
}

}  // namespace bytepair
