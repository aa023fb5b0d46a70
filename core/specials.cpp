#include "specials.hpp"

#include <algorithm>

#include "errors.hpp"

namespace bytepair {

Specials::Specials(std::vector<std::string> names, std::vector<u32> ids) {
  if (names.size() != ids.size()) throw Error(ErrorKind::value, "specials: names and ids differ in number");
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) throw Error(ErrorKind::value, "specials: a name is empty");
    longest_ = std::max(longest_, names[i].size());
    by_first_[static_cast<u8>(names[i][0])].push_back({std::move(names[i]), ids[i]});
  }
  int firsts = 0;
  for (int b = 0; b < 256; ++b) {
    auto& list = by_first_[b];
    std::stable_sort(list.begin(), list.end(), 
                     [](const Name& x, const Name& y) { return x.text.size() > y.text.size(); });
    if (!list.empty()) {
      ++firsts;
      only_first_ = b;
    }
  }
  if (firsts != 1) only_first_ = -1;
}

Specials::Found Specials::find(const u8* s, std::size_t from, std::size_t n) const {
  for (std::size_t i = from; i < n; ++i) {
    if (only_first_ >= 0) {
      const void* hit = std::memchr(s + i, only_first_, n - i);
      if (!hit) break;
      i = static_cast<std::size_t>(static_cast<const u8*>(hit) - s);
    }
    for (const Name& name : by_first_[s[i]]) {
      if (name.text.size() <= n - i && std::memcmp(s + i, name.text.data(), name.text.size()) == 0)
        return {i, name.text.size(), name.id};
    }
  }
  return {n, 0, kNone};
}

bool Specials::across(const u8* s, std::size_t n, std::size_t at) const {
  for (std::size_t i = at - std::min(at, longest_); i < at; ++i) {
    for (const Name& name : by_first_[s[i]]) {
      if (name.text.size() <= n - i && i + name.text.size() > at &&
          std::memcmp(s + i, name.text.data(), name.text.size()) == 0)
        return true;
    }
  }
  return false;
}

Specials Specials::within_lines() const {
  std::vector<std::string> names;
  std::vector<u32> ids;
  for (const auto& list : by_first_) {
    for (const Name& name : list) {
      if (name.text.find('\n') < name.text.size() - 1) continue;
      names.push_back(name.text);
      ids.push_back(name.id);
    }
  }
  return Specials(std::move(names), std::move(ids));
}

}  // namespace bytepair
