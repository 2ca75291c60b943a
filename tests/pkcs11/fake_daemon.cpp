#include "fake_daemon.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <stdexcept>

#include "tests/support/openssl_mechanisms.h"

namespace tinyot::test {
namespace {

bool receive(int socket, std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::recv(socket, bytes.data() + done, bytes.size() - done, 0);
    if (count <= 0) return false;
    done += static_cast<std::size_t>(count);
  }
  return true;
}

void send(int socket, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

std::string length_of(const std::string& message) {
  std::string length;
  for (int shift = 24; shift >= 0; shift -= 8)
    length.push_back(static_cast<char>(message.size() >> shift));
  return length;
}

// GCM is its own inverse but for the tag.
std::optional<std::string> opened(const std::string& key, const v1::DecryptRequest& request) {
  const auto& [nonce, aad] = std::pair(request.nonce(), request.associated_data());
  std::string text = openssl_seal(key, nonce, aad, request.ciphertext());
  text.resize(request.ciphertext().size());
  if (openssl_seal(key, nonce, aad, text) != request.ciphertext() + request.tag())
    return std::nullopt;
  return text;
}

}  // namespace

FakeDaemon::FakeDaemon(std::filesystem::path socket) : path_(std::move(socket)) { start(); }

void FakeDaemon::start() {
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.native().copy(address.sun_path, sizeof address.sun_path - 1);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 128) != 0)
    throw std::runtime_error("cannot serve " + path_.string());
  accepting_ = std::thread([this] { accept_all(); });
}

void FakeDaemon::stop() {
  if (listener_ < 0) return;
  ::shutdown(listener_, SHUT_RDWR);
  accepting_.join();
  ::close(std::exchange(listener_, -1));
  std::filesystem::remove(path_);
  {
    const std::lock_guard lock(mutex_);
    for (const Connection& connection : connections_) ::shutdown(connection.socket, SHUT_RDWR);
  }
  for (Connection& connection : connections_) connection.thread.join();
  connections_.clear();
}

FakeKey& FakeDaemon::add(const std::string& peer, const std::string& label,
                         const std::string& key_class, const std::string& algorithm,
                         const std::string& bytes) {
  const std::lock_guard lock(mutex_);
  FakeKey& key = keys_.emplace_back();
  const std::string number = std::to_string(keys_.size());
  key.shown.set_id(std::string(32 - number.size(), '0') + number);
  key.shown.set_peer(peer);
  key.shown.set_label(label);
  key.shown.set_version(1);
  key.shown.set_key_class(key_class);
  key.shown.set_algorithm(algorithm);
  key.shown.set_nonces("joint");
  key.shown.set_origin("generated");
  key.shown.set_state("active");
  key.bytes = bytes;
  return key;
}

void FakeDaemon::answer_with(Answer answer) {
  const std::lock_guard lock(mutex_);
  answer_ = std::move(answer);
}

void FakeDaemon::send_raw(std::string bytes) {
  const std::lock_guard lock(mutex_);
  raw_ = std::move(bytes);
}

void FakeDaemon::refuse_with(const v1::SocketReply& reply) {
  const std::lock_guard lock(mutex_);
  refusal_ = length_of(reply.SerializeAsString()) + reply.SerializeAsString();
}

std::vector<v1::SocketRequest> FakeDaemon::requests() {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void FakeDaemon::forget_requests() {
  const std::lock_guard lock(mutex_);
  requests_.clear();
}

void FakeDaemon::accept_all() {
  for (;;) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const std::lock_guard lock(mutex_);
    if (refusal_) {
      send(socket, *refusal_);
      ::close(socket);
      continue;
    }
    Connection& connection = connections_.emplace_back(Connection{socket, {}});
    connection.thread = std::thread([this, &connection] {
      serve(connection.socket);
      const std::lock_guard closing(mutex_);
      ::close(std::exchange(connection.socket, -1));
    });
  }
}

void FakeDaemon::serve(int socket) {
  for (;;) {
    std::string length(4, '\0');
    if (!receive(socket, length)) return;
    std::size_t size = 0;
    for (const char byte : length) size = size << 8 | static_cast<unsigned char>(byte);
    std::string message(size, '\0');
    v1::SocketRequest request;
    if (!receive(socket, message) || !request.ParseFromString(message)) return;
    Answer answer;
    std::optional<std::string> raw;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      answer = answer_;
      raw = raw_;
    }
    if (raw) {
      send(socket, *raw);
      ::shutdown(socket, SHUT_RDWR);
      return;
    }
    const auto reply = answer ? answer(request) : reply_to(request).SerializeAsString();
    if (!reply) {
      ::shutdown(socket, SHUT_RDWR);
      return;
    }
    send(socket, length_of(*reply) + *reply);
  }
}

const FakeKey* FakeDaemon::find(const std::string& peer, const std::string& id) const {
  for (const FakeKey& key : keys_)
    if (key.shown.peer() == peer && key.shown.id() == id) return &key;
  return nullptr;
}

v1::SocketReply FakeDaemon::reply_to(const v1::SocketRequest& request) {
  v1::SocketReply reply;
  const auto with_key = [&](const auto& of, const auto& use) {
    const std::lock_guard lock(mutex_);
    if (const FakeKey* const key = find(of.peer(), of.key()))
      use(*key);
    else
      reply.set_code(5);
  };
  if (request.has_list()) {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> peers;
    for (const FakeKey& key : keys_) {
      if (!request.list().peer().empty() && request.list().peer() != key.shown.peer()) continue;
      *reply.mutable_list()->add_keys() = key.shown;
      if (std::find(peers.begin(), peers.end(), key.shown.peer()) == peers.end())
        peers.push_back(key.shown.peer());
    }
    for (const std::string& peer : peers) reply.mutable_list()->add_peers(peer);
  } else if (request.has_encrypt()) {
    with_key(request.encrypt(), [&](const FakeKey& key) {
      std::string nonce = request.encrypt().nonce();
      if (nonce.empty()) nonce = "coins" + std::to_string(1'000'000 + ++seals_);
      std::string sealed = openssl_seal(key.bytes, nonce, request.encrypt().associated_data(),
                                        request.encrypt().plaintext());
      v1::EncryptReply& to = *reply.mutable_encrypt();
      to.set_key(key.shown.id());
      to.set_nonce(nonce);
      to.set_tag(sealed.substr(sealed.size() - 16));
      to.set_ciphertext(sealed.substr(0, sealed.size() - 16));
    });
  } else if (request.has_decrypt()) {
    with_key(request.decrypt(), [&](const FakeKey& key) {
      const auto text = opened(key.bytes, request.decrypt());
      reply.mutable_decrypt()->set_is_valid(text.has_value());
      reply.mutable_decrypt()->set_plaintext(text.value_or(""));
    });
  } else if (request.has_sign() || request.has_verify()) {
    const auto tag_of = [](const FakeKey& key, const std::string& text) {
      return key.shown.algorithm() == "hmac_sha256" ? openssl_hmac(key.bytes, text)
                                                    : openssl_cmac(key.bytes, text);
    };
    if (request.has_sign())
      with_key(request.sign(), [&](const FakeKey& key) {
        reply.mutable_sign()->set_key(key.shown.id());
        reply.mutable_sign()->set_tag(tag_of(key, request.sign().message()));
      });
    else
      with_key(request.verify(), [&](const FakeKey& key) {
        reply.mutable_verify()->set_is_valid(tag_of(key, request.verify().message()) ==
                                             request.verify().tag());
      });
  } else if (request.has_create()) {
    const v1::CreateKeyRequest& wanted = request.create();
    FakeKey& made = add(wanted.peer(), wanted.label(), wanted.key_class(), wanted.algorithm(),
                        std::string(wanted.algorithm() == "aes128" ? 16 : 32, 'm'));
    const std::lock_guard lock(mutex_);
    made.shown.set_cka_id(wanted.cka_id());
    *reply.mutable_create() = made.shown;
  }
  return reply;
}

}  // namespace tinyot::test
