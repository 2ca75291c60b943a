// Joining further workers' connections to a session, with strangers at the door.
#include "tools/connection.h"

#include <gtest/gtest.h>

#include <future>

#include "base/error.h"
#include "tests/support/ports.h"
#include "tests/tools/sockets.h"

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
  return listen ? std::make_shared<TlsAdmission>(kA, kB.fingerprint()) : std::make_shared<TlsAdmission>(kB, kA.fingerprint());
}

class OpenWorker : public ::testing::TestWithParam<bool> {
 protected:
  Endpoint endpoint(bool listen, const std::string& port, std::chrono::milliseconds connect = 10s) const {
    return {listen, {"127.0.0.1", port}, {connect, 10s}, GetParam() ? tls_of(listen) : nullptr, true};
  }

  // A waits for worker 1; meanwhile `strangers` happen, and then the real B comes.
  void expect_joined(const std::function<void()>& strangers) {
    MeetingPlace place(endpoint(true, port_));
    auto of_a = std::async(std::launch::async, [&] { return place.open_worker(ids(), Party::A, 1); });
    strangers();
    const auto b = MeetingPlace(endpoint(false, port_)).open_worker(ids(), Party::B, 1);
    const auto a = of_a.get();
    send_object(*a, kGreeting, 42);
    a->flush();
    EXPECT_EQ(recv_object<int>(*b, kGreeting), 42);
  }

  const std::string port_ = quiet_port();
};

INSTANTIATE_TEST_SUITE_P(Over, OpenWorker, ::testing::Bool(), [](const auto& tls) { return tls.param ? "Tls" : "Tcp"; });

TEST_P(OpenWorker, JoinsThePeers) { expect_joined([] {}); }

TEST_P(OpenWorker, TurnsAwayWhoSaysSomethingElse) {
  expect_joined([&] { connect_to(port_).send_all(std::string(1000, 'x')); });
}

TEST_P(OpenWorker, TurnsAwayWhoHangsUp) {
  expect_joined([&] { connect_to(port_); });
}

TEST_P(OpenWorker, TurnsAwayAWorkerOfAnotherSession) {
  expect_joined([&] {
    SessionIds other = ids();
    other.connection.bytes.fill(3);
    EXPECT_THROW(MeetingPlace(endpoint(false, port_)).open_worker(other, Party::B, 1), NetworkError);
  });
}

TEST_P(OpenWorker, DoesNotWaitForever) {
  MeetingPlace place(endpoint(true, port_, 300ms));
  EXPECT_THROW(place.open_worker(ids(), Party::A, 1), NetworkError);
}

}  // namespace
}  // namespace tinyot::test
