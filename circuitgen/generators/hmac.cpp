#include "circuitgen/generators/hmac.h"

#include "base/error.h"

namespace tinyot::circuit {
namespace {

constexpr std::uint64_t kKeyBytesMax = 1 << 16;
constexpr std::uint64_t kDerivedBytesMax = 255 * Sha256::kDigestBytes;

ByteWords padded_key(const ByteWords& key) {
  ByteWords padded = key;
  if (key.size() > Sha256::kBlockBytes) {
    Sha256 hash;
    hash.update(key);
    padded = std::move(hash).digest();
  }
  padded.resize(Sha256::kBlockBytes);
  return padded;
}

Sha256 state_after(const ByteWords& padded, std::uint8_t pad) {
  Sha256 hash;
  for (const ByteWord& byte : padded) hash.update(byte ^ ByteWord::constant(pad));
  return hash;
}

void emit_mac(Builder& builder, std::uint64_t key_bytes, std::uint64_t bytes) {
  const HmacKey key(shared_bytes(builder, 0, 1, key_bytes));
  Sha256 inner = key.inner();
  for (std::uint64_t k = 0; k < bytes; ++k) inner.update(input_byte(builder, 2, k));
  output_bytes(builder, 0, 0, key.finish(std::move(inner)));
}

void emit_derived(Builder& builder, std::uint64_t key_bytes, std::uint64_t salt, std::uint64_t info,
                  std::uint64_t bytes) {
  const ByteWords salt_bytes = salt > 0 ? input_bytes(builder, 2, salt) : ByteWords();
  const HmacKey key(hkdf_extract(salt_bytes, shared_bytes(builder, 0, 1, key_bytes)));
  const ByteWords info_bytes =
      info > 0 ? input_bytes(builder, salt > 0 ? 3 : 2, info) : ByteWords();
  output_bytes(builder, 0, 0, hkdf_expand(key, info_bytes, bytes));
}

}  // namespace

HmacKey::HmacKey(const ByteWords& key) {
  const ByteWords padded = padded_key(key);
  inner_ = state_after(padded, 0x36);
  outer_ = state_after(padded, 0x5c);
}

ByteWords HmacKey::finish(Sha256 inner) const {
  Sha256 outer = outer_;
  outer.update(std::move(inner).digest());
  return std::move(outer).digest();
}

ByteWords HmacKey::mac(std::span<const ByteWord> message) const {
  Sha256 inner = inner_;
  inner.update(message);
  return finish(std::move(inner));
}

// T(i) = HMAC(key, T(i - 1) || info || i)
ByteWords hkdf_expand(const HmacKey& key, const ByteWords& info, std::size_t bytes) {
  ENSURE(bytes <= kDerivedBytesMax);
  ByteWords result, block;
  for (std::uint64_t i = 1; result.size() < bytes; ++i) {
    Sha256 inner = key.inner();
    inner.update(block);
    inner.update(info);
    inner.update(ByteWord::constant(i));
    block = key.finish(std::move(inner));
    result.insert(result.end(), block.begin(), block.end());
  }
  result.resize(bytes);
  return result;
}

CircuitFamily hmac_sha256_family() {
  CircuitFamily family;
  family.name = "hmac_sha256";
  family.description = "HMAC-SHA-256 of A's message under key_a ^ key_b; both learn it";
  family.parameters = {
      CircuitParameter::number("key_bytes", 32, 1, kKeyBytesMax, "length of the key"),
      CircuitParameter::number("bytes", 64, 0, kMessageBytesMax, "length of the message")};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint64_t key_bytes = arguments.number("key_bytes"),
                        bytes = arguments.number("bytes");
    CircuitInfo info{
        arguments.spec(),
        {key_input("key_a", key_bytes, Party::A), key_input("key_b", key_bytes, Party::B)},
        {bytes_output("mac", Sha256::kDigestBytes, Receiver::Both)}};
    if (bytes > 0) info.inputs.push_back(bytes_input("message", bytes, Party::A));
    return std::make_unique<GeneratedCircuit>(
        std::move(info), [=](Builder& builder) { emit_mac(builder, key_bytes, bytes); });
  };
  return family;
}

CircuitFamily hkdf_sha256_family() {
  CircuitFamily family;
  family.name = "hkdf_sha256";
  family.description = "HKDF-SHA-256: a key derived from key_a ^ key_b with A's salt and info";
  family.parameters = {
      CircuitParameter::number("key_bytes", 32, 1, kKeyBytesMax, "length of the key"),
      CircuitParameter::number("salt", 0, 0, kKeyBytesMax, "length of the salt"),
      CircuitParameter::number("info", 0, 0, kKeyBytesMax, "length of the context"),
      CircuitParameter::number("bytes", 32, 1, kDerivedBytesMax, "length of the derived key"),
      receiver_parameter()};
  family.make = [](const CircuitArguments& arguments) {
    const std::uint64_t key_bytes = arguments.number("key_bytes"), salt = arguments.number("salt"),
                        context = arguments.number("info"), bytes = arguments.number("bytes");
    CircuitInfo info{
        arguments.spec(),
        {key_input("key_a", key_bytes, Party::A), key_input("key_b", key_bytes, Party::B)},
        {bytes_output("derived", bytes, receiver_of(arguments))}};
    if (salt > 0) info.inputs.push_back(bytes_input("salt", salt, Party::A));
    if (context > 0) info.inputs.push_back(bytes_input("info", context, Party::A));
    return std::make_unique<GeneratedCircuit>(std::move(info), [=](Builder& builder) {
      emit_derived(builder, key_bytes, salt, context, bytes);
    });
  };
  return family;
}

}  // namespace tinyot::circuit
