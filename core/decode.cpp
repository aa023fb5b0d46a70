#include "decode.hpp"

#include "errors.hpp"

namespace bytepair {

Decoder::Decoder(std::vector<u8> text, std::vector<i64> offsets, std::vector<u8> flags)
    : text_(std::move(text)), offsets_(std::move(offsets)), flags_(std::move(flags)) {
  bool sound = offsets_.size() == flags_.size() + 1 && offsets_.front() == 0 &&
               offsets_.back() == static_cast<i64>(text_.size());
  for (std::size_t i = 0; sound && i + 1 < offsets_.size(); ++i) sound = offsets_[i] <= offsets_[i + 1];
  if (!sound) throw Error(ErrorKind::value, "decoder: the offsets do not describe the text");
}

}  // namespace bytepair
