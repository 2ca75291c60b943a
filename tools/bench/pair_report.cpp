#include "tools/bench/pair_report.h"

#include "tools/cli/render/report.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {
namespace {

// Nothing of a command that was killed.
Json report_of(const PairEnded::Command& command) {
  return command.out.empty() ? Json() : Json::parse(command.out);
}

std::string text_of(const PairEnded& ended) {
  const std::string all = ended.of(Party::A).out + ended.of(Party::B).out;
  // A command that fails has said why on stderr.
  const int status = ended.cause().status;
  if (all.empty() || (status > 0 && status < 128)) return {};
  return all + "both parties: " + seconds_text(ended.wall_s) + "\n";
}

}  // namespace

Json joined(const PairEnded& ended) {
  Json all = Json::object();
  for (const Party party : {Party::A, Party::B}) {
    Json report = report_of(ended.of(party));
    all[std::string(1, letter(party))] = is_failure_report(report) ? Json() : std::move(report);
  }
  all["wall_s"] = ended.wall_s;
  return all;
}

int print(Format format, const PairEnded& ended) {
  if (format == Format::Text) {
    print_report(format, {}, text_of(ended));
  } else {
    Json cause = report_of(ended.cause());
    print_report(format, is_failure_report(cause) ? std::move(cause) : joined(ended), {});
  }
  return ended.cause().status;
}

}  // namespace tinyot::tools
