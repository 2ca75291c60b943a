// A peer of a daemon as a program of the test: it speaks the daemons' protocol, has its half of the
// stores, can evaluate jobs and make material as a daemon does, and departs from that where a test
// says so.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "engine/plan.h"
#include "service/peer_link.h"
#include "tests/service/daemons.h"
#include "tests/support/layers.h"
#include "tinyot/preprocess.h"
#include "tinyot/run.h"

namespace tinyot::test {

namespace wire = service::wire;

// Messages of evaluations and refills, by their tags.
inline constexpr std::uint32_t kMacDigest = 0x0301, kLeakyTripleG = 0x1B01;

// A message of an evaluation or a refill that the scripted peer is about to send.
struct Outgoing {
  std::uint32_t tag;
  std::vector<std::byte>& payload;  // may be changed
  const std::stop_token& ended;     // the peer no longer wants this connection
};
// May wait, or throw NetworkError, which ends the connection. Called from any thread.
using OnSend = std::function<void(const Outgoing&)>;

// Holds connections at a point.
class Gate {
 public:
  // Waits until the gate is open or the connection has ended.
  void pass(const std::stop_token& ended);
  // Until one waits.
  void wait_until_reached();
  void open();

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool is_reached_ = false, is_open_ = false;
};

// Once armed, changes the digest of MACs of the next check.
class FalseDigest {
 public:
  void arm() { is_armed_ = true; }
  void operator()(const Outgoing& message);

 private:
  std::atomic<bool> is_armed_{false};
};

class ScriptedPeer {
 public:
  struct Setup {
    Party me = Party::A;  // A leads and listens, B follows and connects
    std::string port;
    std::filesystem::path stores;  // of this peer's half, by session
    engine::Demand low, high;
    std::uint32_t evaluations = 4;
    AndMaterial material = AndMaterial::Triples;
    std::string key = {}, peer_key = {};  // as in a configuration
    std::string sigma = "40", online = "auto";
    std::optional<StoreKey> store_key = {};
  };
  explicit ScriptedPeer(Setup setup);

  // Waits until both are linked. The first call begins to listen.
  void connect();
  // From any thread: what waits for messages fails.
  void shut_down() {
    if (link_) link_->shut_down();
  }

  // A connection of this name, which the daemon gets in two parts, so that it waits for the second
  // one. Of party B. Fails: NetworkError.
  std::unique_ptr<net::ByteStream> open_slowly(std::uint64_t group, std::uint32_t number);

  void send(const wire::Message& message) { link_->send(message); }
  // The next message of this kind, or of one of these. Fails: NetworkError if the link ends, also
  // as none comes.
  wire::Message next(wire::Message::BodyCase kind) { return next_of({kind}); }
  wire::Message next_of(const std::vector<wire::Message::BodyCase>& kinds);
  // Whether it has once ended the link itself, as no message came.
  bool has_lost_patience() const { return has_lost_patience_; }
  // Of the next refusal of this job.
  std::string refusal(const std::string& job);

  void start_job(const std::string& job, std::uint32_t worker = 0, std::uint64_t group = 1,
                 std::uint64_t session = 1);
  void refuse(const std::string& job, const std::string& reason = "it cannot be evaluated");
  void withdraw(const std::string& job);
  // What there is, of these sessions.
  void send_stock(const std::vector<std::uint64_t>& sessions) { send(stock_of(sessions)); }
  wire::Message stock_of(const std::vector<std::uint64_t>& sessions) const;
  // A new group, so that each order has its own.
  wire::Refill refill_order(std::uint64_t session);
  wire::RefillAnswer order(const wire::Refill& refill);
  // Orders a refill until the daemon begins it, which may take a pause.
  wire::Refill accepted_order(std::uint64_t session);
  void answer_refill(const wire::Refill& order, bool begins, const std::string& reason = {});
  // Makes material with the daemon, in this peer's half; throws what ends it.
  PreprocessResult refill(const wire::Refill& order, const OnSend& on_send = {},
                          const std::stop_token& cancel = {});
  std::filesystem::path store_of(std::uint64_t session) const;
  // A connection for what the test evaluates itself.
  std::unique_ptr<Evaluator> evaluator(std::uint64_t group, std::uint64_t session,
                                       const OnSend& on_send = {},
                                       const std::stop_token& cancel = {});

  // A link without the buffers and limits of PeerLink: a message is sent at once, or waits until
  // the daemon has room for it, and what the daemon sends is read only when it is asked for, also
  // on another thread. Replaces the link of connect().
  class RawLink {
   public:
    explicit RawLink(ScriptedPeer& peer);
    void send(const wire::Message& message);
    wire::Message receive();
    void shut_down() noexcept;

   private:
    std::unique_ptr<net::Channel> out_, in_;
  };

  // A connection on which jobs are evaluated one after the other, with all inputs zero, on the
  // material of a session, whatever the daemon has been told.
  class Worker {
   public:
    Worker(ScriptedPeer& peer, std::uint64_t group, std::uint64_t session, OnSend on_send = {});
    ~Worker();

    struct Outcome {
      bool is_done = false;
      std::uint64_t prepared = 0;  // its number, if a run has been prepared
      Values outputs;
      std::string error;
    };
    // On a thread of its own. After a failure every job fails.
    void begin(const std::string& job, const std::string& circuit);
    // A run is prepared, or finished, as the daemons do it.
    void begin_to_prepare(const std::string& circuit);
    void begin_to_finish(std::uint64_t prepared, const std::string& circuit);
    bool has_ended() const { return has_ended_; }
    Outcome end();
    // What waits for the daemon fails.
    void cancel() { cancel_.request_stop(); }
    Outcome run(const std::string& job, const std::string& circuit);

   private:
    using Call = std::function<void(const circuit::Circuit& circuit, const Values& inputs)>;
    void begin_call(const std::string& circuit, Call call);
    void make_call(const std::string& circuit, const Call& call);

    std::stop_source cancel_;
    const RunRequest request_;
    std::vector<std::shared_ptr<const circuit::Circuit>> circuits_;  // outlive prepared runs
    std::unique_ptr<Evaluator> evaluator_;
    bool has_failed_ = false;
    std::atomic<bool> has_ended_{true};
    Outcome outcome_;
    std::jthread thread_;
  };

 private:
  service::StreamPort& port();
  Endpoint endpoint(std::uint64_t group, const OnSend& on_send, const std::stop_token& cancel);
  std::vector<net::Parameter> parameters() const;

  const Setup setup_;
  std::unique_ptr<service::StreamPort> port_;
  std::unique_ptr<service::PeerLink> link_;
  std::atomic<bool> has_lost_patience_{false};
  std::uint64_t last_refill_group_ = std::uint64_t{1} << 32;
};

// A daemon and a scripted peer.
class ScriptedPeerTest : public DaemonTest {
 protected:
  struct Levels {
    std::uint64_t low = 20000, high = 60000;  // ANDs
  };
  // As make(); the scripted peer is not connected.
  void make_with_scripted(Party party, const Setup& setup, const Levels& levels);
  // As make_with_scripted(), and starts the honest daemon, which makes material with the scripted
  // peer. They stay connected.
  void start_with_stock(Party party, const Setup& setup, const Levels& levels);
  static std::string level(const std::string& name, std::uint64_t ands) {
    return name + " { ands: " + std::to_string(ands) + " }";
  }
  // The honest party's.
  Daemon& honest() { return scripted_ == Party::A ? *b_ : *a_; }
  std::string peer_name() const { return scripted_ == Party::A ? "alice" : "bob"; }
  // Whether the honest daemon has the session's directory.
  bool has_session(std::uint64_t number);
  std::string sessions_ended(const std::string& reason);

  // A job with a circuit of two inputs, a and b, submitted to the honest daemon; returns its offer.
  wire::Message submitted(const std::string& job, const std::string& circuit = "millionaires");
  void submit(const std::string& job, const std::string& circuit, const std::string& peer);
  v1::State state(const std::string& job) { return honest().client().status(job).state(); }
  // Returns once the daemon has read all messages before.
  void wait_until_read();

  Party scripted_ = Party::A;
  std::unique_ptr<ScriptedPeer> peer_;
};

}  // namespace tinyot::test
