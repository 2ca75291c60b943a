// The daemons of two parties as processes on loopback, and clients of their interface.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/becomes_true.h"
#include "tests/support/files.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tinyot/parameters.h"
#include "tinyot/v1/party.grpc.pb.h"

namespace tinyot::test {

using Inputs = std::map<std::string, std::string>;  // numbers, in any form that a request may have

// Of a failed call, the class in its details.
v1::ErrorClass class_of(const grpc::Status& status);

// A program of one of the parties' organisations.
class Client {
 public:
  explicit Client(const std::string& socket);

  struct NewJob {
    std::string id, circuit, peer;
    Inputs inputs;
    std::uint64_t lanes = 1;
  };
  grpc::Status submit(const NewJob& job, v1::Job* reply = nullptr) const;
  grpc::Status submit(const std::vector<v1::SubmitRequest>& parts, v1::Job* reply = nullptr) const;

  // Waits for the end of a job; its outputs as bytes.
  struct Result {
    grpc::Status status;
    v1::Job job;
    std::map<std::string, std::string> outputs;
  };
  Result result(const std::string& id, bool forget = true,
                std::chrono::seconds deadline = std::chrono::seconds(60),
                const std::string& peer = {}) const;
  v1::Job status(const std::string& id, const std::string& peer = {}) const;
  grpc::Status cancel(const std::string& id, const std::string& peer = {}) const;
  v1::StockReply stock() const;
  v1::PeerState peer(std::size_t index = 0) const;
  grpc::Status retire(const std::string& peer) const;

  // ANDs that are left, of all sessions of all peers.
  std::uint64_t ands_left() const;

 private:
  std::unique_ptr<v1::Party::Stub> stub_;
};

// A daemon with its configuration, in a directory of its own.
class Daemon {
 public:
  // `settings` and `peers` are in the text format of the configuration.
  Daemon(std::filesystem::path directory, const std::string& settings, const std::string& peers,
         const std::string& policy);

  // Returns once it serves.
  void start();
  void kill();
  // Asks it to stop, and waits for its end. client() is gone.
  Ended stop();
  Ended end();
  bool runs() const { return process_ != nullptr; }
  pid_t pid() const { return process_->pid(); }
  const Client& client() const { return *client_; }
  std::filesystem::path socket() const { return directory_ / "socket"; }
  std::filesystem::path stores() const { return directory_ / "stores"; }
  std::filesystem::path ledgers() const { return directory_ / "ledgers"; }
  std::filesystem::path configuration() const { return directory_ / "conf"; }
  std::string metric(const std::string& line_begin) const;  // its value; empty if there is none
  std::string get(const std::string& path) const;           // the whole answer, over HTTP
  const std::string& metrics_port() const { return metrics_port_; }

 private:
  std::filesystem::path directory_;
  std::string metrics_port_;
  std::unique_ptr<Process> process_;
  std::unique_ptr<Client> client_;
};

// Two daemons, each the other's only peer. A's calls it "bob", B's "alice".
class DaemonTest : public ::testing::Test {
 protected:
  // What both have in the part of the peer, unless a test replaces it.
  struct Setup {
    std::string low = "low { ands: 20000 }", high = "high { ands: 60000 }";
    std::string peer_a = {}, peer_b = {};  // further fields
    AndMaterial material = AndMaterial::Triples;
    std::string other_peers_a = {}, other_peers_b = {};
    std::string daemon_a = {}, daemon_b = {};
    std::string policy_a = kPolicy, policy_b = kPolicy;
    std::string port_b = {};  // to which B connects, if it is not A's
  };
  static constexpr const char* kPolicy =
      "allow { circuit: 'aes128' lanes_max: 64 }\n"
      "allow { circuit: 'millionaires' parameter { name: 'bits' max: 64 } lanes_max: 16 }\n"
      "allow { circuit: 'sha256' parameter { name: 'bytes' max: 128 } }\n"
      "allow { circuit: 'hamming' lanes_max: 2 }\n"
      "allow { circuit: 'random' parameter { name: 'width' max: 4096 }\n"
      "        parameter { name: 'depth' max: 1048576 } }\n";

  ~DaemonTest() override;
  void make(const Setup& setup);
  // Makes and starts both, and waits until they are connected and have stock.
  void start(const Setup& setup);
  void start() { start(Setup()); }
  ::testing::AssertionResult is_stocked(std::uint64_t ands = 1) const;

  static Client::NewJob millionaires_a(const std::string& id, std::uint32_t number);
  static Client::NewJob millionaires_b(const std::string& id, std::uint32_t number);
  // Submits the job to both and checks the result.
  void evaluate(const std::string& id, std::uint32_t a = 20, std::uint32_t b = 10);

  const TestDirectory directory_;
  const std::filesystem::path dir_ = directory_.path();
  std::string port_ = reserved_port();
  std::unique_ptr<Daemon> a_, b_;
};

}  // namespace tinyot::test
