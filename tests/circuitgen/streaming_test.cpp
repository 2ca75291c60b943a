// Reading a long file takes memory for its live wires and a few bits per gate.
#include <malloc.h>

#include <algorithm>
#include <cstring>

#include "circuit_texts.h"
#include "circuitgen/formats/bristol_writer.h"
#include "circuits.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

std::size_t bytes_in_use() {
  const auto memory = mallinfo2();
  return memory.uordblks + memory.hblkhd;
}

// A synthetic file: gate i makes wire i + 64 of wires i and i + 63. All numbers are padded, so that
// all lines have the same length and any block can be computed on demand. Records the memory in use
// at each read.
class LongText final : public TextSource {
 public:
  static constexpr std::size_t kWires = 64;

  explicit LongText(std::size_t gates) : TextSource("long", kLine * (3 + gates)), gates_(gates) {}

  void read(std::uint64_t offset, std::span<char> block) const override {
    most_bytes_ = std::max(most_bytes_, bytes_in_use());
    while (!block.empty()) {
      char line[kLine + 1];
      make_line(offset / kLine, line);
      const std::size_t skip = offset % kLine, count = std::min(block.size(), kLine - skip);
      std::memcpy(block.data(), line + skip, count);
      block = block.subspan(count);
      offset += count;
    }
  }

  std::size_t most_bytes() const { return most_bytes_; }

 private:
  static constexpr std::size_t kLine = 36;

  void make_line(std::size_t number, char* line) const {
    std::memset(line, ' ', kLine);
    line[kLine - 1] = '\n';
    const auto put = [&](std::size_t at, std::size_t value) {
      for (std::size_t digit = 8; digit-- > 0; value /= 10)
        line[at + digit] = static_cast<char>('0' + value % 10);
    };
    if (number == 0) {
      put(0, gates_);
      put(9, gates_ + kWires);
    } else if (number < 3) {
      put(0, 1);
      put(9, kWires);
    } else {
      const std::size_t gate = number - 3;
      std::memcpy(line, "2 1", 3);
      put(4, gate);
      put(13, gate + kWires - 1);
      put(22, gate + kWires);
      std::memcpy(line + 31, gate % 3 == 0 ? "AND" : "XOR", 3);
    }
  }

  std::size_t gates_;
  mutable std::size_t most_bytes_ = 0;
};

struct LiveSink final : GateSink {
  void emit(const Gate& gate) override {
    live += gate.kind != GateKind::Free && gate.kind != GateKind::Output;
    gates += gate.kind == GateKind::Xor || gate.kind == GateKind::And;
    live -= gate.kind == GateKind::Free;
    most_live = std::max(most_live, live);
  }
  std::size_t live = 0, most_live = 0, gates = 0;
};

TEST(Streaming, LongFileTakesOneBitPerWireAndThreePerGate) {
  constexpr std::size_t kGates = 400'000;
  const auto text = std::make_shared<LongText>(kGates);
  const std::size_t before = bytes_in_use();
  const auto circuit = read_circuit(text, "long");
  LiveSink sink;
  circuit->generate(sink);
  EXPECT_EQ(sink.gates, kGates);
  EXPECT_EQ(sink.live, 0u);
  EXPECT_LE(sink.most_live, LongText::kWires + 2);

  constexpr std::size_t kBuffers = 600'000, kBits = 4 * kGates / 8;
  EXPECT_LE(text->most_bytes(), before + kBuffers + kBits);
  EXPECT_LE(bytes_in_use(), before + 20'000 + 3 * kGates / 8);
}

// Counts and discards what is written.
struct CountingBuffer final : std::streambuf {
  int overflow(int c) override { return ++bytes, c; }
  std::streamsize xsputn(const char*, std::streamsize count) override {
    return bytes += static_cast<std::size_t>(count), count;
  }
  std::size_t bytes = 0;
};

TEST(Streaming, WritesLongCircuitInMemoryOfItsLiveWires) {
  const auto text = std::make_shared<LongText>(100'000);
  const auto circuit = read_circuit(text, "long");
  CountingBuffer buffer;
  std::ostream out(&buffer);
  const std::size_t before = bytes_in_use();
  write_bristol_fashion(*circuit, out);
  EXPECT_GT(buffer.bytes, 2'000'000u);
  EXPECT_LE(text->most_bytes(), before + 2'000'000)
      << "the numbers of recent wires take a megabyte";
}

}  // namespace
}  // namespace tinyot
