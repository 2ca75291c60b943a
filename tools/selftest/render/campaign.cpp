#include "tools/selftest/render/campaign.h"

#include <algorithm>
#include <cmath>

#include "tools/cli/failure.h"
#include "tools/cli/render/report.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {
namespace {

constexpr std::size_t kViolationsShown = 20;
constexpr double kDeviations = 5;  // standard deviations that a count of guesses may be off

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

}  // namespace tinyot::tools
