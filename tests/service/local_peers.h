// The peers of a daemon in the process of the test, where they can have other times than those of
// `tinyot serve`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "service/configuration.h"
#include "service/peer.h"
#include "tests/service/daemons.h"

namespace tinyot::test {

class LocalPeers {
 public:
  struct Times {
    std::chrono::seconds until_matched{600};  // of a job
    service::RefillTimes refills = {};
  };
  // Those of the daemon's configuration; it does not run.
  explicit LocalPeers(const Daemon& daemon, const Times& times)
      : config_(service::read_configuration(daemon.configuration())),
        jobs_({.jobs = 10,
               .bytes = 1 << 20,
               .until_matched = times.until_matched,
               .results_kept = std::chrono::seconds(600)}),
        shared_{config_,
                config_.has_store_key() ? std::optional(StoreKey::read(config_.store_key()))
                                        : std::nullopt,
                jobs_, metrics_, service::RefillSlots(config_.refills_at_once(), times.refills)} {
    for (const service::config::Peer& peer : config_.peer()) {
      metrics_.add_peer(peer.name());
      peers_.push_back(std::make_unique<service::Peer>(peer, shared_));
    }
  }

  service::Jobs& jobs() { return jobs_; }
  const std::vector<std::unique_ptr<service::Peer>>& peers() const { return peers_; }
  service::Peer& peer(std::size_t index = 0) { return *peers_.at(index); }

 private:
  const service::config::Daemon config_;
  service::Jobs jobs_;
  service::DaemonMetrics metrics_{"test"};
  service::Shared shared_;
  std::vector<std::unique_ptr<service::Peer>> peers_;
};

}  // namespace tinyot::test
