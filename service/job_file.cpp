#include "service/job_file.h"

#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "base/bit_vector.h"
#include "base/error.h"
#include "base/secret.h"
#include "crypto/rng.h"
#include "system/file.h"

namespace tinyot::service {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are stored in native byte order");

constexpr char kJobMagic[8] = {'T', 'I', 'N', 'Y', 'O', 'T', 'J', 'B'};
constexpr std::uint32_t kJobVersion = 1;
constexpr std::size_t kTagBytes = sizeof(crypto::SealTag);
// A seal takes parts of at most 2^31 - 1 bytes.
constexpr std::size_t kSealedPartBytesMax = std::size_t{1} << 30;

template <class Byte>
void add_parts(std::span<Byte> bytes, std::vector<std::span<Byte>>& parts) {
  for (; !bytes.empty(); bytes = bytes.subspan(parts.back().size()))
    parts.push_back(bytes.first(std::min(bytes.size(), kSealedPartBytesMax)));
}

// Seals the parts to the beginning of `out`, followed by the tag. Returns what follows.
std::span<std::byte> seal_part(const crypto::SealKey& key, const crypto::SealNonce& nonce,
                               std::span<const std::byte> header,
                               const std::vector<std::span<const std::byte>>& parts,
                               std::span<std::byte> out) {
  std::size_t bytes = 0;
  for (const auto part : parts) bytes += part.size();
  const crypto::SealTag tag = crypto::seal(key, nonce, header, parts, out.first(bytes));
  std::ranges::copy(tag, out.subspan(bytes).begin());
  return out.subspan(bytes + kTagBytes);
}

}  // namespace

void add_bundles(const Values& values, record::Job& job) {
  for (const std::string& name : values.names()) {
    record::Bundle& bundle = *job.add_values();
    bundle.set_name(name);
    bundle.set_lanes(values.at(name).lanes());
    bundle.set_bits(values.at(name).bits());
  }
}

std::vector<std::byte> seal_job(std::uint64_t number, const record::Job& job,
                                std::string_view circuit_file, const Values& values,
                                const crypto::SealKey& key, const crypto::SealKey& values_key) {
  const std::string record = job.SerializeAsString();
  SealedJob::Header header{};
  std::memcpy(header.magic, kJobMagic, sizeof header.magic);
  header.version = kJobVersion;
  header.number = number;
  header.record_bytes = record.size();
  header.circuit_bytes = circuit_file.size();
  crypto::Rng rng = crypto::Rng::from_system();
  header.text_nonce = rng.object<crypto::SealNonce>();
  header.values_nonce = rng.object<crypto::SealNonce>();
  std::vector<std::span<const std::byte>> text, rows;
  add_parts(std::as_bytes(std::span(record)), text);
  add_parts(std::as_bytes(std::span(circuit_file)), text);
  for (const record::Bundle& bundle : job.values()) {
    add_parts(values.at(bundle.name()).bytes(), rows);
    header.value_bytes += values.at(bundle.name()).bytes().size();
  }
  std::vector<std::byte> bytes(sizeof header + header.record_bytes + header.circuit_bytes +
                               header.value_bytes + 2 * kTagBytes);
  const auto head = std::as_bytes(std::span(&header, 1));
  std::ranges::copy(head, bytes.begin());
  auto rest = std::span(bytes).subspan(head.size());
  rest = seal_part(key, header.text_nonce, head, text, rest);
  rest = seal_part(values_key, header.values_nonce, head, rows, rest);
  ENSURE(rest.empty());
  return bytes;
}

SealedJob::SealedJob(const std::filesystem::path& file) : path_(file) {
  const system::File opened(file, O_RDONLY | O_NOFOLLOW);
  const std::uint64_t size = opened.size();
  if (opened.read_at(0, std::as_writable_bytes(std::span(&header_, 1))) != sizeof header_ ||
      std::memcmp(header_.magic, kJobMagic, sizeof header_.magic) != 0)
    fail("is not the file of a job");
  if (header_.version != kJobVersion)
    fail("has format " + std::to_string(header_.version) + "; this version reads format " +
         std::to_string(kJobVersion));
  std::uint64_t left = size - sizeof header_;
  for (const std::uint64_t part : {header_.record_bytes, header_.circuit_bytes, header_.value_bytes,
                                   std::uint64_t{2 * kTagBytes}}) {
    if (part > left) fail("is truncated");
    left -= part;
  }
  if (left > 0) fail("is longer than it says");
  sealed_.resize(size - sizeof header_);
  if (opened.read_at(sizeof header_, sealed_) != sealed_.size()) fail("is truncated");
}

void SealedJob::fail(const std::string& why) const { throw StoreError(path_.string() + " " + why); }

void SealedJob::open_part(std::size_t at, const crypto::SealNonce& nonce,
                          const crypto::SealKey& key, std::span<std::byte> plain) const {
  const std::span<const std::byte> sealed = std::span(sealed_).subspan(at, plain.size());
  crypto::SealTag tag;
  std::memcpy(tag.data(), sealed_.data() + at + plain.size(), tag.size());
  std::vector<std::span<std::byte>> parts;
  add_parts(plain, parts);
  if (!crypto::open_sealed(key, nonce, std::as_bytes(std::span(&header_, 1)), sealed, tag, parts))
    fail("is corrupt, or of another daemon or peer");
}

SealedJob::Text SealedJob::open(const crypto::SealKey& key) const {
  std::string plain(header_.record_bytes + header_.circuit_bytes, '\0');
  open_part(0, header_.text_nonce, key, std::as_writable_bytes(std::span(plain)));
  Text text;
  if (!text.job.ParseFromArray(plain.data(), static_cast<int>(header_.record_bytes)))
    fail("is of another version");
  text.circuit_file = plain.substr(header_.record_bytes);
  return text;
}

Values SealedJob::open_values(const record::Job& job, const crypto::SealKey& values_key) const {
  SecretVector<std::byte> plain(header_.value_bytes);
  open_part(header_.record_bytes + header_.circuit_bytes + kTagBytes, header_.values_nonce,
            values_key, plain);
  Values values;
  std::span<const std::byte> rest = plain;
  for (const record::Bundle& bundle : job.values()) {
    const std::size_t row = bytes_for(bundle.bits());
    if (row > 0 && bundle.lanes() > rest.size() / row) fail("is of another version");
    LaneMatrix matrix(bundle.lanes(), bundle.bits());
    for (std::size_t lane = 0; lane < bundle.lanes(); ++lane, rest = rest.subspan(row))
      if (!matrix.assign(lane, rest.first(row))) fail("is of another version");
    values.set(bundle.name(), std::move(matrix));
  }
  if (!rest.empty()) fail("is of another version");
  return values;
}

}  // namespace tinyot::service
