// A zeroed array on cache lines, for tables; a large one asks for huge pages where the system has them.
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace bytepair {

inline constexpr std::size_t kHugePage = 2u << 20;

// As realloc(), of which `used` bytes are kept. A large one asks for huge pages: the first touch of many small ones costs
// more than what is written there. Null where there is no memory.
inline void* reallocate(void* data, std::size_t used, std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  void* larger = nullptr;
  if (bytes >= 2 * kHugePage && posix_memalign(&larger, kHugePage, bytes) == 0) {
    madvise(larger, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
    if (used) std::memcpy(larger, data, used);
    std::free(data);
    return larger;
  }
#endif
  (void)used;
  return std::realloc(data, bytes);
}

template <class T>
class AlignedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  AlignedArray() = default;
  explicit AlignedArray(std::size_t n) : size_(n) {
    if (n == 0) return;
    const std::size_t bytes = n * sizeof(T), line = bytes >= kHugePage ? kHugePage : 64;
    data_ = static_cast<T*>(::operator new(bytes, std::align_val_t{line}));
    align_ = line;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (line == kHugePage) madvise(data_, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);  // before the first touch
#endif
    std::memset(static_cast<void*>(data_), 0, bytes);
  }
  AlignedArray(AlignedArray&& other) noexcept { swap(other); }
  AlignedArray& operator=(AlignedArray&& other) noexcept {
    swap(other);
    return *this;
  }
  AlignedArray(const AlignedArray& other) : AlignedArray(other.size_) {
    if (size_) std::memcpy(static_cast<void*>(data_), other.data_, size_ * sizeof(T));
  }
  AlignedArray& operator=(const AlignedArray& other) {
    AlignedArray copy(other);
    swap(copy);
    return *this;
  }
  ~AlignedArray() {
    if (data_) ::operator delete(data_, std::align_val_t{align_});
  }

  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  void swap(AlignedArray& other) {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(align_, other.align_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, align_ = 64;
};

}  // namespace bytepair
