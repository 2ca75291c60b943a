#include "tinyot/store.h"
#include "tools/cli/render/report.h"
#include "tools/cli/store_command.h"
#include "tools/cli/store_options.h"

namespace tinyot::tools {
namespace {

std::string protection_text(const StoreInfo& info) {
  if (info.state == StoreState::Revoked && !info.keys_are_gone) return keys_left_text();
  switch (info.protection) {
    case KeyProtection::ByPermissions:
      return "file permissions alone";
    case KeyProtection::ByStoreKey:
      return "a store key";
    case KeyProtection::Erased:
      return "nothing: the keys are erased";
  }
  return {};
}

Json json_of(const StoreInfo& info) {
  Json report = {
      {"session", info.session},
      {"state", std::string(name_of(info.state))},
      {"party", std::string(1, letter(info.party))},
      {"peer", info.peer.empty() ? std::string(1, letter(peer_of(info.party))) : info.peer}};
  add_security(report, info.security);
  add_units(report, info.security);
  report["shard"] = std::to_string(info.shard) + "/" + std::to_string(info.shards);
  report["units_made"] = info.units_made;
  report["ands_requested"] = info.ands_requested;
  report["keys_protected_by"] = protection_text(info);
  report["store_bytes"] = info.bytes;
  if (info.state == StoreState::Revoked) {
    report["revocation_reason"] = info.revocation_reason;
    report["keys_are_gone"] = info.keys_are_gone;
  }
  report["reservations"] = info.reservations;
  report["kinds"] = Json::object();
  for (const MaterialKind kind : kAllMaterialKinds) {
    const KindCounts& entry = info.of(kind);
    if (entry.made == 0) continue;
    report["kinds"][std::string(name_of(kind))] = {
        {"made", entry.made},       {"locked", entry.locked}, {"reserved", entry.reserved},
        {"planned", entry.planned}, {"burnt", entry.burnt},   {"left", entry.left},
        {"bytes", entry.bytes}};
  }
  return report;
}

std::string text_of(const StoreInfo& info) {
  const Security& security = info.security;
  const std::string shard = info.shards == 1 ? ""
                                             : ", shard " + std::to_string(info.shard) + "/" +
                                                   std::to_string(info.shards);
  std::string text =
      "session " + info.session.substr(0, 16) + ", party " + letter(info.party) + shard + ", " +
      (info.state == StoreState::Revoked ? "revoked: " + info.revocation_reason
                                         : std::string(name_of(info.state))) +
      "\n" + profile_text(security) + ", sigma " + std::to_string(security.sigma) + " (reached " +
      decimals(security.sigma_paper_bound, 1) + ", exact " + decimals(security.sigma_exact, 1) +
      "), kappa " + std::to_string(security.kappa) + ", bucket " + std::to_string(security.bucket) +
      ", unit " + grouped(security.unit) + "\n" + units_text(security) + "keys protected by " +
      protection_text(info) + "\n";
  if (info.state == StoreState::Revoked)
    text += "the session is revoked: nothing in this store can be used\n";
  for (const MaterialKind kind : kAllMaterialKinds) {
    const KindCounts& entry = info.of(kind);
    if (entry.made == 0) continue;
    text += std::string(name_of(kind)) + ": made " + grouped(entry.made) + ", used " +
            grouped(entry.reserved - entry.planned) + ", left " + grouped(entry.left) +
            (entry.planned > 0 ? ", reserved for later " + grouped(entry.planned) : "") +
            (entry.burnt > 0 ? ", burnt " + grouped(entry.burnt) : "") +
            (entry.locked > 0 ? ", not yet confirmed by the peer " + grouped(entry.locked) : "") +
            ", " + bytes_text(static_cast<double>(entry.bytes)) + "\n";
  }
  for (const std::uint64_t number : info.reservations)
    text += "reservation " + std::to_string(number) + "\n";
  return text + "files: " + bytes_text(static_cast<double>(info.bytes)) + "\n";
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
  const StoreInfo info = tinyot::store_info(line.text("store"), store_key_from(line));
  print_report(line.common().format, json_of(info), text_of(info));
  return 0;
}

}  // namespace tinyot::tools
