// One party of a whole session, from the handshake to the outputs or to the end of store
// synchronisation. Its peer sends the messages of an honest session with some edits. The text is
// one byte for the session and party, then seven bytes for each edit: message, position in its
// frame, operation, operand and length. The session must not end with an internal error, and the
// party's results must be correct.
#include <cstring>

#include "base/error.h"
#include "tests/fuzz/fuzz_circuit.h"
#include "tests/support/layers.h"
#include "tools/selftest/adversary/trial.h"

namespace {

using namespace tinyot;

using Frames = std::vector<std::vector<std::byte>>;

constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kEditBytes = 7, kEditsMax = 8;

Frames frames_of(const Transcript& sent) {
  Frames frames;
  for (const SeenMessage& message : sent) {
    const FrameHeader header{message.payload.size(), message.tag,
                             static_cast<std::uint32_t>(frames.size())};
    const auto head = std::as_bytes(std::span(&header, 1));
    frames.emplace_back(head.begin(), head.end());
    frames.back().insert(frames.back().end(), message.payload.begin(), message.payload.end());
  }
  return frames;
}

// A party of a kind of session, and the frames of its honest peer.
struct Target {
  const ScenarioKind* kind;
  Party party;
  Frames frames;
};

const std::vector<Target>& targets() {
  static const std::vector<Target> kTargets = [] {
    std::vector<Target> all;
    for (const ScenarioKind& kind : scenario_kinds()) {
      if (kind.name.starts_with("nnob12")) continue;  // its base OTs take a second per session
      for (const Party party : {Party::A, Party::B})
        all.push_back(
            {&kind, party, frames_of(attempt(kind, kSeed, peer_of(party), nullptr).conduct.sent)});
    }
    return all;
  }();
  return kTargets;
}

struct Edit {
  std::uint16_t message, place;
  std::uint8_t what, with, length;
};

void apply(const Edit& edit, Frames& frames) {
  auto& frame = frames[edit.message % frames.size()];
  const std::size_t at = frame.empty() ? 0 : edit.place % frame.size(),
                    count = std::min<std::size_t>(edit.length, frame.size() - at);
  const auto begin = frame.begin() + static_cast<std::ptrdiff_t>(at);
  switch (edit.what % 5) {
    case 0:
      if (!frame.empty()) frame[at] ^= std::byte{edit.with};
      return;
    case 1:
      frame.insert(begin, edit.length, std::byte{edit.with});
      return;
    case 2:
      frame.erase(begin, begin + static_cast<std::ptrdiff_t>(count));
      return;
    case 3:
      std::fill_n(begin, count, std::byte{edit.with});
      return;
    default:
      std::swap(frame, frames[edit.with % frames.size()]);
  }
}

// Replays recorded frames, and discards what is written.
class Recorded final : public ByteStream {
 public:
  explicit Recorded(const Frames& frames) {
    for (const auto& frame : frames) bytes_.insert(bytes_.end(), frame.begin(), frame.end());
  }
  void write(std::span<const std::byte>, std::span<const std::byte>) override {}
  void read(std::span<std::byte> bytes) override {
    if (bytes_.size() - at_ < bytes.size()) throw NetworkError("the peer closed the connection");
    if (!bytes.empty()) std::memcpy(bytes.data(), bytes_.data() + at_, bytes.size());
    at_ += bytes.size();
  }
  void flush() override {}
  void set_deadline(std::chrono::steady_clock::time_point) noexcept override {}

 private:
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Target& target = targets()[data[0] % targets().size()];
  Frames frames = target.frames;
  for (std::size_t i = 0; i < kEditsMax && (i + 1) * kEditBytes < size; ++i) {
    const std::uint8_t* edit = data + 1 + i * kEditBytes;
    apply({static_cast<std::uint16_t>(edit[0] | edit[1] << 8),
           static_cast<std::uint16_t>(edit[2] | edit[3] << 8), edit[4], edit[5], edit[6]},
          frames);
  }
  const auto scenario = target.kind->make(kSeed);
  const auto channel = make_framed_channel(std::make_unique<Recorded>(frames));
  try {
    scenario->run(target.party, *channel);
  } catch (const Error&) {
    // Any other exception is a bug.
  }
  ENSURE(scenario->flaw(target.party).empty());
  return 0;
}
