#include "storage/authenticated_values.h"

#include <cstring>
#include <vector>

namespace tinyot::storage {

namespace {

crypto::SealTag tag_of(const KeyTable& keys, ByteView name, ByteView value) {
  std::vector<std::byte> message = {static_cast<std::byte>(name.size())};
  message.insert(message.end(), name.begin(), name.end());
  message.insert(message.end(), value.begin(), value.end());
  return crypto::authenticate(keys.state_key(), message);
}

}  // namespace

std::string reference_name(MaterialKind kind) { return "kept " + std::string(name_of(kind)); }

void put_tagged(Transaction& transaction, Table table, const KeyTable& keys, ByteView name,
                ByteView value) {
  put_tagged_as(transaction, table, keys, name, name, value);
}

void put_tagged_as(Transaction& transaction, Table table, const KeyTable& keys, ByteView name,
                   ByteView key, ByteView value) {
  const crypto::SealTag tag = tag_of(keys, name, value);
  std::vector<std::byte> stored(value.begin(), value.end());
  stored.insert(stored.end(), tag.begin(), tag.end());
  transaction.put(table, key, stored);
}

EntryName entry_name(MaterialKind kind, ByteView key) {
  EntryName name{static_cast<std::byte>(kind)};
  if (key.size() == sizeof(IndexKey)) std::memcpy(name.data() + 1, key.data(), key.size());
  return name;
}

AttemptName attempt_name(ByteView key) {
  AttemptName name;
  std::memcpy(name.data(), "attempt ", 8);
  std::memset(name.data() + 8, 0, sizeof(IndexKey));
  if (key.size() == sizeof(IndexKey)) std::memcpy(name.data() + 8, key.data(), key.size());
  return name;
}

std::optional<ByteView> strip_tag(const std::optional<ByteView>& stored) {
  if (!stored || stored->size() < sizeof(crypto::SealTag)) return std::nullopt;
  return stored->first(stored->size() - sizeof(crypto::SealTag));
}

std::optional<ByteView> get_tagged(const Transaction& transaction, Table table,
                                   const KeyTable& keys, ByteView name) {
  const auto stored = transaction.get(table, name);
  return stored ? verify(keys, name, *stored) : std::nullopt;
}

std::optional<ByteView> verify(const KeyTable& keys, ByteView name, ByteView stored) {
  const auto value = strip_tag(stored);
  if (!value || keys.protection() == KeyProtection::Erased) return value;
  crypto::SealTag tag;
  std::memcpy(tag.data(), stored.data() + value->size(), tag.size());
  return crypto::equal_constant_time(tag, tag_of(keys, name, *value)) ? value : std::nullopt;
}

}  // namespace tinyot::storage
