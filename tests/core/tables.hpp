// The compiled patterns that tools/write_core_tables.py has written, for the core's tests and its benchmark.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "split.hpp"

namespace bytepair::test {

// One stage of a pattern as a lexer: cuts one pretoken off the front of a text.
struct LexerStage {
  static constexpr u16 kDead = 0xFFFF;

  ClassTable classes;
  std::vector<u8> kind;    // rows of n_classes + 1: what is accepted before the character: 0 nothing, 1 a match, 2 a gap
  std::vector<u16> next;   // the next state or kDead
  std::vector<u16> begin;  // the state behind each class; the last begins a text
};

struct Pattern {
  std::string name;  // a preset's, or the regex
  std::optional<Family> family;
  std::vector<u8> flags;
  ClassTable classes;
  Automaton::Tables tables;
  std::vector<u8> weak;
  std::vector<LexerStage> stages;

  Automaton automaton() const { return Automaton(classes, tables); }
  Splitter splitter() const { return family ? Splitter(automaton(), *family, flags, simd()) : Splitter(automaton()); }
  Splitter splitter(const Simd& level) const { return Splitter(automaton(), *family, flags, level); }
};

class TableFile {
 public:
  explicit TableFile(const char* path) {
    std::FILE* file = std::fopen(path, "rb");
    if (!file) throw std::runtime_error(std::string("cannot open ") + path + "; tools/write_core_tables.py makes it");
    u8 part[65536];
    while (const std::size_t n = std::fread(part, 1, sizeof part, file)) data_.insert(data_.end(), part, part + n);
    std::fclose(file);
  }

  std::vector<Pattern> patterns() {
    const std::string magic = "bytepair tables 1\n";
    for (const char c : magic) {
      if (byte() != static_cast<u8>(c)) throw std::runtime_error("this is no file of tools/write_core_tables.py");
    }
    std::vector<Pattern> out;
    for (u32 n = number(); n > 0; --n) out.push_back(pattern());
    return out;
  }

 private:
  u8 byte() { return data_.at(at_++); }
  u32 number() {
    u32 value = 0;
    for (int shift = 0; shift < 32; shift += 8) value |= static_cast<u32>(byte()) << shift;
    return value;
  }
  std::vector<u8> bytes() {
    std::vector<u8> out(number());
    for (u8& b : out) b = byte();
    return out;
  }
  std::string text() {
    const std::vector<u8> b = bytes();
    return {b.begin(), b.end()};
  }
  std::vector<u16> numbers() {
    const std::vector<u8> b = bytes();
    std::vector<u16> out(b.size() / 2);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<u16>(b[2 * i] | b[2 * i + 1] << 8);
    return out;
  }
  ClassTable class_table(u32 n_classes) {
    std::vector<u16> stage1 = numbers();
    return ClassTable(std::move(stage1), bytes(), n_classes);
  }

  static std::optional<Family> family_named(const std::string& name) {
    if (name == "gpt2") return Family::gpt2;
    if (name == "cl100k") return Family::cl100k;
    if (name == "qwen2") return Family::qwen2;
    if (name == "o200k") return Family::o200k;
    if (name == "tekken") return Family::tekken;
    return std::nullopt;
  }

  Pattern pattern() {
    std::string name = text();
    const std::optional<Family> family = family_named(text());
    std::vector<u8> flags = bytes();
    const u32 n_classes = number();
    Automaton::Tables tables;
    tables.width = number();
    ClassTable classes = class_table(n_classes);
    tables.begin = numbers();
    tables.levels = numbers();
    tables.next = numbers();
    tables.action = numbers();
    for (u32 n = number(); n > 0; --n) tables.actions.push_back(numbers());
    std::vector<u8> weak = bytes();
    tables.strong = bytes();
    std::vector<LexerStage> stages;
    for (u32 n = number(); n > 0; --n) stages.push_back(stage());
    return {std::move(name),   family,          std::move(flags), std::move(classes),
            std::move(tables), std::move(weak), std::move(stages)};
  }
  LexerStage stage() {
    ClassTable classes = class_table(number());
    std::vector<u8> kind = bytes();
    std::vector<u16> next = numbers();
    return {std::move(classes), std::move(kind), std::move(next), numbers()};
  }

  std::vector<u8> data_;
  std::size_t at_ = 0;
};

inline const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = [] {
    const char* given = std::getenv("BYTEPAIR_CORE_TABLES");
    return TableFile(given && *given ? given : BYTEPAIR_CORE_TABLES).patterns();
  }();
  return all;
}

inline const Pattern& pattern_named(const std::string& name) {
  for (const Pattern& pattern : patterns()) {
    if (pattern.name == name) return pattern;
  }
  throw std::runtime_error("no pattern is named " + name);
}

}  // namespace bytepair::test
