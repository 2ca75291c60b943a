// What a confined program can do and see, tried by a shell in Yosys' place, in the sandbox and
// without it.
#include "system/confinement.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "system/descriptor.h"
#include "tests/support/becomes_true.h"
#include "tests/support/files.h"
#include "tests/support/temporary_variable.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;
using system::Confinement;
using system::Limit;
using system::Limits;
using system::Outcome;
using system::Sandbox;

class ConfinementTest : public ::testing::TestWithParam<Sandbox> {
 protected:
  void SetUp() override {
    std::optional<TemporaryVariable> path;
    const fs::path shell = system::found_on_path("sh").value();
    if (GetParam() == Sandbox::None) path.emplace("PATH", "/nonexistent");
    confinement_.emplace(shell, std::vector<std::string>{"-c", ":"});
    if (GetParam() == Sandbox::Bubblewrap && confinement_->missing())
      GTEST_SKIP() << confinement_->missing()->reason << ": tools/setup-tests installs bubblewrap";
  }
  Outcome run(const std::string& commands, const Limits& limits = {}) const {
    return confinement_->run({"-c", commands}, {{"given", "content"}}, limits);
  }
  // The words that it prints.
  std::set<std::string> words(const std::string& commands) const {
    const Outcome outcome = run(commands);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::istringstream stream(outcome.out);
    return {std::istream_iterator<std::string>(stream), {}};
  }

  std::string path(const std::string& name) const { return dir_ / name; }

  const TestDirectory directory_;
  const fs::path dir_ = directory_.path();
  std::optional<Confinement> confinement_;
};

TEST_P(ConfinementTest, WorksInDirectoryOfItsFiles) {
  ASSERT_EQ(confinement_->sandbox(), GetParam());
  const Outcome outcome = run("cat given; echo x > $TMPDIR/own; cat own; echo error >&2; exit 3");
  EXPECT_EQ(outcome.out, "contentx\n");
  EXPECT_EQ(outcome.err, "error\n");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.limit, std::nullopt);
  EXPECT_EQ(run("kill -TERM $$").status, 128 + SIGTERM);
}

TEST_P(ConfinementTest, LeavesNoDirectory) {
  const TemporaryVariable directory("TMPDIR", dir_.string());
  fs::permissions(dir_, fs::perms(0755));
  run("echo x > own; mkdir deeper; echo x > deeper/own");
  EXPECT_TRUE(fs::is_empty(dir_));
}

TEST_P(ConfinementTest, HasNoEnvironmentAndNoDescriptorOfThisProcess) {
  const TemporaryVariable secret("TINYOT_STORE_KEY", "secret");
  const system::Descriptor inherited(::memfd_create("open", 0));
  const std::set<std::string> names = words("env | cut -d= -f1");
  EXPECT_EQ(names, (std::set<std::string>{"PATH", "PWD", "TMPDIR"}));
  EXPECT_EQ(words("exec ls -l /proc/self/fd | grep -c memfd || :"), (std::set<std::string>{"0"}));
}

// Root in a user namespace that has no other user.
bool stays_root() { return ::geteuid() == 0 && !system::less_privileged_user(); }

TEST_P(ConfinementTest, IsNotRoot) {
  if (stays_root()) GTEST_SKIP() << "there is no user nobody";
  EXPECT_EQ(words("id -u").count("0"), 0u);
  EXPECT_EQ(words("grep -h CapEff /proc/self/status"),
            (std::set<std::string>{"CapEff:", "0000000000000000"}));
}

TEST_P(ConfinementTest, DoesNotReadFilesOfRoot) {
  if (!system::less_privileged_user()) GTEST_SKIP() << "only root becomes another user";
  write_file(path("key.hex"), "secret");
  fs::permissions(dir_, fs::perms(0755));
  fs::permissions(path("key.hex"), fs::perms(0600));
  EXPECT_EQ(run("cat '" + path("key.hex") + "'").out, "");
}

TEST_P(ConfinementTest, TimeIsLimited) {
  Limits limits;
  limits.time = std::chrono::seconds(1);
  for (const char* commands : {"while :; do :; done", "exec >&- 2>&-; sleep 1000",
                               "sleep 1000 & exec sleep 1000", "kill -XCPU $$"})
    EXPECT_EQ(run(commands, limits).limit, Limit::Time) << commands;
}

TEST_P(ConfinementTest, OutputIsLimited) {
  Limits limits;
  limits.time = std::chrono::seconds(30);
  limits.output_bytes = 1 << 20;
  for (const char* commands : {"yes", "yes >&2", "yes > own"}) {
    const Outcome outcome = run(commands, limits);
    EXPECT_EQ(outcome.limit, Limit::Output) << commands << ": " << outcome.status << outcome.err;
    EXPECT_LE(outcome.out.size(), limits.output_bytes);
    EXPECT_LE(outcome.err.size(), std::size_t{16} << 10);
  }
}

TEST_P(ConfinementTest, MemoryIsLimited) {
  Limits limits;
  limits.memory_bytes = 100 << 20;
  const Outcome outcome = run("ulimit -v; dd if=given of=/dev/null bs=200M count=1", limits);
  EXPECT_EQ(outcome.out, "102400\n");
  EXPECT_EQ(outcome.limit, Limit::Memory) << outcome.status << outcome.err;
}

TEST_P(ConfinementTest, ProcessesAreLimited) {
  if (stays_root()) GTEST_SKIP() << "there is no user nobody, and root has no limit of processes";
  Limits limits;
  limits.processes = 64;
  const Outcome outcome =
      run("i=0; while [ $i -lt 1000 ]; do sleep 1000 & i=$((i+1)); done; echo all", limits);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.limit, Limit::Processes) << outcome.status << outcome.err;
}

TEST_P(ConfinementTest, HasLimitsOfTheSystem) {
  Limits limits;
  limits.time = std::chrono::seconds(77);
  limits.output_bytes = 1 << 20;
  // core dumps, seconds of the processor, files in units of 512 bytes
  EXPECT_EQ(run("ulimit -c; ulimit -t; ulimit -f", limits).out, "0\n77\n2048\n");
}

// Whether a process has the word in its command line.
bool is_running(const std::string& word) {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ostringstream line;
    // fails, and does not throw, where the process ends meanwhile
    line << std::ifstream(entry.path() / "cmdline").rdbuf();
    if (line.str().find(word) != std::string::npos) return true;
  }
  return false;
}

TEST_P(ConfinementTest, LeavesNoProcess) {
  const std::string marker = std::to_string(1'000'000'000 + ::getpid());
  Limits limits;
  limits.time = std::chrono::seconds(1);
  for (const std::string end : {"wait", "exit 0"}) {
    run("sleep " + marker + " & " + end, limits);
    EXPECT_TRUE(becomes_true([&] { return !is_running(marker); })) << end;
  }
}

TEST(LimitedProcess, EndsWithItsParent) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const system::Descriptor read_end(pipe[0]);
  system::Descriptor write_end(pipe[1]);
  const pid_t parent = ::fork();
  if (parent == 0) {
    // a number of one digit, which a shell can name
    if (::dup2(write_end.get(), 9) != 9) ::_exit(1);
    system::run_limited({"/bin/sh", {"-c", "echo begun >&9; exec /bin/sleep 1000"}, {}, "/", {9}},
                        {});
    ::_exit(0);
  }
  write_end.close();
  std::array<char, 6> begun{};
  EXPECT_EQ(::read(read_end.get(), begun.data(), begun.size()), 6);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  pollfd end = {read_end.get(), POLLIN, 0};
  ASSERT_EQ(::poll(&end, 1, 60'000), 1) << "the process is still there";
  EXPECT_EQ(::read(read_end.get(), begun.data(), begun.size()), 0);
}

TEST_P(ConfinementTest, RemovesControlCharactersFromWhatItSays) {
  EXPECT_EQ(run("printf 'a\\033[31m\\tb\\n\\000' >&2").err, "a?[31m\tb\n?");
  const Outcome outcome = run("yes first | head -n 100000 >&2; echo last >&2");
  EXPECT_TRUE(outcome.err.ends_with("first\nlast\n"));
  EXPECT_LE(outcome.err.size(), std::size_t{16} << 10);
}

INSTANTIATE_TEST_SUITE_P(With, ConfinementTest,
                         ::testing::Values(Sandbox::Bubblewrap, Sandbox::None),
                         [](const auto& each) { return name_of(each.param); });

class SandboxTest : public ConfinementTest {};

TEST_P(SandboxTest, SeesOnlyProgramsLibrariesAndItsFiles) {
  write_file(path("key.hex"), "secret");
  fs::permissions(dir_, fs::perms(0755));
  fs::permissions(path("key.hex"), fs::perms(0644));
  EXPECT_EQ(run("cat '" + path("key.hex") + "'; cat < '" + path("key.hex") + "'").out, "");
  std::set<std::string> root = words("ls -A /");
  for (const char* visible : {"bin", "dev", "etc", "gnu", "lib", "lib32", "lib64", "libexec", "nix",
                              "proc", "tmp", "usr"})
    root.erase(visible);
  EXPECT_EQ(root, std::set<std::string>());
  EXPECT_EQ(words("ls -A /etc"), (std::set<std::string>{"ld.so.cache"}));
  EXPECT_EQ(words("ls -A /dev"), (std::set<std::string>{"null"}));
  EXPECT_EQ(words("ls -A /tmp"), (std::set<std::string>{"given"}));
  EXPECT_FALSE(words("ls -A /usr").contains("share"));
}

TEST_P(SandboxTest, WritesOnlyToItsDirectory) {
  fs::permissions(dir_, fs::perms(0777));
  for (const std::string& file :
       {std::string("/file"), std::string("/usr/file"), std::string("/usr/bin/file"),
        std::string("/dev/file"), std::string("/etc/file"), path("file"), std::string("given")})
    EXPECT_NE(run("echo x > '" + file + "'").status, 0) << file;
  EXPECT_TRUE(fs::is_empty(dir_));
  EXPECT_EQ(
      words("grep -v -e ' /proc ' -e ' /dev/null ' -e ' /tmp ' /proc/mounts | cut -d' ' -f4 | "
            "cut -d, -f1"),
      (std::set<std::string>{"ro"}));
}

TEST_P(SandboxTest, SharesNoNamespace) {
  for (const std::string kind : {"net", "pid", "ipc", "uts", "mnt", "user"}) {
    const std::string link = "/proc/self/ns/" + kind;
    EXPECT_NE(run("readlink " + link).out, fs::read_symlink(link).string() + "\n") << kind;
  }
  EXPECT_EQ(words("cut -d: -f1 -s /proc/net/dev"), (std::set<std::string>{"lo"}));
}

TEST_P(SandboxTest, TemporaryFilesAreLimitedTogether) {
  Limits limits;
  limits.output_bytes = 1 << 20;
  const Outcome outcome =
      run("for i in 1 2 3 4; do yes | head -c 500000 > $i || exit 1; done", limits);
  EXPECT_EQ(outcome.limit, Limit::Output) << outcome.status << outcome.err;
}

TEST_P(SandboxTest, GainsNoPrivileges) {
  EXPECT_EQ(words("grep -h NoNewPrivs /proc/self/status"),
            (std::set<std::string>{"NoNewPrivs:", "1"}));
}

INSTANTIATE_TEST_SUITE_P(With, SandboxTest, ::testing::Values(Sandbox::Bubblewrap),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace tinyot::test
