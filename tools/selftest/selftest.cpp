#include "tools/selftest/selftest.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>

#include "base/error.h"
#include "tools/selftest/adversary/revocation.h"
#include "tools/cli/failure.h"
#include "tools/cli/progress.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {
namespace {

constexpr std::size_t kViolationsShown = 20;
constexpr double kDeviations = 5;  // standard deviations that a count of guesses may be off

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
             "0")
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

// The outcomes of the attacks on a message, over all kinds of deviation.
struct Line {
  const TableRow* row;
  Tally all;
  Tally guesses;  // of one bit flipped, where that may survive

  bool survives_as_expected() const {
    if (guesses.tried == 0) return true;
    const double n = static_cast<double>(guesses.tried), p = row->survival;
    return std::abs(static_cast<double>(guesses.survived) - n * p) <=
           kDeviations * std::sqrt(n * p * (1 - p));
  }
};

std::vector<Line> lines_of(const CampaignResult& result) {
  std::vector<Line> lines;
  for (const TableRow& row : adversary_table()) {
    Line line{&row, {}, {}};
    for (const auto& [key, tally] : result.tallies) {
      if (key.first != row.message.id) continue;
      line.all.add(tally);
      if (key.second == DeviationKind::FlipBit && row.survival > 0) line.guesses.add(tally);
    }
    if (line.all.tried > 0) lines.push_back(std::move(line));
  }
  return lines;
}

std::string checks_text(const Tally& tally) {
  std::string text;
  for (const auto& [check, count] : tally.checks)
    text += (text.empty() ? "" : "; ") + check + " " + std::to_string(count);
  return text;
}

Json json_of(const Tally& tally) {
  return {{"tried", tally.tried},
          {"caught", tally.caught},
          {"stopped", tally.stopped},
          {"survived", tally.survived},
          {"counted", tally.counted}};
}

Json json_of(const std::vector<Line>& lines, const CampaignResult& result) {
  Json messages = Json::array();
  for (const Line& line : lines) {
    Json message = {{"message", line.row->message.name}, {"source", line.row->source}};
    message.update(json_of(line.all));
    if (line.row->survival > 0)
      message["guesses"] = {{"tried", line.guesses.tried},
                            {"survived", line.guesses.survived},
                            {"probability", line.row->survival}};
    message["checks"] = line.all.checks;
    for (const auto& [key, tally] : result.tallies)
      if (key.first == line.row->message.id)
        message["deviations"][std::string(name_of(key.second))] = json_of(tally);
    messages.push_back(std::move(message));
  }
  return messages;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text + " ";
}

// The name of the check, without the details of this case.
std::string short_name_of(const Ending& ending) {
  const std::string name = ending_name(ending);
  return name.substr(0, name.find(':'));
}

// How soon a store is revoked, whatever happens on the cheater's other connections.
Json json_of(const std::vector<Revocation>& revocations) {
  Json all = Json::array();
  for (const Revocation& trial : revocations)
    all.push_back({{"meanwhile", name_of(trial.obstruction)},
                   {"cheater", std::string(1, letter(trial.cheater))},
                   {"check", short_name_of(trial.honest)},
                   {"keys_erased_s", trial.erased_s},
                   {"ended_s", trial.ended_s}});
  return all;
}

std::string text_of(const std::vector<Revocation>& revocations) {
  if (revocations.empty()) return {};
  std::string text = padded("a check fails, meanwhile", 25) + padded("cheater", 8) +
                     padded("keys erased", 12) + padded("ended after", 12) + "found by\n";
  for (const Revocation& trial : revocations)
    text += padded(std::string(name_of(trial.obstruction)), 25) +
            padded(std::string(1, letter(trial.cheater)), 8) +
            padded(decimals(trial.erased_s, 3) + " s", 12) +
            padded(decimals(trial.ended_s, 3) + " s", 12) + short_name_of(trial.honest) + "\n";
  return text;
}

std::string text_of(const std::vector<Line>& lines, const CampaignResult& result) {
  std::string text = padded("message", 25) + padded("source", 28) +
                     "  tried  caught stopped harmless counted found by\n";
  const auto number = [](std::size_t n) {
    const std::string digits = std::to_string(n);
    return std::string(7 - std::min<std::size_t>(digits.size(), 7), ' ') + digits + " ";
  };
  for (const Line& line : lines)
    text += padded(std::string(line.row->message.name), 25) +
            padded(std::string(line.row->source), 28) + number(line.all.tried) +
            number(line.all.caught) + number(line.all.stopped) + number(line.all.survived) + " " +
            number(line.all.counted) + checks_text(line.all) + "\n";
  for (const Line& line : lines) {
    if (line.guesses.tried == 0) continue;
    text += "guesses in " + std::string(line.row->message.name) + ": " +
            std::to_string(line.guesses.survived) + " of " + std::to_string(line.guesses.tried) +
            " survived, " +
            decimals(line.row->survival * static_cast<double>(line.guesses.tried), 1) +
            " expected\n";
  }
  for (std::size_t i = 0; i < std::min(result.violations.size(), kViolationsShown); ++i)
    text += "VIOLATION: " + result.violations[i] + "\n";
  return text;
}

}  // namespace

int report_campaign(CampaignResult result, const std::vector<Revocation>& revocations,
                    std::uint64_t seed, double wall_s, Format format) {
  const std::vector<Line> lines = lines_of(result);
  for (const Line& each : lines)
    if (!each.survives_as_expected())
      result.violations.push_back("guesses in " + std::string(each.row->message.name) +
                                  " survive too often or too rarely");
  Tally total;
  for (const Line& each : lines) total.add(each.all);
  Json report = {{"command", "selftest"}, {"seed", seed}};
  report.update(json_of(total));
  report["violations"] = result.violations;
  report["wall_s"] = wall_s;
  report["messages"] = json_of(lines, result);
  report["revocations"] = json_of(revocations);
  add_measurements(report, {});
  print_report(format, report,
               text_of(revocations) + text_of(lines, result) + std::to_string(total.tried) +
                   " deviations in " + std::to_string(lines.size()) +
                   " messages: " + std::to_string(total.caught) + " caught by the honest party, " +
                   std::to_string(total.stopped) + " ended without effect by the cheater itself, " +
                   std::to_string(total.survived) + " guessed or harmless, " +
                   std::to_string(total.counted) + " broken off and counted, " +
                   std::to_string(result.violations.size()) + " contradict the table; " +
                   seconds_text(wall_s) + "\n");
  return result.violations.empty() ? 0 : static_cast<int>(ExitStatus::Failure);
}

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
    Progress progress("sessions", attacks.size(), line.common().quiet);
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
