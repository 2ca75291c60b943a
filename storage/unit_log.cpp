#include "storage/unit_log.h"

#include <algorithm>
#include <cstring>

namespace tinyot::storage {
namespace {

// Layout in the file, little-endian.
struct CodedAttempt {
  std::uint64_t unit;
  std::uint64_t ands;
  std::array<std::uint16_t, BucketSizes::kLevelsMax> bucket;  // 0 on a level that is not used
  std::uint32_t state;
  Risk risk;
};
static_assert(sizeof(CodedAttempt) == kAttemptBytes);

}  // namespace

AttemptTotals& AttemptTotals::operator+=(const AttemptTotals& other) {
  for (const Units& more : other.units) {
    const auto same = std::ranges::find(units, more.plan, &Units::plan);
    if (same == units.end())
      units.push_back(more);
    else
      same->count += more.count;
  }
  outstanding += other.outstanding;
  risk += other.risk;
  return *this;
}

std::array<std::byte, kAttemptBytes> encode_attempt(const Attempt& attempt) {
  CodedAttempt coded{
      attempt.unit, attempt.plan.ands, {}, static_cast<std::uint32_t>(attempt.state), attempt.risk};
  std::ranges::transform(attempt.plan.bucket.sizes(), coded.bucket.begin(),
                         [](std::uint32_t size) { return static_cast<std::uint16_t>(size); });
  std::array<std::byte, kAttemptBytes> bytes;
  std::memcpy(bytes.data(), &coded, bytes.size());
  return bytes;
}

std::optional<Attempt> decode_attempt(std::span<const std::byte> bytes) {
  if (bytes.size() != kAttemptBytes) return std::nullopt;
  CodedAttempt coded;
  std::memcpy(&coded, bytes.data(), sizeof coded);
  const auto [first, second] = coded.bucket;
  if (coded.state < 1 || coded.state > 3 || first == 0) return std::nullopt;
  const BucketSizes bucket = second == 0 ? BucketSizes(first) : BucketSizes(first, second);
  return Attempt{
      coded.unit, {coded.ands, bucket}, static_cast<Attempt::State>(coded.state), coded.risk};
}

}  // namespace tinyot::storage
