// Code units of one width, as a Python str holds them, to UTF-8: the way back from what utf8.hpp does.
#pragma once

#include <string_view>

#include "byte_buffer.hpp"
#include "simd.hpp"

namespace bytepair {

// Bytes that may be written for n units, those behind the end among them.
template <class Unit>
constexpr std::size_t narrow_room(std::size_t n) {
  return n * (sizeof(Unit) == 1 ? 2 : sizeof(Unit) == 2 ? 3 : 4) + 64;
}

// Writes the UTF-8 of units[0, n) and returns where it ends; null where there is a surrogate. Unit is u8 (Latin-1), u16
// (no pairs) or u32, whose values lie under 0x110000.
template <class Unit>
u8* narrow(const Unit* units, std::size_t n, u8* out, const Simd& level = simd());

// A text as it is given: bytes, or code units, which become bytes where they are needed.
class GivenText {
 public:
  GivenText(std::string_view bytes) : data_(bytes.data()), size_(bytes.size()) {}
  // `width` bytes a unit: 1, 2 or 4.
  GivenText(const void* units, std::size_t n, int width) : data_(units), size_(n), width_(width) {}

  // In bytes or units.
  std::size_t size() const { return size_; }
  bool is_bytes() const { return width_ == 0; }
  // About how many bytes it has.
  std::size_t likely_bytes() const { return width_ < 2 ? size_ : 2 * size_; }
  // The bytes, in `own` if they had to be made. Throws Surrogates.
  std::string_view bytes(ByteBuffer& own) const;
  // The same in own[0, narrow_room<u32>(size())).
  std::string_view bytes(u8* own) const;

 private:
  std::size_t room() const {
    return width_ == 1 ? narrow_room<u8>(size_) : width_ == 2 ? narrow_room<u16>(size_) : narrow_room<u32>(size_);
  }

  const void* data_;
  std::size_t size_;
  int width_ = 0;
};

}  // namespace bytepair
