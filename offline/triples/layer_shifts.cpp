#include "offline/triples/layer_shifts.h"

#include "checks/coin_toss.h"

namespace tinyot::offline {

std::vector<std::size_t> shifts_from(const checks::Session& session,
                                     const crypto::PublicSeed& coins, std::size_t layers,
                                     std::size_t size) {
  std::vector<std::size_t> shifts;
  for (std::size_t k = 1; k < layers; ++k)
    shifts.push_back(crypto::Rng(Seed{crypto::RandomOracle(session.id(), {"layer shift", '*', k})
                                          .absorb_object(coins)
                                          .block()})
                         .below(size));
  return shifts;
}

std::vector<std::size_t> toss_shifts(checks::Session& session, std::size_t layers,
                                     std::size_t size) {
  return shifts_from(session, checks::toss_coins(session, "shifts of layers of triples"), layers,
                     size);
}

}  // namespace tinyot::offline
