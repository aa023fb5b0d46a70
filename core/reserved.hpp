// A zeroed array that grows where it stands: its addresses are reserved at once, its memory comes as it is touched. A table
// that doubles then needs no second copy of itself, and no memory that the system has to clear again. Behind its end some
// bytes may be read.
#pragma once

#include <cstdint>

#include "aligned.hpp"

namespace bytepair {

template <class T>
class Reserved {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Reserved() = default;
  // Up to `limit` elements; none yet.
  explicit Reserved(std::size_t limit) {
    if (limit == 0) return;
#if defined(__linux__)
    mapped_ = (limit * sizeof(T) + kReadable + 2 * kHugePage - 1) / kHugePage * kHugePage;
    void* const place = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) {
      mapped_ = 0;
      return;
    }
    start_ = static_cast<char*>(place);
    char* const first = start_ + (kHugePage - reinterpret_cast<std::uintptr_t>(start_) % kHugePage) % kHugePage;
    data_ = reinterpret_cast<T*>(first);
#if defined(MADV_HUGEPAGE)
    // A small table should not take a huge page: they begin behind the first one's place.
    if (const std::size_t whole = limit * sizeof(T) / kHugePage; whole > 1)
      madvise(first + kHugePage, (whole - 1) * kHugePage, MADV_HUGEPAGE);
#endif
#endif
  }
  Reserved(Reserved&& other) noexcept { swap(other); }
  Reserved& operator=(Reserved&& other) noexcept {
    swap(other);
    return *this;
  }
  Reserved(const Reserved&) = delete;
  Reserved& operator=(const Reserved&) = delete;
  ~Reserved() {
#if defined(__linux__)
    if (mapped_) munmap(start_, mapped_);
#endif
  }

  // To `size` elements, at most the limit; those that are new are zero.
  void grow(std::size_t size) {
    if (!start_) {  // no such way here
      AlignedArray<T> larger(size + (kReadable + sizeof(T) - 1) / sizeof(T));
      if (size_) std::memcpy(static_cast<void*>(&larger[0]), data_, size_ * sizeof(T));
      own_ = std::move(larger);
      data_ = &own_[0];
    }
    size_ = size;
  }

  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  const T* begin() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  static constexpr std::size_t kReadable = 64;  // bytes behind the end

 private:
  void swap(Reserved& other) {
    std::swap(own_, other.own_);
    std::swap(start_, other.start_);
    std::swap(mapped_, other.mapped_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  AlignedArray<T> own_;
  char* start_ = nullptr;
  std::size_t mapped_ = 0;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace bytepair
