// Common parts of the tests of the `tinyot` command: a temporary directory, a port, both parties'
// command lines, and expectations about how a process ended.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/circuit_files.h"
#include "tests/support/files.h"
#include "tests/support/layers.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/sockets.h"
#include "tests/support/temporary_variable.h"

namespace tinyot::test {

using Json = nlohmann::json;

// Runs the command to its end.
Ended tinyot(const Arguments& arguments, const std::string& input = {},
             std::chrono::seconds deadline = Process::kDeadline);

// Whether stdout has one JSON object, an error report of the class that belongs to the status.
bool is_error_report(const std::string& out, int status);

// Whether it ended with this status, with `part` on stderr and, if it failed, nothing on stdout
// except an error report.
::testing::AssertionResult ended_with(const Ended& ended, int status, const std::string& part = {});

// The output of a command with --format json. Fails the test unless that is one object on one line
// and nothing else.
Json json_of(const Ended& ended);

std::string random_hex(std::size_t bytes);

Arguments operator+(Arguments first, const Arguments& second);

struct BothEnded {
  Ended a, b;
};
struct BothRunning {
  Process a, b;
};

// Each test has its own directory, with the parties' stores in A and B, and its own port. A listens
// by default.
class CommandTest : public ::testing::Test {
 protected:
  std::string path(const std::string& name) const { return (dir_ / name).string(); }
  // The command line of one party: command, party, address, store, JSON, and `more`.
  Arguments as(char party, const std::string& command, const Arguments& more) const;
  // Both parties as two processes, B after A.
  BothRunning start(const std::string& command, const Arguments& more_of_a,
                    const Arguments& more_of_b) const;
  BothEnded both(const std::string& command, const Arguments& more_of_a,
                 const Arguments& more_of_b) const;
  // Makes both stores by `tinyot local preprocess` with few columns.
  void preprocess(const std::string& ands, const Arguments& more = {}) const;
  // With the profile that takes the least time.
  void preprocess_fast(const std::string& ands, const Arguments& more = {}) const;
  Json store_info(char party) const;

  const TestDirectory directory_;
  const std::filesystem::path dir_ = directory_.path();
  std::string port_ = reserved_port();
  // The port to which the connecting side connects: that of the relay, if there is one.
  std::string peer_port_ = port_;
  char listener_ = 'A';

 private:
  void preprocess_with(const Arguments& profile, const std::string& ands,
                       const Arguments& more) const;
};

inline const Arguments kFewColumns = {"--labit-columns", "experiment"};

}  // namespace tinyot::test
