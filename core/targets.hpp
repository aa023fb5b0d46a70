// What compiles for which machine: the headers of its instructions, and functions that use more than all machines have.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 takes the undefined registers of its own AVX-512 header for mistakes (its bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#if defined(__x86_64__) || defined(_M_X64)
#define BYTEPAIR_X86 1
#include <immintrin.h>
#if defined(_MSC_VER)
#include <intrin.h>
#endif
#endif
#if defined(__aarch64__) || defined(_M_ARM64)
#define BYTEPAIR_ARM 1
#include <arm_neon.h>
#endif

#if defined(__GNUC__) || defined(__clang__)
#define BYTEPAIR_TARGET(features) __attribute__((target(features)))
#else
#define BYTEPAIR_TARGET(features)
#endif

// A function that is called less often than the loop around it runs: what calls it should not make room for it.
#if defined(__GNUC__) || defined(__clang__)
#define BYTEPAIR_APART __attribute__((noinline))
#elif defined(_MSC_VER)
#define BYTEPAIR_APART __declspec(noinline)
#else
#define BYTEPAIR_APART
#endif

// A function that is compiled anew within each of its callers, for their instruction set.
#if defined(__GNUC__) || defined(__clang__)
#define BYTEPAIR_INLINE __attribute__((always_inline)) inline
#elif defined(_MSC_VER)
#define BYTEPAIR_INLINE __forceinline
#else
#define BYTEPAIR_INLINE inline
#endif
