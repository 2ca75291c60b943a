#include "storage/batch.h"

#include <bit>
#include <cstring>

#include "base/error.h"
#include "storage/manifest.h"
#include "storage/record.h"

namespace tinyot::storage {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are stored in native byte order");

constexpr std::uint32_t kPeersTagKnown = 1;

struct StoredEntry {
  std::uint32_t count;
  std::uint32_t shard;
  std::uint64_t origin;
  std::uint64_t slot;
  std::uint32_t flags;
  std::uint32_t zeros;
  crypto::SealTag tag;
  crypto::SealTag peers_tag;
};
static_assert(sizeof(StoredEntry) == kBatchEntryBytes && std::is_trivially_copyable_v<StoredEntry>);

// What the seal binds a record to. `origin` is the first index when the batch was made; a merge
// changes the index, but not the origin.
struct Context {
  char magic[4] = {'T', 'R', 'O', 'B'};
  std::uint8_t kind;
  std::uint8_t party;
  std::uint16_t zeros = 0;
  std::uint32_t count;
  std::uint32_t shard;
  std::uint64_t origin;
  SessionId session;
};
static_assert(sizeof(Context) == 56 && std::is_trivially_copyable_v<Context>);

Context context_of(const SessionId& session, Party me, const BatchEntry& entry) {
  Context context{.kind = static_cast<std::uint8_t>(entry.kind),
                  .party = static_cast<std::uint8_t>(me),
                  .count = entry.count,
                  .shard = entry.shard,
                  .origin = entry.origin,
                  .session = session};
  return context;
}

}  // namespace

CodedEntry encode_entry(const BatchEntry& entry) {
  StoredEntry stored{entry.count,
                     entry.shard,
                     entry.origin,
                     entry.slot,
                     entry.peers_tag ? kPeersTagKnown : 0,
                     0,
                     entry.tag,
                     entry.peers_tag.value_or(crypto::SealTag{})};
  return std::bit_cast<CodedEntry>(stored);
}

std::optional<BatchEntry> decode_entry(MaterialKind kind, std::uint64_t first,
                                       std::span<const std::byte> bytes) {
  if (bytes.size() != sizeof(StoredEntry)) return std::nullopt;
  StoredEntry stored;
  std::memcpy(&stored, bytes.data(), sizeof stored);
  if (stored.count < 1 || stored.count > material::full_batch(kind) || stored.shard < 1 ||
      stored.shard > kShardsMax || stored.slot < 1 || stored.zeros != 0 ||
      stored.flags > kPeersTagKnown || (stored.flags == 0 && stored.peers_tag != crypto::SealTag{}))
    return std::nullopt;
  BatchEntry entry{kind,          first,       stored.count, stored.shard,
                   stored.origin, stored.slot, stored.tag,   std::nullopt};
  if (stored.flags == kPeersTagKnown) entry.peers_tag = stored.peers_tag;
  return entry;
}

Half half_of(const BatchEntry& entry) {
  return {entry.first, entry.count, static_cast<std::uint32_t>(entry.kind), entry.tag};
}

std::string text_of(const BatchEntry& entry) {
  if (entry.first == kReferenceFirst) return std::string(name_of(entry.kind)) + " (reference bits)";
  return std::string(name_of(entry.kind)) + " " + std::to_string(entry.first) + ".." +
         std::to_string(entry.end() - 1);
}

void seal_batch(const SessionId& session, Party me, BatchEntry& entry, const crypto::SealKey& key,
                const material::Batch& objects, std::span<std::byte> sealed) {
  ENSURE(objects.kind == entry.kind && objects.count == entry.count);
  const Context context = context_of(session, me, entry);
  entry.tag = crypto::seal(key, crypto::SealNonce{}, std::as_bytes(std::span(&context, 1)),
                           arrays_of(objects), sealed);
}

material::Batch open_batch(const SessionId& session, Party me, const BatchEntry& entry,
                           const crypto::SealKey& key, std::span<const std::byte> sealed,
                           material::Batch memory) {
  const Context context = context_of(session, me, entry);
  material::Batch objects = memory.kind == entry.kind && bytes_of(memory) == sealed.size()
                                ? std::move(memory)
                                : material::Batch(entry.kind, me, entry.count);
  if (sealed.size() != bytes_of(objects) ||
      !crypto::open_sealed(key, crypto::SealNonce{}, std::as_bytes(std::span(&context, 1)), sealed,
                           entry.tag, arrays_of(objects)))
    throw_corrupt_batch(text_of(entry));
  finish_arrays(objects);
  return objects;
}

void throw_corrupt_batch(const std::string& batch) {
  throw StoreError(
      "batch " + batch + " is corrupt; retire the store and start a new session in a new one",
      Remedy::VerifyStore);
}

}  // namespace tinyot::storage
