#include "storage/session_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/secret.h"
#include "crypto/rng.h"
#include "storage/record.h"
#include "system/file.h"

namespace tinyot::storage {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are stored in native byte order");

constexpr char kSessionMagic[8] = {'T', 'I', 'N', 'Y', 'O', 'T', 'S', 'F'};
constexpr std::uint32_t kSessionVersion = 3;
constexpr std::size_t kReferenceMax = 1024, kFileBytesMax = std::size_t{1} << 20;

struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t protection;
  std::array<std::byte, 32> salt;
  std::uint32_t manifest_bytes;
  std::uint32_t reference_bits;
};
static_assert(sizeof(Header) == 56 && std::is_trivially_copyable_v<Header>);

crypto::SealKey key_of(const Header& header, const std::optional<StoreKey>& store_key) {
  return crypto::derive_key(store_key ? store_key->bytes() : std::span<const std::byte>(),
                            header.salt, "TinyOT session file");
}

std::size_t plain_bytes(const Header& header, Party me) {
  return header.manifest_bytes + sizeof(Delta) +
         material::bytes_of(MaterialKind::AuthBitsA, me, header.reference_bits) +
         material::bytes_of(MaterialKind::AuthBitsB, me, header.reference_bits);
}

SecretVector<std::byte> encode(const SessionFile& session, const Header& header,
                               const std::string& manifest) {
  const Party me = session.manifest.me;
  SecretVector<std::byte> plain(plain_bytes(header, me));
  std::size_t at = 0;
  std::memcpy(plain.data(), manifest.data(), manifest.size());
  at += manifest.size();
  std::memcpy(plain.data() + at, &session.global_key, sizeof session.global_key);
  at += sizeof session.global_key;
  for (const material::Batch* bits : {&session.reference.bits_a, &session.reference.bits_b}) {
    for (const std::span<const std::byte> array : arrays_of(*bits)) {
      std::ranges::copy(array, plain.begin() + static_cast<std::ptrdiff_t>(at));
      at += array.size();
    }
  }
  ENSURE(at == plain.size());
  return plain;
}

[[noreturn]] void throw_corrupt(const std::filesystem::path& path) {
  throw StoreError("the session file " + path.string() +
                   " is corrupt or not a session file; copy it again from the machine of shard 1");
}

}  // namespace

void write_session_file(const std::filesystem::path& path, const SessionFile& session,
                        const std::optional<StoreKey>& store_key) {
  ENSURE(session.reference.bits_a.count == session.reference.bits_b.count &&
         session.reference.bits_a.count <= kReferenceMax);
  const std::string manifest = serialize_manifest(session.manifest);
  crypto::Rng rng = crypto::Rng::from_system();
  Header header{};
  std::memcpy(header.magic, kSessionMagic, sizeof header.magic);
  header.version = kSessionVersion;
  header.protection = static_cast<std::uint32_t>(store_key ? KeyProtection::ByStoreKey
                                                           : KeyProtection::ByPermissions);
  header.salt = rng.object<decltype(header.salt)>();
  header.manifest_bytes = static_cast<std::uint32_t>(manifest.size());
  header.reference_bits = static_cast<std::uint32_t>(session.reference.bits_a.count);
  SecretVector<std::byte> text = encode(session, header, manifest);
  // The salt is fresh, so the key is used once.
  const auto head = std::as_bytes(std::span(&header, 1));
  const crypto::SealTag tag =
      crypto::seal(key_of(header, store_key), crypto::SealNonce{}, head, text, text);
  const std::filesystem::path making = path.string() + ".new";
  {
    const system::File file = system::File::make_new(making);
    file.write_at(0, head);
    file.write_at(head.size(), text);
    file.write_at(head.size() + text.size(), tag);
    file.sync();
  }
  // Unlike rename(2), link(2) does not replace an existing file.
  const bool link_failed = ::link(making.c_str(), path.c_str()) != 0;
  const int error = errno;
  ::unlink(making.c_str());
  if (link_failed) system::fail_on_file("make", path, error);
  system::sync_directory(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."));
}

void erase_session_file(const std::filesystem::path& path) {
  const system::File file(path, O_WRONLY);
  const std::uint64_t size = std::max<std::uint64_t>(file.size(), sizeof(Header));
  std::vector<std::byte> erased(size);
  Header header{};
  std::memcpy(header.magic, kSessionMagic, sizeof header.magic);
  header.version = kSessionVersion;
  header.protection = static_cast<std::uint32_t>(KeyProtection::Erased);
  std::memcpy(erased.data(), &header, sizeof header);
  file.write_at(0, erased);
  file.sync();
}

SessionFile read_session_file(const std::filesystem::path& path,
                              const std::optional<StoreKey>& store_key) {
  const system::File file(path, O_RDONLY);
  struct stat found;
  if (::fstat(file.descriptor(), &found) != 0)
    system::fail_on_file("read the attributes of", path, errno);
  if ((found.st_mode & 0077) != 0)
    throw StoreError("the session file " + path.string() +
                     " is open to other users, and it holds secrets; restrict it with: chmod 600 " +
                     path.string());
  Header header;
  const auto head = std::as_writable_bytes(std::span(&header, 1));
  if (file.read_at(0, head) != head.size() ||
      std::memcmp(header.magic, kSessionMagic, sizeof header.magic) != 0)
    throw_corrupt(path);
  if (header.version != kSessionVersion)
    throw StoreError("the session file " + path.string() + " has format " +
                     std::to_string(header.version) + "; this version reads format " +
                     std::to_string(kSessionVersion) + ": " +
                     (header.version < kSessionVersion ? "start a new session"
                                                       : "use the version that made the file"));
  if (header.protection == static_cast<std::uint32_t>(KeyProtection::Erased))
    throw StoreError("the session of " + path.string() +
                     " is revoked: a check has failed in one of its shards; start a new session");
  const std::uint64_t size = file.size();
  if (size > kFileBytesMax || size < head.size() + sizeof(crypto::SealTag) ||
      header.manifest_bytes > size || header.reference_bits < 1 ||
      header.reference_bits > kReferenceMax)
    throw_corrupt(path);
  const bool is_sealed = header.protection == static_cast<std::uint32_t>(KeyProtection::ByStoreKey);
  if (!is_sealed && store_key)
    throw StoreError("the session file " + path.string() +
                         " is not sealed under a store key but protected by file permissions",
                     Remedy::OmitStoreKey);
  if (is_sealed && !store_key)
    throw StoreError(
        "the session file " + path.string() + " is sealed under a store key, but none was given",
        Remedy::GiveStoreKey);
  SecretVector<std::byte> text(size - head.size() - sizeof(crypto::SealTag));
  crypto::SealTag tag;
  if (file.read_at(head.size(), text) != text.size() ||
      file.read_at(head.size() + text.size(), tag) != tag.size())
    throw_corrupt(path);
  if (!crypto::open_sealed(key_of(header, store_key), crypto::SealNonce{}, head, text, tag, text)) {
    if (is_sealed)
      throw StoreError("the store key does not open the session file " + path.string() +
                       ": it is the key of another session file, or the file is corrupt");
    throw_corrupt(path);
  }
  if (header.manifest_bytes > text.size()) throw_corrupt(path);
  SessionFile session;
  session.manifest = parse_manifest(std::span(text).first(header.manifest_bytes));
  const Party me = session.manifest.me;
  if (text.size() != plain_bytes(header, me)) throw_corrupt(path);
  std::size_t at = header.manifest_bytes;
  std::memcpy(&session.global_key, text.data() + at, sizeof session.global_key);
  at += sizeof session.global_key;
  for (const MaterialKind kind : {MaterialKind::AuthBitsA, MaterialKind::AuthBitsB}) {
    material::Batch& bits =
        kind == MaterialKind::AuthBitsA ? session.reference.bits_a : session.reference.bits_b;
    bits = material::Batch(kind, me, header.reference_bits);
    for (const std::span<std::byte> array : arrays_of(bits)) {
      std::ranges::copy(std::span(text).subspan(at, array.size()), array.begin());
      at += array.size();
    }
    finish_arrays(bits);
  }
  return session;
}

}  // namespace tinyot::storage
