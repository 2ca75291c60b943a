// Checks the trees of an LMDB file, page by page, before LMDB reads them. LMDB trusts every byte of
// its pages: one flipped bit can cause accesses out of bounds or overwrite pages in use. Records
// are sealed, and are not read here.
//
// Source: the layout of LMDB 0.9's data file on a 64-bit machine (mdb.c: MDB_page, MDB_node,
// MDB_db, MDB_meta), data file version 1.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace tinyot::storage {

// Checks both meta pages, and for the current state: every page of every tree is reached once, no
// node extends beyond its page, keys are in order, counts are right, and no page in use is in the
// free list. No process may write to the file meanwhile. Cost: reads the pages of the trees, one
// for about fifty batches. Fails: StoreError naming the page.
void check_pages(const std::filesystem::path& file);

// Where LMDB has mapped the file.
struct PageMap {
  const std::byte* begin;
  std::size_t page_bytes;
};

// Derived from a small value in the map that the current transaction has not changed.
PageMap map_around(std::span<const std::byte> value, std::size_t page_bytes);

// Checks the page header of a value that is stored in overflow pages, before it is read or freed.
// Fails: StoreError naming the page.
void check_value_pages(const PageMap& map, std::span<const std::byte> value);

}  // namespace tinyot::storage
