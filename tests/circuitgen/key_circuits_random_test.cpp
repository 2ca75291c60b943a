// 10,000 random uses of keys against OpenSSL: keys, lengths, nonces, data and tags.
#include <gtest/gtest.h>

#include "byte_strings.h"
#include "circuitgen/generators/registry.h"
#include "circuits.h"
#include "tests/support/openssl_mechanisms.h"

namespace tinyot {
namespace {

using test::openssl_cmac;
using test::openssl_hmac;
using test::openssl_seal;

constexpr std::size_t kKeys = 200, kMessages = 50;

// By bundle, of all lanes.
using Columns = std::map<std::string, std::vector<std::string>>;

Columns evaluated(const std::string& spec, const Columns& values, std::size_t lanes) {
  const auto circuit = find_key_circuit(spec);
  ENSURE(circuit != nullptr);
  std::vector<LaneMatrix> inputs;
  for (const InputBundle& bundle : circuit->info().inputs) {
    const auto& column = values.at(bundle.name);
    LaneMatrix& input = inputs.emplace_back(bundle.same_in_all_lanes ? 1 : lanes, bundle.bits);
    for (std::size_t lane = 0; lane < input.lanes(); ++lane)
      ENSURE(input.assign(lane, std::as_bytes(std::span(column[lane % column.size()]))));
  }
  const auto outputs = circuit::evaluate(*circuit, lanes, inputs);
  Columns results;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const auto bytes = outputs[i][lane].bytes();
      results[circuit->info().outputs[i].name].emplace_back(
          reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
  return results;
}

class KeyUsesOnRandomCases : public ::testing::TestWithParam<std::string> {
 protected:
  std::string random(std::size_t bytes) { return random_string(bytes, rng_); }
  std::size_t length(std::size_t max) {
    return std::uniform_int_distribution<std::size_t>(0, max)(rng_);
  }
  std::vector<std::string> randoms(std::size_t bytes) {
    std::vector<std::string> all;
    for (std::size_t lane = 0; lane < kMessages; ++lane) all.push_back(random(bytes));
    return all;
  }
  // A key, loaded from random shares.
  Columns kept(const std::string& algorithm, const std::string& key) {
    Columns inputs;
    for (const NamedString& share : shares_of("key", key, rng_)) inputs[share.name] = {share.value};
    inputs["check"] = {std::string(16, '\0')};
    return evaluated("key_load:algorithm=" + algorithm + ",class=mac", inputs, 1);
  }
  // In some lanes one bit is wrong.
  std::vector<std::string> spoiled(std::vector<std::string> tags) {
    for (std::size_t lane = 0; lane < tags.size(); lane += 3) {
      char& byte = tags[lane][length(tags[lane].size() - 1)];
      byte = static_cast<char>(byte ^ (1 << length(7)));
    }
    return tags;
  }
  std::mt19937_64 rng_{20261126};
};

std::string use(const std::string& family, const std::string& algorithm, std::size_t bytes) {
  return family + ":algorithm=" + algorithm + ",by=A,bytes=" + std::to_string(bytes);
}

TEST_P(KeyUsesOnRandomCases, AgreeWithOpenSsl) {
  const std::string& mechanism = GetParam();
  for (std::size_t i = 0; i < kKeys / 5; ++i) {
    const bool is_gcm = mechanism.starts_with("gcm_"), is_hmac = mechanism == "hmac_sha256";
    const std::string algorithm = is_hmac ? mechanism : mechanism.substr(mechanism.find('_') + 1);
    const std::string key = random(algorithm == "aes128" ? 16 : 32);
    Columns inputs = kept(algorithm, key);
    const std::size_t bytes = length(100), aad = is_gcm ? length(40) : 0;
    const std::string more = is_gcm ? ",aad=" + std::to_string(aad) + ",shown=no" : "";
    inputs["message"] = randoms(bytes);
    inputs["aad"] = randoms(aad);
    inputs["nonce"] = randoms(12);
    const Columns made = evaluated(use(is_gcm ? "key_seal" : "key_sign", algorithm, bytes) + more,
                                   inputs, kMessages);
    for (std::size_t lane = 0; lane < kMessages; ++lane) {
      const std::string& message = inputs["message"][lane];
      const std::string text = is_gcm && bytes > 0 ? made.at("ciphertext")[lane] : std::string();
      ASSERT_EQ(text + made.at("tag")[lane],
                is_gcm    ? openssl_seal(key, inputs["nonce"][lane], inputs["aad"][lane], message)
                : is_hmac ? openssl_hmac(key, message)
                          : openssl_cmac(key, message));
    }
    inputs["tag"] = spoiled(made.at("tag"));
    if (is_gcm && bytes > 0) inputs["ciphertext"] = made.at("ciphertext");
    const Columns checked = evaluated(
        use(is_gcm ? "key_open" : "key_verify", algorithm, bytes) + more, inputs, kMessages);
    for (std::size_t lane = 0; lane < kMessages; ++lane) {
      const bool is_right = lane % 3 != 0;
      ASSERT_EQ(checked.at("valid")[lane], std::string(1, is_right ? '\1' : '\0'));
      if (!is_gcm || bytes == 0) continue;
      ASSERT_EQ(checked.at("message")[lane],
                is_right ? inputs["message"][lane] : std::string(bytes, '\0'));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, KeyUsesOnRandomCases,
                         ::testing::Values("gcm_aes128", "gcm_aes256", "cmac_aes128", "cmac_aes256",
                                           "hmac_sha256"),
                         [](const auto& mechanism) { return mechanism.param; });

}  // namespace
}  // namespace tinyot
