#include "system/temporary_directory.h"

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "system/errno_text.h"

namespace tinyot::system {

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "tinyot-XXXXXX").string();
  if (!mkdtemp(pattern.data()))
    throw StoreError("cannot make the temporary directory " + pattern + ": " + errno_text());
  path_ = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tinyot::system
