#include "pkcs11/wire.h"

#include "pkcs11/cryptoki.h"

namespace tinyot::pkcs11 {
namespace {

// How a field's value is encoded: the low bits of its tag.
enum WireType : std::uint64_t { kNumber = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };
constexpr int kTypeBits = 3;

}  // namespace

void WireWriter::add_message(std::uint32_t field, std::string_view message) {
  add_number(std::uint64_t{field} << kTypeBits | kBytes);
  add_number(message.size());
  message_.insert(message_.end(), message.begin(), message.end());
}

void WireWriter::add_number(std::uint64_t number) {
  for (; number >= 0x80; number >>= 7)
    message_.push_back(static_cast<char>((number & 0x7f) | 0x80));
  message_.push_back(static_cast<char>(number));
}

bool WireReader::next(WireField& field) {
  if (rest_.empty()) return false;
  const std::uint64_t tag = take_number();
  field = {static_cast<std::uint32_t>(tag >> kTypeBits)};
  switch (tag & ((1 << kTypeBits) - 1)) {
    case kNumber:
      field.value = take_number();
      return true;
    case kBytes:
      field.bytes = take(take_number());
      return true;
    // Fields of these types belong to a later version.
    case kFixed64:
      (void)take(8);
      return true;
    case kFixed32:
      (void)take(4);
      return true;
    default:
      throw Failed(CKR_DEVICE_ERROR);
  }
}

std::uint64_t WireReader::take_number() {
  std::uint64_t number = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(take(1).front());
    number |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return number;
  }
  throw Failed(CKR_DEVICE_ERROR);
}

std::string_view WireReader::take(std::uint64_t bytes) {
  require(bytes <= rest_.size(), CKR_DEVICE_ERROR);
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

}  // namespace tinyot::pkcs11
