#include "text.hpp"

#include "errors.hpp"

namespace bytepair {

ClassTable::ClassTable(std::vector<u16> stage1, std::vector<u8> stage2, u32 n_classes)
    : stage1_(std::move(stage1)), stage2_(std::move(stage2)), n_classes_(n_classes) {
  if (stage1_.size() != kPages) throw Error(ErrorKind::value, "class table: stage 1 needs 4352 pages");
  if (stage2_.empty() || stage2_.size() % 256) throw Error(ErrorKind::value, "class table: stage 2 is no whole page");
  for (const u16 page : stage1_) {
    if ((static_cast<std::size_t>(page) + 1) * 256 > stage2_.size())
      throw Error(ErrorKind::value, "class table: a page lies outside stage 2");
  }
  for (const u8 c : stage2_) {
    if (c >= n_classes_) throw Error(ErrorKind::value, "class table: a class is out of range");
  }
  for (u32 c = 0; c < 128; ++c) ascii_[c] = of(c);
}

}  // namespace bytepair
