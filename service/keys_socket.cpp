#include "service/keys_socket.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/secret_text.h"
#include "service/message_field.h"
#include "system/errno_text.h"
#include "tinyot/v1/keys_socket.pb.h"

namespace tinyot::service {
namespace {

using Clock = std::chrono::steady_clock;
using grpc::StatusCode;

constexpr auto kMessageTime = std::chrono::seconds(60);
constexpr std::size_t kLengthBytes = 4;

// Until something can be read or written, or the connection has ended. Returns false after the
// deadline.
bool wait_for(int socket, short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    pollfd polled{socket, events, 0};
    const int ready = ::poll(&polled, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// Both return false if the connection has ended, or after the deadline.
bool receive(int socket, std::span<char> bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count == 0) return false;
    if (count > 0)
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    else if (errno == EAGAIN ? !wait_for(socket, POLLIN, deadline) : errno != EINTR)
      return false;
  }
  return true;
}

bool send(int socket, std::span<const char> bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0)
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    else if (errno == EAGAIN ? !wait_for(socket, POLLOUT, deadline) : errno != EINTR)
      return false;
  }
  return true;
}

// Whether the client has closed its connection, or the daemon has.
bool has_ended(int socket) {
  pollfd polled{socket, POLLRDHUP, 0};
  return ::poll(&polled, 1, 0) > 0;
}

void fail(v1::SocketReply& reply, StatusCode code, const std::string& message) {
  reply.Clear();
  reply.set_code(static_cast<std::uint32_t>(code));
  reply.set_message(message);
}

bool send_reply(int socket, v1::SocketReply& reply) {
  if (reply.ByteSizeLong() > KeysSocket::kReplyBytesMax)
    fail(reply, StatusCode::RESOURCE_EXHAUSTED, "there are more keys than fit into a reply");
  const std::size_t size = reply.ByteSizeLong();
  SecretText message(kLengthBytes + size);
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    message[i] = static_cast<char>(size >> (8 * (kLengthBytes - 1 - i)));
  reply.SerializeWithCachedSizesToArray(
      reinterpret_cast<std::uint8_t*>(message.data() + kLengthBytes));
  return send(socket, message, Clock::now() + kMessageTime);
}

// Calls what the request names, if the client may.
template <class Request, class Reply>
void call(const KeyCalls& calls, Access& access, const KeyCall& by, const char* method,
          grpc::Status (KeyCalls::*function)(const KeyCall&, const Request&, Reply&) const,
          const Request& request, Reply* (v1::SocketReply::*part)(), v1::SocketReply& reply) {
  if (const auto refusal =
          access.refusal(by.caller, std::string("/tinyot.v1.Keys/").append(method)))
    return fail(reply, StatusCode::PERMISSION_DENIED, *refusal);
  const grpc::Status status = (calls.*function)(by, request, *(reply.*part)());
  if (status.ok()) return;
  fail(reply, status.error_code(), status.error_message());
  reply.set_details(status.error_details());
}

v1::SocketReply answer(const v1::SocketRequest& request, const KeyCalls& calls, Access& access,
                       const KeyCall& by) {
  using Request = v1::SocketRequest;
  using Reply = v1::SocketReply;
  Reply reply;
  const auto make = [&](const char* method, auto function, const auto& of, auto part) {
    call(calls, access, by, method, function, of, part, reply);
  };
  switch (request.call_case()) {
    case Request::kEncrypt:
      make("Encrypt", &KeyCalls::encrypt, request.encrypt(), &Reply::mutable_encrypt);
      wipe_field(request.encrypt().plaintext());
      break;
    case Request::kDecrypt:
      make("Decrypt", &KeyCalls::decrypt, request.decrypt(), &Reply::mutable_decrypt);
      break;
    case Request::kSign:
      make("Sign", &KeyCalls::sign, request.sign(), &Reply::mutable_sign);
      wipe_field(request.sign().message());
      break;
    case Request::kVerify:
      make("Verify", &KeyCalls::verify, request.verify(), &Reply::mutable_verify);
      wipe_field(request.verify().message());
      break;
    case Request::kList:
      make("List", &KeyCalls::list, request.list(), &Reply::mutable_list);
      break;
    case Request::kCreate:
      make("Create", &KeyCalls::create, request.create(), &Reply::mutable_create);
      break;
    case Request::CALL_NOT_SET:
      fail(reply, StatusCode::UNIMPLEMENTED, "there is no such call");
      break;
  }
  return reply;
}

// Empty if there is none any more, or it takes too long.
std::optional<SecretText> receive_request(int socket, v1::SocketReply& refusal) {
  std::array<char, kLengthBytes> length{};
  const auto deadline = [] { return Clock::now() + kMessageTime; };
  if (!wait_for(socket, POLLIN, deadline()) || !receive(socket, length, deadline())) return {};
  std::size_t size = 0;
  for (const char byte : length) size = size << 8 | static_cast<unsigned char>(byte);
  if (size > KeysSocket::kRequestBytesMax) {
    fail(refusal, StatusCode::INVALID_ARGUMENT,
         "a request has at most " + std::to_string(KeysSocket::kRequestBytesMax) + " bytes");
    return {};
  }
  SecretText message(size);
  if (!receive(socket, message, deadline())) return {};
  return message;
}

}  // namespace

KeysSocket::KeysSocket(const std::filesystem::path& file, mode_t mode, std::size_t connections_max,
                       const KeyCalls& calls, Access& access)
    : file_(file), calls_(calls), access_(access) {
  std::vector<ClientSocket> sockets;
  sockets.push_back({listen_on_file(file, mode),
                     [this](int socket) { begin(system::Descriptor(socket)); },
                     [](int socket) {
                       const system::Descriptor refused(socket);
                       v1::SocketReply reply;
                       fail(reply, StatusCode::RESOURCE_EXHAUSTED,
                            "the daemon has as many connections of clients as it may have "
                            "(client_connections_max of its configuration): try again later");
                       (void)send_reply(socket, reply);
                     }});
  port_.emplace(std::move(sockets), connections_max);
}

KeysSocket::~KeysSocket() {
  std::error_code error;
  std::filesystem::remove(file_, error);
  port_.reset();  // no further connection begins
  {
    const std::lock_guard lock(mutex_);
    for (const Connection& connection : connections_)
      if (connection.socket.is_open()) (void)::shutdown(connection.socket.get(), SHUT_RDWR);
  }
  for (Connection& connection : connections_) connection.thread.join();
}

void KeysSocket::begin(system::Descriptor socket) {
  const std::lock_guard lock(mutex_);
  connections_.remove_if([](const Connection& each) { return !each.socket.is_open(); });
  Connection& connection = connections_.emplace_back();
  try {
    connection.thread = std::jthread([this, &connection] { serve(connection); });
  } catch (const std::system_error&) {
    connections_.pop_back();
    throw;
  }
  connection.socket = std::move(socket);
}

void KeysSocket::serve(Connection& connection) {
  const int socket = [&] {
    const std::lock_guard lock(mutex_);  // begin() has put it there
    return connection.socket.get();
  }();
  errors_.run([&] { answer_all(socket); });
  const std::lock_guard lock(mutex_);
  connection.socket.close();
}

void KeysSocket::answer_all(int socket) {
  KeyCall by{.caller = caller_of(socket)};
  by.is_gone = [this, socket, caller = by.caller] {
    return has_ended(socket) || !access_.may_use_or_manage_keys(caller);
  };
  for (;;) {
    v1::SocketReply reply;
    const auto message = receive_request(socket, reply);
    if (!message) {
      if (reply.code() != 0) (void)send_reply(socket, reply);
      return;
    }
    v1::SocketRequest request;
    const bool is_well_formed =
        request.ParseFromArray(message->data(), static_cast<int>(message->size()));
    if (is_well_formed) {
      by.is_officer = access_.may_manage_keys(by.caller);
      reply = answer(request, calls_, access_, by);
    } else {
      fail(reply, StatusCode::INVALID_ARGUMENT, "the request is malformed");
    }
    const bool is_sent = send_reply(socket, reply);
    if (reply.has_decrypt()) wipe_field(reply.decrypt().plaintext());
    if (!is_sent || !is_well_formed) return;
  }
}

}  // namespace tinyot::service
