#include "tinyot/version.h"

namespace tinyot {

std::string_view version() { return TINYOT_BUILD; }

}  // namespace tinyot
