// Joining further workers' connections to a session, while unauthenticated peers connect.
#include "engine/connection.h"

#include <gtest/gtest.h>

#include <future>

#include "base/error.h"
#include "tests/storage/store_support.h"
#include "tests/support/both_parties.h"
#include "tests/support/channel_decorator.h"
#include "tests/support/layers.h"
#include "tests/support/ports.h"
#include "tests/support/sockets.h"

namespace tinyot::test {
namespace {

using namespace std::chrono_literals;

constexpr MessageTag kGreeting{0x7301, "test.greeting"};

SessionIds ids() {
  SessionIds ids;
  ids.session.bytes.fill(1);
  ids.connection.bytes.fill(2);
  return ids;
}

// Over TLS, each party with its key.
std::shared_ptr<const TlsAdmission> tls_of(bool listen) {
  static const Identity kA = Identity::generate(), kB = Identity::generate();
  return listen ? std::make_shared<TlsAdmission>(kA, kB.fingerprint())
                : std::make_shared<TlsAdmission>(kB, kA.fingerprint());
}

class OpenWorker : public ::testing::TestWithParam<bool> {
 protected:
  PeerOptions endpoint(bool listen, const std::string& port,
                       std::chrono::milliseconds connect = 10s) const {
    return {.listen = listen,
            .address = {"127.0.0.1", port},
            .timeouts = {connect, 10s},
            .tls = GetParam() ? tls_of(listen) : nullptr};
  }

  // A waits for worker 1. `others` connect first, then B.
  void expect_joined(const std::function<void()>& others) {
    Connector place(endpoint(true, port_));
    auto of_a =
        std::async(std::launch::async, [&] { return place.open_worker(ids(), Party::A, 1); });
    others();
    const auto b = Connector(endpoint(false, port_)).open_worker(ids(), Party::B, 1);
    const auto a = of_a.get();
    send_object(*a, kGreeting, 42);
    a->flush();
    EXPECT_EQ(recv_object<int>(*b, kGreeting), 42);
  }

  const std::string port_ = reserved_port();
};

INSTANTIATE_TEST_SUITE_P(Over, OpenWorker, ::testing::Bool(),
                         [](const auto& tls) { return tls.param ? "Tls" : "Tcp"; });

TEST_P(OpenWorker, JoinsWorkerOfPeer) {
  expect_joined([] {});
}

TEST_P(OpenWorker, RejectsGarbage) {
  expect_joined([&] { connect_to(port_).send_all(std::string(1000, 'x')); });
}

TEST_P(OpenWorker, RejectsClosedConnection) {
  expect_joined([&] { connect_to(port_); });
}

TEST_P(OpenWorker, RejectsWorkerOfAnotherSession) {
  expect_joined([&] {
    SessionIds other = ids();
    other.connection.bytes.fill(3);
    EXPECT_THROW(Connector(endpoint(false, port_)).open_worker(other, Party::B, 1), NetworkError);
  });
}

TEST_P(OpenWorker, TimesOutWithoutPeer) {
  Connector place(endpoint(true, port_, 300ms));
  EXPECT_THROW(place.open_worker(ids(), Party::A, 1), NetworkError);
}

// The time is that of all who connect in it.
TEST_P(OpenWorker, TimesOutWhileWorkersOfAnotherSessionConnect) {
  Connector place(endpoint(true, port_, 1s));
  auto of_a = std::async(std::launch::async, [&] { return place.open_worker(ids(), Party::A, 1); });
  SessionIds other = ids();
  other.connection.bytes.fill(3);
  const auto is_over = [&] { return of_a.wait_for(0s) == std::future_status::ready; };
  for (const auto until = std::chrono::steady_clock::now() + 20s;
       !is_over() && std::chrono::steady_clock::now() < until;)
    EXPECT_THROW(Connector(endpoint(false, port_, 1s)).open_worker(other, Party::B, 1),
                 NetworkError);
  EXPECT_TRUE(is_over());
  EXPECT_THROW(of_a.get(), NetworkError);
}

// Shows the deadlines that it is given.
class ObservedStream final : public ByteStream {
 public:
  using Deadline = std::chrono::steady_clock::time_point;
  ObservedStream(std::unique_ptr<ByteStream> inner, std::vector<Deadline>& deadlines)
      : inner_(std::move(inner)), deadlines_(deadlines) {}

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    inner_->write(bytes, more);
  }
  void read(std::span<std::byte> bytes) override { inner_->read(bytes); }
  void flush() override { inner_->flush(); }
  void set_deadline(Deadline deadline) noexcept override {
    deadlines_.push_back(deadline);
    inner_->set_deadline(deadline);
  }

 private:
  std::unique_ptr<ByteStream> inner_;
  std::vector<Deadline>& deadlines_;
};

// The time to join is limited. What a worker does afterwards may take longer.
TEST(JoinedWorker, HasNoDeadlineAnyMore) {
  MemoryStreams streams = make_memory_streams();
  both([&](Party party) {
    std::vector<ObservedStream::Deadline> deadlines;
    PeerOptions peer;
    peer.open_stream = [&] {
      return std::make_unique<ObservedStream>(std::move(party == Party::A ? streams.a : streams.b),
                                              deadlines);
    };
    const auto channel = Connector(peer).open_worker(ids(), party, 1);
    ASSERT_GE(deadlines.size(), 2u) << letter(party);
    EXPECT_LT(deadlines.front(), std::chrono::steady_clock::now() + 1h) << letter(party);
    EXPECT_EQ(deadlines.back(), ObservedStream::Deadline::max()) << letter(party);
  });
}

// Records the state of a store at the time when the abort is sent.
class AbortChannel final : public ChannelDecorator {
 public:
  explicit AbortChannel(const Store& store) : ChannelDecorator(nullptr), store_(store) {}

  void send_abort() noexcept override {
    ++aborts;
    keys_were_gone = store_.keys_are_gone();
    had_deadline = deadline_ < std::chrono::steady_clock::now() + 5s;
  }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    deadline_ = deadline;
  }

  int aborts = 0;
  bool keys_were_gone = false, had_deadline = false;

 private:
  const Store& store_;
  std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
};

class WithinSession : public StoreTest {
 protected:
  template <class Failure>
  void fail_with(const Failure& failure) {
    EXPECT_THROW(within_session(std::span(stores_), channel_, [&] { throw failure; }), Failure);
  }

  std::vector<Store> stores_ = [this] {
    std::vector<Store> stores;
    stores.push_back(make_store(root_ / "first"));
    stores.push_back(make_store(root_ / "last"));
    return stores;
  }();
  AbortChannel channel_{stores_.back()};
};

TEST_F(WithinSession, RevokesEveryStoreBeforeNotifyingThePeer) {
  fail_with(PeerCheated("EQ of a test"));
  EXPECT_EQ(channel_.aborts, 1);
  EXPECT_TRUE(channel_.keys_were_gone);
  EXPECT_TRUE(channel_.had_deadline) << "a peer that reads nothing must not delay the report";
  for (const Store& store : stores_) {
    EXPECT_EQ(store.manifest().state, StoreState::Revoked);
    EXPECT_EQ(store.manifest().revocation_reason, "the peer cheated, check: EQ of a test");
  }
}

TEST_F(WithinSession, RevokesEveryStoreAfterAbortByThePeer) {
  fail_with(PeerAborted());
  EXPECT_EQ(channel_.aborts, 0);
  for (const Store& store : stores_) {
    EXPECT_EQ(store.manifest().state, StoreState::Revoked);
    EXPECT_TRUE(store.keys_are_gone());
  }
}

TEST_F(WithinSession, KeepsStoresAfterNetworkError) {
  fail_with(NetworkError("the connection is cut"));
  EXPECT_EQ(channel_.aborts, 0);
  for (const Store& store : stores_) EXPECT_EQ(store.manifest().state, StoreState::Open);
}

// A stop request explains a connection that ends, but not what the peer has said: the session is
// revoked, and the caller has to know.
TEST(UnlessCancelled, AnAbortByThePeerIsReportedAfterAStop) {
  std::stop_source stop;
  stop.request_stop();
  const auto throws = [&](const auto& error) {
    unless_cancelled(stop.get_token(), [&] { throw error; });
  };
  EXPECT_THROW(throws(PeerAborted()), PeerAborted);
  EXPECT_THROW(throws(PeerCheated("EQ of a test")), PeerCheated);
  EXPECT_THROW(throws(NetworkError("the connection has ended")), Cancelled);
  EXPECT_THROW(unless_cancelled({}, [] { throw NetworkError("cut"); }), NetworkError);
}

}  // namespace
}  // namespace tinyot::test
