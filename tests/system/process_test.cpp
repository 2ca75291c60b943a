#include "system/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "tinyot/error.h"

namespace tinyot::system {
namespace {

TEST(Process, EndsWithAStatusAsInAShell) {
  const pid_t child = fork_process();
  if (child == 0) ::_exit(3);
  EXPECT_EQ(wait_for_end_of(child), 3);
  const pid_t killed = fork_process();
  if (killed == 0) {
    ::pause();
    ::_exit(0);
  }
  ::kill(killed, SIGKILL);
  EXPECT_EQ(wait_for_end_of(killed), 128 + SIGKILL);
}

TEST(Process, RunsProgramsOfThePath) {
  EXPECT_EQ(run_program({"sh", "-c", "exit 7"}), 7);
  EXPECT_THROW(run_program({"no-program-has-this-name"}), Error);
}

// Without a descriptor, a variable or a stream of this process that was not given.
TEST(Process, StartedProgramHasWhatItWasGiven) {
  const Descriptor content = in_memory("content", "text");
  PipeEnds pipe;
  const std::string script =
      "cat <&" + std::to_string(content.get()) + "; env | grep -v -e PWD -e _=; pwd; exit 7";
  const pid_t child = start_program(
      {"/bin/sh", {"-c", script}, {"NAME=value"}, "/", {content.get()}}, pipe.write_end.get());
  pipe.write_end.close();
  std::string out;
  std::array<char, 256> read{};
  for (ssize_t count = 0; (count = ::read(pipe.read_end.get(), read.data(), read.size())) > 0;)
    out.append(read.data(), static_cast<std::size_t>(count));
  EXPECT_EQ(out, "textNAME=value\n/\n");
  EXPECT_EQ(wait_for_end_of(child), 7);
  const pid_t none = start_program({"/no/such/program", {}, {}, {}, {}}, STDOUT_FILENO);
  EXPECT_EQ(wait_for_end_of(none), 127);
}

// A signal that arrives before the program has begun ends it, though this process handles it.
TEST(Process, StartedProgramLosesNoSignal) {
  struct sigaction noted {
  }, before{};
  noted.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGTERM, &noted, &before), 0);
  for (int k = 0; k < 50; ++k) {
    PipeEnds ends;
    const pid_t child = start_program({"/bin/sleep", {"20"}, {}, {}, {}}, ends.write_end.get());
    ASSERT_EQ(::kill(child, SIGTERM), 0);
    ASSERT_EQ(wait_for_end_of(child), 128 + SIGTERM) << k;
  }
  ASSERT_EQ(::sigaction(SIGTERM, &before, nullptr), 0);
}

TEST(PipeEnds, IsNotInherited) {
  const PipeEnds pipe;
  EXPECT_EQ(
      run_program({"sh", "-c", "test ! -e /proc/self/fd/" + std::to_string(pipe.read_end.get())}),
      0);
  EXPECT_TRUE(write_all(pipe.write_end.get(), "x"));
  std::array<char, 2> read{};
  EXPECT_EQ(::read(pipe.read_end.get(), read.data(), read.size()), 1);
}

}  // namespace
}  // namespace tinyot::system
