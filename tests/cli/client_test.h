// The test of `tinyot client`: a daemon that answers as it is told, on a socket in the test's
// directory.
#pragma once

#include <optional>
#include <string>

#include "tests/cli/fake_daemon.h"
#include "tests/support/command_test.h"
#include "tests/support/lane_values.h"
#include "tests/support/layers.h"
#include "tools/cli/circuit_spec.h"

namespace tinyot::test {

inline const std::string kKey = "000102030405060708090a0b0c0d0e0f";
inline const Arguments kAesRun = {"--job", "j1", "--circuit", "aes128", "--input", "key_b=" + kKey};

// The values of an input or output as they are sent.
inline std::string bits_of(const LaneValues& values) {
  std::string bits;
  for (const BitVector& value : values)
    bits.append(reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size());
  return bits;
}

inline v1::Output output_of(const std::string& name, std::uint32_t bits_per_lane,
                            const std::string& bits) {
  v1::Output output;
  output.set_name(name);
  output.set_bits_per_lane(bits_per_lane);
  output.set_bits(bits);
  return output;
}

class ClientTest : public CommandTest {
 protected:
  ClientTest() { server_.emplace("unix:" + path("socket")); }

  Arguments client(const std::string& verb, const Arguments& more = {}) const {
    return Arguments{"client", verb, "--server", "unix:" + path("socket"), "--quiet"} + more;
  }
  Ended ask(const std::string& verb, const Arguments& more = {}) const {
    return tinyot(client(verb, more));
  }
  Json json(const std::string& verb, const Arguments& more = {}) const {
    const Ended ended = ask(verb, more + Arguments{"--format", "json"});
    EXPECT_TRUE(ended_with(ended, 0));
    EXPECT_EQ(ended.err, "");
    return json_of(ended);
  }
  // A list of numbers in a file, for --input NAME=@FILE.
  std::string input_file(const std::string& name, const std::string& text) const {
    write_file(path(name), text);
    return "@" + path(name);
  }
  // The input that a party sent, as the daemon reads it.
  std::string sent(const CircuitSpec& spec, const std::string& input, Party party) const {
    const auto submission = server_->submission();
    const LoadedCircuit circuit = submission->circuit();
    const NamedCircuit named(spec);
    EXPECT_EQ(circuit.fingerprint(), named.fingerprint());
    EXPECT_EQ(circuit.lanes(), named.lanes());
    const auto values = submission->inputs(circuit, party);
    return bits_of(values_of(values.at(input)));
  }

  std::optional<FakeDaemon> server_;
};

}  // namespace tinyot::test
