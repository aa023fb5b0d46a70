// Memory for lists of places: lists are made once, at their full length, and given back when their pair has merged.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "text.hpp"

namespace bytepair {

class PlaceArena {
 public:
  PlaceArena() = default;
  PlaceArena(const PlaceArena&) = delete;
  PlaceArena& operator=(const PlaceArena&) = delete;

  // Room for n places, not initialised.
  u32* take(std::size_t n) {
    if (n > left_) refill(n);
    u32* const out = at_;
    at_ += n;
    left_ -= n;
    return out;
  }

  // Places that nobody reads any more. Short ones are not worth the keeping.
  void give_back(u32* places, std::size_t n) {
    if (n >= kWorth) spare_.push_back({places, n});
  }

 private:
  static constexpr std::size_t kBlock = 1 << 18, kWorth = 1 << 10;
  struct Span {
    u32* at;
    std::size_t n;
  };

  void refill(std::size_t n) {
    give_back(at_, left_);
    // The newest ones first, as they are in the near caches; a few looks, so that a call stays cheap.
    for (std::size_t k = spare_.size(), looks = 8; k-- > 0 && looks-- > 0;) {
      if (spare_[k].n < n) continue;
      at_ = spare_[k].at;
      left_ = spare_[k].n;
      spare_[k] = spare_.back();
      spare_.pop_back();
      return;
    }
    left_ = std::max(n, kBlock);
    blocks_.emplace_back(new u32[left_]);
    at_ = blocks_.back().get();
  }

  std::vector<std::unique_ptr<u32[]>> blocks_;
  std::vector<Span> spare_;
  u32* at_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace bytepair
