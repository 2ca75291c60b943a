#include "tests/service/scripted_peer.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "base/error.h"
#include "circuitgen/generators/registry.h"
#include "crypto/rng.h"
#include "engine/base_ot_choice.h"
#include "engine/connection.h"
#include "engine/top_up.h"
#include "service/evaluations.h"
#include "service/messages_version.h"
#include "storage/store.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

constexpr auto kPatience = std::chrono::seconds(90);
constexpr std::uint32_t kAbortTag = 0xFFFFFFFF;
// Of links (service/peer_link.cpp).
constexpr net::MessageTag kLinkParameters = net::message_tag("daemon.parameters");
constexpr net::MessageTag kLinkMessage = net::message_tag("daemon.message");

engine::PeerOptions loopback(const std::string& port, bool listen) {
  engine::PeerOptions endpoint;
  endpoint.listen = listen;
  endpoint.address = {"127.0.0.1", port};
  endpoint.timeouts = {std::chrono::seconds(30), std::chrono::seconds(120)};
  return endpoint;
}

// Shows what is sent to `on_send` first. Aborts are taken for a lost connection, so that this
// party's half of the session is not revoked.
class ScriptedStream final : public net::ByteStream {
 public:
  ScriptedStream(std::unique_ptr<net::ByteStream> inner, OnSend on_send, std::stop_token ended)
      : inner_(std::move(inner)), on_send_(std::move(on_send)), ended_(std::move(ended)) {}

  // Called once for each message, with its header and its payload.
  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    if (!on_send_) return inner_->write(bytes, more);
    net::FrameHeader header;
    ENSURE(bytes.size() == sizeof header);
    std::memcpy(&header, bytes.data(), sizeof header);
    std::vector<std::byte> payload(more.begin(), more.end());
    on_send_({header.tag, payload, ended_});
    inner_->write(bytes, payload);
  }
  void read(std::span<std::byte> bytes) override {
    inner_->read(bytes);
    net::FrameHeader header;
    if (bytes.size() != sizeof header) return;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.tag == kAbortTag && header.length == 0) throw NetworkError("the daemon has aborted");
  }
  void flush() override { inner_->flush(); }
  std::span<const std::byte> binding() const override { return inner_->binding(); }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    inner_->set_deadline(deadline);
  }

 private:
  std::unique_ptr<net::ByteStream> inner_;
  const OnSend on_send_;
  const std::stop_token ended_;
};

}  // namespace

void Gate::pass(const std::stop_token& ended) {
  std::unique_lock lock(mutex_);
  is_reached_ = true;
  changed_.notify_all();
  changed_.wait(lock, ended, [&] { return is_open_; });
}

void Gate::wait_until_reached() {
  std::unique_lock lock(mutex_);
  EXPECT_TRUE(changed_.wait_for(lock, std::chrono::seconds(60), [&] { return is_reached_; }))
      << "the connection does not come to the gate";
}

void Gate::open() {
  const std::lock_guard lock(mutex_);
  is_open_ = true;
  changed_.notify_all();
}

void FalseDigest::operator()(const Outgoing& message) {
  if (message.tag == kMacDigest && is_armed_.exchange(false)) message.payload.at(0) ^= std::byte{1};
}

ScriptedPeer::ScriptedPeer(Setup setup) : setup_(std::move(setup)) {}

std::vector<net::Parameter> ScriptedPeer::parameters() const {
  const auto level = [](const engine::Demand& demand) {
    return std::to_string(demand.ands) + " ANDs, " + std::to_string(demand.inputs) + " inputs";
  };
  return {{"version of the daemon's messages", std::to_string(service::kMessagesVersion)},
          {"listening party", "A"},
          {"profile", "fast"},
          {"sigma", setup_.sigma},
          {"material", std::string(name_of(setup_.material))},
          {"online", setup_.online},
          {"low", level(setup_.low)},
          {"high", level(setup_.high)},
          {"refill_threads", "1"},
          {"evaluations", std::to_string(setup_.evaluations)},
          engine::base_ot_parameter({})};
}

service::StreamPort& ScriptedPeer::port() {
  if (!port_) {
    engine::PeerOptions endpoint = loopback(setup_.port, setup_.me == Party::A);
    if (!setup_.key.empty()) engine::authenticate(endpoint, setup_.key, setup_.peer_key);
    port_ = std::make_unique<service::StreamPort>(endpoint, [](std::uint64_t) {});
  }
  return *port_;
}

std::unique_ptr<net::ByteStream> ScriptedPeer::open_slowly(std::uint64_t group,
                                                           std::uint32_t number) {
  const engine::PeerOptions& endpoint = port().options();
  auto stream = net::tcp_connect(
      endpoint.address, endpoint.timeouts,
      endpoint.tls ? static_cast<const net::Admission&>(*endpoint.tls) : net::open_admission());
  const struct {
    char magic[8] = {'t', 'i', 'n', 'y', 'o', 't', 'd', '1'};
    std::uint64_t group;
    std::uint32_t number, zero = 0;
  } header{.group = group, .number = number};
  const auto bytes = std::as_bytes(std::span(&header, 1));
  for (const auto& part : {bytes.first(8), bytes.subspan(8)}) {
    stream->write(part);
    stream->flush();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the pace of the peer
  }
  return stream;
}

void ScriptedPeer::connect() {
  link_.reset();
  link_ = std::make_unique<service::PeerLink>(port(), setup_.me, parameters(), std::stop_token());
}

wire::Message ScriptedPeer::next_of(const std::vector<wire::Message::BodyCase>& kinds) {
  // The daemon shows all the time that it is there, so the link would not end of itself.
  std::mutex mutex;
  std::condition_variable_any received;
  const std::jthread limit([&](const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    received.wait_for(lock, stop, kPatience, [] { return false; });
    if (stop.stop_requested()) return;
    has_lost_patience_ = true;
    link_->shut_down();
  });
  for (;;)
    if (wire::Message message = link_->receive();
        std::ranges::find(kinds, message.body_case()) != kinds.end())
      return message;
}

std::string ScriptedPeer::refusal(const std::string& job) {
  for (;;)
    if (const wire::Message message = next(wire::Message::kRefuse); message.refuse().job() == job)
      return message.refuse().reason();
}

void ScriptedPeer::start_job(const std::string& job, std::uint32_t worker, std::uint64_t group,
                             std::uint64_t session) {
  wire::Message message;
  wire::Start& start = *message.mutable_start();
  start.set_job(job);
  start.set_worker(worker);
  start.set_group(group);
  start.set_session(session);
  send(message);
}

void ScriptedPeer::refuse(const std::string& job, const std::string& reason) {
  wire::Message message;
  message.mutable_refuse()->set_job(job);
  message.mutable_refuse()->set_reason(reason);
  send(message);
}

void ScriptedPeer::withdraw(const std::string& job) {
  wire::Message message;
  message.mutable_withdraw()->set_job(job);
  send(message);
}

wire::Message ScriptedPeer::stock_of(const std::vector<std::uint64_t>& sessions) const {
  wire::Message message;
  wire::Stock& stock = *message.mutable_stock();
  for (const std::uint64_t number : sessions) {
    const auto store = storage::Store::open(
        store_of(number), {.purpose = storage::Purpose::Inspect, .store_key = setup_.store_key});
    const engine::Demand left =
        engine::capacity_of(store.left(), *engine::begun_parameters(store.manifest()).material);
    wire::Session& sent = *stock.add_sessions();
    sent.set_number(number);
    sent.set_id(short_name(engine::session_id_of(store.manifest())));
    sent.set_ands(left.ands);
    sent.set_inputs(left.inputs);
    sent.set_has_room(true);
    stock.set_last_session(number);
  }
  return message;
}

wire::Refill ScriptedPeer::refill_order(std::uint64_t session) {
  wire::Refill order;
  order.set_group(++last_refill_group_);
  order.set_session(session);
  order.set_ands(setup_.high.ands);
  order.set_inputs(setup_.high.inputs);
  return order;
}

wire::RefillAnswer ScriptedPeer::order(const wire::Refill& refill) {
  wire::Message message;
  *message.mutable_refill() = refill;
  send(message);
  return next(wire::Message::kRefillAnswer).refill_answer();
}

wire::Refill ScriptedPeer::accepted_order(std::uint64_t session) {
  wire::Refill order;
  wire::RefillAnswer answer;
  EXPECT_TRUE(becomes_true([&] {
    order = refill_order(session);
    answer = this->order(order);
    return answer.begins();
  })) << answer.reason();
  return order;
}

void ScriptedPeer::answer_refill(const wire::Refill& order, bool begins,
                                 const std::string& reason) {
  wire::Message message;
  message.mutable_refill_answer()->set_group(order.group());
  message.mutable_refill_answer()->set_begins(begins);
  message.mutable_refill_answer()->set_reason(reason);
  send(message);
}

Endpoint ScriptedPeer::endpoint(std::uint64_t group, const OnSend& on_send,
                                const std::stop_token& cancel) {
  engine::PeerOptions options = port().options();
  const auto number = std::make_shared<std::uint32_t>(0);
  options.open_stream = [this, group, on_send, cancel,
                         number]() -> std::unique_ptr<net::ByteStream> {
    return std::make_unique<ScriptedStream>(port().open({group, (*number)++}, cancel), on_send,
                                            cancel);
  };
  return engine::endpoint_with(std::move(options));
}

PreprocessResult ScriptedPeer::refill(const wire::Refill& order, const OnSend& on_send,
                                      const std::stop_token& cancel) {
  PreprocessRequest request;
  request.party = setup_.me;
  request.endpoint = endpoint(order.group(), on_send, cancel);
  request.store = store_of(order.session());
  request.store_key = setup_.store_key;
  request.amount = Amount::Left;
  request.ands = order.ands();
  request.inputs = order.inputs();
  request.parameters.profile = Profile::Fast;
  request.parameters.sigma = static_cast<std::uint32_t>(std::stoul(setup_.sigma));
  request.parameters.material = setup_.material;
  return preprocess(request, nullptr, cancel);
}

std::unique_ptr<Evaluator> ScriptedPeer::evaluator(std::uint64_t group, std::uint64_t session,
                                                   const OnSend& on_send,
                                                   const std::stop_token& cancel) {
  const RunRequest request{.party = setup_.me,
                           .endpoint = endpoint(group, on_send, cancel),
                           .stores = {store_of(session)},
                           .store_key = setup_.store_key,
                           .reserve_ahead_ands = service::kReserveAheadAnds};
  return std::make_unique<Evaluator>(request, cancel);
}

fs::path ScriptedPeer::store_of(std::uint64_t session) const {
  const std::string number = std::to_string(session);
  return setup_.stores / (std::string(6 - number.size(), '0') + number);
}

ScriptedPeer::RawLink::RawLink(ScriptedPeer& peer) {
  const bool leads = peer.setup_.me == Party::A;
  peer.link_.reset();
  service::StreamPort& port = peer.port();
  service::StreamPort::LinkStreams link;
  if (leads) {
    link = port.accept_link({});
  } else {
    link.group = service::StreamPort::kLinkBit | crypto::Rng::from_system().object<std::uint64_t>();
    for (std::uint32_t number = 0; number < 2; ++number)
      link.streams[number] = port.open({link.group, number}, {});
  }
  out_ = net::make_framed_channel(std::move(link.streams[leads ? 0 : 1]));
  in_ = net::make_framed_channel(std::move(link.streams[leads ? 1 : 0]));
  net::compare_parameters(leads ? *out_ : *in_, kLinkParameters, peer.setup_.me, peer.parameters());
}

void ScriptedPeer::RawLink::send(const wire::Message& message) {
  const std::string bytes = message.SerializeAsString();
  out_->send(kLinkMessage, std::as_bytes(std::span(bytes)));
  out_->flush();
}

wire::Message ScriptedPeer::RawLink::receive() {
  constexpr std::size_t kBytesMax = std::size_t{1} << 16;
  for (;;) {
    const auto bytes = in_->recv_variable(kLinkMessage, kBytesMax);
    wire::Message message;
    EXPECT_TRUE(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    if (message.body_case() != wire::Message::BODY_NOT_SET) return message;
  }
}

void ScriptedPeer::RawLink::shut_down() noexcept {
  for (net::Channel* const channel : {out_.get(), in_.get()})
    channel->set_deadline(std::chrono::steady_clock::now());
}

ScriptedPeer::Worker::Worker(ScriptedPeer& peer, std::uint64_t group, std::uint64_t session,
                             OnSend on_send)
    : request_{.party = peer.setup_.me,
               .endpoint = peer.endpoint(group, on_send, cancel_.get_token()),
               .stores = {peer.store_of(session)},
               .reserve_ahead_ands = service::kReserveAheadAnds} {}

ScriptedPeer::Worker::~Worker() { cancel_.request_stop(); }

void ScriptedPeer::Worker::make_call(const std::string& circuit_name, const Call& call) {
  outcome_ = {};
  try {
    if (has_failed_) throw NetworkError("the connection has ended");
    const auto circuit = circuits_.emplace_back(circuit::find_circuit(circuit_name));
    Values inputs;
    for (const circuit::InputBundle& bundle : circuit->info().inputs)
      if (gives(bundle.source, request_.party)) inputs.set(bundle.name, LaneMatrix(1, bundle.bits));
    if (!evaluator_) evaluator_ = std::make_unique<Evaluator>(request_, cancel_.get_token());
    call(*circuit, inputs);
    outcome_.is_done = true;
  } catch (const std::exception& error) {
    outcome_.error = error.what();
    evaluator_.reset();
    has_failed_ = true;
  }
}

void ScriptedPeer::Worker::begin_call(const std::string& circuit, Call call) {
  has_ended_ = false;
  thread_ = std::jthread([this, circuit, call = std::move(call)] {
    make_call(circuit, call);
    has_ended_ = true;
  });
}

void ScriptedPeer::Worker::begin(const std::string& job, const std::string& name) {
  begin_call(name, [this, job](const circuit::Circuit& circuit, const Values& inputs) {
    outcome_.outputs = evaluator_->run(circuit, inputs, {}, 1, job).outputs;
  });
}

void ScriptedPeer::Worker::begin_to_prepare(const std::string& name) {
  begin_call(name, [this](const circuit::Circuit& circuit, const Values&) {
    outcome_.prepared = evaluator_->prepare(circuit, {}, 1, {}, OnlinePhase::Garbled);
  });
}

void ScriptedPeer::Worker::begin_to_finish(std::uint64_t prepared, const std::string& name) {
  begin_call(name, [this, prepared](const circuit::Circuit&, const Values& inputs) {
    outcome_.outputs = evaluator_->finish(prepared, inputs).outputs;
  });
}

ScriptedPeer::Worker::Outcome ScriptedPeer::Worker::end() {
  thread_.join();
  return std::move(outcome_);
}

ScriptedPeer::Worker::Outcome ScriptedPeer::Worker::run(const std::string& job,
                                                        const std::string& circuit) {
  begin(job, circuit);
  return end();
}

void ScriptedPeerTest::make_with_scripted(Party party, const Setup& with, const Levels& levels) {
  const auto work = [](std::uint64_t ands) { return engine::Demand{ands, default_inputs(ands)}; };
  scripted_ = party;
  Setup setup = with;
  setup.low = level("low", levels.low);
  setup.high = level("high", levels.high);
  make(setup);
  const bool leads = party == Party::A;
  peer_ = std::make_unique<ScriptedPeer>(
      ScriptedPeer::Setup{.me = party,
                          .port = port_,
                          .stores = leads ? a_->stores() / "bob" : b_->stores() / "alice",
                          .low = work(levels.low),
                          .high = work(levels.high),
                          .material = with.material});
}

void ScriptedPeerTest::start_with_stock(Party party, const Setup& setup, const Levels& levels) {
  make_with_scripted(party, setup, levels);
  honest().start();
  peer_->connect();
  wire::Refill order;
  if (party == Party::A) {
    order = peer_->accepted_order(1);
  } else {
    peer_->send_stock({});
    order = peer_->next(wire::Message::kRefill).refill();
    peer_->answer_refill(order, true);
  }
  (void)peer_->refill(order);
  ASSERT_TRUE(becomes_true([&] {
    const v1::StockReply stock = honest().client().stock();
    return stock.sessions_size() == 1 && stock.sessions(0).ands_left() >= levels.high &&
           !stock.sessions(0).is_refilling();
  }));
  // What the leading daemon says at the beginning of a link has been passed over.
  if (party == Party::B) peer_->connect();
}

bool ScriptedPeerTest::has_session(std::uint64_t number) {
  std::string name = std::to_string(number);
  name.insert(0, 6 - name.size(), '0');
  return fs::exists(honest().stores() / peer_name() / name);
}

std::string ScriptedPeerTest::sessions_ended(const std::string& reason) {
  return honest().metric("tinyot_sessions_ended_total{peer=\"" + peer_name() + "\",reason=\"" +
                         reason + "\"");
}

void ScriptedPeerTest::submit(const std::string& job, const std::string& circuit,
                              const std::string& peer) {
  const std::string input = scripted_ == Party::A ? "b" : "a";
  EXPECT_TRUE(honest().client().submit({job, circuit, peer, {{input, "1"}}}).ok());
}

void ScriptedPeerTest::wait_until_read() {
  wire::Message message;
  message.mutable_offer()->set_job("forbidden");
  message.mutable_offer()->mutable_terms()->set_circuit("forbidden");
  peer_->send(message);
  (void)peer_->refusal("forbidden");
}

wire::Message ScriptedPeerTest::submitted(const std::string& job, const std::string& circuit) {
  submit(job, circuit, peer_name());
  for (;;)
    if (wire::Message offer = peer_->next(wire::Message::kOffer); offer.offer().job() == job)
      return offer;
}

}  // namespace tinyot::test
