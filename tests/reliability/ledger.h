// Reads the ledgers of both parties' runs (tinyot run --ledger) and counts objects served twice.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/layers.h"

namespace tinyot::test {

class Ledger {
 public:
  struct Interval {
    std::uint64_t first, end;
  };
  // Session, party, kind, shard.
  using Account = std::tuple<std::string, char, std::string, std::uint32_t>;

  // Reads lines; an incomplete last line is ignored, since its material was not used.
  void read(const std::filesystem::path& file);

  // Objects in more than one entry of an account.
  std::uint64_t reused() const;
  // Objects of all accounts of a party.
  std::uint64_t served(char party) const;

 private:
  std::map<Account, std::vector<Interval>> accounts_;
};

}  // namespace tinyot::test
