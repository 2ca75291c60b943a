// The sockets on which clients connect. Each connection is accepted here and then handed on to
// gRPC: its own sockets accept none any more once the system had no descriptor for one, and do not
// bound the number of those that are open.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

#include "net/tcp.h"
#include "service/error_log.h"
#include "system/descriptor.h"

namespace tinyot::service {

// Connections whose descriptors belong to somebody else, who closes them at any time. Without a
// lock.
class OpenConnections {
 public:
  explicit OpenConnections(std::size_t max) : max_(max) {}

  // Looks at those that have been added only if there seem to be as many as there may be.
  bool has_room();
  void add(int descriptor);

 private:
  // A descriptor that has been closed is another file's later.
  struct Socket {
    int descriptor;
    ino_t inode;
  };
  const std::size_t max_;
  std::vector<Socket> sockets_;
};

// A socket that listens, and what becomes of its connections. Both functions take a connection over
// and are called on the port's thread.
struct ClientSocket {
  system::Descriptor listener;
  std::function<void(int connection)> serve, refuse;
};

// Replaces a file that is a socket. Only its owner can connect until it has its mode. Fails:
// NetworkError.
system::Descriptor listen_on_file(const std::filesystem::path& path, mode_t mode);
// All addresses that the host has, as far as they can be used. Fails: NetworkError if none can.
std::vector<system::Descriptor> listen_on_address(const net::Address& address);

class ClientPort {
 public:
  // So many connections are told why they are refused; others are closed at once.
  static constexpr std::size_t kRefusedMax = 16;

  // Accepts from its construction on. `max`: connections that are open at a time, of each socket,
  // so that strangers at one of them do not keep clients out of another.
  ClientPort(std::vector<ClientSocket> sockets, std::size_t max);
  // On return no function is called any more.
  ~ClientPort();
  ClientPort(const ClientPort&) = delete;
  ClientPort& operator=(const ClientPort&) = delete;

 private:
  void accept_all(const std::stop_token& stop);
  void accept_waiting(std::size_t socket);
  void hand_on(std::size_t socket, system::Descriptor connection);

  const std::vector<ClientSocket> sockets_;
  std::vector<OpenConnections> served_;  // by socket
  OpenConnections refused_;
  ErrorLog errors_{"interface accepts no connection"};
  ErrorLog refusals_{"client refused", {}, LogLevel::Warning};
  system::Descriptor stopped_;
  std::jthread thread_;  // last: it uses all other members
};

}  // namespace tinyot::service
