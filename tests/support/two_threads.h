// Both parties on two threads of this process, using only the public headers.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <tinyot/tinyot.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tests/support/both_parties.h"
#include "tests/support/files.h"
#include "tests/support/socket_transport.h"

namespace tinyot::test {

// The ends of any number of connections over pairs of sockets. When one party ends, the other
// party's streams end too.
struct Endpoints {
  // `wrap_a`: what party A writes and reads goes through the transport that it returns.
  using Wrap = std::function<std::unique_ptr<Transport>(std::unique_ptr<Transport>)>;
  explicit Endpoints(const Wrap& wrap_a = {},
                     std::chrono::seconds idle = std::chrono::seconds(20)) {
    const auto sockets = std::make_shared<Sockets>();
    for (const int party : {0, 1}) {
      ends.push_back(Endpoint::over(
          [sockets, party, wrap_a]() -> std::unique_ptr<Transport> {
            auto plain = std::make_unique<SocketTransport>(sockets->next(party));
            if (party == 0 && wrap_a) return wrap_a(std::move(plain));
            return plain;
          },
          {.connect = std::chrono::seconds(20), .idle = idle}));
    }
  }
  const Endpoint& of(Party party) const { return ends[static_cast<std::size_t>(party)]; }

 private:
  struct Sockets {
    std::mutex mutex;
    std::vector<int> waiting[2];
    int next(int party) {
      const std::lock_guard lock(mutex);
      if (waiting[party].empty()) {
        const auto [mine, peers] = socket_pair();
        waiting[1 - party].push_back(peers);
        return mine;
      }
      const int mine = waiting[party].front();
      waiting[party].erase(waiting[party].begin());
      return mine;
    }
  };
  std::vector<Endpoint> ends;
};

// An address on which no process listens.
inline std::string free_address() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof name;
  if (::bind(descriptor, reinterpret_cast<sockaddr*>(&name), sizeof name) != 0 ||
      ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&name), &length) != 0)
    throw std::runtime_error("no address");
  ::close(descriptor);
  return "127.0.0.1:" + std::to_string(ntohs(name.sin_port));
}

// A store of each party, with triples.
struct Stores {
  explicit Stores(std::uint64_t ands = 4096, std::uint64_t inputs = 512) {
    both([&](Party party) {
      PreprocessRequest request{
          .party = party, .endpoint = endpoints.of(party), .store = of(party)};
      request.parameters.profile = Profile::Fast;
      request.ands = ands;
      request.inputs = inputs;
      preprocess(request);
    });
  }
  std::filesystem::path of(Party party) const { return directory / std::string(1, letter(party)); }
  RunRequest run(Party party) const {
    return {.party = party, .endpoint = endpoints.of(party), .stores = {of(party)}};
  }

  TestDirectory directory;
  Endpoints endpoints;
};

// Both shards of a session at each party.
struct Shards {
  Shards(const ParameterRequest& parameters, std::uint64_t ands,
         std::optional<std::uint64_t> inputs = {}) {
    for (const std::uint32_t shard : {1U, 2U})
      both([&](Party party) {
        PreprocessRequest request{
            .party = party, .endpoint = endpoints.of(party), .store = of(party, shard)};
        request.parameters = parameters;
        request.ands = ands;
        request.inputs = inputs;
        request.session = directory / ("session-" + std::string(1, letter(party)));
        request.shard = shard;
        request.shards = 2;
        preprocess(request);
      });
  }
  std::filesystem::path of(Party party, std::uint32_t shard) const {
    return directory / (std::string(1, letter(party)) + std::to_string(shard));
  }

  TestDirectory directory;
  Endpoints endpoints;
};

// The input of A is x, that of B y.
inline Values input_of(Party party, std::uint64_t value) {
  return Values().set(party == Party::A ? "x" : "y", value);
}

inline std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

}  // namespace tinyot::test
