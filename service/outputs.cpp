#include "service/outputs.h"

#include <algorithm>

#include "base/secret.h"

namespace tinyot::service {
namespace {

constexpr std::size_t kPartBytes = std::size_t{1} << 20;

// The bits of one message after the other. They never move, so no copy of them is left behind.
class OutputBits {
 public:
  explicit OutputBits(std::string& bits) : bits_(bits) { bits_.reserve(kPartBytes); }
  ~OutputBits() { clear(); }
  OutputBits(const OutputBits&) = delete;
  OutputBits& operator=(const OutputBits&) = delete;

  bool is_empty() const { return bits_.empty(); }
  bool is_full() const { return bits_.size() == kPartBytes; }
  // Returns what there is no room for.
  std::span<const std::byte> append(std::span<const std::byte> bytes) {
    const std::size_t count = std::min(bytes.size(), kPartBytes - bits_.size());
    bits_.append(reinterpret_cast<const char*>(bytes.data()), count);
    return bytes.subspan(count);
  }
  void clear() {
    wipe(bits_.data(), bits_.size());
    bits_.clear();
  }

 private:
  std::string& bits_;
};

}  // namespace

bool write_outputs(const Values& outputs, const std::vector<circuit::OutputBundle>& bundles,
                   v1::ResultPart& part, const std::function<bool(const v1::ResultPart&)>& write) {
  v1::Output& output = *part.add_outputs();
  OutputBits bits(*output.mutable_bits());
  for (const circuit::OutputBundle& bundle : bundles) {
    if (!outputs.contains(bundle.name)) continue;
    output.set_name(bundle.name);
    output.set_bits_per_lane(bundle.bits);
    output.set_format(std::string(name_of(bundle.format)));
    output.set_type(bundle.type);
    bool is_first = true;
    const auto send = [&] {
      const bool is_sent = write(part);
      bits.clear();
      is_first = false;
      return is_sent;
    };
    // Of all lanes, each padded to whole bytes.
    for (auto rest = outputs.at(bundle.name).bytes(); !rest.empty();) {
      rest = bits.append(rest);
      if (bits.is_full() && !send()) return false;
    }
    if ((is_first || !bits.is_empty()) && !send()) return false;
  }
  return true;
}

}  // namespace tinyot::service
