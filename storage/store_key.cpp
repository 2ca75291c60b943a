#include "tinyot/store_key.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "base/secret.h"
#include "system/file.h"
#include "tinyot/error.h"

namespace tinyot {
namespace {

constexpr std::size_t kBytesMin = 16, kBytesMax = 4096;

}  // namespace

struct StoreKey::State {
  SecretVector<std::byte> bytes;
};

StoreKey::StoreKey(std::span<const std::byte> bytes)
    : state_(std::make_shared<const State>(State{{bytes.begin(), bytes.end()}})) {}

StoreKey StoreKey::read(const std::filesystem::path& path) {
  const system::File file(path, O_RDONLY);
  struct stat found;
  if (::fstat(file.descriptor(), &found) != 0)
    system::fail_on_file("read the attributes of", path, errno);
  if ((found.st_mode & 0077) != 0)
    throw StoreError("the store key " + path.string() +
                     " is open to other users; restrict it with: chmod 600 " + path.string());
  SecretVector<std::byte> bytes(kBytesMax);
  bytes.resize(file.read_at(0, bytes));
  if (bytes.size() < kBytesMin)
    throw StoreError("the store key " + path.string() + " has " + std::to_string(bytes.size()) +
                     " bytes, at least " + std::to_string(kBytesMin) +
                     " are required; make one with: head -c 32 /dev/urandom > FILE");
  return StoreKey(bytes);
}

std::span<const std::byte> StoreKey::bytes() const { return state_->bytes; }

}  // namespace tinyot
