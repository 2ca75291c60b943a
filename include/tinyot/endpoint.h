// Where a party finds its peer, and how each makes sure that it is the other.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tinyot {

// A reliable, ordered stream of bytes to the peer that the caller brings: a socket, a pipe, a
// stream of some other protocol. The library calls write() from one thread and read() from another
// one, at the same time, and shut_down() from any. Exceptions of write() and read() end the
// connection; their text becomes part of a NetworkError.
class Transport {
 public:
  virtual ~Transport() = default;

  // Sends all of the bytes. May wait for as long as the peer does not read.
  virtual void write(std::span<const std::byte> bytes) = 0;
  // Waits for at least one byte, and returns how many it has received; 0 if the peer has closed the
  // stream.
  virtual std::size_t read(std::span<std::byte> bytes) = 0;
  // Makes pending and later calls of read() and write() return or throw at once.
  virtual void shut_down() noexcept = 0;
};

struct Timeouts {
  // Until the parties are connected.
  std::chrono::milliseconds connect = std::chrono::seconds(60);
  // Without progress in a call that waits for the peer.
  std::chrono::milliseconds idle = std::chrono::seconds(120);
};

// One end of the connection. The two parties' ends belong together: one listens and the other one
// connects, or both open transports.
//
// Over TCP both parties need keys (authenticate), except on a loopback address; otherwise any
// process that answers passes for the peer. A transport authenticates the peer itself.
// Copies share what they refer to; an Endpoint may be used for several calls one after the other.
class Endpoint {
 public:
  // `address` is HOST:PORT, an IPv6 host in brackets. Fails: UsageError.
  static Endpoint listen(std::string_view address, Timeouts timeouts = {});
  static Endpoint connect(std::string_view address, Timeouts timeouts = {});
  // `open` is called once for each connection: one, and a further one for each further thread of a
  // preprocessing job, or for a run that makes its material meanwhile. The n-th transports of the
  // two parties are ends of one stream.
  static Endpoint over(std::function<std::unique_ptr<Transport>()> open, Timeouts timeouts = {});

  // TLS 1.3 between these two keys alone. `my_key` is a file of make_key_file(); `peers_key` is the
  // fingerprint of the peer's key, or @FILE with it or with the peer's certificate.
  // Fails: UsageError.
  Endpoint& authenticate(const std::filesystem::path& my_key, const std::string& peers_key);
  // Plain TCP on any address: for tunnels that encrypt and authenticate.
  Endpoint& allow_plaintext();
  // `log` gets a line for each connection that is rejected, from the thread of the call.
  Endpoint& log_rejections(std::function<void(const std::string&)> log);

  struct State;
  const State& state() const { return *state_; }

 private:
  explicit Endpoint(std::shared_ptr<State> state) : state_(std::move(state)) {}
  State& changed();
  std::shared_ptr<State> state_;
};

// Makes a private key with its certificate in `file` (mode 0600), and the certificate alone, for
// the peer, in `file`.crt. Returns the fingerprint, for the peer. Fails: UsageError if one of the
// files exists or cannot be written.
std::string make_key_file(const std::filesystem::path& file);

}  // namespace tinyot
