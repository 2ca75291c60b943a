#include "tinyot/ot.h"

#include "base/error.h"
#include "engine/base_ot_choice.h"
#include "engine/connection.h"
#include "offline/base_ot/base_ot.h"
#include "offline/parameters.h"
#include "offline/softspoken/ot_extension.h"
#include "tinyot/parameters.h"

namespace tinyot {
namespace engine {

// A connection for OTs in one direction.
class OtSession {
 public:
  OtSession(const OtRequest& request, Party me) {
    channel_ = Connector(request.endpoint).open();
    crypto::Rng rng = crypto::Rng::from_system();
    checks::Agreement agreement;
    const checks::SessionIds ids =
        checks::establish_session(*channel_, rng, me,
                                  {{"command", "ot"},
                                   {"softspoken-k", std::to_string(request.softspoken_k)},
                                   base_ot_parameter(request.base_ot)},
                                  std::nullopt, &agreement);
    const ScopedSecret<Delta> delta(Delta{rng.block()});
    session_.emplace(me, ids, delta, *channel_, std::move(rng), log_, Revocations{},
                     agreed_base_ot(agreement));
    within([&] { trees_.emplace(offline::make_trees(*session_, request.softspoken_k)); });
  }

  checks::Session& session() { return *session_; }
  const offline::Trees& trees() const { return *trees_; }

  // Runs `work` in the session; after a failure every call fails.
  template <class Work>
  void within(Work work) {
    require(!has_failed_, "the connection has ended with an error");
    has_failed_ = true;
    within_session({}, *channel_, [&] {
      work();
      channel_->flush();
    });
    has_failed_ = false;
  }

 private:
  net::PhaseLog log_;
  std::unique_ptr<net::Channel> channel_;
  std::optional<checks::Session> session_;
  std::optional<offline::Trees> trees_;
  bool has_failed_ = false;
};

}  // namespace engine
namespace {

constexpr std::uint64_t kDomain = 0;

void require_available(const OtRequest& request) {
  offline::require_softspoken_k(request.softspoken_k);
  offline::require_base_ot(request.base_ot);
}

void require_equal(std::size_t x, std::size_t y) {
  require(x == y, "the spans have different numbers of OTs");
}

BitVector unpacked(std::span<const std::byte> choices, std::size_t count) {
  require(choices.size() == (count + 7) / 8, "the choices are not ceil(n / 8) bytes");
  BitVector bits(count);
  std::ranges::copy(choices, bits.bytes().begin());
  bits.clear_padding();
  return bits;
}

}  // namespace

struct OtSender::State {
  explicit State(const OtRequest& request)
      : connection(request, Party::A),
        ots(connection.session(), connection.trees().peers, kDomain) {}
  engine::OtSession connection;
  offline::OtExtensionSender ots;
};

OtSender::OtSender(const OtRequest& request) {
  require_available(request);
  state_ = std::make_unique<State>(request);
}
OtSender::OtSender(OtSender&&) noexcept = default;
OtSender& OtSender::operator=(OtSender&&) noexcept = default;
OtSender::~OtSender() = default;

void OtSender::random(std::span<Block> x0, std::span<Block> x1) {
  require_equal(x0.size(), x1.size());
  state_->connection.within([&] { state_->ots.random_for(x0, x1); });
}

void OtSender::correlated(std::span<const Block> offsets, std::span<Block> x0) {
  require_equal(offsets.size(), x0.size());
  state_->connection.within([&] { state_->ots.correlated(offsets, x0); });
}

void OtSender::chosen(std::span<const Block> m0, std::span<const Block> m1) {
  require_equal(m0.size(), m1.size());
  state_->connection.within([&] { state_->ots.chosen(m0, m1); });
}

struct OtReceiver::State {
  explicit State(const OtRequest& request)
      : connection(request, Party::B), ots(connection.session(), connection.trees().mine, kDomain) {
  }
  engine::OtSession connection;
  offline::OtExtensionReceiver ots;
};

OtReceiver::OtReceiver(const OtRequest& request) {
  require_available(request);
  state_ = std::make_unique<State>(request);
}
OtReceiver::OtReceiver(OtReceiver&&) noexcept = default;
OtReceiver& OtReceiver::operator=(OtReceiver&&) noexcept = default;
OtReceiver::~OtReceiver() = default;

void OtReceiver::random(std::span<const std::byte> choices, std::span<Block> x) {
  const BitVector bits = unpacked(choices, x.size());
  state_->connection.within([&] { state_->ots.random_for(bits, x); });
}

void OtReceiver::correlated(std::span<const std::byte> choices, std::span<Block> x) {
  const BitVector bits = unpacked(choices, x.size());
  state_->connection.within([&] { state_->ots.correlated(bits, x); });
}

void OtReceiver::chosen(std::span<const std::byte> choices, std::span<Block> m) {
  const BitVector bits = unpacked(choices, m.size());
  state_->connection.within([&] { state_->ots.chosen(bits, m); });
}

}  // namespace tinyot
