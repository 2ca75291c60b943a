// How LMDB 0.9 lays out its data file on a 64-bit machine (mdb.c: MDB_page, MDB_node, MDB_db,
// MDB_meta), data file version 1. Internal to page_check.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tinyot::storage::lmdb_page {

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::uint64_t kNoPage = ~std::uint64_t{0};
inline constexpr std::uint32_t kMagic = 0xBEEFC0DE, kVersion = 1;
inline constexpr std::uint16_t kBranch = 1, kLeaf = 2, kOverflow = 4, kMeta = 8, kDirty = 16;
inline constexpr std::uint16_t kBigData = 1, kSubData = 2;
// of the free list: MDB_INTEGERKEY, and MDB_NOSUBDIR, which LMDB stores in the same field
inline constexpr std::uint16_t kIntegerKeys = 0x4008;
inline constexpr std::size_t kKeyBytesMax = 511;
inline constexpr int kDepthMax = 32;
// The value of a larger node is stored in overflow pages.
inline constexpr std::size_t kNodeBytesMax = (((kPageBytes - 16) / 2) & ~std::size_t{1}) - 2;
inline constexpr std::size_t kIndexKeyBytes = 8;
inline constexpr std::size_t kLargeRecordBytes = 32768;

struct PageHead {
  std::uint64_t number;
  std::uint16_t pad;
  std::uint16_t flags;
  std::uint16_t lower, upper;  // of an overflow page: number of pages, 32 bits

  std::uint32_t pages() const { return lower | std::uint32_t{upper} << 16; }
};
static_assert(sizeof(PageHead) == 16);

struct NodeHead {
  std::uint16_t low, high, flags, key_bytes;

  std::uint64_t child() const {
    return low | std::uint64_t{high} << 16 | std::uint64_t{flags} << 32;
  }
  std::uint32_t value_bytes() const { return low | std::uint32_t{high} << 16; }
};
static_assert(sizeof(NodeHead) == 8);

struct Tree {
  std::uint32_t pad;
  std::uint16_t flags;
  std::uint16_t depth;
  std::uint64_t branch_pages, leaf_pages, overflow_pages, entries, root;
};
static_assert(sizeof(Tree) == 48);

struct Meta {
  std::uint32_t magic, version;
  std::uint64_t address, map_bytes;
  Tree free, main;
  std::uint64_t last_page, transaction;
};
static_assert(sizeof(Meta) == 136);

}  // namespace tinyot::storage::lmdb_page
