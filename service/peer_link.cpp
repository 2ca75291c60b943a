#include "service/peer_link.h"

#include "base/error.h"
#include "crypto/rng.h"
#include "engine/connection.h"

namespace tinyot::service {
namespace {

constexpr net::MessageTag kParameters = net::message_tag("daemon.parameters");
constexpr net::MessageTag kMessage = net::message_tag("daemon.message");
constexpr auto kSilenceMax = std::chrono::seconds(5), kHandshakeTime = std::chrono::seconds(10),
               kLastWords = std::chrono::seconds(1);

}  // namespace

PeerLink::PeerLink(StreamPort& port, Party me, std::vector<net::Parameter> parameters,
                   const std::stop_token& cancel, std::function<void()> drained)
    : drained_(std::move(drained)) {
  StreamPort::LinkStreams link;
  if (port.listens()) {
    link = port.accept_link(cancel);
  } else {
    link.group = crypto::Rng::from_system().object<std::uint64_t>() | StreamPort::kLinkBit;
    for (std::uint32_t number = 0; number < 2; ++number)
      link.streams[number] = port.open({link.group, number}, cancel);
  }
  group_ = link.group;
  const std::size_t out = me == Party::A ? 0 : 1;
  out_ = net::make_framed_channel(std::move(link.streams[out]));
  in_ = net::make_framed_channel(std::move(link.streams[1 - out]));
  net::Channel& first = me == Party::A ? *out_ : *in_;
  first.set_deadline(std::chrono::steady_clock::now() + kHandshakeTime);
  const engine::CancelsWaits guard(cancel, first);
  engine::unless_cancelled(
      cancel, [&] { net::compare_parameters(first, kParameters, me, std::move(parameters)); });
  first.set_deadline(std::chrono::steady_clock::time_point::max());
  out_->set_phase("link");
  in_->set_phase("link");
  writer_ = std::jthread([this](const std::stop_token& stop) { write_all(stop); });
}

PeerLink::~PeerLink() { shut_down(); }

void PeerLink::send(const wire::Message& message) {
  {
    const std::lock_guard lock(mutex_);
    std::string bytes = message.SerializeAsString();
    if (outbox_bytes_ + bytes.size() <= kOutboxBytesMax) {
      outbox_bytes_ += bytes.size();
      outbox_.push_back(std::move(bytes));
    } else {
      in_->set_deadline(std::chrono::steady_clock::now());
    }
  }
  changed_.notify_all();
}

bool PeerLink::has_room() {
  const std::lock_guard lock(mutex_);
  return outbox_bytes_ < kOutboxBytesMax / 2;
}

wire::Message PeerLink::receive() {
  for (;;) {
    const auto bytes = in_->recv_variable(kMessage, kMessageBytesMax);
    if (bytes.empty()) continue;
    wire::Message message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
        message.body_case() == wire::Message::BODY_NOT_SET)
      throw NetworkError("the peer sent a malformed message");
    message.DiscardUnknownFields();  // which take more memory than in the message
    return message;
  }
}

void PeerLink::write_all(const std::stop_token& stop) {
  try {
    for (;;) {
      std::deque<std::string> messages;
      {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, stop, kSilenceMax, [&] { return !outbox_.empty(); });
        messages.swap(outbox_);
      }
      if (messages.empty() && stop.stop_requested()) return;
      if (messages.empty()) messages.emplace_back();
      std::size_t sent = 0;
      for (const std::string& message : messages) {
        out_->send(kMessage, std::as_bytes(std::span(message)));
        sent += message.size();
      }
      out_->flush();
      if (sent == 0) continue;
      bool is_drained = false;
      {
        const std::lock_guard lock(mutex_);
        outbox_bytes_ -= sent;
        is_drained = outbox_.empty();
      }
      if (is_drained && drained_) drained_();
    }
  } catch (const std::exception&) {
    in_->set_deadline(std::chrono::steady_clock::now());
  }
}

void PeerLink::shut_down() noexcept {
  out_->set_deadline(std::chrono::steady_clock::now() + kLastWords);
  in_->set_deadline(std::chrono::steady_clock::now());
  writer_.request_stop();
}

}  // namespace tinyot::service
