// Makes base OTs with another process and prints this party's side of them, for
// tests/offline/base_ots_agree: a line for each OT, `zero one choice seed`, of which the first two
// are the seeds of this party as sender, and the last two are its choice and its seed as receiver.
//   base_ots A|B HOST:PORT ml-kem|ristretto COUNT
#include <array>
#include <bit>
#include <cstdio>
#include <exception>
#include <string>

#include "base/error.h"
#include "net/tcp.h"
#include "offline/base_ot/base_ot.h"
#include "tests/support/hex.h"
#include "tests/support/layers.h"
#include "tests/support/two_parties.h"

namespace tinyot {
namespace {

constexpr TcpTimeouts kTimeouts{std::chrono::minutes(1), std::chrono::minutes(5)};

std::string hex_of(Seed seed) {
  return test::hex_of(std::bit_cast<std::array<std::uint8_t, 16>>(seed));
}

void print_ots(Party me, const Address& address, BaseOt kind, std::size_t count) {
  const std::unique_ptr<Channel> channel = make_framed_channel(
      me == Party::A ? TcpListener(address, kTimeouts).accept() : tcp_connect(address, kTimeouts));
  Rng rng = Rng::from_system();
  const Delta global_key{rng.block()};
  const SessionIds ids = establish_session(*channel, rng, me, {}, std::nullopt);
  PhaseLog log;
  Session session(me, ids, global_key, *channel, std::move(rng), log, {}, kind);
  const BaseOts ots = base_ots_by_public_key(session, count);
  channel->flush();
  for (std::size_t i = 0; i < count; ++i)
    std::printf("%s %s %d %s\n", hex_of(ots.sent.pairs[i].zero).c_str(),
                hex_of(ots.sent.pairs[i].one).c_str(), int{ots.received.choices[i]},
                hex_of(ots.received.seeds[i]).c_str());
}

}  // namespace
}  // namespace tinyot

int main(int argc, char** argv) try {
  using namespace tinyot;
  if (argc != 5) throw UsageError("usage: base_ots A|B HOST:PORT ml-kem|ristretto COUNT");
  const std::optional<BaseOt> kind = requested_base_ot(argv[3]);
  if (!kind) throw UsageError("base OTs of which kind?");
  offline::require_base_ot(kind);
  print_ots(*argv[1] == 'A' ? Party::A : Party::B, net::parse_address(argv[2]), *kind,
            std::stoul(argv[4]));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "base_ots: %s\n", error.what());
  return 1;
}
