// A client of the socket of PKCS#11 that sends any bytes.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <optional>
#include <string>

#include "system/descriptor.h"
#include "tinyot/v1/keys_socket.pb.h"

namespace tinyot::test {

inline system::Descriptor client_of_socket(const std::filesystem::path& file) {
  system::Descriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  file.native().copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
            0);
  return client;
}

inline void send_bytes(const system::Descriptor& to, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::send(to.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

inline std::string framed(const std::string& message) {
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8)
    frame.push_back(static_cast<char>(message.size() >> shift));
  return frame + message;
}

inline std::string received_bytes(const system::Descriptor& from, std::size_t bytes) {
  std::string text(bytes, '\0');
  const ssize_t count = ::recv(from.get(), text.data(), bytes, MSG_WAITALL);
  text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return text;
}

// Empty once the daemon has closed the connection.
inline std::optional<v1::SocketReply> reply_from(const system::Descriptor& from) {
  const std::string length = received_bytes(from, 4);
  if (length.size() < 4) return std::nullopt;
  std::size_t size = 0;
  for (const char byte : length) size = size << 8 | static_cast<unsigned char>(byte);
  v1::SocketReply reply;
  EXPECT_TRUE(reply.ParseFromString(received_bytes(from, size)));
  return reply;
}

inline std::string framed_list() {
  v1::SocketRequest request;
  request.mutable_list();
  return framed(request.SerializeAsString());
}

}  // namespace tinyot::test
