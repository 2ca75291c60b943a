#include "tests/vectors/kept_material.h"

#include "base/hex.h"
#include "crypto/digest.h"

namespace tinyot::test {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 4;

template <class Blocks>
void append_blocks(std::vector<std::byte>& bytes, const Blocks& blocks) {
  const auto more = std::as_bytes(std::span(blocks.data(), blocks.size()));
  bytes.insert(bytes.end(), more.begin(), more.end());
}

}  // namespace

void KeptMaterial::pour(material::Batch batch) {
  keep(std::string(name_of(batch.kind)), batch);
  sink_.pour(std::move(batch));
}

void KeptMaterial::add_reference_bits(material::Batch batch) {
  keep("reference_" + std::string(name_of(batch.kind)), batch);
  sink_.add_reference_bits(std::move(batch));
}

void KeptMaterial::keep(const std::string& name, const material::Batch& batch) {
  std::vector<Column>& columns = kept_[name];
  if (columns.empty()) {
    columns.resize(batch.mine.size(), {"mine", {}, {}});
    columns.resize(columns.size() + batch.peers.size(), {"peers", {}, {}});
    columns.resize(columns.size() + batch.shares.size(), {"shares", {}, {}});
  }
  std::size_t at = 0;
  const auto add = [&](const BitVector* bits, const auto& blocks) {
    Column& column = columns.at(at++);
    for (std::size_t i = 0; bits != nullptr && i < bits->size(); ++i)
      column.bits.push_back((*bits)[i]);
    append_blocks(column.blocks, blocks);
  };
  for (const MacColumn& column : batch.mine) add(&column.bits, column.macs);
  for (const KeyColumn& column : batch.peers) add(nullptr, column.keys);
  for (const AuthShares& column : batch.shares) add(&column.bits, column.macs);
}

Json KeptMaterial::described() const {
  Json all = Json::object();
  for (const auto& [name, columns] : kept_) {
    std::vector<std::byte> bytes;
    Json shown = Json::array();
    std::size_t count = 0;
    for (const Column& column : columns) {
      count = column.blocks.size() / sizeof(Block);
      std::vector<std::byte> packed((column.bits.size() + 7) / 8);
      std::string bits;
      for (std::size_t i = 0; i < column.bits.size(); ++i) {
        packed[i / 8] |= static_cast<std::byte>(column.bits[i] ? 1U << (i % 8) : 0U);
        if (i < kShown) bits += column.bits[i] ? '1' : '0';
      }
      bytes.insert(bytes.end(), packed.begin(), packed.end());
      bytes.insert(bytes.end(), column.blocks.begin(), column.blocks.end());
      Json entry = {{"role", column.role}};
      if (!column.bits.empty()) entry["bits"] = bits;
      for (std::size_t i = 0; i < std::min(count, kShown); ++i)
        entry["blocks"].push_back(
            hex_of(std::span(column.blocks).subspan(i * sizeof(Block), sizeof(Block))));
      shown.push_back(std::move(entry));
    }
    const crypto::Digest digest = crypto::sha256(bytes);
    all[name] = Json{{"count", count},
                     {"sha256", hex_of(std::as_bytes(std::span(digest.bytes)))},
                     {"first", std::move(shown)}};
  }
  return all;
}

}  // namespace tinyot::test
