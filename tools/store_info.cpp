#include "tools/store_info.h"

#include "base/error.h"
#include "storage/inventory.h"
#include "tools/connection.h"
#include "tools/report.h"

namespace tinyot {
namespace {

int store_info(const Arguments& arguments) {
  CommandLine line("tinyot store info DIR", "tinyot store info store-a --format json");
  line.options().value("store", "directory of the store");
  line.positional("store", 1);
  if (!line.parse(arguments)) return 0;
  const Inventory inventory = take_inventory(Store::open(line.required("store")));
  const Manifest& manifest = inventory.manifest;
  Json report = {{"session", hex_of(session_id_of(manifest))},
                 {"state", std::string(name_of(manifest.state))},
                 {"party", std::string(1, letter(manifest.me))},
                 {"peer", manifest.peer.empty() ? std::string(1, letter(peer_of(manifest.me))) : manifest.peer}};
  add_security(report, manifest);
  report["units_made"] = manifest.units_made;
  report["ands_requested"] = manifest.ands_requested;
  report["store_bytes"] = inventory.store_bytes;
  if (manifest.state == SessionState::Dead) report["dead_reason"] = manifest.dead_reason;
  std::string text = "session " + short_name(session_id_of(manifest)) + ", party " + letter(manifest.me) + ", " + std::string(name_of(manifest.state)) +
                     (manifest.state == SessionState::Dead ? ": " + manifest.dead_reason : "") + "\n" + profile_text(report) + ", sigma " + std::to_string(manifest.sigma) + " (reached " + decimals(manifest.sigma_paper_bound, 1) + ", exact " +
                     decimals(manifest.sigma_exact, 1) + "), kappa " + std::to_string(manifest.kappa) + ", bucket " + std::to_string(manifest.bucket) +
                     ", unit " + grouped(manifest.unit) + "\n";
  report["kinds"] = Json::object();
  for (const MaterialKind kind : kAllMaterialKinds) {
    const KindInventory& entry = inventory.of(kind);
    if (entry.made == 0) continue;
    const std::string name(name_of(kind));
    report["kinds"][name] = {{"made", entry.made}, {"reserved", entry.reserved}, {"burnt", entry.burnt}, {"left", entry.left}, {"bytes", entry.bytes}};
    text += name + ": made " + grouped(entry.made) + ", used " + grouped(entry.reserved) + ", left " + grouped(entry.left) + ", " +
            bytes_text(static_cast<double>(entry.bytes)) + "\n";
  }
  print_report(line.common().format, report, text + "file: " + bytes_text(static_cast<double>(inventory.store_bytes)) + "\n");
  return 0;
}

}  // namespace

int store_command(const Arguments& arguments) {
  if (!arguments.empty() && arguments[0] == "info") return store_info({arguments.begin() + 1, arguments.end()});
  if (arguments.empty() || arguments[0] != "--help") throw UsageError("tinyot store wants info DIR; see tinyot store --help");
  print_report(Format::Text, {}, "Usage: tinyot store info DIR; it has its own --help\n\nExample:\n  tinyot store info store-a\n");
  return 0;
}

}  // namespace tinyot
