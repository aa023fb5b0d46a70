// Errors of the core. The binding maps each kind to one Python class, in one place.
#pragma once

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

}  // namespace bytepair
