// The memory that control groups leave free, computed from file trees like those of the kernel.
#include <fstream>
#include <limits>

#include "engine/memory.h"
#include "tests/support/layers.h"
#include "tests/tools/command_test.h"

namespace tinyot::test {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

class ControlGroupsTest : public CommandTest {
 protected:
  void group_v2(const std::string& directory, const std::string& limit, std::uint64_t used) const {
    group(directory, "memory.max", limit, "memory.current", used);
  }
  void group_v1(const std::string& directory, const std::string& limit, std::uint64_t used) const {
    group(directory, "memory.limit_in_bytes", limit, "memory.usage_in_bytes", used);
  }
  std::uint64_t free_in(const std::string& groups) const {
    return free_in_control_groups(groups, root_);
  }

 protected:
  const std::filesystem::path root_ = dir_ / "cgroup";

  void group(const std::string& directory, const char* limit_name, const std::string& limit,
             const char* used_name, std::uint64_t used) const {
    std::filesystem::create_directories(root_ / directory);
    write_file(root_ / directory / limit_name, limit + "\n");
    write_file(root_ / directory / used_name, std::to_string(used) + "\n");
  }
};

TEST_F(ControlGroupsTest, ReadsVersion2UpToTheRoot) {
  group_v2("a.slice", "1000", 400);
  group_v2("a.slice/b.service", "max", 300);
  group_v2("other", "10", 5);
  EXPECT_EQ(free_in("0::/a.slice/b.service\n"), 600u);
  group_v2("a.slice/b.service", "500", 300);
  EXPECT_EQ(free_in("0::/a.slice/b.service\n"), 200u);
  group_v2("", "90", 0);  // as in a container, whose own group is the root
  EXPECT_EQ(free_in("0::/a.slice/b.service\n"), 90u);
  EXPECT_EQ(free_in("0::/\n"), 90u);
}

TEST_F(ControlGroupsTest, UsageBeyondLimitLeavesNothing) {
  group_v2("a", "100", 120);
  EXPECT_EQ(free_in("0::/a\n"), 0u);
}

TEST_F(ControlGroupsTest, ReadsMemoryControllerOfVersion1) {
  group_v1("memory/job", "9223372036854771712", 50);  // no limit
  EXPECT_EQ(free_in("5:cpu,cpuacct:/job\n4:memory:/job\n1:name=systemd:/job\n"), kNone);
  group_v1("memory", "800", 100);
  EXPECT_EQ(free_in("4:memory:/job\n"), 700u);
  group_v1("memory/job/step", "400", 100);
  EXPECT_EQ(free_in("4:memory:/job/step\n"), 300u);
  EXPECT_EQ(free_in("4:cpu,memory:/job/step\n"), 300u);
  EXPECT_EQ(free_in("4:cpu:/job/step\n3:hugememory:/job/step\n"), kNone);
}

TEST_F(ControlGroupsTest, TakesLowerOfBothVersions) {
  group_v1("memory/job", "500", 100);
  group_v2("unified/job", "300", 100);
  EXPECT_EQ(free_in("4:memory:/job\n0::/job\n"), 200u);
  group_v1("memory/job", "150", 100);
  EXPECT_EQ(free_in("4:memory:/job\n0::/job\n"), 50u);
}

TEST_F(ControlGroupsTest, UsesRootOfMountForUnmountedGroup) {
  group_v1("memory", "700", 100);
  EXPECT_EQ(free_in("4:memory:/docker/0123\n"), 600u);
  group_v2("../outside", "10", 0);
  EXPECT_EQ(free_in("4:memory:/\n0::/../outside\n"), 600u);
}

TEST_F(ControlGroupsTest, MissingOrMalformedGroupsLimitNothing) {
  for (const char* groups :
       {"", "\n", "0::/none\n", "4:memory:/none\n", "nonsense", "4:memory", ":::", "0::"})
    EXPECT_EQ(free_in(groups), kNone) << groups;
  group_v2("a", "many", 1);
  EXPECT_EQ(free_in("0::/a\n"), kNone);
  std::filesystem::remove(root_ / "a/memory.current");
  write_file(root_ / "a/memory.max", "5\n");
  EXPECT_EQ(free_in("0::/a\n"), kNone);
}

}  // namespace
}  // namespace tinyot::test
