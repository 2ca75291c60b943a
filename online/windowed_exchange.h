// Bits that are sent in several messages: of up to kEntries entries each, so that the peer can
// process the first messages while the last are in flight. Up to kWindowBytes are sent before the
// first message is received, then one message for each one received. A link with a long round-trip
// time stays busy, and two parties with large amounts do not fill their memory.
#pragma once

#include <algorithm>
#include <cstddef>

namespace tinyot::online {

class WindowedExchange {
 public:
  static constexpr std::size_t kEntries = std::size_t{1} << 16;
  static constexpr std::size_t kWindowBytes = std::size_t{8} << 20;

  // Each party sends this many entries of `bits` bits.
  WindowedExchange(std::size_t entries, std::size_t bits)
      : WindowedExchange(entries, entries, bits) {}
  // This party sends `sent` entries and the peer sends `received`.
  WindowedExchange(std::size_t sent, std::size_t received, std::size_t bits)
      : sent_(sent), received_(received), ahead_(kWindowBytes * 8 / (kEntries * bits)) {}

  // Messages that are sent before the first is received.
  std::size_t ahead() const { return ahead_; }

  // Sends the first window; send(first, count) and receive(first, count) handle one message each.
  template <class Send>
  void fill_window(Send send) const {
    for (std::size_t at = 0; at < std::min(ahead_, messages(sent_)); ++at) use(sent_, at, send);
  }
  // Receives all messages and sends the rest.
  template <class Send, class Receive>
  void run(Send send, Receive receive) const {
    for (std::size_t at = 0; at < std::max(messages(received_), messages(sent_)); ++at) {
      if (at < messages(received_)) use(received_, at, receive);
      if (at + ahead_ < messages(sent_)) use(sent_, at + ahead_, send);
    }
  }

  // The number of messages for `entries` entries.
  static constexpr std::size_t messages(std::size_t entries) {
    return (entries + kEntries - 1) / kEntries;
  }

 private:
  template <class Use>
  static void use(std::size_t entries, std::size_t message, Use use) {
    use(message * kEntries, std::min(kEntries, entries - message * kEntries));
  }

  std::size_t sent_, received_;
  std::size_t ahead_;
};

}  // namespace tinyot::online
