#include "tools/cli/render/store.h"

#include "tools/cli/render/report.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {
namespace {

std::string protection_text(const StoreInfo& info) {
  if (info.state == StoreState::Revoked && !info.keys_are_gone)
    return "nothing, and not all of them are overwritten yet: tinyot store retire completes this";
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
        {"made", entry.made},       {"unconfirmed", entry.unconfirmed},
        {"spent", entry.spent},     {"served", entry.spent - entry.planned - entry.burnt},
        {"planned", entry.planned}, {"burnt", entry.burnt},
        {"left", entry.left},       {"bytes", entry.bytes}};
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
      "), kappa " + std::to_string(security.kappa) + ", bucket " + security.bucket.text() +
      ", unit " + grouped(security.unit) + "\n" + units_text(security) + "keys protected by " +
      protection_text(info) + "\n";
  if (info.state == StoreState::Revoked)
    text += "the session is revoked: nothing in this store can be used\n";
  for (const MaterialKind kind : kAllMaterialKinds) {
    const KindCounts& entry = info.of(kind);
    if (entry.made == 0) continue;
    text += std::string(name_of(kind)) + ": made " + grouped(entry.made) + ", used " +
            grouped(entry.spent - entry.planned) + ", left " + grouped(entry.left) +
            (entry.planned > 0 ? ", reserved for later " + grouped(entry.planned) : "") +
            (entry.burnt > 0 ? ", burnt " + grouped(entry.burnt) : "") +
            (entry.unconfirmed > 0 ? ", not yet confirmed by the peer " + grouped(entry.unconfirmed)
                                   : "") +
            ", " + bytes_text(entry.bytes) + "\n";
  }
  for (const std::uint64_t number : info.reservations)
    text += "reservation " + std::to_string(number) + "\n";
  return text + "files: " + bytes_text(info.bytes) + "\n";
}

std::string lines_of(const std::vector<std::string>& lines, const std::string& before = {}) {
  std::string text;
  for (const std::string& line : lines) text += before + line + "\n";
  return text;
}

}  // namespace

void print(Format format, const StoreInfo& info) {
  print_report(format, json_of(info), text_of(info));
}

void print(Format format, const StoreCheck& check, double wall_s) {
  Json report = {{"session", check.session},
                 {"batches", check.batches},
                 {"bytes", check.bytes},
                 {"wall_s", wall_s},
                 {"corrupt", check.corrupt}};
  std::string text =
      grouped(check.batches) + " batches, " + bytes_text(check.bytes) + " in " +
      seconds_text(wall_s) + ": " +
      (check.corrupt.empty() ? "all sound" : grouped(check.corrupt.size()) + " corrupt") + "\n" +
      lines_of(check.corrupt);
  if (check.peers_halves) {
    const PeersHalves& halves = *check.peers_halves;
    report["peer_matched"] = halves.matched;
    report["peer_cut"] = halves.cut;
    report["peer_passed_over"] = halves.passed_over;
    report["peer_different"] = halves.different;
    report["differences"] = halves.differences;
    text += "the peer's halves: " + grouped(halves.matched) + " match, " + grouped(halves.cut) +
            " match by index (cut since they were made), " + grouped(halves.passed_over) +
            " are already used by one of the two, " + grouped(halves.different) + " differ\n" +
            lines_of(halves.differences);
  }
  print_report(format, report, text);
}

void print(Format format, const std::filesystem::path& store,
           const std::optional<StoreInfo>& before, const RetiredStore& retired) {
  print_report(format,
               {{"store", store.string()},
                {"state", "revoked"},
                {"revocation_reason", retired.reason},
                {"not_done", retired.not_done}},
               "the session has ended: the keys of " + store.string() +
                   " are erased, and its directory can be removed\n" +
                   (before ? "it had " + grouped(before->ands_left) + " unused ANDs and " +
                                 grouped(before->inputs_left) + " unused inputs of each party\n"
                           : "") +
                   lines_of(retired.not_done, "not done: "));
}

void print(Format format, const std::filesystem::path& store, StoreState state) {
  print_report(format, {{"store", store.string()}, {"state", std::string(name_of(state))}},
               store.string() +
                   " is the original from now on; do not use the store that it was copied from\n");
}

void print(Format format, const std::filesystem::path& out, const MergedStore& merged,
           double wall_s) {
  if (merged.was_done)
    return print_report(
        format, {{"store", out.string()}, {"merged_already", true}},
        "the shards have already been merged into " + out.string() + "; nothing has changed\n");
  print_report(format,
               {{"store", out.string()},
                {"batches", merged.batches},
                {"bytes", merged.bytes},
                {"wall_s", wall_s}},
               grouped(merged.batches) + " batches, " + bytes_text(merged.bytes) + ", are now in " +
                   out.string() + " (" + seconds_text(wall_s) + "); the shards are revoked\n");
}

}  // namespace tinyot::tools
