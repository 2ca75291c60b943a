// What both parties' runs say that they were given (tinyot run --ledger), judged: no object twice.
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
  struct Stretch {
    std::uint64_t first, end;
  };
  // Session, party, kind, shard.
  using Account = std::tuple<std::string, char, std::string, std::uint32_t>;

  // Reads lines; what is torn at the end of a file is no entry, since nothing was used then.
  void read(const std::filesystem::path& file);

  // Objects that stand in more than one entry of an account.
  std::uint64_t reused() const;
  // Objects of all accounts of a party.
  std::uint64_t served(char party) const;

 private:
  std::map<Account, std::vector<Stretch>> accounts_;
};

}  // namespace tinyot::test
