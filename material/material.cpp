#include "material/material.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "tinyot/parameters.h"

namespace tinyot {
namespace material {
namespace {

// What a party has of a kind: its own columns, the peer's, and shared ones.
struct Kind {
  MaterialKind kind;
  std::string_view name;
  std::array<Shape, 2> shapes;  // of A, of B
};

// In the order of MaterialKind.
constexpr auto kKinds = std::to_array<Kind>({
    {MaterialKind::AuthBitsA, "auth_bits_a", {{{.mine = 1}, {.peers = 1}}}},
    {MaterialKind::AuthBitsB, "auth_bits_b", {{{.peers = 1}, {.mine = 1}}}},
    {MaterialKind::AuthAndsA, "auth_ands_a", {{{.mine = 3}, {.peers = 3}}}},
    {MaterialKind::AuthAndsB, "auth_ands_b", {{{.peers = 3}, {.mine = 3}}}},
    {MaterialKind::AuthOtsAB, "auth_ots_ab", {{{.mine = 2, .peers = 2}, {.mine = 2, .peers = 2}}}},
    {MaterialKind::AuthOtsBA, "auth_ots_ba", {{{.mine = 2, .peers = 2}, {.mine = 2, .peers = 2}}}},
    {MaterialKind::Triples, "triples", {{{.shares = 3}, {.shares = 3}}}},
    {MaterialKind::FullTriples,
     "full_triples",
     {{{.mine = 3, .peers = 3}, {.mine = 3, .peers = 3}}}},
});
static_assert(std::ranges::equal(kKinds, kAllMaterialKinds, {}, &Kind::kind));

const Kind& entry_of(MaterialKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  ENSURE(index < kKinds.size());
  return kKinds[index];
}

}  // namespace

Shape shape_of(MaterialKind kind, Party me) {
  return entry_of(kind).shapes[static_cast<std::size_t>(me)];
}

Batch::Batch(MaterialKind kind_of_batch, Party me, std::size_t objects)
    : kind(kind_of_batch), count(objects) {
  const Shape shape = shape_of(kind, me);
  for (std::size_t column = 0; column < shape.mine; ++column) mine.emplace_back(objects);
  for (std::size_t column = 0; column < shape.peers; ++column) peers.emplace_back(objects);
  for (std::size_t column = 0; column < shape.shares; ++column) shares.emplace_back(objects);
}

namespace {

std::uint64_t bytes_of_columns(const Shape& shape, std::size_t count) {
  const std::size_t with_bits = columns_with_bits(shape);
  return count * (with_bits + shape.peers) * sizeof(Block) +
         with_bits * words_for(count) * sizeof(std::uint64_t);
}

}  // namespace

std::uint64_t bytes_of(MaterialKind kind, Party me, std::size_t count) {
  return bytes_of_columns(shape_of(kind, me), count);
}

std::uint64_t bytes_of(const Batch& batch) {
  return bytes_of_columns({batch.mine.size(), batch.peers.size(), batch.shares.size()},
                          batch.count);
}

std::size_t full_batch(MaterialKind kind) {
  const std::uint64_t of_64 = std::max(bytes_of(kind, Party::A, 64), bytes_of(kind, Party::B, 64));
  return kBatchBytesMax / of_64 * 64;
}

// std::function needs a copyable target, so the batch is held by shared_ptr.
DrawnBatch drawn(Batch objects) {
  const std::size_t count = objects.count;
  auto held = std::make_shared<Batch>(std::move(objects));
  return {count, [held = std::move(held)](Batch) { return std::move(*held); }};
}

void copy_objects(const Batch& source, std::size_t from, std::size_t count, Batch& target,
                  std::size_t to) {
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

}  // namespace material

std::string_view name_of(MaterialKind kind) { return material::entry_of(kind).name; }

std::string_view name_of(AndMaterial form) {
  constexpr std::string_view kNames[] = {"aand-aot", "triples", "garbling"};
  return kNames[static_cast<std::size_t>(form)];
}

AndMaterial material_named(std::string_view name) {
  std::string names;
  for (const AndMaterial form : kAndMaterials) {
    if (name_of(form) == name) return form;
    names += (names.empty() ? "" : " or ") + std::string(name_of(form));
  }
  throw UsageError("there is no material '" + std::string(name) + "'; it is " + names);
}

}  // namespace tinyot
