// A peer that makes a daemon use up memory or disk: by messages that are answered or kept, and by
// connections.
#include <fstream>
#include <map>

#include "base/error.h"
#include "engine/endpoint.h"
#include "tests/service/scripted_peer.h"

namespace tinyot::test {
namespace {

constexpr std::uint64_t kMemoryMax = std::uint64_t{64} << 20, kLogMax = std::uint64_t{1} << 20;

// A sanitizer keeps what has been freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMeasuresMemory = false;
#else
constexpr bool kMeasuresMemory = true;
#endif

// The most memory that a process has had in use, in bytes.
std::uint64_t peak_memory_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) << 10;
  ADD_FAILURE() << "the system does not say how much memory the daemon has used";
  return 0;
}

// What a message of up to 64 KiB asks for, number `i` of many.
using Flood = wire::Message (*)(std::size_t i);
constexpr std::size_t kMessages = 3000, kTextBytes = 60'000;

std::string job_name(std::size_t i) { return "job-" + std::to_string(i); }
std::string long_text(std::size_t i) {
  std::string text = std::to_string(i);
  text.resize(kTextBytes, 'x');
  return text;
}

wire::Message offer_of(std::size_t i, const std::string& circuit, const std::string& fingerprint) {
  wire::Message message;
  message.mutable_offer()->set_job(job_name(i));
  wire::Terms& terms = *message.mutable_offer()->mutable_terms();
  terms.set_circuit(circuit);
  terms.set_fingerprint(fingerprint);
  terms.set_is_built_in(true);
  terms.set_lanes(1);
  return message;
}
const std::string kFingerprint(64, '0');

wire::Message offer_of_long_name(std::size_t i) { return offer_of(i, long_text(i), kFingerprint); }
wire::Message offer_of_long_fingerprint(std::size_t i) {
  return offer_of(i, "aes128", long_text(i));
}
// What a policy allows is kept.
wire::Message offer_that_is_allowed(std::size_t i) {
  wire::Message message = offer_of(i, "aes128", kFingerprint);
  message.mutable_offer()->mutable_terms()->set_interface(long_text(i));
  return message;
}
wire::Message start_of_long_name(std::size_t i) {
  wire::Message message;
  message.mutable_start()->set_job(long_text(i));
  message.mutable_start()->set_group(1);
  message.mutable_start()->set_session(1);
  return message;
}

struct Case {
  const char* name;
  Flood flood;
  bool reads;  // the peer reads the answers
};

class FloodTest : public ScriptedPeerTest, public ::testing::WithParamInterface<Case> {};

TEST_P(FloodTest, MemoryAndLogAreBounded) {
  Setup setup;
  setup.daemon_b = "jobs_max: 1000000";
  make_with_scripted(Party::A, setup, {});
  b_->start();
  const std::uint64_t before = peak_memory_of(b_->pid());
  ScriptedPeer::RawLink link(*peer_);
  // Until the daemon has refused the last offer, or has ended the link.
  std::jthread reader([&] {
    try {
      while (GetParam().reads && link.receive().refuse().job() != "last") {
      }
    } catch (const NetworkError&) {
    }
  });
  try {
    for (std::size_t i = 0; i < kMessages; ++i) link.send(GetParam().flood(i));
    wire::Message last;
    last.mutable_offer()->set_job("last");
    last.mutable_offer()->mutable_terms()->set_circuit("forbidden");
    link.send(last);
  } catch (const NetworkError&) {
    // Ended, or held up.
  }
  reader.join();
  if (kMeasuresMemory) {
    EXPECT_LT(peak_memory_of(b_->pid()), before + kMemoryMax);
  }
  link.shut_down();
  EXPECT_LT(b_->stop().err.size(), kLogMax);
}

INSTANTIATE_TEST_SUITE_P(FloodTest, FloodTest,
                         ::testing::Values(Case{"OffersUnread", offer_of_long_name, false},
                                           Case{"Offers", offer_of_long_name, true},
                                           Case{"Fingerprints", offer_of_long_fingerprint, true},
                                           Case{"AllowedOffers", offer_that_is_allowed, true},
                                           Case{"StartsUnread", start_of_long_name, false},
                                           Case{"Starts", start_of_long_name, true}),
                         [](const ::testing::TestParamInfo<Case>& of) { return of.param.name; });

// Refills that make nothing, as nothing is lacking: each takes lines of the log, and writes to the
// store.
TEST_F(ScriptedPeerTest, RefillsWithoutNeedAreFew) {
  constexpr int kOrders = 200, kBegunMax = 50;
  start_with_stock(Party::A, {}, {});
  int begun = 0;
  for (int i = 0; i < kOrders; ++i) {
    const wire::Refill order = peer_->refill_order(1);
    if (!peer_->order(order).begins()) continue;
    ++begun;
    EXPECT_EQ(peer_->refill(order).ands, 0u);
  }
  EXPECT_LE(begun, kBegunMax);
}

// Each may take a buffer of the daemon.
TEST_F(ScriptedPeerTest, SilentConnectionsTakeLittleMemory) {
  constexpr std::uint32_t kConnections = 256;
  const auto make_key = [&](const std::string& name) {
    const std::string path = (dir_ / name).string();
    Process(TINYOT_BINARY, {"keygen", "--out", path, "--quiet"}).end();
    return path;
  };
  const std::string a = make_key("a.key"), b = make_key("b.key");
  Setup setup;
  setup.peer_a = "key: '" + a + "' peer_key: '@" + b + ".crt'";
  make(setup);
  a_->start();
  const auto work = [](std::uint64_t ands) { return engine::Demand{ands, default_inputs(ands)}; };
  ScriptedPeer peer({.me = Party::B,
                     .port = port_,
                     .stores = dir_ / "peer",
                     .low = work(20000),
                     .high = work(60000),
                     .key = b,
                     .peer_key = "@" + a + ".crt"});
  const std::uint64_t before = peak_memory_of(a_->pid());
  std::vector<std::unique_ptr<net::ByteStream>> streams;
  try {
    for (std::uint32_t number = 0; number < kConnections; ++number)
      streams.push_back(peer.open_slowly(1, number));
  } catch (const NetworkError&) {
    // It takes no more.
  }
  // Connections are taken one after the other.
  peer.connect();
  EXPECT_FALSE(streams.empty());
  if (kMeasuresMemory) {
    EXPECT_LT(peak_memory_of(a_->pid()), before + kMemoryMax);
  }
}

// Fields that the daemon does not know take much more memory than in the message. They are dropped
// before an offer's share of the memory for offers is measured.
TEST_F(ScriptedPeerTest, UnknownFieldsOfOffersTakeLittleMemory) {
  Setup setup;
  setup.daemon_b = "jobs_max: 1000000";
  make_with_scripted(Party::A, setup, {});
  b_->start();
  const std::uint64_t before = peak_memory_of(b_->pid());
  ScriptedPeer::RawLink link(*peer_);
  std::size_t refused = 0;
  std::jthread reader([&] {
    try {
      for (wire::Message message; message.refuse().job() != "last"; message = link.receive())
        if (message.has_refuse()) ++refused;
    } catch (const NetworkError& error) {
      ADD_FAILURE() << error.what();
    }
  });
  try {
    for (std::size_t i = 0; i < 400; ++i) {
      wire::Message message;
      message.mutable_offer()->set_job("job-" + std::to_string(i));
      wire::Terms& terms = *message.mutable_offer()->mutable_terms();
      terms.set_circuit("aes128");
      terms.set_fingerprint(std::string(64, '0'));
      terms.set_is_built_in(true);
      terms.set_lanes(1);
      auto* unknown = wire::Terms::GetReflection()->MutableUnknownFields(&terms);
      for (int k = 0; k < 32000; ++k) unknown->AddGroup(15);
      link.send(message);
    }
    wire::Message last;
    last.mutable_offer()->set_job("last");
    last.mutable_offer()->mutable_terms()->set_circuit("forbidden");
    link.send(last);
  } catch (const NetworkError& error) {
    ADD_FAILURE() << error.what();
  }
  reader.join();
  EXPECT_EQ(refused, 0U) << "offers take more of the memory for offers than what is known of them";
  const std::uint64_t after = peak_memory_of(b_->pid());
  if (kMeasuresMemory) {
    EXPECT_LT(after, before + kMemoryMax);
  }
}

}  // namespace
}  // namespace tinyot::test
