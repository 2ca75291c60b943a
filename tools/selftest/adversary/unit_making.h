// Makes units in stores on disk, as `tinyot preprocess` does, to examine what remains there when a
// check fails or the peer closes the connection.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "net/channel.h"
#include "offline/parameters.h"
#include "tinyot/party.h"

namespace tinyot::tools {

// A new directory for temporary stores. Fails: StoreError.
std::filesystem::path make_stores_directory();

class UnitMaking {
 public:
  // Two units for each worker. All randomness of a session follows from the seed.
  UnitMaking(const ParameterRequest& request, std::uint64_t seed);
  ~UnitMaking();
  UnitMaking(const UnitMaking&) = delete;
  UnitMaking& operator=(const UnitMaking&) = delete;

  // One party's end; `more` are the channels of its workers but the first. Fails: as `tinyot
  // preprocess`, and the store is as that would leave it.
  void run(Party me, net::Channel& channel,
           std::span<const std::unique_ptr<net::Channel>> more = {});

  // What is wrong with the party's store after the run, when it is opened again; empty if nothing
  // is. After a failed check, no key is left; otherwise each unit that was begun is made or
  // outstanding.
  std::string flaw(Party party) const;

  using Clock = std::chrono::steady_clock;
  // When the party's keys were erased because a check failed; time_point::max() if none failed.
  Clock::time_point erased_at(Party party) const { return records_[index(party)].erased_at; }
  std::filesystem::path directory_of(Party party) const;

 private:
  struct Record {
    std::mutex mutex = {};
    std::set<std::size_t> begun = {};  // units that were begun
    bool has_run = false, is_revoked = false;
    Clock::time_point erased_at = Clock::time_point::max();
  };
  static std::size_t index(Party party) { return static_cast<std::size_t>(party); }

  offline::SecurityParameters params_;
  std::uint64_t seed_;
  std::filesystem::path root_;
  Record records_[2];
};

// Units of the smallest size that the profile accepts, with the buckets that they need.
ParameterRequest small_units(Profile profile);

}  // namespace tinyot::tools
