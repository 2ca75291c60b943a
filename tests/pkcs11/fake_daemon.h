// A daemon that has its keys in one place, and answers as a test says: for the module's own
// behaviour, which takes no peer.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tinyot/v1/keys_socket.pb.h"

namespace tinyot::test {

struct FakeKey {
  v1::Key shown;
  std::string bytes;
};

class FakeDaemon {
 public:
  // What follows the length of the reply; empty: the connection is closed.
  using Answer = std::function<std::optional<std::string>(const v1::SocketRequest&)>;

  explicit FakeDaemon(std::filesystem::path socket);
  ~FakeDaemon() { stop(); }

  void start();
  void stop();  // and ends all connections

  FakeKey& add(const std::string& peer, const std::string& label, const std::string& key_class,
               const std::string& algorithm, const std::string& bytes);
  // In place of what the keys say.
  void answer_with(Answer answer);
  // Sends exactly these bytes in place of length and reply, and closes the connection.
  void send_raw(std::string bytes);
  // Without reading a request, and closes the connection.
  void refuse_with(const v1::SocketReply& reply);
  v1::SocketReply reply_to(const v1::SocketRequest& request);

  std::vector<v1::SocketRequest> requests();
  void forget_requests();

 private:
  struct Connection {
    int socket = -1;
    std::thread thread = {};
  };
  void accept_all();
  void serve(int socket);
  const FakeKey* find(const std::string& peer, const std::string& id) const;

  const std::filesystem::path path_;
  int listener_ = -1;
  std::thread accepting_;
  std::mutex mutex_;
  std::list<Connection> connections_;
  std::list<FakeKey> keys_;
  std::vector<v1::SocketRequest> requests_;
  Answer answer_;
  std::optional<std::string> raw_, refusal_;
  std::uint64_t seals_ = 0;
};

}  // namespace tinyot::test
