// Whose call a handler is given, over real connections: what the client itself says of that does
// not matter.
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <map>
#include <new>
#include <thread>

#include "net/tls/identity.h"
#include "service/server_credentials.h"
#include "tests/support/files.h"
#include "tinyot/v1/keys.grpc.pb.h"

namespace tinyot::test {
namespace {

using service::LocalCallers;

// Its answer is whose call it was.
class EchoService final : public v1::Keys::Service {
 public:
  explicit EchoService(const LocalCallers& callers) : callers_(callers) {}

  grpc::Status Show(grpc::ServerContext* context, const v1::KeyName*, v1::Key* reply) override {
    reply->set_label(text_of(service::caller_in(*context, callers_)));
    std::size_t numbers = 0;
    for (const auto& property : *context->auth_context())
      if (property.first == "tinyot_local_caller") ++numbers;
    reply->set_version(static_cast<std::uint32_t>(numbers));
    return grpc::Status::OK;
  }

 private:
  const LocalCallers& callers_;
};

class CallersTest : public ::testing::Test {
 protected:
  CallersTest() {
    const std::size_t first = callers_.number_of({1001, {}, {}}, service::Named::Itself),
                      second = callers_.number_of({1002, {5}, {}}, service::Named::Itself);
    add("unix:" + path("unknown"), service::local_credentials(allow_all(), 0));
    add("unix:" + path("first"), service::local_credentials(allow_all(), first));
    add("unix:" + path("second"), service::local_credentials(allow_all(), second));
    add("unix:" + path("insecure"), grpc::InsecureServerCredentials());
  }
  ~CallersTest() override {
    if (server_) server_->Shutdown(std::chrono::system_clock::now());
  }

  static service::CallCheck allow_all() {
    return [](const std::string&, const service::ClientCertificate&) { return std::nullopt; };
  }
  std::string path(const std::string& name) const { return (directory_ / name).string(); }
  void add(const std::string& address, const std::shared_ptr<grpc::ServerCredentials>& credentials,
           int* port = nullptr) {
    builder_.AddListeningPort(address, credentials, port);
  }
  void start() {
    builder_.RegisterService(&service_);
    server_ = builder_.BuildAndStart();
    ASSERT_TRUE(server_);
  }

  using Claims = std::map<std::string, std::string>;
  static v1::Key call(v1::Keys::Stub& stub, const Claims& claims = {}) {
    grpc::ClientContext context;
    for (const auto& [name, value] : claims) context.AddMetadata(name, value);
    v1::Key reply;
    const grpc::Status status = stub.Show(&context, {}, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }
  std::unique_ptr<v1::Keys::Stub> stub(const std::string& name) const {
    return v1::Keys::NewStub(
        grpc::CreateChannel("unix:" + path(name), grpc::InsecureChannelCredentials()));
  }

  const TestDirectory directory_;
  LocalCallers callers_;
  EchoService service_{callers_};
  grpc::ServerBuilder builder_;
  std::unique_ptr<grpc::Server> server_;
};

TEST_F(CallersTest, PortTellsWhoCalls) {
  start();
  const std::map<std::string, std::string> callers = {{"unknown", "a client of an unknown user"},
                                                      {"first", "user 1001"},
                                                      {"second", "user 1002"},
                                                      {"insecure", "a client of an unknown user"}};
  for (const auto& [port, caller] : callers) EXPECT_EQ(call(*stub(port)).label(), caller);
}

TEST_F(CallersTest, WhatTheCallSaysDoesNotMatter) {
  start();
  const Claims claims = {{"tinyot_local_caller", "2"},
                         {"x509_common_name", "billing"},
                         {"transport_security_type", "ssl"}};
  EXPECT_EQ(call(*stub("first"), claims).label(), "user 1001");
  EXPECT_EQ(call(*stub("unknown"), claims).label(), "a client of an unknown user");
  EXPECT_EQ(call(*stub("insecure"), claims).label(), "a client of an unknown user");
}

// The calls of a connection have its properties in common.
TEST_F(CallersTest, ConnectionHasOneCallerAlsoIfCallsComeTogether) {
  start();
  constexpr std::size_t kThreads = 8, kCalls = 25;
  for (int round = 0; round < 4; ++round) {
    const auto of = stub("second");
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        for (std::size_t n = 0; n < kCalls; ++n) {
          const v1::Key reply = call(*of);
          EXPECT_EQ(reply.label(), "user 1002");
          EXPECT_EQ(reply.version(), 1u);
        }
      });
  }
}

// Such as for want of memory.
TEST_F(CallersTest, CallThatCannotBeCheckedIsRefused) {
  add("unix:" + path("unchecked"),
      service::local_credentials([](const std::string&, const service::ClientCertificate&)
                                     -> std::optional<std::string> { throw std::bad_alloc(); },
                                 0));
  start();
  grpc::ClientContext context;
  v1::Key reply;
  const grpc::Status status = stub("unchecked")->Show(&context, {}, &reply);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << status.error_message();
  EXPECT_EQ(reply.label(), "") << "the handler is not called";
}

TEST_F(CallersTest, CertificateTellsWhoCallsOverTls) {
  const auto own = net::Identity::generate(), clients = net::Identity::generate();
  service::TlsFiles files{
      own.certificate_pem(), clients.certificate_pem(), own.private_pem(), {}, {}};
  int port = 0;
  add("127.0.0.1:0",
      service::tls_credentials(std::make_shared<service::ServerTls>(std::move(files)), allow_all()),
      &port);
  start();
  grpc::ChannelArguments arguments;
  arguments.SetSslTargetNameOverride("TinyOT party");
  const auto over_tls = v1::Keys::NewStub(grpc::CreateCustomChannel(
      "127.0.0.1:" + std::to_string(port),
      grpc::SslCredentials({own.certificate_pem(), std::string(view_of(clients.private_pem())),
                            clients.certificate_pem()}),
      arguments));
  EXPECT_EQ(
      call(*over_tls, {{"tinyot_local_caller", "1"}, {"x509_common_name", "billing"}}).label(),
      "the client 'TinyOT party'");
}

}  // namespace
}  // namespace tinyot::test
