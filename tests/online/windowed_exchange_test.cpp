// The split of revealed bits into messages, and the number of messages sent ahead.
#include "online/windowed_exchange.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/layers.h"

namespace tinyot {
namespace {

struct Part {
  std::size_t first, count;
};

std::size_t expect_consecutive(const std::vector<Part>& parts) {
  std::size_t end = 0;
  for (const Part& part : parts) {
    EXPECT_EQ(part.first, end);
    EXPECT_GT(part.count, 0u);
    EXPECT_LE(part.count, WindowedExchange::kEntries);
    end += part.count;
  }
  return end;
}

TEST(WindowedExchange, SendEachEntryOnceAndNoneTooFarAhead) {
  constexpr std::size_t kEntries = WindowedExchange::kEntries;
  const std::size_t ahead = WindowedExchange(0, 4).ahead();
  EXPECT_EQ(ahead * kEntries * 4 / 8, WindowedExchange::kWindowBytes);
  for (const std::size_t entries :
       {std::size_t{0}, std::size_t{1}, kEntries - 1, kEntries, kEntries + 1, ahead * kEntries,
        ahead * kEntries + 1, 3 * ahead * kEntries - 7}) {
    const WindowedExchange exchange(entries, 4);
    std::vector<Part> sent, received;
    const auto send = [&](std::size_t first, std::size_t count) { sent.push_back({first, count}); };
    exchange.fill_window(send);
    EXPECT_EQ(sent.size(), std::min(WindowedExchange::messages(entries), ahead));
    exchange.run(send, [&](std::size_t first, std::size_t count) {
      received.push_back({first, count});
      EXPECT_GE(sent.size(), received.size())
          << "the peer waits for a message that has not been sent";
      EXPECT_LE(sent.size(), received.size() - 1 + ahead);
    });
    EXPECT_EQ(expect_consecutive(sent), entries);
    EXPECT_EQ(expect_consecutive(received), entries);
  }
}

// A party may send more than it receives, or nothing.
TEST(WindowedExchange, MayDifferInTheTwoDirections) {
  constexpr std::size_t kEntries = WindowedExchange::kEntries;
  const std::size_t ahead = WindowedExchange(0, 1).ahead();
  const std::size_t sizes[] = {0, 5, kEntries + 1, (2 * ahead + 1) * kEntries};
  for (const std::size_t mine : sizes) {
    for (const std::size_t peers : sizes) {
      const WindowedExchange exchange(mine, peers, 1);
      std::vector<Part> sent, received;
      const auto send = [&](std::size_t first, std::size_t count) {
        sent.push_back({first, count});
      };
      exchange.fill_window(send);
      exchange.run(send, [&](std::size_t first, std::size_t count) {
        received.push_back({first, count});
        EXPECT_LE(sent.size(), received.size() - 1 + ahead);
      });
      EXPECT_EQ(expect_consecutive(sent), mine);
      EXPECT_EQ(expect_consecutive(received), peers);
    }
  }
}

}  // namespace
}  // namespace tinyot
