#include "tools/selftest/adversary/deviation.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "crypto/rng.h"
#include "net/message_tags.h"

namespace tinyot::tools {
namespace {

using Payload = std::vector<std::byte>;

void flip(std::span<std::byte> payload, std::size_t bit) {
  payload[bit / 8] ^= std::byte{1} << (bit % 8);
}

// Flips a bit of an outgoing message or of the peer's answer.
void flip_one(std::span<std::byte> payload, std::size_t bit) {
  if (!payload.empty()) flip(payload, bit % (8 * payload.size()));
}

class DeviatingStream final : public net::ByteStream {
 public:
  DeviatingStream(std::unique_ptr<net::ByteStream> inner, const Deviation* deviation,
                  const Transcript* earlier, Conduct& conduct)
      : inner_(std::move(inner)), deviation_(deviation), earlier_(earlier), conduct_(conduct) {}

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    net::FrameHeader header;
    ENSURE(bytes.size() == sizeof header);
    std::memcpy(&header, bytes.data(), sizeof header);
    const std::size_t number = conduct_.sent.size();
    conduct_.sent.push_back({header.tag, sent_of_[header.tag]++, {more.begin(), more.end()}});
    ensure_open();
    // Messages of different tracks have no order.
    if (held_ && net::track_of(held_->header.tag) != net::track_of(header.tag)) release();
    if (deviation_ != nullptr && deviation_->spoilt == number)
      spoil(header, {more.begin(), more.end()});
    else if (deviation_ != nullptr && deviation_->message == number)
      deviate(header, {more.begin(), more.end()});
    else
      put(header, {more.begin(), more.end()});
    if (held_ && deviation_->message != number) {
      note_deviation();
      release();
    }
  }

  void read(std::span<std::byte> bytes) override {
    ensure_open();
    release();  // the peer answers a held message only once it is sent, so it cannot be swapped
    inner_->read(bytes);
    if (bytes.size() == sizeof(net::FrameHeader) && !incoming_) {
      incoming_.emplace();
      std::memcpy(&*incoming_, bytes.data(), sizeof(net::FrameHeader));
      if (incoming_->length > 0) return;
    }
    if (incoming_ && incoming_->length == bytes.size()) take_in(bytes);
    incoming_.reset();
  }

  void flush() override {
    ensure_open();
    inner_->flush();
  }
  std::span<const std::byte> binding() const override { return inner_->binding(); }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    if (inner_) inner_->set_deadline(deadline);
  }

 private:
  struct Frame {
    net::FrameHeader header;
    Payload payload;
  };

  void note_deviation() {
    if (!conduct_.deviated) conduct_.deviated_at = std::chrono::steady_clock::now();
    conduct_.deviated = true;
  }

  void ensure_open() const {
    if (!inner_) throw NetworkError("closed deliberately");
  }

  void hang_up() {
    note_deviation();
    inner_.reset();
  }

  void spoil(const net::FrameHeader& header, Payload payload) {
    flip_one(payload, 0);
    note_deviation();
    put(header, payload);
  }

  void deviate(const net::FrameHeader& header, Payload payload) {
    net::FrameHeader sent = header;
    const Payload honest = payload;
    switch (deviation_->kind) {
      case DeviationKind::Omit:
        note_deviation();
        return;
      case DeviationKind::Swap:
        held_ = Frame{header, std::move(payload)};
        return;
      case DeviationKind::Repeat:
        put(header, payload);
        break;
      case DeviationKind::CutShort:
        if (payload.empty()) return put(header, payload);
        payload.pop_back();
        break;
      case DeviationKind::Lengthen:
        payload.push_back(std::byte{0});
        break;
      case DeviationKind::WrongLength:
        note_deviation();
        return put(header, payload, kEnormous);
      case DeviationKind::WrongTag:
        sent.tag ^= 1;
        break;
      case DeviationKind::WrongSequence:
        ++sequence_;
        break;
      case DeviationKind::HangUpBefore:
        hang_up();
        return ensure_open();
      case DeviationKind::HangUpAfter:
        put(header, payload);
        inner_->flush();
        return hang_up();
      default:
        change(header.tag, payload);
        if (payload == honest) return put(header, payload);
    }
    note_deviation();
    put(sent, payload);
  }

  void change(std::uint32_t tag, Payload& payload) const {
    const std::size_t bits = 8 * payload.size();
    switch (deviation_->kind) {
      case DeviationKind::FlipBit:
      case DeviationKind::LieBothWays:
        return flip_one(payload, deviation_->bit);
      case DeviationKind::FlipRow:
        for (std::size_t bit = deviation_->bit % deviation_->stride; bit < bits;
             bit += deviation_->stride)
          flip(payload, bit);
        return;
      case DeviationKind::Zeros:
        std::ranges::fill(payload, std::byte{0});
        return;
      case DeviationKind::Ones:
        std::ranges::fill(payload, std::byte{0xFF});
        return;
      case DeviationKind::Random: {
        crypto::Rng rng(Seed{{deviation_->message, 77}});
        rng.fill(payload);
        return;
      }
      case DeviationKind::Reflect:
        if (const auto found = received_.find(tag);
            found != received_.end() && found->second.size() == payload.size())
          payload = found->second;
        return;
      case DeviationKind::Replay:
        if (earlier_ != nullptr && deviation_->message < earlier_->size()) {
          const SeenMessage& message = (*earlier_)[deviation_->message];
          if (message.tag == tag && message.payload.size() == payload.size())
            payload = message.payload;
        }
        return;
      default:
        ENSURE(false && "this deviation does not change the payload");
    }
  }

  // `length` replaces the payload's length in the header.
  void put(net::FrameHeader header, const Payload& payload,
           std::optional<std::uint64_t> length = {}) {
    header.sequence = sequence_++;
    header.length = length.value_or(payload.size());
    inner_->write(std::as_bytes(std::span(&header, 1)), payload);
  }

  void release() {
    if (!held_) return;
    put(held_->header, held_->payload);
    held_.reset();
  }

  void take_in(std::span<std::byte> payload) {
    const std::size_t occurrence = received_of_[incoming_->tag]++;
    if (deviation_ != nullptr && deviation_->kind == DeviationKind::LieBothWays &&
        answers(occurrence))
      flip_one(payload, deviation_->bit);
    received_[incoming_->tag].assign(payload.begin(), payload.end());
  }

  // Whether the incoming message corresponds to the one that was changed.
  bool answers(std::size_t occurrence) const {
    if (conduct_.sent.size() <= deviation_->message) return false;
    const SeenMessage& changed = conduct_.sent[deviation_->message];
    return changed.tag == incoming_->tag && changed.occurrence == occurrence;
  }

  static constexpr std::uint64_t kEnormous = std::uint64_t{1} << 62;

  std::unique_ptr<net::ByteStream> inner_;
  const Deviation* deviation_;
  const Transcript* earlier_;
  Conduct& conduct_;
  std::uint32_t sequence_ = 0;
  std::optional<Frame> held_;
  std::optional<net::FrameHeader> incoming_;
  std::map<std::uint32_t, std::size_t> sent_of_, received_of_;
  std::map<std::uint32_t, Payload> received_;
};

}  // namespace

std::string_view name_of(DeviationKind kind) {
  static constexpr std::array<std::string_view, kAllDeviationKinds.size() + kHangUps.size()>
      kNames = {"one bit flipped",
                "a bit flipped in each row",
                "a lie both ways",
                "zeros",
                "ones",
                "random",
                "the peer's own",
                "an earlier session's",
                "cut short",
                "lengthened",
                "a wrong length",
                "a wrong tag",
                "a wrong sequence number",
                "omitted",
                "repeated",
                "swapped",
                "hung up before it",
                "hung up after it"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::unique_ptr<net::ByteStream> make_deviating_stream(std::unique_ptr<net::ByteStream> inner,
                                                       const Deviation* deviation,
                                                       const Transcript* earlier,
                                                       Conduct& conduct) {
  return std::make_unique<DeviatingStream>(std::move(inner), deviation, earlier, conduct);
}

}  // namespace tinyot::tools
