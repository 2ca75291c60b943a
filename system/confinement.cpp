#include "system/confinement.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "system/errno_text.h"
#include "system/temporary_directory.h"

namespace tinyot::system {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDirectory = "/tmp";  // in the sandbox

// What is installed in /usr/bin has its libraries in /usr/lib, and so on.
fs::path prefix_of(const fs::path& program) { return program.parent_path().parent_path(); }

std::vector<std::string> environment_for(const fs::path& program, const fs::path& directory) {
  return {"PATH=" + program.parent_path().string() + ":/usr/bin:/bin",
          "TMPDIR=" + directory.string()};
}

// The root directory is empty and cannot be written to, but for what is named here.
std::vector<std::string> sandbox_options(const fs::path& program, const Limits& limits) {
  std::vector<std::string> options = {"--unshare-all", "--die-with-parent", "--new-session",
                                      "--cap-drop", "ALL"};
  const auto show = [&](const fs::path& path) {
    options.insert(options.end(), {"--ro-bind-try", path.string(), path.string()});
  };
  const fs::path prefix = prefix_of(program);
  for (const fs::path& each : {fs::path("/"), fs::path("/usr"), prefix})
    for (const char* folder : {"bin", "lib", "lib32", "lib64", "libexec"}) show(each / folder);
  show(prefix / "share" / program.filename());
  for (const char* path : {"/etc/ld.so.cache", "/nix/store", "/gnu/store"}) show(path);
  const std::vector<std::string> own = {"--proc",
                                        "/proc",
                                        "--dev-bind",
                                        "/dev/null",
                                        "/dev/null",
                                        "--size",
                                        std::to_string(limits.output_bytes),
                                        "--tmpfs",
                                        kDirectory,
                                        "--remount-ro",
                                        "/",
                                        "--chdir",
                                        kDirectory};
  options.insert(options.end(), own.begin(), own.end());
  return options;
}

bool is_plain(const std::string& path) {
  return std::ranges::all_of(path, [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("/._-+=@", c) != nullptr;
  });
}

// Readable for the user that the process becomes.
void write_file(const fs::path& file, const std::string& content) {
  std::ofstream stream(file, std::ios::binary);
  stream << content;
  stream.close();
  if (!stream || ::chmod(file.c_str(), 0644) != 0)
    throw Error(ErrorClass::Other, "cannot write " + file.string() + ": " + errno_text());
}

}  // namespace

std::string name_of(Sandbox sandbox) {
  return sandbox == Sandbox::Bubblewrap ? "bubblewrap" : "none";
}

std::optional<fs::path> found_on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    const fs::path file = fs::canonical(fs::path(folder) / name, error);
    if (!error && fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0)
      return file;
  }
  return std::nullopt;
}

Confinement::Confinement(fs::path program, const std::vector<std::string>& probe)
    : program_(std::move(program)), bubblewrap_(found_on_path("bwrap")) {
  if (!bubblewrap_) {
    missing_ = {"bubblewrap is not installed", "apt install bubblewrap"};
    return;
  }
  std::string said;
  try {
    Outcome outcome = run_in_sandbox(probe, {}, {});
    if (outcome.status == 0) return;
    said = std::move(outcome.err);
  } catch (const Error& error) {
    said = error.what();
  }
  while (said.ends_with('\n')) said.pop_back();
  missing_ = {"bubblewrap cannot set up a sandbox here (" + said + ")",
              "allow user namespaces, or import the design on another machine"};
}

Outcome Confinement::run_in_sandbox(std::vector<std::string> arguments,
                                    const std::vector<GivenFile>& files,
                                    const Limits& limits) const {
  Launch launch = {*bubblewrap_,
                   sandbox_options(program_, limits),
                   environment_for(program_, kDirectory),
                   "/",
                   {}};
  std::vector<Descriptor> contents;
  for (const GivenFile& file : files) {
    contents.push_back(in_memory(file.name, file.content));
    launch.descriptors.push_back(contents.back().get());
    for (const std::string& word :
         {std::string("--ro-bind-data"), std::to_string(contents.back().get()),
          (fs::path(kDirectory) / file.name).string()})
      launch.arguments.push_back(word);
  }
  launch.arguments.push_back("--");
  launch.arguments.push_back(program_.string());
  std::ranges::move(arguments, std::back_inserter(launch.arguments));
  return run_limited(launch, limits);
}

Outcome Confinement::run_without(std::vector<std::string> arguments,
                                 const std::vector<GivenFile>& files, const Limits& limits) const {
  const TemporaryDirectory directory;
  if (!is_plain(directory.path().string()))
    throw UsageError("the path of temporary files, " + directory.path().string() +
                     ", has a character that a shell would interpret: set TMPDIR to another one");
  for (const GivenFile& file : files) write_file(directory.path() / file.name, file.content);
  if (const auto user = less_privileged_user();
      user && ::chown(directory.path().c_str(), *user, *user) != 0)
    throw Error(ErrorClass::Other, "cannot give " + directory.path().string() +
                                       " to the user nobody: " + errno_text());
  return run_limited({program_,
                      std::move(arguments),
                      environment_for(program_, directory.path()),
                      directory.path(),
                      {}},
                     limits);
}

Outcome Confinement::run(const std::vector<std::string>& arguments,
                         const std::vector<GivenFile>& files, const Limits& limits) const {
  return sandbox() == Sandbox::Bubblewrap ? run_in_sandbox(arguments, files, limits)
                                          : run_without(arguments, files, limits);
}

}  // namespace tinyot::system
