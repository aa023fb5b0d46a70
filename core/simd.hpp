// The instruction sets of this machine, and what cutting needs of them: 64 bytes to class masks, and a mask to places.
// Everything built on the masks is plain 64-bit arithmetic, written once.
#pragma once

#include <string>

#include "text.hpp"

namespace bytepair {

// Eight one-bit properties of each ASCII character, as the flags of one byte.
struct AsciiFlags {
  alignas(64) u8 of[128];
};

struct Masks {
  u64 flag[8];  // bit i of flag[k]: byte i has property k
  u64 high;     // bit i: byte i is no ASCII (its flags are zero)
  u64 inner;    // ... and 0x80 to 0xBF: not the first byte of its character
  u64 long_lead;  // ... and at least 0xE0: the first of three bytes or more
};

struct Simd {
  const char* name;
  void (*classify)(const u8* s, const AsciiFlags& flags, Masks& out);
  // Writes base + i for each set bit i, ascending; up to 64 places may be written. Returns how many are meant.
  std::size_t (*places)(u64 mask, std::size_t base, std::size_t* out);
};

// The best level of this machine, or the one that BYTEPAIR_SIMD names ("avx512", "avx2", "neon", "plain").
const Simd& simd();
// Whether blocks are worth it: on plain words the automaton alone is as fast, so they run there only where BYTEPAIR_SIMD
// asks for them.
bool blocks_pay();
// A level by name; nullptr where this machine or this build does not have it.
const Simd* simd_named(const std::string& name);

}  // namespace bytepair
