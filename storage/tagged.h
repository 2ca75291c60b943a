// What is stored under a name, followed by a tag that says that a store of this session has put it
// there. Internal to this folder.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/material.h"
#include "storage/key_table.h"
#include "storage/lmdb_env.h"

namespace tinyot::storage {

// Names in the table of the state.
inline constexpr std::string_view kManifestKey = "manifest", kMarksKey = "marks";

// Of the entry of bits that are kept.
std::string kept_name(MaterialKind kind);

inline ByteView view_of(std::string_view text) { return std::as_bytes(std::span(text)); }

void put_tagged(Transaction& transaction, MDB_dbi table, const KeyTable& keys, ByteView name,
                ByteView value);

// The same where names repeat from table to table: `name` is what the tag is bound to, `key` where
// the value lies.
void put_tagged_as(Transaction& transaction, MDB_dbi table, const KeyTable& keys, ByteView name,
                   ByteView key, ByteView value);
// The value before its tag; empty if that is another one.
std::optional<ByteView> checked(const KeyTable& keys, ByteView name, ByteView stored);

// A batch's entry is bound to its kind and its index.
using EntryName = std::array<std::byte, 1 + sizeof(IndexKey)>;
EntryName entry_name(MaterialKind kind, ByteView key);
// And an attempt to its number: "attempt ", then the key.
using AttemptName = std::array<std::byte, 8 + sizeof(IndexKey)>;
AttemptName attempt_name(ByteView key);

// Empty if there is none, or its tag is another one. Keys that are erased leave nothing to check
// by, and nothing to be served either.
std::optional<ByteView> get_tagged(const Transaction& transaction, MDB_dbi table,
                                   const KeyTable& keys, ByteView name);

// The value before its tag; empty if there is none.
std::optional<ByteView> without_tag(const std::optional<ByteView>& stored);

}  // namespace tinyot::storage
