#include "tests/online/garbling.h"

namespace tinyot::test {

Outcomes run_garbling(const std::function<void(Session&, IdealDealer&)>& body,
                      const PartyOptions& options, bool expect_done) {
  return run_sessions(
      [&](Session& outer) {
        PhaseLog log;
        Session session(outer.me(), {outer.id(), outer.id()},
                        garbling_key(outer.me(), options.seed), outer.channel(), outer.rng().fork(),
                        log);
        IdealDealer dealer(session.me(), options.seed, garbling_key(Party::A, options.seed),
                           garbling_key(Party::B, options.seed));
        body(session, dealer);
      },
      options, expect_done);
}

online::GarbledWindow window_of(std::uint64_t seed) {
  constexpr std::size_t kEntries[] = {1, 3, 20, 100, 1 << 18}, kMin[] = {1, 2, 9, 8192};
  const std::size_t min = kMin[seed % std::size(kMin)];
  return {.entries = kEntries[seed % std::size(kEntries)], .chunk_min = min, .chunk_max = 4 * min};
}

BundleValues values_given_by(Party party, const CircuitInfo& info, const Inputs& inputs) {
  BundleValues mine(inputs.size());
  for (std::size_t b = 0; b < mine.size(); ++b)
    if (gives(info.inputs[b].source, party)) mine[b] = matrix_of(inputs[b]);
  return mine;
}

}  // namespace tinyot::test
