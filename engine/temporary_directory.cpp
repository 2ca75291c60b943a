#include "engine/temporary_directory.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/error.h"

namespace tinyot::engine {

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "tinyot-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw StoreError("cannot make the temporary directory " + pattern + ": " +
                     std::strerror(errno));
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tinyot::engine
