// `tinyot selftest --adversary`: sessions in which one party cheats, and their outcome for the
// other one.
#include <chrono>

#include "base/error.h"
#include "tools/cli/progress.h"
#include "tools/selftest/render/campaign.h"

namespace tinyot::tools {
namespace {

CommandLine command_line() {
  CommandLine line("selftest", "--adversary [options]",
                   "tinyot selftest --adversary --message latriple. --guesses 100");
  line.options()
      .flag("adversary",
            "one party deviates in each message of each protocol, in each way of a list; the "
            "other party must detect it")
      .value("scenario", "sessions of one kind only")
      .value("message", "only messages whose names begin with this")
      .value("occurrences",
             "how many occurrences of a message are attacked, if a session has several", "1")
      .value("bits", "how many single bits of a message are flipped, one at a time", "2")
      .value("guesses",
             "further sessions for each deviation that a guess may hide, to compare with its "
             "probability",
             "10")
      .value("threads", "concurrent sessions", "2")
      .value("seed", "seed of all sessions", "1");
  return line;
}

CampaignOptions options_from(const CommandLine& line) {
  CampaignOptions options;
  options.occurrences = line.size("occurrences");
  options.bits = line.size("bits");
  options.guesses = line.size("guesses");
  options.threads = line.size("threads");
  options.seed = line.size("seed");
  for (const std::string name : {"occurrences", "bits", "threads"})
    if (line.size(name) == 0 || line.size(name) > 4096)
      throw UsageError("--" + name + " is out of range: 1 to 4096");
  if (line.has("message")) options.only = line.text("message");
  if (!line.has("scenario")) return options;
  options.scenario = line.text("scenario");
  std::string known;
  for (const ScenarioKind& kind : scenario_kinds()) {
    if (kind.name == options.scenario) return options;
    known += (known.empty() ? "" : ", ") + kind.name;
  }
  throw UsageError("there is no scenario '" + options.scenario + "'; there are " + known);
}

}  // namespace

int selftest_command(const Arguments& arguments) {
  CommandLine line = command_line();
  line.require("adversary");
  if (!line.parse(arguments)) return 0;
  const CampaignOptions options = options_from(line);
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Attack> attacks = plan_campaign(options);
  if (attacks.empty())
    throw UsageError("no session has a message whose name begins with '" + options.only + "'");
  CampaignResult result;
  {
    Progress progress("sessions", line.common().quiet, attacks.size());
    result = carry_out(attacks, options,
                       [&](std::size_t done) { progress.observe(done, 1, "session", 1, 1); });
  }
  std::vector<Revocation> revocations;
  if (options.scenario.empty() && options.only.empty()) revocations = try_revocations(options.seed);
  for (const Revocation& trial : revocations)
    if (!trial.violation.empty()) result.violations.push_back(trial.violation);
  const double wall_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report_campaign(std::move(result), revocations, options.seed, wall_s,
                         line.common().format);
}

}  // namespace tinyot::tools
