#include "base/error.h"
#include "engine/connection.h"
#include "engine/peer_identity.h"
#include "engine/synchronise.h"
#include "storage/verify.h"
#include "tools/endpoint.h"
#include "tools/failure.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/store_command.h"
#include "tools/store_options.h"

namespace tinyot::tools {
namespace {

engine::Comparison compare_with_peer(storage::Store& store, const std::filesystem::path& directory,
                                     const engine::Endpoint& endpoint,
                                     const storage::Verification& verification) {
  engine::check_peer(store.manifest(), endpoint, "the store in " + directory.string());
  const auto channel = engine::Connector(endpoint).open();
  crypto::Rng rng = crypto::Rng::from_system();
  const Party me = store.manifest().me;
  const checks::SessionIds ids = checks::establish_session(
      *channel, rng, me,
      {{"command", "store verify"}, {"shard", std::to_string(store.manifest().shard)}},
      engine::session_id_of(store.manifest()));
  net::PhaseLog log;
  checks::Session session(me, ids, store.global_key(), *channel, std::move(rng), log);
  engine::Comparison comparison;
  engine::within_session(std::span(&store, 1), *channel, [&] {
    engine::synchronise(session, store, engine::SynchroniseFor::Running);
    comparison = engine::compare_halves(session, store, verification.good);
    channel->flush();
  });
  return comparison;
}

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
  const std::optional<engine::Endpoint> endpoint = optional_endpoint_from(line);
  storage::Store store = storage::Store::open(
      line.text("store"), {.purpose = endpoint ? storage::Purpose::Use : storage::Purpose::Inspect,
                           .store_key = store_key_from(line)});
  if (store.manifest().state == storage::SessionState::Revoked)
    throw StoreError("the session is revoked: " + store.manifest().revocation_reason + "; " +
                     (store.keys_are_gone()
                          ? "its keys are overwritten, so there is nothing to verify"
                          : "its keys are protected by " + keys_left_text()));
  const auto start = std::chrono::steady_clock::now();
  std::optional<Progress> progress;
  progress.emplace("bytes", store.store_bytes(), line.common().quiet);
  const storage::Verification verification =
      storage::verify(store, [&](std::uint64_t bytes) { progress->observe("verify", bytes); });
  progress.reset();
  Json report = {
      {"session", hex_of(engine::session_id_of(store.manifest()))},
      {"batches", verification.batches},
      {"bytes", verification.bytes},
      {"wall_s", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()}};
  report["corrupt"] = verification.corrupt;
  bool is_sound = verification.corrupt.empty();
  if (endpoint) {
    const engine::Comparison comparison =
        compare_with_peer(store, line.text("store"), *endpoint, verification);
    report["peer_matched"] = comparison.matched;
    report["peer_cut"] = comparison.cut;
    report["peer_passed_over"] = comparison.passed_over;
    report["peer_different"] = comparison.different;
    report["differences"] = comparison.differences;
    is_sound = is_sound && comparison.different == 0;
  }
  print_report(line.common().format, report, text_of(report));
  return is_sound ? 0 : static_cast<int>(ExitStatus::Store);
}

}  // namespace tinyot::tools
