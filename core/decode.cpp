#include "decode.hpp"

#include "errors.hpp"

namespace bytepair {

Decoder::Decoder(std::vector<u8> text, const std::vector<i64>& offsets, const std::vector<u8>& flags)
    : text_(std::move(text)) {
  bool sound = offsets.size() == flags.size() + 1 && offsets.front() == 0 &&
               offsets.back() == static_cast<i64>(text_.size()) && text_.size() < (u64{1} << 29);
  for (std::size_t i = 0; sound && i + 1 < offsets.size(); ++i) sound = offsets[i] <= offsets[i + 1];
  if (!sound) throw Error(ErrorKind::value, "decoder: the offsets do not describe the text");
  for (const u8 flag : flags) {
    if ((flag & special) && (flag & marked))
      throw Error(ErrorKind::value, "decoder: a special token has no end-of-word mark");
  }
  text_.resize(text_.size() + kCopied);
  rows_.reserve(flags.size());
  for (std::size_t i = 0; i < flags.size(); ++i) {
    rows_.push_back({static_cast<u32>(offsets[i]), static_cast<u32>(offsets[i + 1] - offsets[i]) << 3 | (flags[i] & 7u)});
    has_marks_ = has_marks_ || ((flags[i] & marked) && (flags[i] & present));
  }
}

bool Decoder::places(const u32* ids, std::size_t n, const u8* s, std::size_t n_text, bool characters,
                     i64* places) const {
  if (has_marks_) return false;
  std::size_t at = 0;              // in bytes
  std::size_t begin = 0, end = 0;  // of the character in hand
  i64 character = -1;              // which one that is
  const auto reach = [&](std::size_t byte) {  // to the character that the byte is of
    while (end <= byte) {
      u32 length;
      begin = end;
      decode_utf8(s, begin, n_text, length);
      end = begin + length;
      ++character;
    }
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (ids[i] >= rows_.size()) return false;
    const Row row = rows_[ids[i]];
    const std::size_t length = row.length_and_flags >> 3;
    if (!(row.length_and_flags & present) || length > n_text - at) return false;
    if (length == 0) {  // the end of what came before
      if (at > 0) reach(at - 1);
      places[2 * i] = places[2 * i + 1] = characters ? character + 1 : static_cast<i64>(end);
    } else {
      reach(at);
      places[2 * i] = characters ? character : static_cast<i64>(begin);
      reach(at + length - 1);
      places[2 * i + 1] = characters ? character + 1 : static_cast<i64>(end);
    }
    at += length;
  }
  return at == n_text;
}

}  // namespace bytepair
