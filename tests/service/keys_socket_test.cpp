// The socket of PKCS#11 under clients that send what no module does.
#include "service/keys_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <functional>

#include "base/error.h"
#include "tests/support/becomes_true.h"
#include "tests/support/files.h"
#include "tinyot/v1/keys_socket.pb.h"
#include "tinyot/v1/party.pb.h"

namespace tinyot::test {
namespace {

namespace config = service::config;
using grpc::StatusCode;
using service::KeysSocket;
using system::Descriptor;

class KeysSocketTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kConnectionsMax = 4;

  void serve(const std::string& rights = "USE_KEYS, MANAGE_KEYS") {
    config::Daemon config;
    config::Access& entry = *config.add_access();
    entry.add_user(std::to_string(::getuid()));
    for (const auto right : {config::USE_KEYS, config::MANAGE_KEYS})
      if (rights.find(config::Right_Name(right)) != std::string::npos) entry.add_may(right);
    access_.emplace(service::AccessRules(config));
    server_.emplace(file_, 0600, kConnectionsMax, calls_, *access_);
  }

  Descriptor connect() const {
    Descriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    file_.native().copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    return client;
  }
  static void send(const Descriptor& to, const std::string& bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count =
          ::send(to.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
      if (count <= 0) return;
      done += static_cast<std::size_t>(count);
    }
  }
  static std::string framed(const std::string& message) {
    std::string frame;
    for (int shift = 24; shift >= 0; shift -= 8)
      frame.push_back(static_cast<char>(message.size() >> shift));
    return frame + message;
  }
  static std::string receive(const Descriptor& from, std::size_t bytes) {
    std::string text(bytes, '\0');
    const ssize_t count = ::recv(from.get(), text.data(), bytes, MSG_WAITALL);
    text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return text;
  }
  // Empty once the daemon has closed the connection.
  static std::optional<v1::SocketReply> reply(const Descriptor& from) {
    const std::string length = receive(from, 4);
    if (length.size() < 4) return std::nullopt;
    std::size_t size = 0;
    for (const char byte : length) size = size << 8 | static_cast<unsigned char>(byte);
    v1::SocketReply reply;
    EXPECT_TRUE(reply.ParseFromString(receive(from, size)));
    return reply;
  }
  static StatusCode code_of(const std::optional<v1::SocketReply>& reply) {
    return reply ? static_cast<StatusCode>(reply->code()) : StatusCode::UNKNOWN;
  }
  static std::string list() {
    v1::SocketRequest request;
    request.mutable_list();
    return framed(request.SerializeAsString());
  }
  static std::string encryption() {
    v1::SocketRequest request;
    request.mutable_encrypt()->set_key("files");
    request.mutable_encrypt()->set_plaintext("secret");
    return framed(request.SerializeAsString());
  }

  const TestDirectory directory_;
  const std::filesystem::path file_ = directory_ / "socket";
  const std::vector<std::unique_ptr<service::Peer>> peers_{};  // none
  const service::KeyCalls calls_{peers_};
  std::optional<service::Access> access_;
  std::optional<KeysSocket> server_;
};

TEST_F(KeysSocketTest, AnswersInOrder) {
  serve();
  const Descriptor client = connect();
  for (int i = 0; i < 3; ++i) {
    send(client, list() + encryption());
    EXPECT_EQ(code_of(reply(client)), StatusCode::OK);
    const auto failed = reply(client);
    EXPECT_EQ(code_of(failed), StatusCode::INVALID_ARGUMENT);
    v1::FailedCall details;
    EXPECT_TRUE(details.ParseFromString(failed->details()));
    EXPECT_EQ(details.message(), failed->message());
  }
  struct stat found {};
  ASSERT_EQ(::stat(file_.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  server_.reset();
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(KeysSocketTest, RightIsThatOfCall) {
  serve("MANAGE_KEYS");
  const Descriptor client = connect();
  send(client, encryption());
  const auto refused = reply(client);
  EXPECT_EQ(code_of(refused), StatusCode::PERMISSION_DENIED);
  EXPECT_NE(refused->message().find("USE_KEYS"), std::string::npos) << refused->message();
  EXPECT_TRUE(refused->details().empty());
  send(client, list());
  EXPECT_EQ(code_of(reply(client)), StatusCode::OK);
  // A change of the configuration is one of open connections.
  access_->replace(service::AccessRules(config::Daemon()));
  send(client, list());
  EXPECT_EQ(code_of(reply(client)), StatusCode::PERMISSION_DENIED);
}

TEST_F(KeysSocketTest, CreatingTakesRightOfOfficers) {
  serve("USE_KEYS");
  const Descriptor client = connect();
  v1::SocketRequest request;
  request.mutable_create()->set_label("new");
  send(client, framed(request.SerializeAsString()));
  EXPECT_EQ(code_of(reply(client)), StatusCode::PERMISSION_DENIED);
}

// Each of the calls that the module makes takes its right, and is made.
TEST_F(KeysSocketTest, CallsAreThoseOfTheModule) {
  using Request = v1::SocketRequest;
  const std::vector<std::function<void(Request&)>> uses = {
      [](Request& of) { of.mutable_encrypt()->set_key("files"); },
      [](Request& of) { of.mutable_decrypt()->set_key("files"); },
      [](Request& of) { of.mutable_sign()->set_key("files"); },
      [](Request& of) { of.mutable_verify()->set_key("files"); }};
  for (const std::string right : {"USE_KEYS", "MANAGE_KEYS"}) {
    server_.reset();
    serve(right);
    const Descriptor client = connect();
    for (const auto& use : uses) {
      Request request;
      use(request);
      send(client, framed(request.SerializeAsString()));
      EXPECT_EQ(code_of(reply(client)),
                right == "USE_KEYS" ? StatusCode::INVALID_ARGUMENT : StatusCode::PERMISSION_DENIED);
    }
    Request create;
    create.mutable_create()->set_label("new");
    send(client, framed(create.SerializeAsString()));
    EXPECT_EQ(code_of(reply(client)),
              right == "USE_KEYS" ? StatusCode::PERMISSION_DENIED : StatusCode::INVALID_ARGUMENT);
  }
}

TEST_F(KeysSocketTest, MalformedRequestEndsItsConnection) {
  serve();
  const Descriptor client = connect();
  send(client, framed("\x0a\x05xx") + list());
  EXPECT_EQ(code_of(reply(client)), StatusCode::INVALID_ARGUMENT);
  EXPECT_FALSE(reply(client));
  // A call of a later version, and none at all, are no errors of the connection.
  const Descriptor other = connect();
  for (const std::string& message : {std::string("\xa2\x06\x02xx"), std::string()}) {
    send(other, framed(message));
    EXPECT_EQ(code_of(reply(other)), StatusCode::UNIMPLEMENTED);
  }
  send(other, list());
  EXPECT_EQ(code_of(reply(other)), StatusCode::OK);
}

TEST_F(KeysSocketTest, LongRequestIsNotRead) {
  serve();
  for (const std::string& length :
       {std::string("\x00\x04\x00\x01", 4), std::string("\xff\xff\xff\xff", 4)}) {
    const Descriptor client = connect();
    send(client, length);
    EXPECT_EQ(code_of(reply(client)), StatusCode::INVALID_ARGUMENT);
    EXPECT_FALSE(reply(client));
  }
  // The longest.
  const Descriptor client = connect();
  v1::SocketRequest request;
  request.mutable_sign()->set_message(std::string(KeysSocket::kRequestBytesMax - 9, 'x'));
  while (request.ByteSizeLong() < KeysSocket::kRequestBytesMax)
    request.mutable_sign()->mutable_message()->push_back('x');
  ASSERT_EQ(request.ByteSizeLong(), KeysSocket::kRequestBytesMax);
  send(client, framed(request.SerializeAsString()));
  EXPECT_EQ(code_of(reply(client)), StatusCode::INVALID_ARGUMENT);
  send(client, list());
  EXPECT_EQ(code_of(reply(client)), StatusCode::OK);
}

TEST_F(KeysSocketTest, HalfRequestHoldsUpNobody) {
  serve();
  const Descriptor idle = connect(), half_length = connect(), half = connect();
  send(half_length, std::string("\0\0", 2));
  send(half, encryption().substr(0, 9));
  const Descriptor client = connect();
  send(client, list());
  EXPECT_EQ(code_of(reply(client)), StatusCode::OK);
  send(half, encryption().substr(9));
  EXPECT_EQ(code_of(reply(half)), StatusCode::INVALID_ARGUMENT) << "it may still be completed";
  // The daemon's end is one of all of them.
  send(half, encryption().substr(0, 9));
  server_.reset();
  for (const Descriptor* const each : {&idle, &half_length, &half, &client})
    EXPECT_FALSE(reply(*each));
}

TEST_F(KeysSocketTest, ConnectionsAreLimited) {
  serve();
  std::vector<Descriptor> clients;
  for (std::size_t i = 0; i < kConnectionsMax; ++i) {
    clients.push_back(connect());
    send(clients.back(), list());
    EXPECT_EQ(code_of(reply(clients.back())), StatusCode::OK);
  }
  const Descriptor refused = connect();
  EXPECT_EQ(code_of(reply(refused)), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_FALSE(reply(refused));
  clients.pop_back();
  EXPECT_TRUE(becomes_true([&] {
    const Descriptor next = connect();
    send(next, list());
    return code_of(reply(next)) == StatusCode::OK;
  }));
}

TEST_F(KeysSocketTest, ConnectionsThatEndLeaveNothing) {
  serve();
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = descriptors();
  for (int i = 0; i < 200; ++i) {
    std::optional<Descriptor> client(connect());
    if (i % 3 == 0) send(*client, list());
    if (i % 3 == 1) send(*client, encryption().substr(0, 7));
    client.reset();
  }
  EXPECT_TRUE(becomes_true([&] { return descriptors() <= before; }));
}

TEST_F(KeysSocketTest, SocketOfAnotherKindIsNotReplaced) {
  write_file(file_, "a file");
  EXPECT_THROW(serve(), NetworkError);
  EXPECT_EQ(read_file(file_), "a file");
}

}  // namespace
}  // namespace tinyot::test
