// Inputs of a job are wiped once it has ended. Both daemons run in this process, whose memory is
// searched; the inputs are made, and submitted as numbers, by other processes. gRPC's buffers keep
// what they received, the digits, so the values are searched for (doc/threat_model.md).
#include <gtest/gtest.h>

#include <cstdlib>
#include <iterator>
#include <random>
#include <stop_token>
#include <thread>

#include "service/daemon.h"
#include "tests/service/daemons.h"
#include "tests/support/files.h"
#include "tests/support/hex.h"
#include "tests/support/layers.h"
#include "tests/support/memory_search.h"

namespace tinyot::test {
namespace {

constexpr std::size_t kInputBytes = 32;
constexpr const char* kCircuit = "hamming:bits=256";

// The program that submits; what it does is in its environment.
TEST(Submitter, DISABLED_SubmitsNumber) {
  const char* const socket = std::getenv("TINYOT_TEST_SOCKET");
  ASSERT_NE(socket, nullptr);
  const std::string number = read_file(std::getenv("TINYOT_TEST_INPUT"));
  const grpc::Status status =
      Client(socket).submit({"job", kCircuit, "", {{std::getenv("TINYOT_TEST_NAME"), number}}});
  EXPECT_TRUE(status.ok()) << status.error_message();
}

class DaemonMemory : public ::testing::Test {
 protected:
  ~DaemonMemory() override {
    stop_.request_stop();
    for (std::thread& daemon : daemons_) daemon.join();
  }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  // Before there are threads.
  void make_input(const std::string& name) {
    const auto secrets = made_elsewhere("input " + name, kInputBytes, [&] {
      Bytes value(kInputBytes);
      std::random_device random;
      for (unsigned char& byte : value) byte = static_cast<unsigned char>(random());
      // The first byte of a value is the last one of the number.
      write_file(path(name), "0x" + hex_of(Bytes(value.rbegin(), value.rend())));
      return value;
    });
    secrets_.insert(secrets_.end(), secrets.begin(), secrets.end());
  }

  void serve(const std::string& name, const std::string& peer) {
    write_file(path("policy"), "allow { circuit: 'hamming' parameter { name: 'bits' max: 256 } }");
    write_file(path(name + ".conf"),
               "directory: '" + path(name + ".stores") + "' socket: '" + path(name + ".socket") +
                   "' peer { profile: 'fast' low { ands: 1000 } high { ands: 2000 } policy: '" +
                   path("policy") + "' " + peer + " }");
    daemons_.emplace_back(
        [this, name] { service::serve(path(name + ".conf"), "test", stop_.get_token()); });
  }
  Client client(const std::string& name) const { return Client(path(name + ".socket")); }

  void submit(const std::string& daemon, const std::string& input) const {
    ::setenv("TINYOT_TEST_SOCKET", path(daemon + ".socket").c_str(), 1);
    ::setenv("TINYOT_TEST_INPUT", path(input).c_str(), 1);
    ::setenv("TINYOT_TEST_NAME", input.c_str(), 1);
    const Ended ended =
        Process("/proc/self/exe", {"--gtest_also_run_disabled_tests", "--gtest_filter=Submitter.*"})
            .end();
    ASSERT_EQ(ended.status, 0) << ended.out;
  }

  const TestDirectory directory_;
  std::vector<MaskedSecret> secrets_;
  std::stop_source stop_;
  std::vector<std::thread> daemons_;
};

TEST_F(DaemonMemory, HoldsNoInputsOfEndedJobs) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer maps terabytes";
#endif
  make_input("a");
  make_input("b");
  const std::string address = "127.0.0.1:" + reserved_port();
  serve("alice", "name: 'bob' party: A listen: '" + address + "'");
  serve("bob", "name: 'alice' party: B connect: '" + address + "'");
  for (const char* name : {"alice", "bob"})
    ASSERT_TRUE(becomes_true([&] { return client(name).ands_left() > 0; }));
  EXPECT_TRUE(places_of(secrets_).empty());
  submit("alice", "a");
  EXPECT_FALSE(places_of(secrets_).empty()) << "the job waits, and what is searched for is wrong";
  submit("bob", "b");
  for (const char* name : {"alice", "bob"})
    ASSERT_TRUE(becomes_true([&] { return client(name).status("job").state() == v1::DONE; }));
  std::vector<std::string> places;
  EXPECT_TRUE(becomes_true([&] { return (places = places_of(secrets_)).empty(); },
                           std::chrono::seconds(20)));
  for (const std::string& place : places) ADD_FAILURE() << place;
}

}  // namespace
}  // namespace tinyot::test
