#include <chrono>

#include "tinyot/store.h"
#include "tools/cli/endpoint.h"
#include "tools/cli/failure.h"
#include "tools/cli/progress.h"
#include "tools/cli/render/report.h"
#include "tools/cli/store_command.h"
#include "tools/cli/store_options.h"

namespace tinyot::tools {
namespace {

std::string text_of(const Json& report) {
  std::string text =
      grouped(report["batches"]) + " batches, " + bytes_text(report["bytes"]) + " in " +
      seconds_text(report["wall_s"]) + ": " +
      (report["corrupt"].empty() ? "all sound" : grouped(report["corrupt"].size()) + " corrupt") +
      "\n";
  for (const Json& line : report["corrupt"]) text += line.get<std::string>() + "\n";
  if (!report.contains("peer_matched")) return text;
  text += "the peer's halves: " + grouped(report["peer_matched"]) + " match, " +
          grouped(report["peer_cut"]) + " match by index (cut since they were made), " +
          grouped(report["peer_passed_over"]) + " are already used by one of the two, " +
          grouped(report["peer_different"]) + " differ\n";
  for (const Json& line : report["differences"]) text += line.get<std::string>() + "\n";
  return text;
}

}  // namespace

int store_verify(const Arguments& arguments) {
  CommandLine line("store verify",
                   "DIR [--store-key @FILE] [--listen HOST:PORT | --connect HOST:PORT]",
                   "tinyot store verify store-a --listen 127.0.0.1:7766");
  add_store_options(line.options());
  add_endpoint_options(line.options());
  line.positional("store", 1);
  line.require("store");
  if (!line.parse(arguments)) return 0;
  const std::optional<Endpoint> peer = optional_endpoint_from(line);
  const auto start = std::chrono::steady_clock::now();
  std::optional<Progress> progress;
  const StoreCheck check = verify_store(line.text("store"), store_key_from(line), peer,
                                        [&](std::uint64_t done, std::uint64_t total) {
                                          if (!progress)
                                            progress.emplace("bytes", total, line.common().quiet);
                                          progress->observe("verify", done);
                                        });
  progress.reset();
  Json report = {
      {"session", check.session},
      {"batches", check.batches},
      {"bytes", check.bytes},
      {"wall_s", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()}};
  report["corrupt"] = check.corrupt;
  if (check.peers_halves) {
    report["peer_matched"] = check.peers_halves->matched;
    report["peer_cut"] = check.peers_halves->cut;
    report["peer_passed_over"] = check.peers_halves->passed_over;
    report["peer_different"] = check.peers_halves->different;
    report["differences"] = check.peers_halves->differences;
  }
  print_report(line.common().format, report, text_of(report));
  return check.is_sound() ? 0 : static_cast<int>(ExitStatus::Store);
}

}  // namespace tinyot::tools
