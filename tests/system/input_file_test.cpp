#include "system/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <functional>

#include "tests/support/files.h"
#include "tinyot/error.h"

namespace tinyot::system {
namespace {

namespace fs = std::filesystem;
using Kind = InputFile::Kind;

class InputFileTest : public ::testing::Test {
 protected:
  fs::path write(const std::string& content) const {
    const fs::path path = directory_ / "file";
    test::write_file(path, content);
    return path;
  }
  static std::string refusal(const std::function<void()>& call) {
    try {
      call();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  const test::TestDirectory directory_;
};

TEST_F(InputFileTest, ReadsWholeFilesOfAnyLength) {
  for (const std::size_t size : {0u, 1u, 65535u, 65536u, 65537u, 300000u}) {
    std::string content(size, 'x');
    for (std::size_t i = 0; i < size; i += 7) content[i] = static_cast<char>(i);
    const fs::path path = write(content);
    EXPECT_EQ(read_text(InputFile(path), size), content);
    const SecretText secret = read_secret(InputFile(path));
    EXPECT_EQ(std::string(secret.begin(), secret.end()), content);
    EXPECT_EQ(InputFile(path).size(), size);
    if (size > 0) {
      EXPECT_NE(refusal([&] { read_text(InputFile(path), size - 1); }), "");
    }
  }
}

TEST_F(InputFileTest, ReadsAtAnOffsetUpToTheEnd) {
  const InputFile file(write("0123456789"));
  std::string part(4, ' ');
  EXPECT_EQ(file.read_at(3, part), 4u);
  EXPECT_EQ(part, "3456");
  EXPECT_EQ(file.read_at(8, part), 2u);
  EXPECT_EQ(file.read_at(10, part), 0u);
}

TEST_F(InputFileTest, NamesWhatCannotBeRead) {
  const fs::path missing = directory_ / "missing";
  EXPECT_EQ(refusal([&] { InputFile file(missing); }),
            "cannot read " + missing.string() + ": No such file or directory");
  EXPECT_EQ(refusal([&] { read_secret(InputFile(directory_.path())); }),
            "cannot read " + directory_.path().string() + ": Is a directory");
}

// Opening a pipe would wait for its writer.
TEST_F(InputFileTest, RegularFileIsNoPipe) {
  const fs::path pipe = directory_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& path : {pipe, directory_.path()})
    EXPECT_NE(refusal([&] { InputFile file(path, Kind::Regular); }).find("not a regular file"),
              std::string::npos);
}

TEST_F(InputFileTest, PrivateFileIsForItsOwnerOnly) {
  const fs::path path = write("key");
  fs::permissions(path, fs::perms(0640));
  EXPECT_NE(refusal([&] { InputFile file(path, Kind::Private); }).find("chmod 600"),
            std::string::npos);
  fs::permissions(path, fs::perms(0600));
  EXPECT_EQ(read_text(InputFile(path, Kind::Private), 3), "key");
}

}  // namespace
}  // namespace tinyot::system
