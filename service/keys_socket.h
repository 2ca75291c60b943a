// The socket for modules of PKCS#11 (config.Pkcs11): calls of keys as messages of their own
// (tinyot/v1/keys_socket.proto), for programs that cannot have gRPC in their process.
//
// Each connection has a thread, so one that sends half a message holds up nothing else. There are
// as many as connections of the interface.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <list>
#include <mutex>
#include <optional>
#include <thread>

#include "service/access.h"
#include "service/client_port.h"
#include "service/error_log.h"
#include "service/key_calls.h"
#include "system/descriptor.h"

namespace tinyot::service {

class KeysSocket {
 public:
  static constexpr std::size_t kRequestBytesMax = 256 << 10, kReplyBytesMax = 16 << 20;

  // Serves from its construction on; `calls` and `access` outlive it. Fails: NetworkError if it
  // cannot serve the file.
  KeysSocket(const std::filesystem::path& file, mode_t mode, std::size_t connections_max,
             const KeyCalls& calls, Access& access);
  // Ends all connections, and what their clients wait for. On return no thread runs.
  ~KeysSocket();
  KeysSocket(const KeysSocket&) = delete;
  KeysSocket& operator=(const KeysSocket&) = delete;

 private:
  struct Connection {
    system::Descriptor socket;  // closed, under the lock, when the thread is done
    std::jthread thread;
  };

  void begin(system::Descriptor socket);
  void serve(Connection& connection);
  void answer_all(int socket);

  const std::filesystem::path file_;
  const KeyCalls& calls_;
  Access& access_;
  ErrorLog errors_{"connection of PKCS#11 ended", {}, LogLevel::Warning};
  std::mutex mutex_;
  std::list<Connection> connections_;
  std::optional<ClientPort> port_;
};

}  // namespace tinyot::service
