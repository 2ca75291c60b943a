// A text of any format that changes while it is read. The first bytes give the position, the new
// character and the length of the change.
#include <algorithm>

#include "tests/fuzz/fuzz_circuit.h"
#include "tests/support/layers.h"

namespace {

class ChangingText final : public tinyot::TextSource {
 public:
  struct Change {
    std::size_t at;
    std::size_t length;
    char to;
    std::size_t after_reads;
  };
  ChangingText(std::string text, Change change)
      : TextSource("fuzz", text.size()), text_(std::move(text)), change_(change) {}

  void read(std::uint64_t offset, std::span<char> block) const override {
    text_.copy(block.data(), block.size(), offset);
    if (reads_++ < change_.after_reads) return;
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (offset + i - change_.at < change_.length) block[i] = change_.to;
    }
  }

 private:
  std::string text_;
  Change change_;
  mutable std::size_t reads_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tinyot;
  constexpr std::size_t kHead = 5;
  if (size < kHead || size > fuzz::kTextMax) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + kHead, size - kHead);
  const std::size_t at =
      (data[0] | std::size_t{data[1]} << 8) % std::max<std::size_t>(text.size(), 1);
  for (const std::size_t after_reads : {1, 2, 3, 4, 5, 6}) {
    fuzz::try_text(
        std::make_shared<ChangingText>(
            text, ChangingText::Change{at, data[2] % 8u, static_cast<char>(data[3]), after_reads}),
        {});
  }
  return 0;
}
