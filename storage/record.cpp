#include "storage/record.h"

#include <bit>

namespace tinyot::storage {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are stored in native byte order");

template <class Byte, class Batch>
std::vector<std::span<Byte>> arrays(Batch& batch) {
  const auto bytes_in = [](auto* words, std::size_t count) {
    return std::span(reinterpret_cast<Byte*>(words), count * sizeof *words);
  };
  std::vector<std::span<Byte>> arrays;
  for (std::size_t column = 0; column < batch.mine.size() + batch.shares.size(); ++column) {
    const auto words = material::bits_of_column(batch, column).words();
    arrays.push_back(bytes_in(words.data(), words.size()));
    arrays.push_back(bytes_in(material::blocks_of_column(batch, column), batch.count));
  }
  for (auto& column : batch.peers)
    arrays.push_back(bytes_in(column.keys.data(), column.keys.size()));
  return arrays;
}

}  // namespace

std::vector<std::span<std::byte>> arrays_of(material::Batch& batch) {
  return arrays<std::byte>(batch);
}
std::vector<std::span<const std::byte>> arrays_of(const material::Batch& batch) {
  return arrays<const std::byte>(batch);
}

void finish_arrays(material::Batch& batch) {
  for (std::size_t column = 0; column < batch.mine.size() + batch.shares.size(); ++column)
    (void)material::bits_of_column(batch, column).clear_padding();
}

}  // namespace tinyot::storage
