#include "service/client_port.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>

#include "base/error.h"
#include "system/errno_text.h"

namespace tinyot::service {
namespace {

constexpr int kBacklog = 128, kPauseTime_ms = 200;
constexpr int kSocketFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;

bool is_of_one_connection(int error) {
  return error == EINTR || error == ECONNABORTED || error == EPROTO;
}

// The owner may close the descriptor at any time; the number then has no file, or another one.
std::optional<ino_t> inode_of(int descriptor) {
  struct stat file {};
  return ::fstat(descriptor, &file) == 0 ? std::optional(file.st_ino) : std::nullopt;
}

}  // namespace

bool OpenConnections::has_room() {
  if (sockets_.size() < max_) return true;
  std::erase_if(sockets_,
                [](const Socket& socket) { return inode_of(socket.descriptor) != socket.inode; });
  return sockets_.size() < max_;
}

void OpenConnections::add(int descriptor) {
  if (const auto inode = inode_of(descriptor)) sockets_.push_back({descriptor, *inode});
}

system::Descriptor listen_on_file(const std::filesystem::path& path, mode_t mode) {
  const auto fail = [&](const std::string& what) {
    return NetworkError(what + " the socket " + path.string() + ": " + system::errno_text());
  };
  system::Descriptor listener(::socket(AF_UNIX, SOCK_STREAM | kSocketFlags, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof address.sun_path)
    throw NetworkError("the path of the socket is too long: " + path.string());
  path.native().copy(address.sun_path, sizeof address.sun_path - 1);
  std::error_code error;
  if (std::filesystem::is_socket(path, error)) std::filesystem::remove(path, error);
  if (!listener.is_open() ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw fail("cannot make");
  if (::chmod(path.c_str(), mode) != 0) throw fail("cannot change the mode of");
  if (::listen(listener.get(), kBacklog) != 0) throw fail("cannot serve");
  return listener;
}

std::vector<system::Descriptor> listen_on_address(const net::Address& address) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  if (const int error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found))
    throw NetworkError("cannot resolve " + net::text_of(address) + ": " + ::gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  std::vector<system::Descriptor> listeners;
  std::string why;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    const int yes = 1;
    system::Descriptor listener(
        ::socket(at->ai_family, at->ai_socktype | kSocketFlags, at->ai_protocol));
    // Connections have the options of their listener.
    if (listener.is_open() &&
        ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        ::setsockopt(listener.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) == 0 &&
        ::bind(listener.get(), at->ai_addr, at->ai_addrlen) == 0 &&
        ::listen(listener.get(), kBacklog) == 0)
      listeners.push_back(std::move(listener));
    else
      why = system::errno_text();
  }
  if (listeners.empty()) throw NetworkError("cannot serve " + net::text_of(address) + ": " + why);
  return listeners;
}

ClientPort::ClientPort(std::vector<ClientSocket> sockets, std::size_t max)
    : sockets_(std::move(sockets)), served_(sockets_.size(), OpenConnections(max)),
      refused_(kRefusedMax), stopped_(::eventfd(0, EFD_CLOEXEC)) {
  if (!stopped_.is_open()) throw NetworkError("cannot serve clients: " + system::errno_text());
  thread_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
}

ClientPort::~ClientPort() {
  thread_.request_stop();
  (void)::eventfd_write(stopped_.get(), 1);
}

void ClientPort::accept_all(const std::stop_token& stop) {
  std::vector<pollfd> descriptors;
  for (const ClientSocket& socket : sockets_)
    descriptors.push_back({socket.listener.get(), POLLIN, 0});
  pollfd stopped{stopped_.get(), POLLIN, 0};
  descriptors.push_back(stopped);
  while (!stop.stop_requested()) {
    (void)::poll(descriptors.data(), descriptors.size(), -1);
    bool is_well = true;
    for (std::size_t socket = 0; socket < sockets_.size(); ++socket)
      is_well = errors_.run([&] { accept_waiting(socket); }) && is_well;
    // What is missing may come back with the end of another connection.
    if (!is_well) (void)::poll(&stopped, 1, kPauseTime_ms);
  }
}

// Fails: NetworkError if the system has no descriptor or memory for the next one, which then waits.
void ClientPort::accept_waiting(std::size_t socket) {
  for (;;) {
    system::Descriptor connection(
        ::accept4(sockets_[socket].listener.get(), nullptr, nullptr, kSocketFlags));
    if (connection.is_open()) {
      hand_on(socket, std::move(connection));
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    if (!is_of_one_connection(errno)) throw NetworkError(system::errno_text());
  }
}

void ClientPort::hand_on(std::size_t socket, system::Descriptor connection) {
  const bool is_served = served_[socket].has_room();
  if (!is_served) {
    refusals_.write("there are as many connections of clients as there may be");
    if (!refused_.has_room()) return;
  }
  (is_served ? served_[socket] : refused_).add(connection.get());
  (is_served ? sockets_[socket].serve : sockets_[socket].refuse)(connection.release());
}

}  // namespace tinyot::service
