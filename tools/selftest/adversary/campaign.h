// Applies every kind of deviation to every message, and hangs up at every EQ: plans the attacks,
// carries them out, and collects the outcomes by message.
#pragma once

#include <functional>
#include <map>

#include "tools/selftest/adversary/table.h"
#include "tools/selftest/adversary/trial.h"

namespace tinyot::tools {

struct CampaignOptions {
  std::uint64_t seed = 1;
  // how many occurrences of a message are attacked if a session has several: the first, the last,
  // and some in between
  std::size_t occurrences = 2;
  // single bits flipped in a message: the first, the last, and some in between
  std::size_t bits = 2;
  std::size_t guesses = 0;  // further sessions for each deviation that may succeed by a guess
  std::size_t threads = 1;  // concurrent sessions
  std::string only;         // prefix of the names of the attacked messages
  std::string scenario;     // the one that is attacked; empty: all
};

struct Attack {
  const ScenarioKind* kind;
  Party cheater;
  std::uint64_t seed;
  std::uint32_t tag;
  std::size_t occurrence;
  Deviation deviation;
};

// The outcomes of the attacks on one message with one kind of deviation.
struct Tally {
  std::size_t tried = 0;
  std::size_t caught = 0;  // by the honest party
  // the cheater ended the session first, by its own checks or because it waited in vain
  std::size_t stopped = 0;
  std::size_t survived = 0;  // as the table allows, with correct results at the honest party
  std::size_t counted = 0;   // broken off, and recorded as an attempt in the honest party's store
  std::map<std::string, std::size_t> checks;  // that caught a deviation, by name

  void add(const Tally& other);
};

struct CampaignResult {
  std::map<std::pair<std::uint32_t, DeviationKind>, Tally> tallies;
  std::vector<std::string> violations;  // of the table, one line each
  std::size_t tried = 0;
};

// Plans the attacks from sessions without a deviation. Fails: std::logic_error if such a session
// fails.
std::vector<Attack> plan_campaign(const CampaignOptions& options);

// Carries them out. The observer receives the number done, from any thread, one call at a time.
CampaignResult carry_out(const std::vector<Attack>& attacks, const CampaignOptions& options,
                         const std::function<void(std::size_t done)>& observer = {});

}  // namespace tinyot::tools
