#include "decode.hpp"

#include <algorithm>
#include <exception>

#include "errors.hpp"
#include "workers.hpp"

namespace bytepair {

Decoder::Decoder(std::vector<u8> text, const std::vector<i64>& offsets, const std::vector<u8>& flags)
    : text_(std::move(text)) {
  bool sound = offsets.size() == flags.size() + 1 && offsets.front() == 0 &&
               offsets.back() == static_cast<i64>(text_.size()) && text_.size() < (u64{1} << 29);
  for (std::size_t i = 0; sound && i + 1 < offsets.size(); ++i) sound = offsets[i] <= offsets[i + 1];
  if (!sound) throw Error(ErrorKind::value, "decoder: the offsets do not describe the text");
  for (const u8 flag : flags) {
    if ((flag & special) && (flag & marked))
      throw Error(ErrorKind::value, "decoder: a special token has no end-of-word mark");
  }
  text_.resize(text_.size() + kCopied);
  rows_.reserve(flags.size());
  for (std::size_t i = 0; i < flags.size(); ++i) {
    rows_.push_back({static_cast<u32>(offsets[i]), static_cast<u32>(offsets[i + 1] - offsets[i]) << 3 | (flags[i] & 7u)});
    has_marks_ = has_marks_ || ((flags[i] & marked) && (flags[i] & present));
  }
  if (has_marks_) return;
  slots_.resize(flags.size());
  for (std::size_t i = 0; i < flags.size(); ++i) {
    Slot& slot = slots_[i];
    const u8* const token = text_.data() + rows_[i].start;
    const std::size_t length = rows_[i].length_and_flags >> 3;
    const Survey found = survey(token, length);
    slot.traits = found.valid && length > 0 ? found.kinds : kBroken;  // one without bytes may stand within a character
    if (length <= sizeof slot.text && (flags[i] & present) && !(flags[i] & special)) {
      std::memcpy(slot.text, token, length);
      slot.length = static_cast<u8>(length);
      slot.characters = found.valid ? static_cast<u8>(found.characters) : u8{0};
    } else {
      slot.traits |= kElsewhere;
      const u32 characters = static_cast<u32>(found.characters);
      std::memcpy(slot.text, &characters, sizeof characters);
    }
  }
}

// Shares of the ids, one thread's each. A row that is larger than a share is cut where one token ends and the next
// begins; what its bytes are as text is asked again of all of them where a token on its own is no UTF-8.
Decoder::Batch Decoder::decode_rows(const u32* ids, const i64* offsets, std::size_t n_rows, bool skip_specials,
                                    unsigned threads) const {
  Batch batch;
  struct Part {
    std::size_t row, from, to, start = 0, size = 0;
    Survey text{};
  };
  struct Share {
    std::size_t first, end = 0, bad_part = static_cast<std::size_t>(-1), bad_place = 0;
    std::exception_ptr error = nullptr;
  };
  const std::size_t total = static_cast<std::size_t>(offsets[n_rows] - offsets[0]);
  const std::size_t useful = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(total / 32768, 1));
  const std::size_t size = useful == 1 ? total + 1 : std::clamp<std::size_t>(total / useful / 8, 16384, 1 << 20);
  std::vector<Part> parts;
  std::vector<Share> shares;
  std::size_t in_share = size;
  for (std::size_t i = 0; i < n_rows; ++i) {
    std::size_t from = static_cast<std::size_t>(offsets[i]);
    const std::size_t end = static_cast<std::size_t>(offsets[i + 1]);
    do {
      const std::size_t to = !has_marks_ && end - from > 2 * size ? from + size : end;
      if (in_share >= size) {
        shares.push_back({parts.size()});
        in_share = 0;
      }
      parts.push_back({i, from, to});
      in_share += to - from;
      shares.back().end = parts.size();
      from = to;
    } while (from < end);
  }
  batch.buffers.resize(shares.size());
  run_in_parallel(shares.size(), static_cast<unsigned>(useful), [&](std::size_t k) {
    Share& share = shares[k];
    try {
      ByteBuffer& out = batch.buffers[k];
      for (std::size_t p = share.first; p < share.end; ++p) {
        Part& part = parts[p];
        part.start = out.size();
        const std::size_t n = part.to - part.from;
        const std::size_t bad = decode(ids + part.from, n, skip_specials, out, part.text);
        if (bad < n) {
          share.bad_part = p;
          share.bad_place = part.from + bad;
          return;
        }
        part.size = out.size() - part.start;
      }
    } catch (...) {
      share.error = std::current_exception();
    }
  });
  for (const Share& share : shares) {
    if (share.error) std::rethrow_exception(share.error);
    if (share.bad_part < parts.size()) {
      batch.bad_row = parts[share.bad_part].row;
      batch.bad_place = share.bad_place - static_cast<std::size_t>(offsets[batch.bad_row]);
      return batch;
    }
  }
  batch.bad_row = n_rows;
  batch.rows.reserve(n_rows);
  for (std::size_t k = 0; k < shares.size(); ++k) {
    for (std::size_t p = shares[k].first; p < shares[k].end; ++p) {
      const Part& part = parts[p];
      if (batch.rows.size() == part.row) {
        batch.rows.push_back({k, part.start, part.size, part.text});
        continue;
      }
      Batch::Row& row = batch.rows.back();
      if (row.buffer < shares.size()) {  // the second part of it: the whole has a buffer of its own
        ByteBuffer whole;
        whole.append(batch.bytes(row), row.size);
        batch.buffers.push_back(std::move(whole));
        row.buffer = batch.buffers.size() - 1;
        row.start = 0;
      }
      ByteBuffer& whole = batch.buffers[row.buffer];
      whole.append(batch.buffers[k].data() + part.start, part.size);
      row.size = whole.size();
      row.text.add(part.text);
    }
  }
  for (Batch::Row& row : batch.rows) {
    if (row.buffer >= shares.size() && !row.text.valid) row.text = survey(batch.bytes(row), row.size);
  }
  return batch;
}

bool Decoder::places(const u32* ids, std::size_t n, const u8* s, std::size_t n_text, bool characters,
                     i64* places) const {
  if (has_marks_) return false;
  std::size_t at = 0;              // in bytes
  std::size_t begin = 0, end = 0;  // of the character in hand
  i64 character = -1;              // which one that is
  const auto reach = [&](std::size_t byte) {  // to the character that the byte is of
    while (end <= byte) {
      u32 length;
      begin = end;
      decode_utf8(s, begin, n_text, length);
      end = begin + length;
      ++character;
    }
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (ids[i] >= rows_.size()) return false;
    const Row row = rows_[ids[i]];
    const std::size_t length = row.length_and_flags >> 3;
    if (!(row.length_and_flags & present) || length > n_text - at) return false;
    if (length == 0) {  // the end of what came before
      if (at > 0) reach(at - 1);
      places[2 * i] = places[2 * i + 1] = characters ? character + 1 : static_cast<i64>(end);
    } else {
      reach(at);
      places[2 * i] = characters ? character : static_cast<i64>(begin);
      reach(at + length - 1);
      places[2 * i + 1] = characters ? character + 1 : static_cast<i64>(end);
    }
    at += length;
  }
  return at == n_text;
}

}  // namespace bytepair
