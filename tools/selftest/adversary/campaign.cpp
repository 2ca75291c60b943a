#include "tools/selftest/adversary/campaign.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>

#include "base/error.h"

namespace tinyot::tools {
namespace {

constexpr std::string_view kEqMessages = "eq.";
// offset of the seeds of the sessions that messages are replayed from
constexpr std::uint64_t kEarlier = 1'000'000;

// `count` indices in [0, size), spread evenly from the first to the last.
std::vector<std::size_t> spread(std::size_t size, std::size_t count) {
  count = std::min(size, count);
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < count; ++i)
    chosen.push_back(i == 0 ? 0 : i * (size - 1) / (count - 1));
  return chosen;
}

Transcript honest_transcript(const ScenarioKind& kind, std::uint64_t seed, Party sender) {
  Trial trial = attempt(kind, seed, sender, nullptr);
  if (trial.honest.kind != Ending::Kind::Done || trial.cheater.kind != Ending::Kind::Done ||
      !trial.flaw.empty())
    throw std::logic_error("a session of " + kind.name + " without a deviation fails: " +
                           trial.honest.text + trial.cheater.text + trial.flaw);
  return std::move(trial.conduct.sent);
}

// The attacks on one message.
void plan_message(const Attack& base, const SeenMessage& message, const CampaignOptions& options,
                  bool is_first, std::vector<Attack>& attacks) {
  const TableRow* row = row_of(message.tag);
  for (const DeviationKind kind : kAllDeviationKinds) {
    if (!is_first && !changes_payload(kind)) continue;
    const bool flips = kind == DeviationKind::FlipBit || kind == DeviationKind::LieBothWays ||
                       kind == DeviationKind::FlipRow;
    if (flips && message.payload.empty()) continue;
    const std::size_t stride = row == nullptr ? 128 : row->row_bits,
                      bits = 8 * message.payload.size();
    const std::size_t places = kind == DeviationKind::FlipRow ? std::min(stride, bits) : bits;
    for (const std::size_t bit :
         flips ? spread(places, options.bits) : std::vector<std::size_t>{0}) {
      Attack attack = base;
      attack.deviation.kind = kind;
      attack.deviation.bit = bit;
      attack.deviation.stride = stride;
      attacks.push_back(attack);
      if (row == nullptr || expected_of(*row, kind) != Expected::Guess) continue;
      for (std::size_t guess = 0; guess < options.guesses; ++guess) {
        attack.seed = options.seed + 1 + guess;
        attacks.push_back(attack);
      }
    }
  }
}

// Hang-ups before and after one message, with and without a false bit in the last earlier message
// that does not belong to EQ.
void plan_hang_ups(Attack attack, const Transcript& sent, std::vector<Attack>& attacks) {
  std::size_t lie = attack.deviation.message;
  while (lie > 0 && row_of(sent[--lie].tag)->message.name.starts_with(kEqMessages)) {
  }
  for (const DeviationKind kind : kHangUps)
    for (const auto& spoilt : {std::optional<std::size_t>(), std::optional(lie)}) {
      attack.deviation.kind = kind;
      attack.deviation.spoilt = spoilt;
      attacks.push_back(attack);
    }
}

// Whether the message begins what the session does not end.
bool is_unused(const ScenarioKind& kind, const Transcript& sent, std::size_t message) {
  const auto is_last_used = [&](const SeenMessage& seen) {
    const TableRow* row = row_of(seen.tag);
    return row != nullptr && row->message.name == kind.last_used;
  };
  const TableRow* row = row_of(sent[message].tag);
  if (kind.last_used.empty() || row == nullptr || row->message.track != net::Track::Beside)
    return false;
  return std::none_of(sent.begin() + static_cast<std::ptrdiff_t>(message), sent.end(),
                      is_last_used);
}

// The attacks on one party's messages in a session, for tags that are not in `covered`.
void plan_party(const ScenarioKind& kind, Party cheater, const CampaignOptions& options,
                const std::set<std::uint32_t>& covered, std::set<std::uint32_t>& seen,
                std::vector<Attack>& attacks) {
  const Transcript sent = honest_transcript(kind, options.seed, cheater);
  std::map<std::uint32_t, std::vector<std::size_t>> places;
  for (std::size_t message = 0; message < sent.size(); ++message)
    if (!is_unused(kind, sent, message)) places[sent[message].tag].push_back(message);
  for (const auto& [tag, messages] : places) {
    seen.insert(tag);
    const TableRow* row = row_of(tag);
    if (row != nullptr && (!row->message.name.starts_with(options.only) ||
                           !row->message.name.starts_with(kind.messages)))
      continue;
    if (kind.is_broken_off) {
      if (row == nullptr || !row->message.name.starts_with(kEqMessages)) continue;
      for (std::size_t occurrence = 0; occurrence < messages.size(); ++occurrence)
        plan_hang_ups(
            {&kind, cheater, options.seed, tag, occurrence, {.message = messages[occurrence]}},
            sent, attacks);
      continue;
    }
    if (covered.contains(tag)) continue;
    const auto chosen = spread(messages.size(), options.occurrences);
    for (const std::size_t occurrence : chosen) {
      Attack base{&kind, cheater, options.seed, tag, occurrence, {}};
      base.deviation.message = messages[occurrence];
      plan_message(base, sent[messages[occurrence]], options, occurrence == chosen.front(),
                   attacks);
    }
  }
}

// The name of the check, without the details of this case.
std::string check_of(const Ending& ending) {
  if (ending.kind != Ending::Kind::Caught) return ending_name(ending);
  return ending.check.substr(0, ending.check.find(':'));
}

std::string described(const Attack& attack) {
  const TableRow* row = row_of(attack.tag);
  std::string text =
      attack.kind->name + ": " +
      (row == nullptr ? "message " + std::to_string(attack.tag) : std::string(row->message.name)) +
      " number " + std::to_string(attack.occurrence) + " of " + letter(attack.cheater) + ", " +
      std::string(name_of(attack.deviation.kind));
  if (attack.deviation.kind <= DeviationKind::LieBothWays)
    text += " at " + std::to_string(attack.deviation.bit);
  if (attack.deviation.spoilt)
    text += " after a lie in message " + std::to_string(*attack.deviation.spoilt);
  return text + ", seed " + std::to_string(attack.seed);
}

class Campaign {
 public:
  Campaign(const std::vector<Attack>& attacks, const CampaignOptions& options,
           const std::function<void(std::size_t)>& observer)
      : attacks_(attacks), options_(options), observer_(observer) {}

  CampaignResult run() {
    for (const Attack& attack : attacks_)
      if (const auto key = std::pair{attack.kind, attack.cheater}; !earlier_.contains(key))
        earlier_.emplace(key,
                         honest_transcript(*attack.kind, options_.seed + kEarlier, attack.cheater));
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < options_.threads; ++i) threads.emplace_back([this] { work(); });
    for (std::thread& thread : threads) thread.join();
    require_deviations();
    return std::move(result_);
  }

 private:
  void work() {
    for (std::size_t next; (next = next_++) < attacks_.size();) {
      const Attack& attack = attacks_[next];
      const Trial trial = attempt(*attack.kind, attack.seed, attack.cheater, &attack.deviation,
                                  &earlier_.at({attack.kind, attack.cheater}));
      const std::lock_guard lock(mutex_);
      enter(attack, trial);
      if (observer_) observer_(++done_);
    }
  }

  // Each message of which a bit was to be flipped was sent otherwise than it should be.
  void require_deviations() {
    std::set<std::uint32_t> planned;
    for (const Attack& attack : attacks_)
      if (attack.deviation.kind == DeviationKind::FlipBit) planned.insert(attack.tag);
    for (const std::uint32_t tag : planned)
      if (std::ranges::none_of(result_.tallies,
                               [&](const auto& tally) { return tally.first.first == tag; }))
        result_.violations.push_back("no deviation in message " + std::to_string(tag) +
                                     " took place");
  }

  void enter(const Attack& attack, const Trial& trial) {
    const TableRow* row = row_of(attack.tag);
    const Judgement judgement = row == nullptr
                                    ? Judgement{Verdict::Violation, "the table has no such message"}
                                    : judge(*row, attack.deviation.kind, trial);
    if (judgement.verdict == Verdict::Void) return;
    ++result_.tried;
    Tally& tally = result_.tallies[{attack.tag, attack.deviation.kind}];
    ++tally.tried;
    tally.caught += judgement.verdict == Verdict::Caught;
    tally.stopped += judgement.verdict == Verdict::Stopped;
    tally.survived += judgement.verdict == Verdict::Survived;
    tally.counted += judgement.verdict == Verdict::Counted;
    if (judgement.verdict == Verdict::Caught) ++tally.checks[check_of(trial.honest)];
    if (judgement.verdict == Verdict::Violation)
      result_.violations.push_back(described(attack) + ": " + judgement.reason);
  }

  const std::vector<Attack>& attacks_;
  const CampaignOptions& options_;
  const std::function<void(std::size_t)>& observer_;
  std::map<std::pair<const ScenarioKind*, Party>, Transcript> earlier_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::size_t done_ = 0;
  CampaignResult result_;
};

}  // namespace

void Tally::add(const Tally& other) {
  tried += other.tried;
  caught += other.caught;
  stopped += other.stopped;
  survived += other.survived;
  counted += other.counted;
  for (const auto& [check, count] : other.checks) checks[check] += count;
}

std::vector<Attack> plan_campaign(const CampaignOptions& options) {
  std::vector<Attack> attacks;
  std::map<std::string, std::set<std::uint32_t>> covered;  // by group
  for (const ScenarioKind& kind : scenario_kinds()) {
    if (!options.scenario.empty() && kind.name != options.scenario) continue;
    std::set<std::uint32_t> seen;
    for (const Party cheater : {Party::A, Party::B})
      plan_party(kind, cheater, options, covered[kind.group], seen, attacks);
    covered[kind.group].merge(seen);
  }
  return attacks;
}

CampaignResult carry_out(const std::vector<Attack>& attacks, const CampaignOptions& options,
                         const std::function<void(std::size_t done)>& observer) {
  return Campaign(attacks, options, observer).run();
}

}  // namespace tinyot::tools
