#include "storage/record.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace tinyot {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are stored as they lie in memory");

constexpr std::uint32_t kRecordMagic = 0x424f5254;  // "TROB"
constexpr std::uint32_t kPlainArrays = 0;           // the only encoding of this format

// The header as it lies on disk.
struct StoredHeader {
  std::uint32_t magic;
  std::uint8_t kind;
  std::uint8_t party;
  std::uint8_t columns_with_bits;
  std::uint8_t columns_of_keys;
  std::uint64_t first;
  std::uint32_t count;
  std::uint32_t encoding;
  std::uint64_t reserved;
};
static_assert(sizeof(StoredHeader) == kRecordHeaderBytes && std::is_trivially_copyable_v<StoredHeader>);

// Mine, then shared ones: of both there are bits and a block each.
std::size_t columns_with_bits(const MaterialShape& shape) { return shape.mine + shape.shares; }

template <class Batch>
auto& bits_of_column(Batch& batch, std::size_t column) {
  return column < batch.mine.size() ? batch.mine[column].bits : batch.shares[column - batch.mine.size()].bits;
}
template <class Batch>
auto* blocks_of_column(Batch& batch, std::size_t column) {
  return column < batch.mine.size() ? &batch.mine[column].macs.data()->value : &batch.shares[column - batch.mine.size()].macs.data()->value;
}

StoredHeader stored(const RecordHeader& header) {
  const MaterialShape shape = shape_of(header.kind, header.me);
  return {kRecordMagic,
          static_cast<std::uint8_t>(header.kind),
          static_cast<std::uint8_t>(header.me),
          static_cast<std::uint8_t>(columns_with_bits(shape)),
          static_cast<std::uint8_t>(shape.peers),
          header.first,
          header.count,
          kPlainArrays,
          0};
}

std::size_t bits_bytes(std::size_t count) { return words_for(count) * sizeof(std::uint64_t); }
std::size_t blocks_bytes(std::size_t count) { return count * sizeof(Block); }

// Where the arrays of a record of `count` objects begin.
struct Layout {
  std::size_t count;
  MaterialShape shape;

  std::size_t bits(std::size_t column) const { return kRecordHeaderBytes + column * (bits_bytes(count) + blocks_bytes(count)); }
  std::size_t macs(std::size_t column) const { return bits(column) + bits_bytes(count); }
  std::size_t keys(std::size_t column) const { return bits(columns_with_bits(shape)) + column * blocks_bytes(count); }
  std::size_t end() const { return keys(shape.peers); }
};

}  // namespace

std::size_t record_bytes(MaterialKind kind, Party me, std::size_t count) { return Layout{count, shape_of(kind, me)}.end(); }

std::size_t record_capacity(MaterialKind kind) {
  const auto largest = [kind](std::size_t count) {
    return std::max(record_bytes(kind, Party::A, count), record_bytes(kind, Party::B, count));
  };
  const std::size_t per_64 = largest(64) - kRecordHeaderBytes;
  return (kRecordBytesMax - kRecordHeaderBytes) / per_64 * 64;
}

void encode_record(const RecordHeader& header, std::span<const Segment> segments, std::span<std::byte> record) {
  const Layout layout{header.count, shape_of(header.kind, header.me)};
  ENSURE(record.size() == layout.end());
  const StoredHeader head = stored(header);
  std::memcpy(record.data(), &head, sizeof head);
  SecretVector<std::uint64_t> words(words_for(header.count));
  for (std::size_t column = 0; column < columns_with_bits(layout.shape); ++column) {
    std::fill(words.begin(), words.end(), 0);
    std::size_t done = 0;
    for (const Segment& segment : segments) {
      copy_bits(bits_of_column(*segment.batch, column).words(), segment.from, words, done, segment.count);
      std::memcpy(&record[layout.macs(column)] + blocks_bytes(done), blocks_of_column(*segment.batch, column) + segment.from,
                  blocks_bytes(segment.count));
      done += segment.count;
    }
    ENSURE(done == header.count);
    std::memcpy(&record[layout.bits(column)], words.data(), bits_bytes(header.count));
  }
  for (std::size_t column = 0; column < layout.shape.peers; ++column) {
    std::size_t done = 0;
    for (const Segment& segment : segments) {
      const AuthBitsPeers& source = segment.batch->peers[column];
      std::memcpy(&record[layout.keys(column)] + blocks_bytes(done), source.keys.data() + segment.from,
                  blocks_bytes(segment.count));
      done += segment.count;
    }
    ENSURE(done == header.count);
  }
}

RecordHeader check_record(MaterialKind kind, Party me, std::uint64_t first, std::span<const std::byte> record) {
  if (record.size() < kRecordHeaderBytes) throw_corrupt_record(kind, first);
  StoredHeader head;
  std::memcpy(&head, record.data(), sizeof head);
  if (head.count < 1 || head.count > record_capacity(kind)) throw_corrupt_record(kind, first);
  const RecordHeader header{kind, me, first, head.count};
  const StoredHeader expected = stored(header);
  if (std::memcmp(&head, &expected, sizeof head) != 0 || record.size() != record_bytes(kind, me, head.count))
    throw_corrupt_record(kind, first);
  return header;
}

void decode_objects(const RecordHeader& header, std::span<const std::byte> record, std::size_t from, std::size_t count,
                    MaterialBatch& target, std::size_t to) {
  ENSURE(from + count <= header.count && to + count <= target.count && count > 0);
  const Layout layout{header.count, shape_of(header.kind, header.me)};
  const std::size_t first_word = from / 64;
  SecretVector<std::uint64_t> words(words_for(from + count) - first_word);
  for (std::size_t column = 0; column < columns_with_bits(layout.shape); ++column) {
    // The value may lie at any even address, so the words are copied before they are read as words.
    std::memcpy(words.data(), &record[layout.bits(column)] + first_word * sizeof(std::uint64_t),
                words.size() * sizeof(std::uint64_t));
    copy_bits(words, from % 64, bits_of_column(target, column).words(), to, count);
    std::memcpy(blocks_of_column(target, column) + to, &record[layout.macs(column)] + blocks_bytes(from), blocks_bytes(count));
  }
  for (std::size_t column = 0; column < layout.shape.peers; ++column)
    std::memcpy(target.peers[column].keys.data() + to, &record[layout.keys(column)] + blocks_bytes(from), blocks_bytes(count));
}

void copy_objects(const MaterialBatch& source, std::size_t from, std::size_t count, MaterialBatch& target, std::size_t to) {
  ENSURE(from + count <= source.count && to + count <= target.count);
  for (std::size_t column = 0; column < source.mine.size() + source.shares.size(); ++column) {
    bits_of_column(target, column).copy_from(bits_of_column(source, column), from, to, count);
    std::copy_n(blocks_of_column(source, column) + from, count, blocks_of_column(target, column) + to);
  }
  for (std::size_t column = 0; column < source.peers.size(); ++column)
    std::copy_n(source.peers[column].keys.begin() + static_cast<std::ptrdiff_t>(from), count,
                target.peers[column].keys.begin() + static_cast<std::ptrdiff_t>(to));
}

void throw_corrupt_record(MaterialKind kind, std::uint64_t first) {
  throw StoreError("record " + std::string(name_of(kind)) + " " + std::to_string(first) +
                   " is corrupt; the material of this store cannot be used, retire it and start a new session in a new store");
}

}  // namespace tinyot
