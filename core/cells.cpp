#include "cells.hpp"

#include <bit>
#include <string_view>

#include "targets.hpp"

namespace bytepair {

namespace {

// Of the bytes of a key those that belong to the word, and what stands above them, by its length.
struct KeyTables {
  alignas(16) u64 bytes[16][2], above[16][2];
  constexpr KeyTables() : bytes{}, above{} {
    for (u64 n = 0; n < 16; ++n) {
      bytes[n][0] = kShortMasks.low[n];
      bytes[n][1] = kShortMasks.high[n];
      above[n][0] = n < 8 ? n << 56 : 0;
      above[n][1] = n < 8 ? CellKey::kMark : n << 56;
    }
  }
};
constexpr KeyTables kTables;

constexpr std::size_t kLineBytes = kLine * sizeof(u32);

// The line at a place.
inline const u32* line_at(const u32* lines, u64 place) { return lines + place / sizeof(u32); }

// All bits where the cell whose second word this is has ids there, and no more of a key.
inline u64 is_one_cell(u64 second) { return u64{0} - u64{second >> 56 == 0}; }

// No bit where the cell whose second word this is belongs to the key whose second word that is, and the first ones agree.
// A cell with ids there holds a word of seven bytes at most, so the key must have the mark.
inline u64 differs(u64 second, u64 key_second) {
  return (second ^ key_second) & (~is_one_cell(second) | (~CellKey::kMark & u64{0xFF} << 56));
}

// The ids of the entry that begins in this cell.
inline const u32* ids_in(const u32* cell) { return cell + 4 - (is_one_cell(cell_word(cell + 2)) & 2); }

// ---- plain ----

u64 hash_plain(const CellKey& key) { return hash_words(key.first, key.second); }

void keys_plain(const u8* s, std::size_t start, const std::size_t* ends, const CellTables& tables, WordBatch& batch) {
  const u32* const lines = tables.lines;
  const u64 mask = tables.line_mask;
  std::size_t n_wide = 0, at = start;
  for (std::size_t j = 0; j < batch.size; ++j) {
    const std::size_t length = ends[j] - at, n = length & 15;
    const CellKey key((load64(s + at) & kTables.bytes[n][0]) | kTables.above[n][0],
                      (load64(s + at + 8) & kTables.bytes[n][1]) | kTables.above[n][1]);
    const u64 hash = hash_plain(key);
    const u64 place = (hash & mask) * kLineBytes;
    prefetch(reinterpret_cast<const u8*>(lines) + place);
    batch.keys[j] = key;
    batch.places[j] = place;
    batch.numbers[n_wide] = static_cast<u32>(j);
    n_wide += length > ShortKey::kMax;
    at = ends[j];
  }
  batch.n_wide = n_wide;
}

inline u32* put(const u32* ids, u32* out) {
  std::memcpy(out, ids, kTwoCellIds * sizeof(u32));
  out[0] &= 0xFFFFFF;
  return out + (ids[0] >> 24);
}
inline u64 put(const u32* ids, u64 out) { return out + (ids[0] >> 24); }

// Four at a time: up to three behind the last are read and written too.
inline u32* put_many(const u32* ids, std::size_t n, u32* out) {
  for (std::size_t k = 0; k < n; k += 4) std::memcpy(out + k, ids + k, 4 * sizeof(u32));
  out[0] &= 0xFFFFFF;
  return out + n;
}
inline u64 put_many(const u32*, std::size_t n, u64 out) { return out + n; }
inline std::size_t left_of(const u32* out, const u32* end) { return static_cast<std::size_t>(end - out); }
inline std::size_t left_of(u64, u64) { return ~std::size_t{0}; }

// The ids of a slot that says where they are in the log; `left` words are still to come, and have room.
template <class Out>
BYTEPAIR_APART bool put_logged(const CellTables& tables, const u32* slot, std::size_t left, Out& out, Out end) {
  const std::size_t n = slot[1];
  const u32* const ids = tables.ids_in_log(slot);
  if (!ids || left_of(out, end) < n + kWideIds * left) return false;
  out = put_many(ids, n, out);
  return true;
}

// A word that is not in its first line with at most kTwoCellIds ids.
template <class Out>
BYTEPAIR_APART bool put_elsewhere(const CellTables& tables, const WordBatch& batch, std::size_t j, Out& out, Out end,
                                 u64 (*hash)(const CellKey&), const u32* (*find)(const CellTables&, const CellKey&, u64)) {
  if (batch.own_ids && batch.own[j]) {
    const u32* const known = batch.own_ids + batch.own[j];
    if (left_of(out, end) < known[-1] + kWideIds * (batch.size - j)) return false;
    out = put_many(known, known[-1], out);
    return true;
  }
  const CellKey key = batch.keys[j];
  const u32* ids = nullptr;
  if (key.first != WordBatch::kWide || key.second >> 56 != 0) {
    ids = find(tables, key, hash(key));
  } else if (key.second < WordBatch::kWords) {
    const MediumKey& wide = batch.wide[key.second];
    const u64 at = batch.wide_hashes[key.second];
    for (u64 which = at; which < at + 2 && !ids; ++which) {
      const WideSlot& slot = tables.wide[which & tables.wide_mask];
      if (slot.key == wide) ids = slot.ids;
    }
  }
  if (!ids) return false;
  const std::size_t n = *ids >> 24;
  if (n == kInLog) return put_logged(tables, ids, batch.size - j, out, end);
  out = put_many(ids, n, out);
  return true;
}

inline u32* end_of(u32* out, std::size_t room) { return out + room; }
inline u64 end_of(u64 out, std::size_t) { return out; }

const u32* find_plain(const CellTables& tables, const CellKey& key, u64 hash);

// No branch depends on which cell it is, nor on how many ids there are: nobody could predict them.
template <class Out>
std::size_t run_plain(const CellTables& tables, const WordBatch& batch, std::size_t from, Out& out, std::size_t room) {
  Out at = out;
  const Out end = end_of(at, room);
  std::size_t j = from;
  for (; j < batch.size; ++j) {
    const CellKey key = batch.keys[j];
    const u32* const line = line_at(tables.lines, batch.places[j]);
    u64 place = 0;
    for (u64 cell = 1; cell < 4; ++cell) place |= (u64{0} - u64{cell_word(line + kCell * cell) == key.first}) & cell;
    const u32* const found = line + kCell * place;
    if (((cell_word(found) ^ key.first) | differs(cell_word(found + 2), key.second)) == 0) {
      at = put(ids_in(found), at);
      continue;
    }
    if (!put_elsewhere(tables, batch, j, at, end, hash_plain, find_plain)) break;
  }
  out = at;
  return j;
}

std::size_t used_plain(const u32* line) {
  std::size_t used = 0;
  for (std::size_t cell = 0; cell < 4; ++cell) used += (cell_word(line + kCell * cell) | cell_word(line + kCell * cell + 2)) != 0;
  return used;
}

const u32* find_plain(const CellTables& tables, const CellKey& key, u64 hash) {
  for (u64 which = hash; which < hash + kLines; ++which) {
    const u32* const line = tables.lines + (which & tables.line_mask) * kLine;
    for (std::size_t cell = 0; cell < 4; ++cell) {
      const u32* const found = line + kCell * cell;
      if (cell_word(found) == key.first && differs(cell_word(found + 2) & ~CellKey::kLogged, key.second) == 0) return ids_in(found);
    }
    if (used_plain(line) <= 2) break;
  }
  return nullptr;
}

std::size_t missing_plain(const CellTables& tables, const WordBatch& batch, u32* numbers) {
  std::size_t n = 0;
  for (std::size_t j = 0; j < batch.size; ++j) {
    const u64 key = batch.keys[j].first;
    const u32* const line = line_at(tables.lines, batch.places[j]);
    u64 found = 0;
    for (std::size_t cell = 0; cell < 4; ++cell) found |= u64{cell_word(line + kCell * cell) == key};
    numbers[n] = static_cast<u32>(j);
    n += 1 - found;
  }
  return n;
}

constexpr CellLevel kPlain{hash_plain, keys_plain, run_plain<u32*>, run_plain<u64>, find_plain, used_plain, missing_plain};

#if defined(BYTEPAIR_X86)

// ---- AVX-512: a key is one register, and a line another ----

#define BYTEPAIR_CELLS BYTEPAIR_TARGET("avx512f,avx512bw,avx512vl,avx512dq,aes,bmi,popcnt")

BYTEPAIR_CELLS inline u64 hash_of(__m128i key) {
  const __m128i once = _mm_aesenc_si128(key, _mm_set_epi64x(0x3C6EF372FE94F82B, 0x1F83D9ABFB41BD6B));
  return static_cast<u64>(_mm_cvtsi128_si64(_mm_aesenc_si128(once, _mm_set_epi64x(0x5BE0CD19137E2179, 0x510E527FADE682D1))));
}

BYTEPAIR_CELLS u64 hash_avx512(const CellKey& key) { return hash_of(_mm_loadu_si128(reinterpret_cast<const __m128i*>(&key))); }

BYTEPAIR_CELLS void keys_avx512(const u8* s, std::size_t start, const std::size_t* ends, const CellTables& tables,
                                WordBatch& batch) {
  const u32* const lines = tables.lines;
  const u64 mask = tables.line_mask;
  const std::size_t size = batch.size;
  std::size_t n_wide = 0, at = start;
  for (std::size_t j = 0; j < size; ++j) {
    const std::size_t end = ends[j], length = end - at, n = length & 15;
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(s + at));
    const __m128i key = _mm_ternarylogic_epi64(bytes, _mm_load_si128(reinterpret_cast<const __m128i*>(kTables.bytes[n])),
                                               _mm_load_si128(reinterpret_cast<const __m128i*>(kTables.above[n])), 0xEA);
    const u64 hash = hash_of(key);
    const u64 place = (hash & mask) * kLineBytes;
    _mm_prefetch(reinterpret_cast<const char*>(lines) + place, _MM_HINT_T0);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(batch.keys + j), key);
    batch.places[j] = place;
    batch.numbers[n_wide] = static_cast<u32>(j);
    n_wide += length > ShortKey::kMax;
    at = end;
  }
  batch.n_wide = n_wide;
}

BYTEPAIR_CELLS inline u32* put_avx512(const u32* ids, u32* out) {
  const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(ids));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm_and_si128(four, _mm_setr_epi32(0xFFFFFF, -1, -1, -1)));
  return out + (ids[0] >> 24);
}
BYTEPAIR_CELLS inline u64 put_avx512(const u32* ids, u64 out) { return out + (ids[0] >> 24); }

// Which cells have the key's first word, at bits 0, 2, 4 and 6.
BYTEPAIR_CELLS inline u32 cells_of(const u32* line, const CellKey* key) {
  const __m512i words = _mm512_broadcast_i64x2(_mm_loadu_si128(reinterpret_cast<const __m128i*>(key)));
  return _mm512_mask_cmpeq_epi64_mask(0x55, words, _mm512_load_si512(line));
}

BYTEPAIR_CELLS std::size_t used_avx512(const u32* line) {
  const __m512i words = _mm512_load_si512(line);
  const u32 some = _mm512_test_epi64_mask(words, words);
  return static_cast<std::size_t>(_mm_popcnt_u32((some | some >> 1) & 0x55));
}

BYTEPAIR_CELLS const u32* find_avx512(const CellTables& tables, const CellKey& key, u64 hash) {
  for (u64 which = hash; which < hash + kLines; ++which) {
    const u32* const line = tables.lines + (which & tables.line_mask) * kLine;
    for (u32 cells = cells_of(line, &key); cells; cells &= cells - 1) {
      const u32* const found = line + 2 * static_cast<std::size_t>(_tzcnt_u32(cells));
      if (differs(cell_word(found + 2) & ~CellKey::kLogged, key.second) == 0) return ids_in(found);
    }
    const __m256i last = _mm256_load_si256(reinterpret_cast<const __m256i*>(line + 2 * kCell));
    if (_mm256_testz_si256(last, last)) break;
  }
  return nullptr;
}

template <class Out>
BYTEPAIR_CELLS std::size_t run_avx512(const CellTables& tables, const WordBatch& batch, std::size_t from, Out& out,
                                      std::size_t room) {
  const u32* const lines = tables.lines;
  Out at = out;
  const Out end = end_of(at, room);
  const CellKey* key = batch.keys + from;
  const u64* place = batch.places + from;
  const u64* const last = batch.places + batch.size;
  for (; place != last; ++place, ++key) {
    const u32* const line = line_at(lines, *place);
    if (const u32 cells = cells_of(line, key)) {
      const u32* const found = line + 2 * static_cast<std::size_t>(_tzcnt_u32(cells));
      const u64 other = differs(cell_word(found + 2), key->second);
      if (other == 0) {
        at = put_avx512(ids_in(found), at);
        continue;
      }
      if (other == CellKey::kLogged) {
        Out moved = at;
        if (!put_logged(tables, found + 4, static_cast<std::size_t>(last - place), moved, end)) break;
        at = moved;
        continue;
      }
    }
    Out moved = at;
    const std::size_t j = static_cast<std::size_t>(place - batch.places);
    if (!put_elsewhere(tables, batch, j, moved, end, hash_avx512, find_avx512)) break;
    at = moved;
  }
  out = at;
  return static_cast<std::size_t>(place - batch.places);
}

BYTEPAIR_CELLS std::size_t missing_avx512(const CellTables& tables, const WordBatch& batch, u32* numbers) {
  std::size_t n = 0;
  for (std::size_t j = 0; j < batch.size; ++j) {
    numbers[n] = static_cast<u32>(j);
    n += cells_of(line_at(tables.lines, batch.places[j]), batch.keys + j) == 0;
  }
  return n;
}

constexpr CellLevel kAvx512{hash_avx512, keys_avx512, run_avx512<u32*>, run_avx512<u64>, find_avx512, used_avx512, missing_avx512};

#endif

}  // namespace

const CellLevel& cell_level([[maybe_unused]] const Simd& level) {
#if defined(BYTEPAIR_X86)
  if (std::string_view(level.name) == "avx512") return kAvx512;
#endif
  return kPlain;
}

}  // namespace bytepair
