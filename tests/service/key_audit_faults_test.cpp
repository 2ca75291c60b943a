// The disk of an audit log fails, or the power: no operation goes on without its line.
#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "service/key_audit.h"
#include "tests/storage/faults/disk.h"
#include "tests/storage/faults/interposed.h"
#include "tests/support/files.h"

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

// The line that has been appended, and those before, with nothing but what was synced.
TEST(KeyAuditFault, LineIsDurableOnReturn) {
  const test::TestDirectory root;
  const fs::path place = root / "disk", image = root / "image";
  fs::create_directory(place);
  Disk disk(place, [] {});
  observe(&disk);
  {
    KeyAudit log(place / "audit");
    for (int number = 1; number <= 4; ++number) {
      const AuditHead head = log.append(line_of(number));
      EXPECT_EQ(log.head().sequence, head.sequence);
      disk.after_power_cut(image, [](std::size_t) { return 0; });
      EXPECT_TRUE(fs::exists(image / "audit"));
      const KeyAudit later(image / "audit");
      EXPECT_EQ(later.head().sequence, head.sequence) << "line " << number << " is lost";
      EXPECT_EQ(later.head().hash.bytes, head.hash.bytes);
      fs::remove_all(image);
    }
  }
  observe(nullptr);
}

// A line that was written while another one was synced is not on the disk with that one.
TEST(KeyAuditFault, LineDuringASyncIsDurableOnReturn) {
  const test::TestDirectory root;
  const fs::path place = root / "disk", image = root / "image";
  fs::create_directory(place);
  Disk disk(place, [] {});
  observe(&disk);
  {
    KeyAudit log(place / "audit");
    std::uint64_t second = 0;
    std::jthread other;
    after_syncs([&] {
      if (other.joinable()) return;
      const auto before = fs::file_size(place / "audit");
      other = std::jthread([&] { second = log.append(line_of(2)).sequence; });
      while (fs::file_size(place / "audit") == before) std::this_thread::yield();
    });
    EXPECT_EQ(log.append(line_of(1)).sequence, 1u);
    other.join();
    after_syncs({});
    EXPECT_EQ(second, 2u);
    disk.after_power_cut(image, [](std::size_t) { return 0; });
    EXPECT_EQ(KeyAudit(image / "audit").head().sequence, 2u) << "line 2 is lost";
  }
  observe(nullptr);
}

// What a failed sync has left is not known, so that no line counts until a restart, which reads it.
TEST(KeyAuditFault, NothingGoesOnAfterALineThatMayBeLost) {
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
        if (has_failed) {
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

}  // namespace
}  // namespace tinyot::faults
