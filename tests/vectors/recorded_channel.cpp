#include "tests/vectors/recorded_channel.h"

#include <map>
#include <stdexcept>
#include <tuple>

namespace tinyot::test {

class RecordingChannel final : public ChannelDecorator {
 public:
  RecordingChannel(PartyRecord& record, std::size_t connection, std::unique_ptr<Channel> inner)
      : ChannelDecorator(std::move(inner)), record_(record), connection_(connection) {}

  void send(const MessageTag& tag, std::span<const std::byte> payload) override {
    record_.events_.push_back({true, connection_, tag.track, record_.sent_.size()});
    record_.sent_.push_back(
        {record_.party_, connection_, sequence_++, tag, phase_, {payload.begin(), payload.end()}});
    inner().send(tag, payload);
  }
  void recv(const MessageTag& tag, std::span<std::byte> payload) override {
    inner().recv(tag, payload);
    record_.events_.push_back({false, connection_, tag.track, 0});
  }
  std::vector<std::byte> recv_variable(const MessageTag& tag, std::size_t bytes_max) override {
    auto payload = inner().recv_variable(tag, bytes_max);
    record_.events_.push_back({false, connection_, tag.track, 0});
    return payload;
  }
  void set_phase(std::string_view phase) override {
    phase_ = phase;
    inner().set_phase(phase);
  }

 private:
  PartyRecord& record_;
  std::size_t connection_;
  std::uint32_t sequence_ = 0;
  std::string phase_ = "handshake";
};

std::unique_ptr<Channel> PartyRecord::recorded(std::size_t connection,
                                               std::unique_ptr<Channel> channel) {
  return std::make_unique<RecordingChannel>(*this, connection, std::move(channel));
}

// Both parties as they go on.
class MessageOrder {
 public:
  MessageOrder(PartyRecord a, PartyRecord b) : records_{std::move(a), std::move(b)} {}

  std::vector<RecordedMessage> messages() {
    for (;;) {
      const std::size_t before = next_[0] + next_[1];
      proceed(0);
      proceed(1);
      if (next_[0] == records_[0].events_.size() && next_[1] == records_[1].events_.size())
        return std::move(ordered_);
      if (next_[0] + next_[1] == before)
        throw std::logic_error("a message was received that was not sent");
    }
  }

 private:
  using Way = std::tuple<std::size_t, std::size_t, Track>;  // receiver, connection

  void proceed(std::size_t party) {
    PartyRecord& record = records_[party];
    for (std::size_t& next = next_[party]; next < record.events_.size(); ++next) {
      const PartyRecord::Event& event = record.events_[next];
      if (event.is_sent) {
        ++under_way_[{1 - party, event.connection, event.track}];
        ordered_.push_back(std::move(record.sent_[event.message]));
      } else {
        std::size_t& waiting = under_way_[{party, event.connection, event.track}];
        if (waiting == 0) return;
        --waiting;
      }
    }
  }

  PartyRecord records_[2];
  std::size_t next_[2] = {0, 0};
  std::map<Way, std::size_t> under_way_;
  std::vector<RecordedMessage> ordered_;
};

std::vector<RecordedMessage> messages_in_order(PartyRecord a, PartyRecord b) {
  return MessageOrder(std::move(a), std::move(b)).messages();
}

}  // namespace tinyot::test
