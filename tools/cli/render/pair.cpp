#include "tools/cli/render/pair.h"

#include "tools/cli/render/failure.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {
namespace {

// Nothing of a command that was killed.
Json report_of(const PairEnded::Command& command) {
  return command.out.empty() ? Json() : Json::parse(command.out);
}

std::string text_of(const PairEnded& ended) {
  const std::string all = ended.of(Party::A).out + ended.of(Party::B).out;
  if (all.empty() || ended.cause().out.empty()) return {};
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

EncryptionReport encryption_from(const std::string& report) {
  const Json json = Json::parse(report);
  return {report, json.at("outputs").at("ciphertext"), json.at("wall_s"), json.at("gates_per_s")};
}

void print(Format format, const DemoReport& demo) {
  if (format == Format::Json)
    return print_report(format,
                        {{"command", "demo"},
                         {"preprocess", joined(demo.made)},
                         {"fips_197", Json::parse(demo.fips.json)},
                         {"blocks_27", Json::parse(demo.many.json)},
                         {"version", version_text()}},
                        {});
  print_report(format, {},
               demo.made.of(Party::A).out +
                   "oblivious AES, 1 block:   " + seconds_text(demo.fips.wall_s) + "\n" +
                   "oblivious AES, 27 blocks: " + seconds_text(demo.many.wall_s) + ", " +
                   grouped(demo.many.gates_per_s) +
                   " gates/s; all equal to AES by Crypto++\n"
                   "FIPS-197 ciphertext, computed by two processes that know neither key "
                   "nor message in full:\n" +
                   demo.fips.ciphertext + "\n");
}

}  // namespace tinyot::tools
