// A program that works on what others have written, as a process that can do nothing else: with
// limits, and in a sandbox where bubblewrap can set one up.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "system/limited_process.h"

namespace tinyot::system {

enum class Sandbox { Bubblewrap, None };

std::string name_of(Sandbox sandbox);

// The executable that PATH has for the name, without symbolic links.
std::optional<std::filesystem::path> found_on_path(const std::string& name);

struct NoSandbox {
  std::string reason, remedy;
};

// A file in the program's working directory.
struct GivenFile {
  std::string name, content;
};

class Confinement {
 public:
  // `program` is as found_on_path returns it. Runs it once with the arguments `probe`, to find out
  // whether it works in the sandbox here.
  Confinement(std::filesystem::path program, const std::vector<std::string>& probe);

  Sandbox sandbox() const { return missing_ ? Sandbox::None : Sandbox::Bubblewrap; }
  const std::optional<NoSandbox>& missing() const { return missing_; }

  // Runs the program in a directory that has the files, which is also its TMPDIR and is removed
  // afterwards. Its environment is PATH and TMPDIR. In the sandbox it sees nothing but this
  // directory, what is installed with it, and programs and libraries of the system, can write only
  // to this directory, and has no network. Fails: Error; UsageError if there is no sandbox
  // and the path of temporary files has a character that a shell interprets.
  Outcome run(const std::vector<std::string>& arguments, const std::vector<GivenFile>& files,
              const Limits& limits) const;

 private:
  Outcome run_in_sandbox(std::vector<std::string> arguments, const std::vector<GivenFile>& files,
                         const Limits& limits) const;
  Outcome run_without(std::vector<std::string> arguments, const std::vector<GivenFile>& files,
                      const Limits& limits) const;

  std::filesystem::path program_;
  std::optional<std::filesystem::path> bubblewrap_;
  std::optional<NoSandbox> missing_;
};

}  // namespace tinyot::system
