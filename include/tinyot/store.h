// A party's store of preprocessing material: a directory that preprocess() fills and runs consume.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tinyot/material.h"
#include "tinyot/party.h"

namespace tinyot {

enum class StoreState : std::uint8_t { Open, Complete, Revoked };

struct StoreInfo {
  std::string session;  // its name, 16 hex digits; equal in the peer's store
  Party party = Party::A;
  std::string peer;  // the fingerprint of the peer's key; empty without keys
  StoreState state = StoreState::Open;
  std::string revoked_because;  // of a revoked store
  std::string profile, material;
  std::uint32_t sigma = 0;   // bits, as requested
  double sigma_exact = 0;    // bits, the least over the units made so far
  std::uint32_t bucket = 0;  // B
  std::uint64_t unit = 0;    // ANDs permuted together
  std::uint32_t shard = 1, shards = 1;
  std::uint64_t units_made = 0, units_outstanding = 0;
  MaterialCounts made, left;
  std::uint64_t ands_left = 0;  // that can be evaluated with what is left
  std::uint64_t bytes = 0;      // of its files
};

// A handle to a directory; each call opens the store and closes it again. Several processes, and
// several threads of a process, may use a store at the same time, each with calls of its own.
// `store_key` is the file with the key under which the store is sealed, if any. Fails, all calls:
// StoreError naming the path and the reason.
class Store {
 public:
  explicit Store(std::filesystem::path directory,
                 std::optional<std::filesystem::path> store_key = {});

  StoreInfo info() const;

  // Ends the session: erases all keys, durably, in whatever state the store is. The peer's store
  // then becomes unusable too. Returns the steps that were not possible, one line each, for example
  // if the store is corrupt.
  std::vector<std::string> retire() const;

 private:
  std::filesystem::path directory_;
  std::optional<std::filesystem::path> store_key_;
};

}  // namespace tinyot
