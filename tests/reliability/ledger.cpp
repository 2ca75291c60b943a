#include "tests/reliability/ledger.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tests/support/layers.h"

namespace tinyot::test {

void Ledger::read(const std::filesystem::path& file) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (lines.eof()) break;
    std::istringstream fields(line);
    std::string session, kind;
    char party;
    std::uint32_t shard;
    std::uint64_t first, count;
    if (fields >> session >> party >> kind >> shard >> first >> count)
      accounts_[{session, party, kind, shard}].push_back({first, first + count});
  }
}

std::uint64_t Ledger::reused() const {
  std::uint64_t reused = 0;
  for (auto [account, stretches] : accounts_) {
    std::ranges::sort(stretches, {}, &Stretch::first);
    std::uint64_t end = 0;
    for (const Stretch& stretch : stretches) {
      if (stretch.first < end) reused += std::min(end, stretch.end) - stretch.first;
      end = std::max(end, stretch.end);
    }
  }
  return reused;
}

std::uint64_t Ledger::served(char party) const {
  std::uint64_t served = 0;
  for (const auto& [account, stretches] : accounts_)
    if (std::get<1>(account) == party)
      for (const Stretch& stretch : stretches) served += stretch.end - stretch.first;
  return served;
}

}  // namespace tinyot::test
