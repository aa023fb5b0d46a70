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
    has_marks_ = has_marks_ || (flags[i] & marked);
  }
}

}  // namespace bytepair
