#include "tests/service/daemons.h"

#include <grpcpp/grpcpp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <iostream>
#include <iterator>

#include "service/failed_call.h"
#include "tests/support/sockets.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

constexpr auto kCallTime = std::chrono::seconds(60);

void set_deadline(grpc::ClientContext& context, std::chrono::seconds time = kCallTime) {
  context.set_deadline(std::chrono::system_clock::now() + time);
}

// Whether a process serves the socket.
bool accepts(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof address.sun_path - 1);
  const Socket socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

v1::ErrorClass class_of(const grpc::Status& status) {
  const auto error = service::error_in(status);
  EXPECT_TRUE(error);
  if (!error) return {};
  EXPECT_EQ(error->message(), status.error_message());
  return error->error_class();
}

Client::Client(const std::string& socket)
    : stub_(v1::Party::NewStub(
          grpc::CreateChannel("unix:" + socket, grpc::InsecureChannelCredentials()))) {}

grpc::Status Client::submit(const NewJob& job, v1::Job* reply) const {
  v1::SubmitRequest request;
  request.mutable_job()->set_id(job.id);
  request.mutable_job()->set_peer(job.peer);
  request.mutable_job()->set_circuit(job.circuit);
  request.mutable_job()->set_lanes(job.lanes);
  for (const auto& [name, number] : job.inputs) {
    v1::Input& input = *request.add_inputs();
    input.set_name(name);
    for (std::uint64_t lane = 0; lane < job.lanes; ++lane) input.add_numbers(number);
  }
  return submit(std::vector{request}, reply);
}

grpc::Status Client::submit(const std::vector<v1::SubmitRequest>& parts, v1::Job* reply) const {
  grpc::ClientContext context;
  set_deadline(context);
  v1::Job ignored;
  const auto writer = stub_->Submit(&context, reply != nullptr ? reply : &ignored);
  for (const v1::SubmitRequest& part : parts)
    if (!writer->Write(part)) break;
  writer->WritesDone();
  return writer->Finish();
}

Client::Result Client::result(const std::string& id, bool forget, std::chrono::seconds deadline,
                              const std::string& peer) const {
  grpc::ClientContext context;
  set_deadline(context, deadline);
  v1::ResultRequest request;
  request.set_id(id);
  request.set_forget(forget);
  request.set_peer(peer);
  Result result;
  const auto reader = stub_->Result(&context, request);
  for (v1::ResultPart part; reader->Read(&part);) {
    if (part.has_job()) result.job = part.job();
    for (const v1::Output& output : part.outputs()) result.outputs[output.name()] += output.bits();
  }
  result.status = reader->Finish();
  return result;
}

v1::Job Client::status(const std::string& id, const std::string& peer) const {
  grpc::ClientContext context;
  set_deadline(context);
  v1::StatusRequest request;
  request.set_id(id);
  request.set_peer(peer);
  v1::Job job;
  stub_->Status(&context, request, &job);
  return job;
}

grpc::Status Client::cancel(const std::string& id, const std::string& peer) const {
  grpc::ClientContext context;
  set_deadline(context);
  v1::CancelRequest request;
  request.set_id(id);
  request.set_peer(peer);
  v1::Job job;
  return stub_->Cancel(&context, request, &job);
}

v1::StockReply Client::stock() const {
  grpc::ClientContext context;
  set_deadline(context);
  v1::StockReply reply;
  stub_->Stock(&context, {}, &reply);
  return reply;
}

v1::PeerState Client::peer(std::size_t index) const {
  grpc::ClientContext context;
  set_deadline(context);
  v1::PeersReply reply;
  stub_->Peers(&context, {}, &reply);
  return static_cast<int>(index) < reply.peers_size() ? reply.peers(static_cast<int>(index))
                                                      : v1::PeerState();
}

grpc::Status Client::retire(const std::string& peer) const {
  grpc::ClientContext context;
  set_deadline(context);
  v1::RetireRequest request;
  request.set_peer(peer);
  v1::RetireReply reply;
  return stub_->Retire(&context, request, &reply);
}

std::uint64_t Client::ands_left() const {
  std::uint64_t ands = 0;
  const v1::StockReply reply = stock();
  for (const v1::SessionStock& session : reply.sessions()) ands += session.ands_left();
  return ands;
}

Daemon::Daemon(fs::path directory, const std::string& settings, const std::string& peers,
               const std::string& policy)
    : directory_(std::move(directory)), metrics_port_(reserved_port()) {
  fs::create_directories(directory_);
  write_file(directory_ / "policy", policy);
  std::string all_peers = peers;
  for (std::size_t at; (at = all_peers.find("POLICY")) != std::string::npos;)
    all_peers.replace(at, 6, "policy: '" + (directory_ / "policy").string() + "'");
  write_file(configuration(), "directory: '" + stores().string() + "'\nsocket: '" +
                                  socket().string() + "'\nledger: '" + ledgers().string() +
                                  "'\nmetrics: '127.0.0.1:" + metrics_port_ + "'\n" + settings +
                                  "\n" + all_peers);
}

void Daemon::start() {
  process_ = std::make_unique<Process>(TINYOT_BINARY,
                                       Arguments{"serve", "--config", configuration().string()}, "",
                                       std::chrono::seconds(3600));
  // A channel that fails to connect waits before it tries again.
  ASSERT_TRUE(becomes_true([&] { return accepts(socket()); }))
      << (process_->signal(SIGKILL), process_->end().err);
  client_ = std::make_unique<Client>(socket().string());
}

void Daemon::kill() {
  process_->signal(SIGKILL);
  process_->end();
  process_.reset();
}

Ended Daemon::stop() {
  client_.reset();  // the interface would wait for its connection to end
  process_->signal(SIGTERM);
  return end();
}

Ended Daemon::end() {
  const Ended ended = process_->end();
  process_.reset();
  return ended;
}

std::string Daemon::get(const std::string& path) const {
  const Socket socket = connect_to(metrics_port_);
  if (!socket.send_all("GET " + path + " HTTP/1.0\r\n\r\n")) return {};
  std::string text;
  char buffer[65536];
  for (ssize_t count; (count = ::read(socket.get(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  return text;
}

std::string Daemon::metric(const std::string& line_begin) const {
  const std::string text = get("/metrics");
  const std::size_t at = text.find("\n" + line_begin);
  if (at == std::string::npos) return {};
  const std::size_t end = text.find('\n', at + 1), space = text.rfind(' ', end);
  return text.substr(space + 1, end - space - 1);
}

DaemonTest::~DaemonTest() {
  if (HasFailure())
    for (Daemon* const daemon : {a_.get(), b_.get()})
      if (daemon != nullptr && daemon->runs()) std::cerr << daemon->stop().err << "\n";
}

void DaemonTest::make(const Setup& setup) {
  const std::string both = " POLICY profile: 'fast' material: '" +
                           std::string(name_of(setup.material)) + "' " + setup.low + " " +
                           setup.high + " ";
  a_ = std::make_unique<Daemon>(dir_ / "a", setup.daemon_a,
                                "peer { name: 'bob' party: A listen: '127.0.0.1:" + port_ + "'" +
                                    both + setup.peer_a + " }\n" + setup.other_peers_a,
                                setup.policy_a);
  b_ = std::make_unique<Daemon>(dir_ / "b", setup.daemon_b,
                                "peer { name: 'alice' party: B connect: '127.0.0.1:" +
                                    (setup.port_b.empty() ? port_ : setup.port_b) + "'" + both +
                                    setup.peer_b + " }\n" + setup.other_peers_b,
                                setup.policy_b);
}

void DaemonTest::start(const Setup& setup) {
  make(setup);
  a_->start();
  b_->start();
  ASSERT_TRUE(is_stocked());
}

::testing::AssertionResult DaemonTest::is_stocked(std::uint64_t ands) const {
  return becomes_true([&] {
    return a_->client().peer().is_connected() && b_->client().peer().is_connected() &&
           a_->client().ands_left() >= ands && b_->client().ands_left() >= ands;
  });
}

Client::NewJob DaemonTest::millionaires_a(const std::string& id, std::uint32_t number) {
  return {id, "millionaires", "", {{"a", std::to_string(number)}}};
}

Client::NewJob DaemonTest::millionaires_b(const std::string& id, std::uint32_t number) {
  return {id, "millionaires", "", {{"b", std::to_string(number)}}};
}

void DaemonTest::evaluate(const std::string& id, std::uint32_t a, std::uint32_t b) {
  ASSERT_TRUE(a_->client().submit(millionaires_a(id, a)).ok());
  ASSERT_TRUE(b_->client().submit(millionaires_b(id, b)).ok());
  for (const Daemon* daemon : {a_.get(), b_.get()}) {
    const Client::Result result = daemon->client().result(id);
    ASSERT_TRUE(result.status.ok()) << result.status.error_message();
    ASSERT_EQ(result.job.state(), v1::DONE) << result.job.error().message();
    ASSERT_EQ(result.outputs.size(), 1u);
    EXPECT_EQ(result.outputs.begin()->second, std::string(1, a > b ? 1 : 0));
  }
}

}  // namespace tinyot::test
