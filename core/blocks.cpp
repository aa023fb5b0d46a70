#include "blocks.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>

#include "errors.hpp"

namespace bytepair {

namespace {

// What the families differ in.
template <Family F>
struct Traits {
  static constexpr bool gpt2 = F == Family::gpt2;  // words take a space before them; elsewhere any one character
  static constexpr bool cased = F == Family::o200k || F == Family::tekken;  // words end where a capital follows
  static constexpr bool suffix = F == Family::o200k;  // a contraction belongs to the word before it
  static constexpr bool contractions = F != Family::tekken;
  static constexpr bool slash = cased;  // punctuation takes slashes along with line ends
  static constexpr int digits = gpt2 ? 0 : F == Family::cl100k || F == Family::o200k ? 3 : 1;  // a group; 0: any length
};

constexpr std::size_t kBlock = 64;
constexpr std::size_t kAhead = 4;  // bytes that are looked at behind a block: the next character, or a contraction

u64 low_bits(u64 k) { return k >= 64 ? ~u64{0} : (u64{1} << k) - 1; }
u64 top_bit(u64 m) { return 63u - static_cast<unsigned>(std::countl_zero(m)); }
u64 first_bit(u64 m) { return static_cast<unsigned>(std::countr_zero(m)); }

// The bytes that 's 't 're ... at p take, the apostrophe included; 0 where it is none.
template <bool fold>
unsigned contraction(const u8* p) {
  const auto letter = [&](int i) { return fold ? static_cast<u8>(p[i] | 0x20) : p[i]; };
  const u8 a = letter(1), b = letter(2);
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return 2;
  return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ? 3 : 0;
}

}  // namespace

struct Blocks::Block {
  u64 upper, lower, number, blank, newline, white, quote, slash, high, inner, long_lead;
  u64 wide = 0;  // first bytes of other characters beyond ASCII
  u64 mark = 0;  // first bytes of marks
  unsigned char_bytes;
  u8 char_flags;
};

Blocks::Blocks(Family family, const ClassTable& classes, const std::vector<u8>& flags, const Simd& level)
    : family_(family), stage1_(classes.stage1()), level_(&level) {
  if (flags.size() != classes.n_classes()) throw Error(ErrorKind::value, "blocks: each class needs one byte of flags");
  for (const u8 c : classes.stage2()) stage2_.push_back(flags[c]);
  for (u32 c = 0; c < 128; ++c)
    ascii_.of[c] = static_cast<u8>(flags[classes.of(c)] | (c == '\'' ? kQuote : 0) | (c == '/' ? kSlash : 0));
  ascii_.of[std::size_t{'\n'}] |= kNewline;  // gpt2 has one class for all white space

  const auto beyond = [&](u32 c, u32 first) -> u8 {
    if (c < first || (c >= 0xD800 && c < 0xE000)) return kHard;
    const u8 f = flags[classes.of(c)];
    const bool hard = f & (kBlank | kNewline | kWhite) || (f & kNumber && family != Family::gpt2);
    return hard ? static_cast<u8>(kHard) : f;
  };
  for (u32 c = 0; c < 0x800; ++c) two_bytes_.push_back(beyond(c, 0x80));
  std::map<std::string, u16> numbers;
  for (u32 c = 0; c < 0x10000; c += 64) {
    std::string page;
    for (u32 k = 0; k < 64; ++k) page.push_back(static_cast<char>(beyond(c + k, 0x800)));
    const auto [found, is_new] = numbers.emplace(std::move(page), static_cast<u16>(numbers.size()));
    if (is_new) three_bytes_.insert(three_bytes_.end(), found->first.begin(), found->first.end());
    pages_.push_back(found->second);
  }
}

inline u8 Blocks::flags_at(const u8* s, std::size_t n, std::size_t i, u32& length) const {
  if (s[i] < 0x80) {
    length = 1;
    return ascii_.of[s[i]];
  }
  const u32 c = decode_utf8(s, i, n, length);
  return stage2_[static_cast<std::size_t>(stage1_[c >> 8]) * 256 + (c & 0xFF)];
}

// Puts the characters beyond ASCII into the masks, each with all its bytes. False: there are some that this does not
// cover, and nothing is changed.
template <Family F>
inline bool Blocks::beyond_ascii(const u8* p, Block& b) const {
  const u64 carried = low_bits(b.char_bytes);
  const u64 leads = b.high & ~b.inner, three = b.long_lead, two = leads & ~three;
  if ((carried | leads << 1 | three << 2) != b.inner) return false;
  // What goes on behind the block.
  const unsigned open = three >> 63 ? 2 : static_cast<unsigned>(leads >> 63 | three >> 62);
  if ((open > 0 && (p[kBlock] & 0xC0) != 0x80) || (open > 1 && (p[kBlock + 1] & 0xC0) != 0x80)) return false;

  u64 upper = 0, lower = 0, mark = 0, number = 0;
  u8 seen = 0;
  const auto add = [&](u64 j, u8 f) {
    seen |= f;
    lower |= static_cast<u64>(f >> 1 & 1) << j;
    if (Traits<F>::cased) {
      upper |= static_cast<u64>(f & 1) << j;
      mark |= static_cast<u64>(f >> 7) << j;
    }
    if (Traits<F>::gpt2) number |= static_cast<u64>(f >> 2 & 1) << j;
  };
  for (u64 left = two; left; left &= left - 1) {
    const u64 j = first_bit(left);
    add(j, two_bytes_[(p[j] & 31u) << 6 | (p[j + 1] & 63u)]);
  }
  for (u64 left = three; left; left &= left - 1) {
    const u64 j = first_bit(left);
    const std::size_t page = pages_[(p[j] & 15u) << 6 | (p[j + 1] & 63u)];
    seen |= static_cast<u8>((p[j] & 16u) << 2);  // four bytes: kHard
    add(j, three_bytes_[page << 6 | (p[j + 2] & 63u)]);
  }
  if (seen & kHard) return false;

  const auto whole = [&](u64 first, u8 flag) { return first | first << 1 | (first & three) << 2 | (b.char_flags & flag ? carried : 0); };
  b.lower |= whole(lower, kLower);
  if (Traits<F>::cased) b.upper |= whole(upper, kUpper);
  if (Traits<F>::gpt2) b.number |= whole(number, kNumber);
  b.mark = mark;
  b.wide = leads & ~(upper | lower | number);
  b.char_bytes = open;
  if (open) {
    const u64 last = top_bit(leads);
    b.char_flags = static_cast<u8>((upper >> last & 1) * kUpper | (lower >> last & 1) * kLower | (number >> last & 1) * kNumber);
  }
  return true;
}

// The same for all characters. False: something that the arithmetic does not cover (white space beyond ASCII; numbers,
// where they go by groups).
template <Family F>
bool Blocks::beyond_ascii_one_by_one(const u8* s, std::size_t n, std::size_t at, Block& b) const {
  u64 left = b.high;
  if (b.char_bytes) {
    const u64 bytes = low_bits(b.char_bytes);
    if (b.char_flags & kUpper) b.upper |= bytes;
    if (b.char_flags & kLower) b.lower |= bytes;
    if (b.char_flags & kNumber) b.number |= bytes;
    left &= ~bytes;
    b.char_bytes = 0;
  }
  while (left) {
    const u64 j = first_bit(left);
    u32 length;
    const u8 f = flags_at(s, n, at + j, length);
    const u64 bytes = low_bits(length) << j;
    left &= ~bytes;
    if (f & (kUpper | kLower)) {
      if (f & kUpper) b.upper |= bytes;
      if (f & kLower) b.lower |= bytes;
      if (f & kMark) b.mark |= u64{1} << j;
    } else if (f & kNumber) {
      if (!Traits<F>::gpt2) return false;
      b.number |= bytes;
    } else if (f) {
      return false;
    } else {
      b.wide |= u64{1} << j;
    }
    if (j + length > kBlock) {
      b.char_bytes = static_cast<unsigned>(j + length - kBlock);
      b.char_flags = f;
    }
  }
  return true;
}

// One block: the places where pretokens start. False: the automaton has to look at it, and the carry is as it was.
template <Family F, bool Lines>
inline bool Blocks::block(const u8* s, std::size_t n, std::size_t at, BlockCarry& carry, u64& starts) const {
  using T = Traits<F>;
  const u8* const p = s + at;
  Masks m;
  level_->classify(p, ascii_, m);
  Block b{m.flag[0], m.flag[1], m.flag[2], m.flag[3], m.flag[4], m.flag[5], m.flag[6], m.flag[7], m.high, m.inner, m.long_lead,
          0, 0, carry.char_bytes, carry.char_flags};
  if (b.high && !beyond_ascii<F>(p, b) && !beyond_ascii_one_by_one<F>(s, n, at, b)) return false;
  BlockCarry out;
  out.char_bytes = b.char_bytes;
  out.char_flags = b.char_flags;

  const u64 letter = b.upper | b.lower, number = b.number;
  const u64 space = b.white | b.blank;  // white space that ends no line
  const u64 any_white = space | b.newline;
  // A text ends behind each of these; no run of white space goes on there.
  u64 last_byte = 0;
  if constexpr (Lines) {
    last_byte = b.newline;
    for (u64 left = b.newline; left; left &= left - 1) {
      if (p[first_bit(left)] != '\n') last_byte &= ~(left & (~left + 1));
    }
  }
  const u64 punct = ~(letter | number | any_white);
  const u64 punct_own = punct & ~(punct << 1 | carry.punct) & ~(b.blank << 1 | carry.blank);  // starts a pretoken

  // White space may go on behind the block.
  u64 next_white = 0;
  if ((any_white & ~last_byte) >> 63) {
    u32 length;
    const u8 f = flags_at(s, n, at + kBlock, length);
    if (f & (kWhite | kBlank | kNewline)) {
      if (length > 1) return false;
      next_white = u64{1} << 63;
    }
  }
  const u64 white_end = any_white & ~(any_white >> 1 | next_white);

  if constexpr (T::gpt2) {
    const u64 white_start = any_white & ~((any_white & ~last_byte) << 1 | carry.white);
    const u64 others = (letter & ~(letter << 1 | carry.letter)) | (number & ~(number << 1 | carry.number)) |
                       (punct & ~(punct << 1 | carry.punct));
    starts = (others & ~(b.blank << 1 | carry.blank)) | white_start | (white_end & ~last_byte);
    out.white = (any_white & ~last_byte) >> 63;
  } else {
    // Line ends that punctuation takes along.
    const u64 going_on = b.newline & ~last_byte;
    const u64 seeds = b.newline & (punct << 1 | carry.punct | carry.taken);
    u64 taken = seeds ? going_on & ~(going_on + (going_on & seeds)) : 0;
    if constexpr (Lines) taken |= last_byte & (seeds | taken << 1);
    if (T::slash && (((taken & ~last_byte) << 1 | carry.taken) & b.slash)) return false;
    const u64 white = any_white & ~taken, newline = b.newline & ~taken;
    const u64 white_start = white & ~((white & ~last_byte) << 1 | carry.white);

    // White space behind the last line end of its run is a pretoken of its own.
    u64 rest = space & ((newline & ~last_byte) << 1 | carry.newline);
    if (rest) {
      // Added at the first bit of a stretch of spaces, a one comes out behind it; where that is a line end again, it was
      // not the last.
      const u64 sum = space + rest;
      for (u64 back = sum & ~space & b.newline; back; back &= back - 1)
        rest &= ~(u64{1} << top_bit(rest & low_bits(first_bit(back))));
      if (sum < space) {  // the stretch goes on behind the block
        std::size_t q = at + kBlock;
        while (q < n && s[q] < 0x80 && (ascii_.of[s[q]] & (kWhite | kBlank))) ++q;
        if (q == n || s[q] >= 0x80) return false;
        if (ascii_.of[s[q]] & kNewline) rest &= ~(u64{1} << top_bit(rest));
      }
    }

    // Numbers: each, or by threes from the start of their run.
    u64 number_start = number;
    if (T::digits == 3 && number) {
      u64 group = number & ~(number << 1 | carry.number);
      if (carry.number && (number & 1)) {
        const u64 until = low_bits(3 - carry.digits + 1);
        if ((number & until) == until) group |= u64{1} << (3 - carry.digits);
      }
      number_start = group;
      const u64 three = number & number << 1 & number << 2;
      while ((group = group << 3 & three) != 0) number_start |= group;
      if (number >> 63) out.digits = number_start ? static_cast<unsigned>(64 - top_bit(number_start)) : 0;
    }

    // One punctuation character alone at the start of a pretoken takes the word behind it.
    u64 alone = (punct_own & ~b.wide) | carry.alone_next;  // its last byte
    for (u64 wide = punct_own & b.wide; wide; wide &= wide - 1) {
      const u64 j = first_bit(wide);
      u32 length;
      decode_utf8(s, at + j, n, length);
      const u64 end = j + length - 1;
      (end < kBlock ? alone : out.alone_next) |= u64{1} << (end % kBlock);
    }
    u64 word = letter & ~(letter << 1 | carry.letter) & ~(space << 1 | carry.space) & ~(alone << 1 | carry.alone);
    if constexpr (T::cased) {
      const u64 both = b.upper & b.lower, only_upper = b.upper & ~b.lower, only_lower = b.lower & ~b.upper;
      if (only_upper & (both << 1 | carry.both)) return false;  // depends on the letters to come
      if (b.mark & ~(letter << 1 | carry.letter)) return false;  // a mark that may be punctuation
      word |= only_upper & (only_lower << 1 | carry.only_lower);
      out.only_lower = only_lower >> 63;
      out.both = both >> 63;
    }
    starts = word | punct_own | number_start | white_start | rest | (white_end & space);
    out.alone = alone >> 63;
    out.space = space >> 63;
    out.newline = (newline & ~last_byte) >> 63;
    out.taken = (taken & ~last_byte) >> 63;
    out.white = (white & ~last_byte) >> 63;
  }

  if constexpr (T::contractions) {
    u64 inside = carry.inside_next, forced = carry.forced_next;
    out.contraction_end = carry.contraction_end;
    const u64 after_letter = letter << 1 | carry.letter;
    for (u64 quotes = b.quote & (T::suffix ? after_letter : punct_own); quotes; quotes &= quotes - 1) {
      const u64 j = first_bit(quotes);
      if (!T::gpt2 && p[j + 1] == 0xC5 && p[j + 2] == 0xBF) return false;  // the long s folds to s
      if (T::suffix && at + j == out.contraction_end) continue;  // a word has one
      const unsigned length = contraction<!T::gpt2>(p + j);
      if (!length) continue;
      out.contraction_end = at + j + length;
      for (u64 i = T::suffix ? j : j + 1; i < j + length; ++i)
        (i < kBlock ? inside : out.inside_next) |= u64{1} << (i % kBlock);
      (j + length < kBlock ? forced : out.forced_next) |= u64{1} << ((j + length) % kBlock);
    }
    starts = (starts & ~inside) | forced;
  }
  out.letter = letter >> 63;
  out.number = number >> 63;
  out.punct = punct >> 63;
  out.blank = b.blank >> 63;
  carry = out;
  return true;
}

// Where the white space begins that the text ends with. What it is cut into depends on the end: the automaton's part.
std::size_t Blocks::white_tail(const u8* s, std::size_t from, std::size_t n) const {
  while (n > from) {
    std::size_t i = n - 1;
    while (i > from && n - i < 4 && (s[i] & 0xC0) == 0x80) --i;
    u32 length;
    const u8 f = flags_at(s, n, i, length);
    if (i + length != n || !(f & (kWhite | kBlank | kNewline))) return n;
    n = i;
  }
  return n;
}

template <Family F, bool Lines>
std::size_t Blocks::run(const Automaton& automaton, Cursor& cursor, const u8* s, std::size_t n, bool last,
                        std::size_t wanted) const {
  cursor.found = cursor.handed = 0;
  if (cursor.blocks_until == 0)
    cursor.blocks_until = last ? white_tail(s, cursor.at, n) : whole_characters(s, n);
  std::size_t at = cursor.scanned, found = 0;
  while (found < wanted && at + kBlock + kAhead <= cursor.blocks_until) {
    if (cursor.ends.size() < found + 2 * kBlock) cursor.ends.resize(found + 4 * kBlock + wanted);
    u64 starts;
    if (block<F, Lines>(s, n, at, cursor.carry, starts)) {
      if (at == cursor.fresh) starts &= ~u64{1};  // where the run starts no pretoken ends
      found += level_->places(starts, at, cursor.ends.data() + found);
      at += kBlock;
      continue;
    }
    // The automaton, from the start of the pretoken that is open, until one ends behind this block; from there anew.
    if (!cursor.aside) cursor.aside = std::make_unique<Cursor>();
    Cursor& aside = *cursor.aside;
    aside.restart(found ? cursor.ends[found - 1] : cursor.at);
    if (Lines && cursor.line_end > aside.at) aside.line_end = cursor.line_end;  // a long line is looked through once
    std::size_t reached = 0;
    while (reached < at + kBlock) {
      const std::size_t k = Lines ? automaton.fill_lines(aside, s, n, 16) : automaton.fill(aside, s, n, last, 16);
      if (k == 0) break;
      for (std::size_t i = 0; i < k && reached < at + kBlock; ++i) {
        reached = aside.ends[i];
        if (cursor.ends.size() < found + 2 * kBlock) cursor.ends.resize(cursor.ends.size() * 2 + 2 * kBlock);
        cursor.ends[found++] = reached;
      }
    }
    if (Lines) cursor.line_end = aside.line_end;
    if (reached < at + kBlock) {  // it cannot tell yet: all that is left waits for more text
      at = n;
      break;
    }
    at = cursor.fresh = reached;
    cursor.carry = BlockCarry{};
  }
  cursor.scanned = at;
  cursor.handed = cursor.found = found;
  if (found) cursor.at = cursor.ends[found - 1];
  return found;
}

template <bool Lines>
std::size_t Blocks::fill_any(const Automaton& automaton, Cursor& cursor, const u8* s, std::size_t n, bool last,
                             std::size_t wanted) const {
  if (!Lines && cursor.finished) return 0;  // a line that is finished is not yet the text
  if (!cursor.blocks_over) {
    std::size_t found = 0;
    switch (family_) {
      case Family::gpt2:
        found = run<Family::gpt2, Lines>(automaton, cursor, s, n, last, wanted);
        break;
      case Family::cl100k:
        found = run<Family::cl100k, Lines>(automaton, cursor, s, n, last, wanted);
        break;
      case Family::qwen2:
        found = run<Family::qwen2, Lines>(automaton, cursor, s, n, last, wanted);
        break;
      case Family::o200k:
        found = run<Family::o200k, Lines>(automaton, cursor, s, n, last, wanted);
        break;
      case Family::tekken:
        found = run<Family::tekken, Lines>(automaton, cursor, s, n, last, wanted);
        break;
    }
    if (found) return found;
    // The rest is the automaton's, from the start of the pretoken that is open.
    cursor.restart(cursor.at);  // no family looks behind
    cursor.blocks_over = true;
  }
  return Lines ? automaton.fill_lines(cursor, s, n, wanted) : automaton.fill(cursor, s, n, last, wanted);
}

std::size_t Blocks::fill(const Automaton& automaton, Cursor& cursor, const u8* s, std::size_t n, bool last,
                         std::size_t wanted) const {
  return fill_any<false>(automaton, cursor, s, n, last, wanted);
}

std::size_t Blocks::fill_lines(const Automaton& automaton, Cursor& cursor, const u8* s, std::size_t n,
                               std::size_t wanted) const {
  return fill_any<true>(automaton, cursor, s, n, true, wanted);
}

}  // namespace bytepair
