// How busy other programs keep the machine while something is measured.
#pragma once

#include <optional>

namespace tinyot::tools {

// Counts from its construction, and from each answer on.
class OtherLoad {
 public:
  OtherLoad() : last_(now()) {}
  // The share of the machine's processor time that other programs than this one and its ended
  // children have taken, 0 to 1; absent where the system does not tell.
  std::optional<double> share();

 private:
  struct Times {
    double of_all_s = 0, busy_s = 0, own_s = 0;
  };
  static std::optional<Times> now();

  std::optional<Times> last_;
};

}  // namespace tinyot::tools
