#include "circuitgen/generators/tls13.h"

#include "circuitgen/generators/hmac.h"

namespace tinyot::circuit {
namespace {

constexpr std::uint64_t kHashBytes = Sha256::kDigestBytes;
constexpr std::uint64_t kIvBytes = 12;

enum class TlsStage { Handshake, Application };

struct TlsShape {
  TlsStage stage;
  std::uint64_t key_bytes;
  std::uint64_t dhe_bytes;
};

// HKDF-Expand-Label (section 7.1). `context` is a hash, or empty.
ByteWords expand_label(const HmacKey& secret, std::string_view label, const ByteWords& context,
                       std::uint64_t bytes) {
  const std::string name = "tls13 " + std::string(label);
  ByteWords info = {ByteWord::constant(bytes >> 8), ByteWord::constant(bytes & 0xff),
                    ByteWord::constant(name.size())};
  const ByteWords name_bytes = constant_bytes(name);
  info.insert(info.end(), name_bytes.begin(), name_bytes.end());
  info.push_back(ByteWord::constant(context.size()));
  info.insert(info.end(), context.begin(), context.end());
  return hkdf_expand(secret, info, bytes);
}

// The salt of the next HKDF-Extract: Derive-Secret(secret, "derived", "").
ByteWords next_salt(const ByteWords& secret) {
  return expand_label(HmacKey(secret), "derived", Sha256().digest(), kHashBytes);
}

ByteWords stage_secret(TlsStage stage, const ByteWords& dhe) {
  const ByteWords zeros(kHashBytes);
  const ByteWords early = hkdf_extract(zeros, zeros);
  const ByteWords handshake = hkdf_extract(next_salt(early), dhe);
  return stage == TlsStage::Handshake ? handshake : hkdf_extract(next_salt(handshake), zeros);
}

void emit_key_schedule(Builder& builder, const TlsShape& shape) {
  const HmacKey secret(stage_secret(shape.stage, shared_bytes(builder, 0, 1, shape.dhe_bytes)));
  const Bits transcript_a = builder.input(2), transcript_b = builder.input(3);
  const Bit same = equal(transcript_a, transcript_b);
  builder.output_bit(0, 0, same);
  ByteWords transcript;
  for (std::uint64_t k = 0; k < kHashBytes; ++k)
    transcript.emplace_back(BitSpan(transcript_a).subspan(8 * k, 8));

  const auto output = [&](std::uint32_t bundle, ByteWords bytes) {
    for (ByteWord& byte : bytes) {
      for (Bit& bit : byte.bits()) bit &= same;
    }
    output_bytes(builder, bundle, 0, bytes);
  };
  const std::string_view stage = shape.stage == TlsStage::Handshake ? "hs" : "ap";
  for (const std::uint32_t side : {0, 1}) {
    const std::string label = std::string(side == 0 ? "c " : "s ") + std::string(stage);
    const ByteWords traffic = expand_label(secret, label + " traffic", transcript, kHashBytes);
    const HmacKey key(traffic);
    output(1 + side, traffic);
    output(3 + side, expand_label(key, "key", {}, shape.key_bytes));
    output(5 + side, expand_label(key, "iv", {}, kIvBytes));
  }
}

CircuitInfo tls13_info(const CircuitArguments& arguments, const TlsShape& shape) {
  const Receiver to = receiver_of(arguments);
  return {arguments.spec(),
          {bytes_input("dhe_a", shape.dhe_bytes, Party::A),
           bytes_input("dhe_b", shape.dhe_bytes, Party::B),
           bytes_input("transcript_a", kHashBytes, Party::A),
           bytes_input("transcript_b", kHashBytes, Party::B)},
          {{"same_transcript", 1, Receiver::Both, ValueFormat::Integer},
           bytes_output("client_secret", kHashBytes, to),
           bytes_output("server_secret", kHashBytes, to),
           bytes_output("client_key", shape.key_bytes, to),
           bytes_output("server_key", shape.key_bytes, to),
           bytes_output("client_iv", kIvBytes, to),
           bytes_output("server_iv", kIvBytes, to)}};
}

}  // namespace

CircuitFamily tls13_family() {
  CircuitFamily family;
  family.name = "tls13_keys";
  family.description =
      "TLS 1.3: traffic secrets, keys and IVs from the (EC)DHE secret dhe_a ^ dhe_b";
  family.parameters = {
      CircuitParameter::choice("stage", {"handshake", "application"}, "which keys"),
      CircuitParameter::choice("key_bytes", {"16", "32"}, "length of a key"),
      CircuitParameter::number("dhe_bytes", 32, 32, 66, "length of the (EC)DHE secret"),
      receiver_parameter()};
  family.make = [](const CircuitArguments& arguments) {
    const bool handshake = arguments.choice("stage") == "handshake";
    const TlsShape shape{handshake ? TlsStage::Handshake : TlsStage::Application,
                         arguments.number("key_bytes"), arguments.number("dhe_bytes")};
    return std::make_unique<GeneratedCircuit>(
        tls13_info(arguments, shape),
        [shape](Builder& builder) { emit_key_schedule(builder, shape); });
  };
  return family;
}

}  // namespace tinyot::circuit
