#include "storage/record.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "base/error.h"

namespace tinyot::storage {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are stored in native byte order");

std::size_t bits_bytes(std::size_t count) { return words_for(count) * sizeof(std::uint64_t); }
std::size_t blocks_bytes(std::size_t count) { return count * sizeof(Block); }

// Offsets of the arrays in a record of `count` objects.
struct Layout {
  std::size_t count;
  MaterialShape shape;

  std::size_t bits(std::size_t column) const {
    return column * (bits_bytes(count) + blocks_bytes(count));
  }
  std::size_t macs(std::size_t column) const { return bits(column) + bits_bytes(count); }
  std::size_t keys(std::size_t column) const {
    return bits(columns_with_bits(shape)) + column * blocks_bytes(count);
  }
  std::size_t end() const { return keys(shape.peers); }
};

}  // namespace

std::size_t record_bytes(MaterialKind kind, Party me, std::size_t count) {
  return Layout{count, shape_of(kind, me)}.end();
}

std::size_t record_capacity(MaterialKind kind) {
  const auto largest = [kind](std::size_t count) {
    return std::max(record_bytes(kind, Party::A, count), record_bytes(kind, Party::B, count));
  };
  return kRecordBytesMax / largest(64) * 64;
}

void encode_record(MaterialKind kind, Party me, std::size_t total,
                   std::span<const MaterialSlice> slices, std::span<std::byte> record) {
  const Layout layout{total, shape_of(kind, me)};
  ENSURE(record.size() == layout.end());
  SecretVector<std::uint64_t> words(words_for(total));
  for (std::size_t column = 0; column < columns_with_bits(layout.shape); ++column) {
    std::fill(words.begin(), words.end(), 0);
    std::size_t done = 0;
    for (const MaterialSlice& slice : slices) {
      copy_bits(bits_of_column(*slice.batch, column).words(), slice.from, words, done, slice.count);
      std::memcpy(&record[layout.macs(column)] + blocks_bytes(done),
                  blocks_of_column(*slice.batch, column) + slice.from, blocks_bytes(slice.count));
      done += slice.count;
    }
    ENSURE(done == total);
    std::memcpy(&record[layout.bits(column)], words.data(), bits_bytes(total));
  }
  for (std::size_t column = 0; column < layout.shape.peers; ++column) {
    std::size_t done = 0;
    for (const MaterialSlice& slice : slices) {
      const AuthBitsPeers& source = slice.batch->peers[column];
      std::memcpy(&record[layout.keys(column)] + blocks_bytes(done),
                  source.keys.data() + slice.from, blocks_bytes(slice.count));
      done += slice.count;
    }
    ENSURE(done == total);
  }
}

void encode_record(Party me, const MaterialBatch& batch, std::size_t from, std::size_t count,
                   std::span<std::byte> record) {
  // refers to the batch without owning it
  const MaterialSlice slice{{std::shared_ptr<const MaterialBatch>(), &batch}, from, count};
  encode_record(batch.kind, me, count, std::span(&slice, 1), record);
}

void decode_objects(MaterialKind kind, Party me, std::size_t total,
                    std::span<const std::byte> record, std::size_t from, std::size_t count,
                    MaterialBatch& target, std::size_t to) {
  const Layout layout{total, shape_of(kind, me)};
  ENSURE(record.size() == layout.end() && from + count <= total && to + count <= target.count &&
         count > 0);
  const std::size_t first_word = from / 64;
  SecretVector<std::uint64_t> words(words_for(from + count) - first_word);
  for (std::size_t column = 0; column < columns_with_bits(layout.shape); ++column) {
    // The value is aligned to 2 bytes only, so the words are copied first.
    std::memcpy(words.data(), &record[layout.bits(column)] + first_word * sizeof(std::uint64_t),
                words.size() * sizeof(std::uint64_t));
    copy_bits(words, from % 64, bits_of_column(target, column).words(), to, count);
    std::memcpy(blocks_of_column(target, column) + to,
                &record[layout.macs(column)] + blocks_bytes(from), blocks_bytes(count));
  }
  for (std::size_t column = 0; column < layout.shape.peers; ++column)
    std::memcpy(target.peers[column].keys.data() + to,
                &record[layout.keys(column)] + blocks_bytes(from), blocks_bytes(count));
}

}  // namespace tinyot::storage
