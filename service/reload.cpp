#include "service/reload.h"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>

#include "base/error.h"
#include "service/event_log.h"

namespace tinyot::service {
namespace {

namespace pb = google::protobuf;

// Without what a reload changes.
config::Daemon rest_of(config::Daemon config) {
  for (config::Peer& peer : *config.mutable_peer()) {
    peer.clear_policy();
    peer.clear_key();
    peer.clear_peer_key();
    if (peer.has_custody()) peer.mutable_custody()->clear_policy();
  }
  if (config.has_tls()) {
    config.mutable_tls()->clear_certificate();
    config.mutable_tls()->clear_key();
    config.mutable_tls()->clear_clients();
  }
  config.clear_access();
  config.clear_log();
  return config;
}

const config::Peer* find(const config::Daemon& config, const std::string& peer) {
  const auto found = std::ranges::find(config.peer(), peer, &config::Peer::name);
  return found == config.peer().end() ? nullptr : &*found;
}

}  // namespace

std::string fields_for_restart(const config::Daemon& started, const config::Daemon& now) {
  pb::util::MessageDifferencer differences;
  differences.TreatAsMap(config::Daemon::descriptor()->FindFieldByName("peer"),
                         config::Peer::descriptor()->FindFieldByName("name"));
  std::string text;
  differences.set_report_moves(false);
  differences.ReportDifferencesToString(&text);
  differences.Compare(rest_of(started), rest_of(now));
  while (text.ends_with('\n')) text.pop_back();
  std::ranges::replace(text, '\n', ';');
  return text;
}

void reload(const std::filesystem::path& configuration, const config::Daemon& started,
            const Peers& peers, Api& api, LogOutput& log) {
  StartCheck check = check_start(configuration);
  std::vector<std::pair<Peer*, Peer::Renewal>> renewals;
  for (const auto& peer : peers)
    if (const config::Peer* const now = find(check.config, peer->name()))
      renewals.emplace_back(peer.get(), peer->read_renewal(*now));
  AccessRules access(check.config);
  log.use(check.config.log());  // the last that may fail
  api.renew(std::move(check.tls), std::move(access));
  for (auto& [peer, renewal] : renewals) peer->renew(std::move(renewal));
  for (const std::string& warning : check.warnings)
    log_event(LogLevel::Warning, "configuration", {{"reason", warning}});
  const std::string left = fields_for_restart(started, check.config);
  if (left.empty())
    log_event(LogLevel::Info, "configuration reloaded", {});
  else
    log_event(LogLevel::Warning, "configuration reloaded; the rest takes a restart",
              {{"reason", left}});
}

}  // namespace tinyot::service
