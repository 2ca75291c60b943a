// Preprocessing and a run of AES-128: A has the message and half of the key, B the other half; B
// learns the ciphertext. The material is made first and kept in a store.
//
//   ./2_aes A store-a & ./2_aes B store-b
#include <tinyot/tinyot.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

using tinyot::Party;

std::string address() {
  const char* port = std::getenv("TINYOT_PORT");
  return std::string("127.0.0.1:") + (port != nullptr ? port : "7766");
}

// The bytes 0, step, 2 step, ..., each with a mask.
std::array<std::byte, 16> multiples_of(unsigned step, unsigned mask) {
  std::array<std::byte, 16> bytes;
  for (unsigned i = 0; i < 16; ++i) bytes[i] = static_cast<std::byte>((i * step) ^ mask);
  return bytes;
}

void evaluate(Party party, const std::string& store) {
  const tinyot::Endpoint endpoint = party == Party::A ? tinyot::Endpoint::listen(address())
                                                      : tinyot::Endpoint::connect(address());
  const auto aes = tinyot::circuit::named_circuit("aes128");

  tinyot::PreprocessRequest job{.party = party, .endpoint = endpoint, .store = store};
  job.parameters.profile = tinyot::Profile::Fast;
  job.ands = 8'192;  // aes128 needs 6,400
  job.inputs = 512;  // bits of the inputs, and of the ciphertext that only B learns
  const tinyot::PreprocessResult made = tinyot::preprocess(job);
  std::printf("%c: made material for %llu ANDs, sigma %.0f bits\n", letter(party),
              static_cast<unsigned long long>(made.ands), made.store.security.sigma_exact);

  // The vector of FIPS-197, appendix C.1. The key is the XOR of both halves.
  tinyot::Values inputs;
  if (party == Party::A)
    inputs.add("message", multiples_of(0x11, 0)).add("key_a", multiples_of(0x01, 0x5a));
  else
    inputs.add("key_b", multiples_of(0, 0x5a));
  const tinyot::RunResult result =
      tinyot::run({.party = party, .endpoint = endpoint, .stores = {store}}, *aes, inputs);
  if (party == Party::A) return;
  std::printf("B: ");
  for (const std::byte byte : result.outputs.bytes("ciphertext"))
    std::printf("%02x", std::to_integer<unsigned>(byte));
  std::printf("\n");
}

int main(int argc, char** argv) {
  const std::string party = argc == 3 ? argv[1] : "";
  if (party != "A" && party != "B") {
    std::fprintf(stderr, "usage: %s A|B STORE\n", argv[0]);
    return 2;
  }
  try {
    evaluate(party == "A" ? Party::A : Party::B, argv[2]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", party.c_str(), error.what());
    return 1;
  }
}
