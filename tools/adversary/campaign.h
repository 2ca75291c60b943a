// Every trick on every message, and hanging up at every EQ: which sessions are attacked, and what
// has become of them, message by message.
#pragma once

#include <functional>
#include <map>

#include "tools/adversary/table.h"
#include "tools/adversary/trial.h"

namespace tinyot::tools {

struct CampaignOptions {
  std::uint64_t seed = 1;
  // of a message that a session has more often, how many are attacked: the first, the last, and
  // between
  std::size_t occurrences = 2;
  std::size_t bits = 2;     // single bits of a message: the first, the last, and between
  std::size_t guesses = 0;  // further sessions for each trick that may succeed by a guess
  std::size_t threads = 1;  // sessions at a time
  std::string only;         // what the names of attacked messages begin with
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

// What has become of the attacks on one message with one trick.
struct Tally {
  std::size_t tried = 0;
  std::size_t caught = 0;  // by the honest party
  // the cheater's own checks, or a connection that had nothing to say, ended it first
  std::size_t stopped = 0;
  std::size_t survived = 0;  // as the table allows, and what the honest party has is right
  std::size_t counted = 0;   // broken off; the honest party's store has it as an attempt
  std::map<std::string, std::size_t> checks;  // that caught, by their names

  void add(const Tally& other);
};

struct CampaignResult {
  std::map<std::pair<std::uint32_t, Trick>, Tally> tallies;
  std::vector<std::string> violations;  // what the table excludes, a line each
  std::size_t tried = 0;
};

// The attacks, from sessions without a deviation. Fails: std::logic_error if such a session
// fails.
std::vector<Attack> plan_campaign(const CampaignOptions& options);

// Carries them out. The observer is told how many are done, from any thread, one call at a time.
CampaignResult carry_out(const std::vector<Attack>& attacks, const CampaignOptions& options,
                         const std::function<void(std::size_t done)>& observer = {});

}  // namespace tinyot::tools
