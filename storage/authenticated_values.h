// Values of the database with an authentication tag under the store's state key, bound to a name.
// Internal to this folder.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "material/material.h"
#include "storage/key_table.h"
#include "storage/lmdb_env.h"

namespace tinyot::storage {

// Names in the table of the state.
inline constexpr std::string_view kManifestKey = "manifest", kCursorsKey = "cursors";

// Key of the entry of the reference bits.
std::string reference_name(MaterialKind kind);

inline ByteView view_of(std::string_view text) { return std::as_bytes(std::span(text)); }

void put_tagged(Transaction& transaction, Table table, const KeyTable& keys, ByteView name,
                ByteView value);

// For tables whose keys repeat those of other tables: the tag is bound to `name`, the value is
// stored under `key`.
void put_tagged_as(Transaction& transaction, Table table, const KeyTable& keys, ByteView name,
                   ByteView key, ByteView value);
// The value without its tag; empty if the tag is wrong.
std::optional<ByteView> verify(const KeyTable& keys, ByteView name, ByteView stored);

// The name of a batch's entry: kind, then index.
using EntryName = std::array<std::byte, 1 + sizeof(IndexKey)>;
EntryName entry_name(MaterialKind kind, ByteView key);
// The name of an attempt: "attempt ", then its number.
using AttemptName = std::array<std::byte, 8 + sizeof(IndexKey)>;
AttemptName attempt_name(ByteView key);

// Empty if there is no value, or its tag is wrong. Once the keys are erased the tag cannot be
// checked, and no material can be served either.
std::optional<ByteView> get_tagged(const Transaction& transaction, Table table,
                                   const KeyTable& keys, ByteView name);

// The value without its tag, unchecked; empty if there is none.
std::optional<ByteView> strip_tag(const std::optional<ByteView>& stored);

}  // namespace tinyot::storage
