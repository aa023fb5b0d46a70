#include "alphabet.hpp"

#include <algorithm>

#include "errors.hpp"

namespace bytepair {

Alphabet::PointMap::PointMap(const std::vector<u32>& points, const std::vector<u32>& ids) {
  if (points.size() != ids.size()) throw Error(ErrorKind::vocabulary, "alphabet: characters and ids differ in number");
  ascii_.assign(128, kNone);
  std::size_t size = 16;
  while (size < points.size() * 2) size *= 2;
  mask_ = size - 1;
  slots_.assign(size, {kNone, kNone});
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i] > 0x10FFFF) throw Error(ErrorKind::vocabulary, "alphabet: a code point is out of range");
    if (points[i] < 0x80) {
      ascii_[points[i]] = ids[i];
      continue;
    }
    std::size_t k = points[i] * 0x9E3779B1u & mask_;
    while (slots_[k].point != kNone) k = (k + 1) & mask_;
    slots_[k] = {points[i], ids[i]};
  }
}

Alphabet Alphabet::of_bytes(const std::vector<u32>& ids, const std::vector<u32>& last, u32 mark) {
  if (ids.size() != 256 || (!last.empty() && last.size() != 256))
    throw Error(ErrorKind::vocabulary, "alphabet: 256 byte symbols are needed");
  Alphabet a;
  a.bytes_ = ids;
  a.bytes_last_ = last;
  a.mark_ = mark;
  a.fused_ = !last.empty();
  a.plain_bytes_ = last.empty() && mark == kNone;
  return a;
}

Alphabet Alphabet::of_characters(const std::vector<u32>& points, const std::vector<u32>& ids,
                                 const std::vector<u32>& last_points, const std::vector<u32>& last_ids, bool fused,
                                 u32 mark, Unknown unknown, const std::vector<u32>& bytes, u32 unknown_id) {
  if (unknown == Unknown::bytes && bytes.size() != 256)
    throw Error(ErrorKind::vocabulary, "alphabet: 256 byte symbols are needed");
  Alphabet a;
  a.characters_ = true;
  a.points_ = PointMap(points, ids);
  a.last_points_ = PointMap(last_points, last_ids);
  a.fused_ = fused;
  a.mark_ = mark;
  a.unknown_ = unknown;
  a.bytes_ = bytes;
  a.unknown_id_ = unknown_id;
  return a;
}

Alphabet Alphabet::of_listed(bool characters, const std::vector<Form>& forms, bool last, bool continued,
                             const std::vector<u32>& fallback, u32 unknown_id, bool fuse_unknown) {
  if (forms.size() != 4) throw Error(ErrorKind::vocabulary, "alphabet: four forms are needed");
  if (!fallback.empty() && fallback.size() != 256)
    throw Error(ErrorKind::vocabulary, "alphabet: 256 byte symbols are needed");
  Alphabet a;
  a.listed_ = true;
  a.characters_ = characters;
  a.fused_ = last;
  a.continued_ = continued;
  a.fuse_unknown_ = fuse_unknown;
  a.bytes_ = fallback;
  a.unknown_id_ = unknown_id;
  for (const Form& form : forms) a.forms_.emplace_back(form.points, form.ids);
  return a;
}

void Alphabet::listed_symbols(const u8* p, std::size_t n, u64 offset, std::vector<u32>& out) const {
  bool after_unknown = false;
  u32 length = 1;
  for (std::size_t i = 0; i < n; i += length) {
    const u32 point = characters_ ? decode_utf8(p, i, n, length) : p[i];
    const bool last = fused_ && i + length == n, continued = continued_ && i > 0;
    const u32 id = forms_[std::size_t{last} + 2 * std::size_t{continued}].find(point);
    if (id != kNone) {
      out.push_back(id);
      after_unknown = false;
      continue;
    }
    bool falls_back = !bytes_.empty();
    for (u32 k = 0; falls_back && k < length; ++k) falls_back = bytes_[p[i + k]] != kNone;
    if (falls_back) {
      for (u32 k = 0; k < length; ++k) out.push_back(bytes_[p[i + k]]);
      after_unknown = false;
    } else {
      if (unknown_id_ == kNone) throw UnknownCharacter(point, offset + i);
      if (!(after_unknown && fuse_unknown_)) out.push_back(unknown_id_);
      after_unknown = true;
    }
  }
}

void Alphabet::unknown(const u8* p, u32 length, u32 point, bool marked, u64 offset, std::vector<u32>& out) const {
  if (unknown_ == Unknown::error) throw UnknownCharacter(point, offset);
  if (unknown_ == Unknown::symbol) {
    out.push_back(unknown_id_);
    return;
  }
  for (u32 k = 0; k < length; ++k) out.push_back(bytes_[p[k]]);
  if (marked) out.push_back(mark_);
}

void Alphabet::symbols(const u8* p, std::size_t n, u64 offset, std::vector<u32>& out) const {
  out.clear();
  if (listed_) return listed_symbols(p, n, offset, out);
  if (!characters_) {
    for (std::size_t i = 0; i < n; ++i) out.push_back(bytes_[p[i]]);
    if (fused_) out.back() = bytes_last_[p[n - 1]];
  } else {
    u32 length;
    for (std::size_t i = 0; i < n; i += length) {
      const u32 point = decode_utf8(p, i, n, length);
      const bool marked = fused_ && i + length == n;
      const u32 id = marked ? last_points_.find(point) : points_.find(point);
      if (id != kNone)
        out.push_back(id);
      else
        unknown(p + i, length, point, marked, offset + i, out);
    }
  }
  if (!fused_ && mark_ != kNone) out.push_back(mark_);
}

void collect_characters(const u8* text, const i64* offsets, std::size_t n, const ClassTable* dropped,
                        std::vector<u32>& inner, std::vector<u32>& last) {
  std::vector<bool> seen_inner(0x110000), seen_last(0x110000);
  for (std::size_t w = 0; w < n; ++w) {
    const std::size_t start = static_cast<std::size_t>(offsets[w]), end = static_cast<std::size_t>(offsets[w + 1]);
    if (dropped && dropped->run(text, start, end, 1) == end) continue;
    u32 length;
    for (std::size_t i = start; i < end; i += length) {
      const u32 point = decode_utf8(text, i, end, length);
      (i + length == end ? seen_last : seen_inner)[point] = true;
    }
  }
  inner.clear();
  last.clear();
  for (u32 c = 0; c < 0x110000; ++c) {
    if (seen_inner[c]) inner.push_back(c);
    if (seen_last[c]) last.push_back(c);
  }
}

}  // namespace bytepair
