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
  for (auto [account, intervals] : accounts_) {
    std::ranges::sort(intervals, {}, &Interval::first);
    std::uint64_t end = 0;
    for (const Interval& interval : intervals) {
      if (interval.first < end) reused += std::min(end, interval.end) - interval.first;
      end = std::max(end, interval.end);
    }
  }
  return reused;
}

std::uint64_t Ledger::served(char party) const {
  std::uint64_t served = 0;
  for (const auto& [account, intervals] : accounts_)
    if (std::get<1>(account) == party)
      for (const Interval& interval : intervals) served += interval.end - interval.first;
  return served;
}

}  // namespace tinyot::test
