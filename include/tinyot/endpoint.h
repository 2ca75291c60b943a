// How a party connects to its peer, and how the two authenticate each other.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "tinyot/error.h"
#include "tinyot/export.h"

namespace tinyot {

// A reliable, ordered stream of bytes to the peer, provided by the caller: a socket, a pipe, a
// stream of some other protocol. The library calls write() from one thread and read() from another,
// concurrently, and shut_down() from any thread. An exception from write() or read() ends the
// connection; its text becomes part of a NetworkError.
class TINYOT_API Transport {
 public:
  virtual ~Transport() = default;

  // Sends all of the bytes. May block as long as the peer does not read.
  virtual void write(std::span<const std::byte> bytes) = 0;
  // Blocks until at least one byte has arrived, and returns the number of bytes received; 0 if the
  // peer has closed the stream.
  virtual std::size_t read(std::span<std::byte> bytes) = 0;
  // Makes pending and later calls to read() and write() return or throw immediately.
  virtual void shut_down() noexcept = 0;
};

struct Timeouts {
  // Until the parties are connected.
  std::chrono::milliseconds connect = std::chrono::seconds(60);
  // Without progress in a call that waits for the peer.
  std::chrono::milliseconds idle = std::chrono::seconds(120);
};

// One end of the connection. The two parties' ends must match: one listens and the other connects,
// or both open transports.
//
// Over TCP both parties need keys (authenticate), except on a loopback address; without keys, any
// process that answers is taken for the peer. A transport must authenticate the peer itself.
// Copies share their state; an Endpoint may be used for several calls, one after the other.
class Endpoint {
 public:
  // Names no peer: for calls that need none, such as estimate(). Connecting fails with UsageError.
  Endpoint() = default;
  // `address` is HOST:PORT, an IPv6 host in brackets. Fails: UsageError.
  TINYOT_API static Endpoint listen(std::string_view address, Timeouts timeouts = {});
  TINYOT_API static Endpoint connect(std::string_view address, Timeouts timeouts = {});
  // `open` is called once for each connection: one per call, plus one for each additional thread of
  // a preprocessing job, or one for a run that makes its material as it goes. The n-th transports
  // of the two parties are the ends of one stream.
  TINYOT_API static Endpoint over(std::function<std::unique_ptr<Transport>()> open,
                                  Timeouts timeouts = {});

  // TLS 1.3; only these two keys are accepted. `my_key` is a file made by make_key_file();
  // `peers_key` is the fingerprint of the peer's key, or @FILE for a file that contains it or the
  // peer's certificate.
  // Fails: UsageError.
  TINYOT_API Endpoint& authenticate(const std::filesystem::path& my_key,
                                    const std::string& peers_key);
  // Plain TCP on any address: for tunnels that encrypt and authenticate.
  TINYOT_API Endpoint& allow_plaintext();
  // `log` receives one line for each rejected connection, and what can be done about it, on the
  // thread of the call.
  TINYOT_API Endpoint& log_rejections(std::function<void(const std::string&, Remedy)> log);

  // The rest is used by the library only.
  struct State;
  explicit Endpoint(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State* state() const { return state_.get(); }

 private:
  std::shared_ptr<const State> state_;
};

// Writes a new private key and its certificate to `file` (mode 0600), and the certificate alone,
// for the peer, to `file`.crt. Returns the fingerprint, for the peer. Fails: UsageError if one of
// the files exists or cannot be written.
TINYOT_API std::string make_key_file(const std::filesystem::path& file);

}  // namespace tinyot
