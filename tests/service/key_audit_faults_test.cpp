// The disk of an audit log fails, or the power: no operation goes on without its line.
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "base/error.h"
#include "service/key_audit.h"
#include "tests/storage/faults/disk.h"
#include "tests/storage/faults/interposed.h"
#include "tests/support/files.h"
#include "tests/support/small_disk.h"

namespace tinyot::faults {
namespace {

namespace fs = std::filesystem;
using service::AuditHead;
using service::AuditLine;
using service::KeyAudit;

AuditLine line_of(int number) {
  AuditLine line;
  line.request = std::to_string(number);
  line.operation = "encrypt";
  return line;
}

// A disk that has lost its power has what was synced, in `image`.
class KeyAuditFault : public ::testing::Test {
 protected:
  KeyAuditFault() {
    fs::create_directory(place_);
    disk_.emplace(place_, [] {});
    observe(&*disk_);
  }
  ~KeyAuditFault() override { observe(nullptr); }

  const test::TestDirectory root_;
  const fs::path place_ = root_ / "disk", image_ = root_ / "image";
  std::optional<Disk> disk_;
};

// The line that has been appended, and those before, with nothing but what was synced.
TEST_F(KeyAuditFault, LineIsDurableOnReturn) {
  {
    KeyAudit log(place_ / "audit");
    for (int number = 1; number <= 4; ++number) {
      const AuditHead head = log.append(line_of(number));
      EXPECT_EQ(log.head().sequence, head.sequence);
      disk_->after_power_cut(image_, [](std::size_t) { return 0; });
      EXPECT_TRUE(fs::exists(image_ / "audit"));
      const KeyAudit later(image_ / "audit");
      EXPECT_EQ(later.head().sequence, head.sequence) << "line " << number << " is lost";
      EXPECT_EQ(later.head().hash.bytes, head.hash.bytes);
      fs::remove_all(image_);
    }
  }
}

// A line that was written while another one was synced is not on the disk with that one.
TEST_F(KeyAuditFault, LineDuringASyncIsDurableOnReturn) {
  {
    KeyAudit log(place_ / "audit");
    std::uint64_t second = 0;
    std::jthread other;
    after_syncs([&] {
      if (other.joinable()) return;
      const auto before = fs::file_size(place_ / "audit");
      other = std::jthread([&] { second = log.append(line_of(2)).sequence; });
      while (fs::file_size(place_ / "audit") == before) std::this_thread::yield();
    });
    EXPECT_EQ(log.append(line_of(1)).sequence, 1u);
    other.join();
    after_syncs({});
    EXPECT_EQ(second, 2u);
    disk_->after_power_cut(image_, [](std::size_t) { return 0; });
    EXPECT_EQ(KeyAudit(image_ / "audit").head().sequence, 2u) << "line 2 is lost";
  }
}

// A line that could not be written is not there, and the next one follows the last whole line. What
// a failed sync has left is not known, so that no line counts until a restart, which reads it.
TEST(KeyAuditFaults, NothingGoesOnAfterALineThatMayBeLost) {
  constexpr std::uint64_t kWrite = 1;
  for (const Fault fault : {Fault::NoSpace, Fault::IoError, Fault::ShortWrite})
    for (std::uint64_t at = 1;; ++at) {
      SCOPED_TRACE("fault " + std::to_string(static_cast<int>(fault)) + " at call " +
                   std::to_string(at));
      const test::TestDirectory directory;
      AuditHead head;
      bool is_reached = false, has_failed = false;
      {
        KeyAudit log(directory / "audit");
        head = log.append(line_of(1));
        arm(fault, at);
        try {
          head = log.append(line_of(2));
        } catch (const StoreError&) {
          has_failed = true;
        }
        is_reached = calls() >= at;
        disarm();
        EXPECT_EQ(log.head().sequence, head.sequence);
        EXPECT_EQ(log.has_failed(), has_failed && at > kWrite);
        if (has_failed && at == kWrite) {
          EXPECT_EQ(log.append(line_of(3)).sequence, head.sequence + 1);
          head = log.head();
        } else if (has_failed) {
          EXPECT_THROW(log.append(line_of(3)), StoreError);
          EXPECT_EQ(log.head().sequence, head.sequence);
        }
      }
      EXPECT_EQ(has_failed, is_reached && fault != Fault::ShortWrite);
      KeyAudit later(directory / "audit");
      EXPECT_GE(later.head().sequence, head.sequence);
      const std::uint64_t before = later.head().sequence;
      EXPECT_EQ(later.append(line_of(4)).sequence, before + 1);
      if (!is_reached) {
        EXPECT_GT(at, 2u) << "system calls are not intercepted";
        break;
      }
    }
}

// A long line meets the end of the disk in its middle; nothing of it is behind a short one.
TEST(KeyAuditFaults, GoesOnOnceTheDiskHasRoom) {
  const test::TestDirectory directory;
  const test::SmallDisk disk(directory / "disk", 1 << 16);
  if (!disk.is_mounted()) GTEST_SKIP() << "this process may not mount a disk";
  std::uint64_t lines = 0;
  {
    KeyAudit log(directory / "disk" / "audit");
    AuditLine line = line_of(1);
    line.client = std::string(3000, 'c');
    EXPECT_THROW(
        for (;;) {
          log.append(line);
          ++lines;
        },
        StoreError);
    EXPECT_THROW(log.append(line), StoreError);
    EXPECT_FALSE(log.has_failed());
    ASSERT_TRUE(disk.resize(1 << 20));
    EXPECT_EQ(log.append(line_of(2)).sequence, lines + 1);
  }
  EXPECT_GT(lines, 10u);
  EXPECT_TRUE(test::read_file(directory / "disk" / "audit").ends_with('\n'));
  EXPECT_EQ(KeyAudit(directory / "disk" / "audit").head().sequence, lines + 1);
}

}  // namespace
}  // namespace tinyot::faults
