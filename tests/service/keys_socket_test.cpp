// The socket of PKCS#11 under clients that send what no module does.
#include "service/keys_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <functional>

#include "base/error.h"
#include "tests/service/socket_client.h"
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

  static StatusCode code_of(const std::optional<v1::SocketReply>& reply) {
    return reply ? static_cast<StatusCode>(reply->code()) : StatusCode::UNKNOWN;
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
  const Descriptor client = client_of_socket(file_);
  for (int i = 0; i < 3; ++i) {
    send_bytes(client, framed_list() + encryption());
    EXPECT_EQ(code_of(reply_from(client)), StatusCode::OK);
    const auto failed = reply_from(client);
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
  const Descriptor client = client_of_socket(file_);
  send_bytes(client, encryption());
  const auto refused = reply_from(client);
  EXPECT_EQ(code_of(refused), StatusCode::PERMISSION_DENIED);
  EXPECT_NE(refused->message().find("USE_KEYS"), std::string::npos) << refused->message();
  EXPECT_TRUE(refused->details().empty());
  send_bytes(client, framed_list());
  EXPECT_EQ(code_of(reply_from(client)), StatusCode::OK);
  // A change of the configuration is one of open connections.
  access_->replace(service::AccessRules(config::Daemon()));
  send_bytes(client, framed_list());
  EXPECT_EQ(code_of(reply_from(client)), StatusCode::PERMISSION_DENIED);
}

TEST_F(KeysSocketTest, CreatingTakesRightOfOfficers) {
  serve("USE_KEYS");
  const Descriptor client = client_of_socket(file_);
  v1::SocketRequest request;
  request.mutable_create()->set_label("new");
  send_bytes(client, framed(request.SerializeAsString()));
  EXPECT_EQ(code_of(reply_from(client)), StatusCode::PERMISSION_DENIED);
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
    const Descriptor client = client_of_socket(file_);
    for (const auto& use : uses) {
      Request request;
      use(request);
      send_bytes(client, framed(request.SerializeAsString()));
      EXPECT_EQ(code_of(reply_from(client)),
                right == "USE_KEYS" ? StatusCode::INVALID_ARGUMENT : StatusCode::PERMISSION_DENIED);
    }
    Request create;
    create.mutable_create()->set_label("new");
    send_bytes(client, framed(create.SerializeAsString()));
    EXPECT_EQ(code_of(reply_from(client)),
              right == "USE_KEYS" ? StatusCode::PERMISSION_DENIED : StatusCode::INVALID_ARGUMENT);
  }
}

TEST_F(KeysSocketTest, MalformedRequestEndsItsConnection) {
  serve();
  const Descriptor client = client_of_socket(file_);
  send_bytes(client, framed("\x0a\x05xx") + framed_list());
  EXPECT_EQ(code_of(reply_from(client)), StatusCode::INVALID_ARGUMENT);
  EXPECT_FALSE(reply_from(client));
  // A call of a later version, and none at all, are no errors of the connection.
  const Descriptor other = client_of_socket(file_);
  for (const std::string& message : {std::string("\xa2\x06\x02xx"), std::string()}) {
    send_bytes(other, framed(message));
    EXPECT_EQ(code_of(reply_from(other)), StatusCode::UNIMPLEMENTED);
  }
  send_bytes(other, framed_list());
  EXPECT_EQ(code_of(reply_from(other)), StatusCode::OK);
}

TEST_F(KeysSocketTest, LongRequestIsNotRead) {
  serve();
  for (const std::string& length :
       {std::string("\x00\x04\x00\x01", 4), std::string("\xff\xff\xff\xff", 4)}) {
    const Descriptor client = client_of_socket(file_);
    send_bytes(client, length);
    EXPECT_EQ(code_of(reply_from(client)), StatusCode::INVALID_ARGUMENT);
    EXPECT_FALSE(reply_from(client));
  }
  // The longest.
  const Descriptor client = client_of_socket(file_);
  v1::SocketRequest request;
  request.mutable_sign()->set_message(std::string(KeysSocket::kRequestBytesMax - 9, 'x'));
  while (request.ByteSizeLong() < KeysSocket::kRequestBytesMax)
    request.mutable_sign()->mutable_message()->push_back('x');
  ASSERT_EQ(request.ByteSizeLong(), KeysSocket::kRequestBytesMax);
  send_bytes(client, framed(request.SerializeAsString()));
  EXPECT_EQ(code_of(reply_from(client)), StatusCode::INVALID_ARGUMENT);
  send_bytes(client, framed_list());
  EXPECT_EQ(code_of(reply_from(client)), StatusCode::OK);
}

TEST_F(KeysSocketTest, HalfRequestHoldsUpNobody) {
  serve();
  const Descriptor idle = client_of_socket(file_), half_length = client_of_socket(file_),
                   half = client_of_socket(file_);
  send_bytes(half_length, std::string("\0\0", 2));
  send_bytes(half, encryption().substr(0, 9));
  const Descriptor client = client_of_socket(file_);
  send_bytes(client, framed_list());
  EXPECT_EQ(code_of(reply_from(client)), StatusCode::OK);
  send_bytes(half, encryption().substr(9));
  EXPECT_EQ(code_of(reply_from(half)), StatusCode::INVALID_ARGUMENT) << "it may still be completed";
  // The daemon's end is one of all of them.
  send_bytes(half, encryption().substr(0, 9));
  server_.reset();
  for (const Descriptor* const each : {&idle, &half_length, &half, &client})
    EXPECT_FALSE(reply_from(*each));
}

TEST_F(KeysSocketTest, ConnectionsAreLimited) {
  serve();
  std::vector<Descriptor> clients;
  for (std::size_t i = 0; i < kConnectionsMax; ++i) {
    clients.push_back(client_of_socket(file_));
    send_bytes(clients.back(), framed_list());
    EXPECT_EQ(code_of(reply_from(clients.back())), StatusCode::OK);
  }
  const Descriptor refused = client_of_socket(file_);
  EXPECT_EQ(code_of(reply_from(refused)), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_FALSE(reply_from(refused));
  clients.pop_back();
  EXPECT_TRUE(becomes_true([&] {
    const Descriptor next = client_of_socket(file_);
    send_bytes(next, framed_list());
    return code_of(reply_from(next)) == StatusCode::OK;
  }));
}

TEST_F(KeysSocketTest, ConnectionsThatEndLeaveNothing) {
  serve();
  const auto descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = descriptors();
  for (int i = 0; i < 200; ++i) {
    std::optional<Descriptor> client(client_of_socket(file_));
    if (i % 3 == 0) send_bytes(*client, framed_list());
    if (i % 3 == 1) send_bytes(*client, encryption().substr(0, 7));
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
