#include "net/channel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>

#include "base/error.h"

namespace tinyot::net {
namespace {

constexpr MessageTag kAbort = message_tag("abort");

using Header = FrameHeader;

// What is set aside of each track: more than a party sends of it without waiting for the other.
constexpr std::size_t kSetAsideBytes[] = {std::size_t{24} << 20, std::size_t{1} << 19};

constexpr std::size_t kDroppedBytes = std::size_t{64} << 10;

bool is_abort(const Header& header) { return header.tag == kAbort.id && header.length == 0; }

class FramedChannel final : public Channel {
 public:
  explicit FramedChannel(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}

  void send(const MessageTag& tag, std::span<const std::byte> payload) override {
    within_phase([&] {
      if (deadline_.load() <= std::chrono::steady_clock::now()) throw NetworkError("stopped");
    });
    const Header header{payload.size(), tag.id, sequence_out_++};
    within_phase([&] { stream_->write(std::as_bytes(std::span(&header, 1)), payload); });
    counters_.bytes_sent += sizeof header + payload.size();
    ++counters_.messages_sent;
    sent_since_receive_ = true;
  }

  void recv(const MessageTag& tag, std::span<std::byte> payload) override {
    const Header header = next_header(tag);
    if (header.length != payload.size())
      fail_framing(tag, " of " + std::to_string(payload.size()) + " bytes", header);
    take_payload(tag.track, payload);
  }

  std::vector<std::byte> recv_variable(const MessageTag& tag, std::size_t bytes_max) override {
    const Header header = next_header(tag);
    if (header.length > bytes_max)
      fail_framing(tag, " of at most " + std::to_string(bytes_max) + " bytes", header);
    std::vector<std::byte> payload(header.length);
    take_payload(tag.track, payload);
    return payload;
  }

  void flush() override {
    within_phase([&] { stream_->flush(); });
  }

  void send_abort() noexcept override {
    try {
      send(kAbort, {});
      stream_->flush();
    } catch (...) {
      // The connection may be closed already; the peer sees that.
    }
  }

  bool await_abort() noexcept override {
    std::vector<std::byte> dropped(kDroppedBytes);
    try {
      for (;;) {
        Header header;
        stream_->read(std::as_writable_bytes(std::span(&header, 1)));
        if (is_abort(header)) return true;
        for (std::uint64_t left = header.length; left > 0;) {
          const auto count =
              static_cast<std::size_t>(std::min<std::uint64_t>(left, dropped.size()));
          stream_->read(std::span(dropped).first(count));
          left -= count;
        }
      }
    } catch (const NetworkError&) {
      return false;
    }
  }

  std::span<const std::byte> binding() const override { return stream_->binding(); }
  bool has_ended() override { return stream_->has_ended(); }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    deadline_ = deadline;
    stream_->set_deadline(deadline);
  }

  const ChannelCounters& counters() const override { return counters_; }
  void set_phase(std::string_view phase) override { phase_ = phase; }

 private:
  struct Message {
    Header header;
    std::vector<std::byte> payload;
  };
  struct SetAside {
    std::deque<Message> messages;
    std::size_t bytes = 0;
  };
  // Small ones count more than they take, so that a wait takes a bounded number of messages, each
  // of which renews its deadline.
  static std::size_t bytes_counted(std::size_t payload) {
    return std::max(sizeof(Message) + payload, std::size_t{1} << 12);
  }
  SetAside& set_aside(Track track) { return set_aside_[static_cast<std::size_t>(track)]; }

  // The header of the next message of the tag's track; take_payload follows.
  Header next_header(const MessageTag& tag) {
    if (sent_since_receive_) ++counters_.rounds;
    sent_since_receive_ = false;
    const std::deque<Message>& waiting = set_aside(tag.track).messages;
    Header header = waiting.empty() ? recv_header(tag) : waiting.front().header;
    for (; header.tag != tag.id; header = recv_header(tag)) {
      const Track track = track_of(header.tag);
      if (track == tag.track) fail_framing(tag, "", header);
      put_aside(tag, track, header);
    }
    return header;
  }

  void put_aside(const MessageTag& expected, Track track, const Header& header) {
    SetAside& aside = set_aside(track);
    const std::size_t most = kSetAsideBytes[static_cast<std::size_t>(track)];
    if (header.length > most || bytes_counted(header.length) > most - aside.bytes)
      fail_framing(expected, "", header);
    Message message{header, std::vector<std::byte>(header.length)};
    recv_payload(message.payload);
    aside.messages.push_back(std::move(message));
    aside.bytes += bytes_counted(header.length);
  }

  void take_payload(Track track, std::span<std::byte> payload) {
    SetAside& aside = set_aside(track);
    if (aside.messages.empty()) return recv_payload(payload);
    std::ranges::copy(aside.messages.front().payload, payload.begin());
    aside.messages.pop_front();
    aside.bytes -= bytes_counted(payload.size());
  }

  Header recv_header(const MessageTag& expected) {
    Header header;
    within_phase([&] { stream_->read(std::as_writable_bytes(std::span(&header, 1))); });
    counters_.bytes_received += sizeof header;
    if (is_abort(header)) throw PeerAborted();
    if (header.sequence != sequence_in_++) fail_framing(expected, "", header);
    return header;
  }

  void recv_payload(std::span<std::byte> payload) {
    within_phase([&] { stream_->read(payload); });
    counters_.bytes_received += payload.size();
  }

  [[noreturn]] void fail_framing(const MessageTag& tag, const std::string& of_length,
                                 const Header& header) const {
    throw PeerCheated("framing: in phase " + phase_ + " expected message " + std::string(tag.name) +
                      of_length + ", got message number " + std::to_string(header.sequence) +
                      " with tag " + std::to_string(header.tag) + " and length " +
                      std::to_string(header.length));
  }

  template <class Action>
  void within_phase(const Action& action) {
    try {
      action();
    } catch (const NetworkError& error) {
      throw NetworkError(std::string(error.what()) + " (phase " + phase_ + ", after " +
                             std::to_string(counters_.bytes_sent) + " bytes sent and " +
                             std::to_string(counters_.bytes_received) + " received)",
                         phase_, error.remedy());
    }
  }

  std::unique_ptr<ByteStream> stream_;
  std::atomic<std::chrono::steady_clock::time_point> deadline_ =
      std::chrono::steady_clock::time_point::max();
  std::string phase_ = "handshake";
  ChannelCounters counters_;
  std::uint32_t sequence_out_ = 0, sequence_in_ = 0;
  std::array<SetAside, 2> set_aside_;  // by track
  bool sent_since_receive_ = false;
};

}  // namespace

void send_bits(Channel& channel, const MessageTag& tag, const BitVector& bits) {
  channel.send(tag, bits.bytes());
}

BitVector recv_bits(Channel& channel, const MessageTag& tag, std::size_t size) {
  BitVector bits(size);
  channel.recv(tag, bits.bytes());
  if (!bits.clear_padding())
    throw PeerCheated("framing: padding bits of message " + std::string(tag.name) +
                      " are not zero");
  return bits;
}

std::unique_ptr<Channel> make_framed_channel(std::unique_ptr<ByteStream> stream) {
  return std::make_unique<FramedChannel>(std::move(stream));
}

}  // namespace tinyot::net
