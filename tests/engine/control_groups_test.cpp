// The memory that control groups leave free, computed from file trees like those of the kernel.
#include <gtest/gtest.h>

#include <limits>

#include "engine/memory.h"
#include "tests/support/files.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// As on a machine of each type.
const std::string kVersion2 =
                      "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,memory\n"
                      "29 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 "
                      "rw,nsdelegate\n",
                  kVersion1 =
                      "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
                      "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 master:2 - cgroup "
                      "cgroup rw,memory\n",
                  kHybrid = kVersion1 +
                            "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 "
                            "rw\n";

class ControlGroupsTest : public ::testing::Test {
 protected:
  void group_v2(const std::string& directory, const std::string& limit, std::uint64_t used) const {
    group(directory, "memory.max", limit, "memory.current", used);
  }
  void group_v1(const std::string& directory, const std::string& limit, std::uint64_t used) const {
    group(directory, "memory.limit_in_bytes", limit, "memory.usage_in_bytes", used);
  }
  // For a process with these groups and mounts.
  std::uint64_t free_with(const std::string& groups, const std::string& mounts) const {
    std::filesystem::create_directories(root_ / "proc/self");
    write_file(root_ / "proc/self/cgroup", groups);
    write_file(root_ / "proc/self/mountinfo", mounts);
    return free_in_control_groups(root_);
  }

  const TestDirectory directory_;
  const std::filesystem::path root_ = directory_ / "root";

 private:
  void group(const std::string& directory, const char* limit_name, const std::string& limit,
             const char* used_name, std::uint64_t used) const {
    const std::filesystem::path group = root_ / directory;
    std::filesystem::create_directories(group);
    write_file(group / limit_name, limit + "\n");
    write_file(group / used_name, std::to_string(used) + "\n");
  }
};

TEST_F(ControlGroupsTest, ReadsVersion2UpToTheRoot) {
  group_v2("sys/fs/cgroup/a.slice", "1000", 400);
  group_v2("sys/fs/cgroup/a.slice/b.service", "max", 300);
  group_v2("sys/fs/cgroup/other", "10", 5);
  EXPECT_EQ(free_with("0::/a.slice/b.service\n", kVersion2), 600u);
  group_v2("sys/fs/cgroup/a.slice/b.service", "500", 300);
  EXPECT_EQ(free_with("0::/a.slice/b.service\n", kVersion2), 200u);
}

TEST_F(ControlGroupsTest, ReadsBatchJobsOfVersion2) {
  const std::string job = "system.slice/slurmstepd.scope/job_7";
  group_v2("sys/fs/cgroup/" + job, "800", 300);
  group_v2("sys/fs/cgroup/" + job + "/step_0/user", "max", 200);
  group_v2("sys/fs/cgroup/" + job + "/step_0/user/task_0", "max", 200);
  EXPECT_EQ(free_with("0::/" + job + "/step_0/user/task_0\n", kVersion2), 500u);
}

TEST_F(ControlGroupsTest, UsageBeyondLimitLeavesNothing) {
  group_v2("sys/fs/cgroup/a", "100", 120);
  EXPECT_EQ(free_with("0::/a\n", kVersion2), 0u);
}

TEST_F(ControlGroupsTest, ReadsMemoryControllerOfVersion1) {
  const std::string memory = "sys/fs/cgroup/memory";
  group_v1(memory + "/job", "9223372036854771712", 50);  // no limit
  EXPECT_EQ(free_with("5:cpu,cpuacct:/job\n4:memory:/job\n1:name=systemd:/job\n", kVersion1),
            kNone);
  group_v1(memory, "800", 100);
  EXPECT_EQ(free_with("4:memory:/job\n", kVersion1), 700u);
  group_v1(memory + "/job/step", "400", 100);
  EXPECT_EQ(free_with("4:memory:/job/step\n", kVersion1), 300u);
  EXPECT_EQ(free_with("4:cpu:/job/step\n3:hugememory:/job/step\n", kVersion1), kNone);
}

TEST_F(ControlGroupsTest, FindsMemoryAmongControllersOfOneMount) {
  const std::string mounts = "35 31 0:32 / /cgroups/all rw - cgroup none rw,cpu,memory\n";
  group_v1("cgroups/all/job", "400", 100);
  EXPECT_EQ(free_with("4:cpu,memory:/job\n", mounts), 300u);
}

TEST_F(ControlGroupsTest, TakesLowerOfBothVersions) {
  group_v1("sys/fs/cgroup/memory/job", "500", 100);
  group_v2("sys/fs/cgroup/unified/job", "300", 100);
  EXPECT_EQ(free_with("4:memory:/job\n0::/job\n", kHybrid), 200u);
  group_v1("sys/fs/cgroup/memory/job", "150", 100);
  EXPECT_EQ(free_with("4:memory:/job\n0::/job\n", kHybrid), 50u);
  EXPECT_EQ(free_with("4:memory:/job\n0::/\n", kHybrid), 50u);
}

// In a namespace of control groups, the process's group is the root.
TEST_F(ControlGroupsTest, ReadsRootOfNamespace) {
  group_v2("sys/fs/cgroup", "90", 0);
  EXPECT_EQ(free_with("0::/\n", kVersion2), 90u);
}

// Without a namespace, a container has only its own group mounted.
TEST_F(ControlGroupsTest, FindsGroupBelowRootOfMount) {
  const auto mounts = [](const std::string& root) {
    return "35 31 0:32 " + root + " /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
  };
  group_v1("sys/fs/cgroup/memory", "700", 100);
  EXPECT_EQ(free_with("4:memory:/docker/0123\n", mounts("/docker/0123")), 600u);
  group_v1("sys/fs/cgroup/memory/job", "500", 100);
  EXPECT_EQ(free_with("4:memory:/docker/0123/job\n", mounts("/docker/0123")), 400u);
  EXPECT_EQ(free_with("4:memory:/docker/a\\x2db c/job\n", mounts("/docker/a\\134x2db\\040c")),
            400u);
}

TEST_F(ControlGroupsTest, IgnoresMountsWithoutTheGroup) {
  group_v2("sys/fs/cgroup", "10", 0);
  group_v2("sys/fs/outside", "10", 0);
  EXPECT_EQ(free_with("0::/../outside\n", kVersion2), kNone);
  const std::string other = "50 1 0:26 /other /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(free_with("0::/job\n", other), kNone);
  EXPECT_EQ(free_with("0::/others\n", other), kNone);
  EXPECT_EQ(free_with("0::/other\n", other), 10u);
}

TEST_F(ControlGroupsTest, FindsMountPointsAnywhere) {
  group_v2("jail/cgroup two/job", "300", 100);
  EXPECT_EQ(free_with("0::/job\n", "50 1 0:26 / /jail/cgroup\\040two rw - cgroup2 cgroup2 rw\n"),
            200u);
}

TEST_F(ControlGroupsTest, MissingOrMalformedFilesLimitNothing) {
  EXPECT_EQ(free_in_control_groups(directory_ / "empty"), kNone);
  for (const char* groups :
       {"", "\n", "0::/none\n", "4:memory:/none\n", "nonsense", "4:memory", ":::", "0::"})
    EXPECT_EQ(free_with(groups, kHybrid), kNone) << groups;
  group_v2("sys/fs/cgroup/a", "50", 10);
  for (const char* mounts : {"", "\n", "nonsense", "29 23 0:26 / /sys/fs/cgroup rw -",
                             "29 23 0:26 / /sys/fs/cgroup\\04 rw - cgroup2 cgroup2 rw\n"})
    EXPECT_EQ(free_with("0::/a\n", mounts), kNone) << mounts;
  EXPECT_EQ(free_with("0::/a\n", kVersion2), 40u);
  group_v2("sys/fs/cgroup/a", "many", 1);
  EXPECT_EQ(free_with("0::/a\n", kVersion2), kNone);
  std::filesystem::remove(root_ / "sys/fs/cgroup/a/memory.current");
  write_file(root_ / "sys/fs/cgroup/a/memory.max", "5\n");
  EXPECT_EQ(free_with("0::/a\n", kVersion2), kNone);
}

}  // namespace
}  // namespace tinyot::test
