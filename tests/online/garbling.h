// Sessions whose global keys are fit for garbling, with material from the ideal dealer.
#pragma once

#include <functional>

#include "online/garbled/garbled_run.h"
#include "tests/online/garbling_key.h"
#include "tests/online/online_run.h"
#include "tests/support/ideal_dealer.h"
#include "tests/support/two_parties.h"

namespace tinyot::test {

// Runs `body` in a session under these keys, with a dealer.
Outcomes run_garbling(const std::function<void(Session&, IdealDealer&)>& body,
                      const PartyOptions& options = {}, bool expect_done = true);

// Messages of a few entries, windows from none to all.
online::GarbledWindow window_of(std::uint64_t seed);

// The values of the bundles that a party gives.
BundleValues values_given_by(Party party, const CircuitInfo& info, const Inputs& inputs);

}  // namespace tinyot::test
