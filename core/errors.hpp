// Errors of the core. The binding maps each kind to one Python class, in one place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace bytepair {

enum class ErrorKind { vocabulary, unknown_token, training, value };

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// A character that the alphabet does not have, at a byte offset of the text that was given.
class UnknownCharacter : public Error {
 public:
  UnknownCharacter(std::uint32_t point, std::uint64_t byte_offset)
      : Error(ErrorKind::unknown_token, "unknown character"), code_point(point), offset(byte_offset) {}
  std::uint32_t code_point;
  std::uint64_t offset;
  static constexpr std::uint64_t kNoDocument = ~std::uint64_t{0};
  std::uint64_t document = kNoDocument;  // in a batch
};

// A text, of many maybe, that is no Unicode text: it has a surrogate. Who gave it knows better what to say.
class Surrogates : public std::runtime_error {
 public:
  explicit Surrogates(std::size_t which = 0) : std::runtime_error("lone surrogates"), document(which) {}
  std::size_t document;
};

}  // namespace bytepair
