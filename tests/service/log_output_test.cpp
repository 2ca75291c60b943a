// The place of a daemon's log, as its operator names it.
#include "service/log_output.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/support/files.h"

namespace tinyot::test {
namespace {

class LogOutputTest : public ::testing::Test {
 protected:
  static std::string refusal_of(const std::string& file) {
    service::config::Log log;
    log.set_file(file);
    try {
      service::LogOutput::check(log);
    } catch (const UsageError& error) {
      return error.what();
    }
    return {};
  }

  const TestDirectory directory_;
};

TEST_F(LogOutputTest, IsAFileAtAnAbsolutePath) {
  EXPECT_NO_THROW(service::LogOutput::check({}));
  const std::string file = (directory_ / "log").string();
  EXPECT_EQ(refusal_of(file), "");
  write_file(file, "a line\n");
  EXPECT_EQ(refusal_of(file), "");
  EXPECT_EQ(refusal_of("log"), "log.file: give an absolute path, not log");
  EXPECT_EQ(refusal_of(directory_.path().string()),
            "log.file: " + directory_.path().string() + " is there, and is not a file");
  const std::string nowhere = (directory_ / "not made").string();
  EXPECT_TRUE(refusal_of(nowhere + "/log").starts_with("log.file: cannot write " + nowhere));
}

}  // namespace
}  // namespace tinyot::test
