// Checks the trees of an LMDB file, page by page, before LMDB walks them: it trusts every byte of
// its pages, and one flipped bit could send it anywhere or let it write over what is in use.
// Records themselves are sealed, and are not read here.
//
// Source: the layout of LMDB 0.9's data file on a 64-bit machine (mdb.c: MDB_page, MDB_node,
// MDB_db, MDB_meta), data file version 1.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace tinyot::storage {

// Nobody may write to the file meanwhile. Checks both of its heads, and of the state that counts:
// that every page of every tree is reached once, that no node leaves its page, that keys are in
// order and counts are right, and that no page in use is on the list of free ones. Cost: reads the
// pages of the trees, one for about fifty batches. Fails: StoreError naming the page.
void check_pages(const std::filesystem::path& file);

// Where the file's map begins, by a small value in it that no transaction has changed yet.
const std::byte* map_around(std::span<const std::byte> value);

// The same of the head of a value that fills pages of its own, before it is read or freed. Fails:
// StoreError.
void check_value_pages(const std::byte* map, std::span<const std::byte> value);

}  // namespace tinyot::storage
