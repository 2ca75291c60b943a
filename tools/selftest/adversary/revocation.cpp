#include "tools/selftest/adversary/revocation.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "tools/selftest/adversary/table.h"
#include "tools/selftest/adversary/unit_making.h"

namespace tinyot::tools {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::uint32_t kUnitBegin = net::message_tag("unit.begin").id,
                        kCheckedAnswer = net::message_tag("softspoken.answer").id;
constexpr auto kSlice = 2ms;
constexpr std::size_t kFloodBytes = std::size_t{16} << 10;

// A stream that obstructs once a unit has begun on it.
class ObstructingStream : public net::ByteStream {
 public:
  explicit ObstructingStream(std::unique_ptr<net::ByteStream> inner) : inner_(std::move(inner)) {}

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    if (is_armed_) return obstruct(bytes, more);
    inner_->write(bytes, more);
    net::FrameHeader header;
    std::memcpy(&header, bytes.data(), sizeof header);
    is_armed_ = header.tag == kUnitBegin;
  }
  void read(std::span<std::byte> bytes) override { inner_->read(bytes); }
  void flush() override { inner_->flush(); }
  void set_deadline(Clock::time_point deadline) noexcept override {
    deadline_ = deadline;
    inner_->set_deadline(deadline);
  }

 protected:
  virtual void obstruct(std::span<const std::byte> bytes, std::span<const std::byte> more) = 0;
  bool is_armed() const { return is_armed_; }
  net::ByteStream& inner() { return *inner_; }
  [[noreturn]] void wait_for_deadline() const {
    while (Clock::now() < deadline_.load()) std::this_thread::sleep_for(kSlice);
    throw NetworkError("stopped");
  }

 private:
  std::unique_ptr<net::ByteStream> inner_;
  bool is_armed_ = false;
  std::atomic<Clock::time_point> deadline_ = Clock::time_point::max();
};

// The cheater's end. It no longer waits for answers.
class ObstructingPeer final : public ObstructingStream {
 public:
  // Stores in `since` when it begins to obstruct.
  ObstructingPeer(std::unique_ptr<net::ByteStream> inner, Obstruction obstruction,
                  std::atomic<Clock::time_point>& since)
      : ObstructingStream(std::move(inner)), obstruction_(obstruction), since_(since) {}

  void read(std::span<std::byte> bytes) override {
    if (is_armed() && is_obstructing_) wait_for_deadline();
    inner().read(bytes);
  }

 private:
  void obstruct(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    if (is_obstructing_) return;
    is_obstructing_ = true;
    since_ = Clock::now();
    if (obstruction_ == Obstruction::Silence) return;
    inner().write(bytes, {});
    pump_ =
        std::jthread([this, payload = std::vector(more.begin(), more.end())](std::stop_token stop) {
          const std::vector<std::byte> flood(kFloodBytes);
          for (std::size_t i = 0; !stop.stop_requested(); ++i) {
            if (obstruction_ == Obstruction::Flood)
              inner().write(flood);
            else if (i + 1 < payload.size())
              inner().write(std::span(payload).subspan(i, 1));
            std::this_thread::sleep_for(kSlice);
          }
        });
  }

  Obstruction obstruction_;
  std::atomic<Clock::time_point>& since_;
  bool is_obstructing_ = false;
  std::jthread pump_;  // last: it uses all the others
};

// The honest party's end of a connection from which the cheater reads nothing.
class UnreadStream final : public ObstructingStream {
 public:
  using ObstructingStream::ObstructingStream;
  void flush() override {
    if (is_armed()) wait_for_deadline();
    inner().flush();
  }
  void read(std::span<std::byte> bytes) override {
    if (is_held_back_) wait_for_deadline();
    inner().read(bytes);
  }

 private:
  // Held back: a peer that reads nothing will not answer.
  void obstruct(std::span<const std::byte>, std::span<const std::byte>) override {
    is_held_back_ = true;
  }
  bool is_held_back_ = false;
};

struct Streams {
  net::MemoryStreams first = net::make_memory_streams(), second = net::make_memory_streams();

  static std::unique_ptr<net::ByteStream>& of(net::MemoryStreams& streams, Party party) {
    return party == Party::A ? streams.a : streams.b;
  }
};

Ending make_units(UnitMaking& making, Party me, Streams& streams) {
  return ending_of(
      [&](net::Channel& channel) {
        std::vector<std::unique_ptr<net::Channel>> more;
        more.push_back(net::make_framed_channel(std::move(Streams::of(streams.second, me))));
        making.run(me, channel, more);
      },
      std::move(Streams::of(streams.first, me)));
}

struct Endings {
  Ending honest, cheater;
};
Endings make_units(UnitMaking& making, Party cheater, Streams& streams, Clock::time_point& ended) {
  Endings endings;
  std::thread thread([&] { endings.cheater = make_units(making, cheater, streams); });
  endings.honest = make_units(making, peer_of(cheater), streams);
  ended = Clock::now();
  thread.join();
  return endings;
}

// The number of the cheater's first message on the second connection that the peer checks
// immediately.
std::size_t checked_message(Party cheater, std::uint64_t seed) {
  UnitMaking making(small_units(Profile::Fast), seed);
  Streams streams;
  Conduct conduct;
  auto& mine = Streams::of(streams.second, cheater);
  mine = make_deviating_stream(std::move(mine), nullptr, nullptr, conduct);
  Clock::time_point ended;
  const Endings endings = make_units(making, cheater, streams, ended);
  const auto found = std::ranges::find(conduct.sent, kCheckedAnswer, &SeenMessage::tag);
  if (endings.honest.kind != Ending::Kind::Done || endings.cheater.kind != Ending::Kind::Done ||
      found == conduct.sent.end())
    throw std::logic_error("a session of two workers without a deviation fails: " +
                           endings.honest.text + endings.cheater.text);
  return static_cast<std::size_t>(found - conduct.sent.begin());
}

std::string violation_of(const Revocation& trial, const std::string& flaw) {
  const auto within = [](double seconds, std::chrono::duration<double> most) {
    return seconds <= most.count();
  };
  if (trial.honest.kind != Ending::Kind::Caught)
    return "not caught: " + ending_name(trial.honest) + " " + trial.honest.text;
  if (!flaw.empty()) return flaw;
  if (!within(trial.erased_s, kErasedWithin)) return "the keys are erased too late";
  if (!within(trial.ended_s, kEndedWithin)) return "the session ends too late";
  return {};
}

}  // namespace

std::string_view name_of(Obstruction obstruction) {
  static constexpr std::array<std::string_view, kAllObstructions.size()> kNames = {
      "nothing", "silence", "a trickle", "a flood", "never reading"};
  return kNames[static_cast<std::size_t>(obstruction)];
}

Revocation try_revocation(Obstruction obstruction, Party cheater, std::uint64_t seed) {
  const Deviation deviation{.message = checked_message(cheater, seed),
                            .kind = DeviationKind::FlipRow};
  UnitMaking making(small_units(Profile::Fast), seed);
  Streams streams;
  Conduct conduct;
  const Party honest = peer_of(cheater);
  auto& second = Streams::of(streams.second, cheater);
  second = make_deviating_stream(std::move(second), &deviation, nullptr, conduct);
  auto& of_cheater = Streams::of(streams.first, cheater);
  auto& of_honest = Streams::of(streams.first, honest);
  std::atomic<Clock::time_point> since = Clock::time_point::max();
  if (obstruction == Obstruction::NeverReads)
    of_honest = std::make_unique<UnreadStream>(std::move(of_honest));
  else if (obstruction != Obstruction::Nothing)
    of_cheater = std::make_unique<ObstructingPeer>(std::move(of_cheater), obstruction, since);
  Clock::time_point ended;
  Revocation trial{obstruction, cheater, {}, 0, 0, {}};
  trial.honest = make_units(making, cheater, streams, ended).honest;
  // A flood may be detected before the deviation on the other connection.
  if (conduct.deviated) since = std::min(since.load(), conduct.deviated_at);
  const auto seconds = [&](Clock::time_point at) {
    return std::chrono::duration<double>(at - since.load()).count();
  };
  trial.erased_s = seconds(making.erased_at(honest));
  trial.ended_s = seconds(ended);
  trial.violation = violation_of(trial, making.flaw(honest));
  if (!trial.violation.empty())
    trial.violation = "a check of " + std::string(1, letter(honest)) + " fails, and meanwhile " +
                      std::string(name_of(obstruction)) + ": " + trial.violation;
  return trial;
}

std::vector<Revocation> try_revocations(std::uint64_t seed) {
  std::vector<Revocation> trials;
  for (const Obstruction obstruction : kAllObstructions)
    for (const Party cheater : {Party::A, Party::B})
      trials.push_back(try_revocation(obstruction, cheater, seed));
  return trials;
}

}  // namespace tinyot::tools
