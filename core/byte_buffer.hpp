// A growing array of bytes that is never filled with zeros first.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "aligned.hpp"
#include "text.hpp"

namespace bytepair {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(ByteBuffer&& other) noexcept { swap(other); }
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(const ByteBuffer&) = delete;
  ~ByteBuffer() { std::free(data_); }

  // Room for k more bytes behind the last one; write there, then end_at().
  u8* room(std::size_t k) {
    if (capacity_ - size_ < k) {
      const std::size_t capacity = std::max(size_ + k, capacity_ + capacity_ / 2);
      void* const data = reallocate(data_, size_, capacity);
      if (!data) throw std::bad_alloc();
      data_ = static_cast<u8*>(data);
      capacity_ = capacity;
    }
    return data_ + size_;
  }
  void end_at(const u8* end) { size_ = static_cast<std::size_t>(end - data_); }
  void append(const u8* bytes, std::size_t k) {
    if (k) std::memcpy(room(k), bytes, k);
    size_ += k;
  }
  void clear() { size_ = 0; }
  const u8* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }

 private:
  void swap(ByteBuffer& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  u8* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace bytepair
