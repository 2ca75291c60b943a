#include "base/material.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"

namespace tinyot {

std::string_view name_of(MaterialKind kind) {
  switch (kind) {
    case MaterialKind::AuthBitsA:
      return "auth_bits_a";
    case MaterialKind::AuthBitsB:
      return "auth_bits_b";
    case MaterialKind::AuthAndsA:
      return "auth_ands_a";
    case MaterialKind::AuthAndsB:
      return "auth_ands_b";
    case MaterialKind::AuthOtsAB:
      return "auth_ots_ab";
    case MaterialKind::AuthOtsBA:
      return "auth_ots_ba";
    case MaterialKind::Triples:
      return "triples";
  }
  ENSURE(!"a known kind of material");
  return {};
}

MaterialShape shape_of(MaterialKind kind, Party me) {
  const bool a = me == Party::A;
  switch (kind) {
    case MaterialKind::AuthBitsA:
      return a ? MaterialShape{.mine = 1} : MaterialShape{.peers = 1};
    case MaterialKind::AuthBitsB:
      return a ? MaterialShape{.peers = 1} : MaterialShape{.mine = 1};
    case MaterialKind::AuthAndsA:
      return a ? MaterialShape{.mine = 3} : MaterialShape{.peers = 3};
    case MaterialKind::AuthAndsB:
      return a ? MaterialShape{.peers = 3} : MaterialShape{.mine = 3};
    case MaterialKind::AuthOtsAB:
    case MaterialKind::AuthOtsBA:
      return {.mine = 2, .peers = 2};
    case MaterialKind::Triples:
      return {.shares = 3};
  }
  ENSURE(!"a known kind of material");
  return {};
}

MaterialBatch::MaterialBatch(MaterialKind kind_of_batch, Party me, std::size_t objects)
    : kind(kind_of_batch), count(objects) {
  const MaterialShape shape = shape_of(kind, me);
  for (std::size_t column = 0; column < shape.mine; ++column) mine.emplace_back(objects);
  for (std::size_t column = 0; column < shape.peers; ++column) peers.emplace_back(objects);
  for (std::size_t column = 0; column < shape.shares; ++column) shares.emplace_back(objects);
}

namespace {

std::uint64_t bytes_of_columns(const MaterialShape& shape, std::size_t count) {
  const std::size_t with_bits = columns_with_bits(shape);
  return count * (with_bits + shape.peers) * sizeof(Block) +
         with_bits * words_for(count) * sizeof(std::uint64_t);
}

}  // namespace

std::uint64_t bytes_of(MaterialKind kind, Party me, std::size_t count) {
  return bytes_of_columns(shape_of(kind, me), count);
}

std::uint64_t bytes_of(const MaterialBatch& batch) {
  return bytes_of_columns({batch.mine.size(), batch.peers.size(), batch.shares.size()},
                          batch.count);
}

std::size_t full_batch(MaterialKind kind) {
  const std::uint64_t of_64 = std::max(bytes_of(kind, Party::A, 64), bytes_of(kind, Party::B, 64));
  return kBatchBytesMax / of_64 * 64;
}

// A function has to be copyable, a batch is not.
DrawnBatch drawn(MaterialBatch objects) {
  const std::size_t count = objects.count;
  auto held = std::make_shared<MaterialBatch>(std::move(objects));
  return {count, [held = std::move(held)](MaterialBatch) { return std::move(*held); }};
}

void copy_objects(const MaterialBatch& source, std::size_t from, std::size_t count,
                  MaterialBatch& target, std::size_t to) {
  ENSURE(from + count <= source.count && to + count <= target.count);
  for (std::size_t column = 0; column < source.mine.size() + source.shares.size(); ++column) {
    bits_of_column(target, column).copy_from(bits_of_column(source, column), from, to, count);
    std::copy_n(blocks_of_column(source, column) + from, count,
                blocks_of_column(target, column) + to);
  }
  for (std::size_t column = 0; column < source.peers.size(); ++column)
    std::copy_n(source.peers[column].keys.begin() + static_cast<std::ptrdiff_t>(from), count,
                target.peers[column].keys.begin() + static_cast<std::ptrdiff_t>(to));
}

}  // namespace tinyot
