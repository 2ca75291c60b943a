// The split of a layer's openings into messages, and the number of messages sent ahead.
#include <gtest/gtest.h>

#include <vector>

#include "online/and_layer.h"
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
    EXPECT_LE(part.count, Flights::kEntries);
    end += part.count;
  }
  return end;
}

TEST(Flights, SendEachEntryOnceAndNoneTooFarAhead) {
  constexpr std::size_t kEntries = Flights::kEntries, kAhead = Flights::kAhead;
  for (const std::size_t entries :
       {std::size_t{0}, std::size_t{1}, kEntries - 1, kEntries, kEntries + 1, kAhead * kEntries,
        kAhead * kEntries + 1, 3 * kAhead * kEntries - 7}) {
    const Flights flights(entries);
    std::vector<Part> sent, received;
    const auto send = [&](std::size_t first, std::size_t count) { sent.push_back({first, count}); };
    flights.send_first(send);
    const std::size_t messages = (entries + kEntries - 1) / kEntries;
    EXPECT_EQ(sent.size(), std::min(messages, kAhead));
    flights.receive_all(send, [&](std::size_t first, std::size_t count) {
      received.push_back({first, count});
      EXPECT_GE(sent.size(), received.size())
          << "the peer waits for a message that has not been sent";
      EXPECT_LE(sent.size(), received.size() - 1 + kAhead);
    });
    EXPECT_EQ(expect_consecutive(sent), entries);
    EXPECT_EQ(expect_consecutive(received), entries);
  }
}

}  // namespace
}  // namespace tinyot
