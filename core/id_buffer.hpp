// A growing array of ids that is never filled with zeros first and can be handed over without a copy.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "aligned.hpp"
#include "text.hpp"

namespace bytepair {

class IdBuffer {
 public:
  IdBuffer() = default;
  IdBuffer(IdBuffer&& other) noexcept { swap(other); }
  IdBuffer& operator=(IdBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  IdBuffer(const IdBuffer&) = delete;
  IdBuffer& operator=(const IdBuffer&) = delete;
  ~IdBuffer() { std::free(data_); }

  // Room for k more ids behind the last one; write there, then add(k).
  u32* room(std::size_t k) {
    if (capacity_ - size_ < k) reserve(std::max(size_ + k, capacity_ + capacity_ / 2));
    return data_ + size_;
  }
  void add(std::size_t k) { size_ += k; }
  void push(u32 id) {
    *room(1) = id;
    ++size_;
  }
  void append(const u32* ids, std::size_t k) {
    if (k) std::memcpy(room(k), ids, k * sizeof(u32));
    size_ += k;
  }
  // The same where the first one's top byte is not of the id.
  void append_masked(const u32* ids, std::size_t k) {
    append(ids, k);
    if (k) data_[size_ - k] &= 0xFFFFFF;
  }
  // After writing into room(): where the written ids end.
  void end_at(const u32* end) { size_ = static_cast<std::size_t>(end - data_); }
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    if (capacity > SIZE_MAX / sizeof(u32)) throw std::bad_alloc();
    void* const data = reallocate(data_, size_ * sizeof(u32), capacity * sizeof(u32));
    if (!data) throw std::bad_alloc();
    data_ = static_cast<u32*>(data);
    capacity_ = capacity;
  }
  void clear() { size_ = 0; }
  const u32* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  // The memory, fitted to its size; free() it. Never null.
  u32* release() {
    void* fitted = std::realloc(data_, std::max<std::size_t>(size_, 1) * sizeof(u32));
    if (!fitted) throw std::bad_alloc();
    data_ = nullptr;
    size_ = capacity_ = 0;
    return static_cast<u32*>(fitted);
  }

 private:
  void swap(IdBuffer& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

  u32* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace bytepair
