#include "base/error.h"

namespace tinyot {

void ensure_failed(const char* condition, const char* file, int line) {
  throw std::logic_error(std::string("internal error, please report it: ") + condition +
                         " does not hold at " + file + ":" + std::to_string(line));
}

}  // namespace tinyot
