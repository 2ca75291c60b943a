#include "engine/connection.h"
#include "storage/inventory.h"
#include "tools/report.h"
#include "tools/store_command.h"
#include "tools/store_options.h"

namespace tinyot::tools {
namespace {

std::string protection_text(const storage::Inventory& inventory) {
  if (inventory.manifest.state == storage::SessionState::Revoked && !inventory.keys_are_gone)
    return keys_left_text();
  switch (inventory.protection) {
    case storage::KeyProtection::ByPermissions:
      return "file permissions alone";
    case storage::KeyProtection::ByStoreKey:
      return "a store key";
    case storage::KeyProtection::Erased:
      return "nothing: the keys are erased";
  }
  return {};
}

Json json_of(const storage::Inventory& inventory) {
  const storage::Manifest& manifest = inventory.manifest;
  Json report = {{"session", hex_of(engine::session_id_of(manifest))},
                 {"state", std::string(storage::name_of(manifest.state))},
                 {"party", std::string(1, letter(manifest.me))},
                 {"peer", manifest.peer.empty() ? std::string(1, letter(peer_of(manifest.me)))
                                                : manifest.peer}};
  add_security(report, manifest);
  add_units(report, manifest, inventory.attempts);
  report["shard"] = std::to_string(manifest.shard) + "/" + std::to_string(manifest.shards);
  report["units_made"] = manifest.units_made;
  report["ands_requested"] = manifest.ands_requested;
  report["keys_protected_by"] = protection_text(inventory);
  report["store_bytes"] = inventory.store_bytes;
  if (manifest.state == storage::SessionState::Revoked) {
    report["revocation_reason"] = manifest.revocation_reason;
    report["keys_are_gone"] = inventory.keys_are_gone;
  }
  report["reservations"] = Json::array();
  for (const storage::PlannedReservation& planned : inventory.planned)
    report["reservations"].push_back(planned.id);
  report["kinds"] = Json::object();
  for (const MaterialKind kind : kAllMaterialKinds) {
    const storage::KindInventory& entry = inventory.of(kind);
    if (entry.made == 0) continue;
    report["kinds"][std::string(name_of(kind))] = {
        {"made", entry.made},       {"locked", entry.locked}, {"reserved", entry.reserved},
        {"planned", entry.planned}, {"burnt", entry.burnt},   {"left", entry.left},
        {"bytes", entry.bytes}};
  }
  return report;
}

std::string text_of(const storage::Inventory& inventory, const Json& report) {
  const storage::Manifest& manifest = inventory.manifest;
  const std::string shard =
      manifest.shards == 1 ? "" : ", shard " + report["shard"].get<std::string>();
  std::string text = "session " + short_name(engine::session_id_of(manifest)) + ", party " +
                     letter(manifest.me) + shard + ", " +
                     (manifest.state == storage::SessionState::Revoked
                          ? "revoked: " + manifest.revocation_reason
                          : std::string(storage::name_of(manifest.state))) +
                     "\n" + profile_text(report) + ", sigma " + std::to_string(manifest.sigma) +
                     " (reached " + decimals(manifest.sigma_paper_bound, 1) + ", exact " +
                     decimals(manifest.sigma_exact, 1) + "), kappa " +
                     std::to_string(manifest.kappa) + ", bucket " +
                     std::to_string(manifest.bucket) + ", unit " + grouped(manifest.unit) + "\n" +
                     units_text(report) + "keys protected by " + protection_text(inventory) + "\n";
  if (manifest.state == storage::SessionState::Revoked)
    text += "the session is revoked: nothing in this store can be used\n";
  for (const MaterialKind kind : kAllMaterialKinds) {
    const storage::KindInventory& entry = inventory.of(kind);
    if (entry.made == 0) continue;
    text += std::string(name_of(kind)) + ": made " + grouped(entry.made) + ", used " +
            grouped(entry.reserved - entry.planned) + ", left " + grouped(entry.left) +
            (entry.planned > 0 ? ", reserved for later " + grouped(entry.planned) : "") +
            (entry.burnt > 0 ? ", burnt " + grouped(entry.burnt) : "") +
            (entry.locked > 0 ? ", not yet confirmed by the peer " + grouped(entry.locked) : "") +
            ", " + bytes_text(static_cast<double>(entry.bytes)) + "\n";
  }
  for (const storage::PlannedReservation& planned : inventory.planned)
    text += "reservation " + std::to_string(planned.id) + "\n";
  return text + "files: " + bytes_text(static_cast<double>(inventory.store_bytes)) + "\n";
}

}  // namespace

std::string keys_left_text() {
  return "nothing, and not all of them are overwritten yet: tinyot store retire completes this";
}

int store_info(const Arguments& arguments) {
  CommandLine line("store info", "DIR [--store-key @FILE]",
                   "tinyot store info store-a --format json");
  add_store_options(line.options());
  line.positional("store", 1);
  line.require("store");
  if (!line.parse(arguments)) return 0;
  const storage::Inventory inventory = storage::take_inventory(storage::Store::open(
      line.text("store"),
      {.purpose = storage::Purpose::Inspect, .store_key = store_key_from(line)}));
  const Json report = json_of(inventory);
  print_report(line.common().format, report, text_of(inventory, report));
  return 0;
}

}  // namespace tinyot::tools
