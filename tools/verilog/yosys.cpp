#include "tools/verilog/yosys.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "engine/temporary_directory.h"
#include "tools/failure.h"
#include "tools/log.h"
#include "tools/verilog/cells.h"

namespace tinyot::tools {
namespace {

namespace fs = std::filesystem;

// Commands that come after the design is flat; each way starts from the same state, saved as
// "words". -ARITHMETIC and the like leave the cells of these types out of a selection; named
// selections would keep cells whose type has changed since.
struct Way {
  const char* name;
  bool serves_depth_only;
  const char* commands;
};

// Single drivers and loops are checked bit by bit, on gates: a word may feed its own higher bits.
constexpr const char* kPrepare = R"(
proc
flatten
tribuf
chformal -remove
opt_clean
design -push-copy
simplemap
check -assert
design -pop
opt -full
wreduce
peepopt
opt_clean
memory_collect
opt_clean
design -save words
)";

// Not opt among gates and $pmux: opt_muxtree of Yosys 0.23 then changes values. What the other
// passes make of cells that were left is mapped too.
constexpr Way kWays[] = {
    {"direct", false, R"(
techmap t:* -ARITHMETIC -TABLES -SEQUENTIAL
opt_expr
opt_merge
opt_expr
opt_merge
techmap t:* -ARITHMETIC -TABLES -SEQUENTIAL
opt_clean
)"},
    {"logic by ABC", false, R"(
memory_map
opt
techmap t:* -ARITHMETIC -SEQUENTIAL
opt
techmap t:* -ARITHMETIC -SEQUENTIAL
abc -genlib DIRECTORY/gates.genlib
opt_clean
)"},
    {"parallel prefix", true, R"(
alumacc
maccmap
opt
techmap -map DIRECTORY/arithmetic.v -map +/techmap.v t:* -TABLES -SEQUENTIAL
opt_expr
opt_merge
opt_expr
opt_merge
techmap -map DIRECTORY/arithmetic.v -map +/techmap.v t:* -TABLES -SEQUENTIAL
opt_clean
)"},
};

// Characters that a script or a pattern of Yosys gives a meaning.
bool is_literal(const std::string& path, std::string_view special) {
  return path.find_first_of(special) == std::string::npos &&
         path.find_first_of("*?[\"\n") == std::string::npos;
}

void require_identifier(const std::string& name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const bool is_identifier =
      !name.empty() && is_letter(name[0]) && std::ranges::all_of(name, [&](char c) {
        return is_letter(c) || (c >= '0' && c <= '9') || c == '$';
      });
  if (!is_identifier) throw UsageError("--top '" + name + "' is not the name of a module");
}

std::string content_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void write_text(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw CommandError("cannot write " + file.string() + ": " + std::strerror(errno));
}

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void open(int descriptor, const char* path, int flags) {
    ::posix_spawn_file_actions_addopen(&actions_, descriptor, path, flags, 0600);
  }
  void copy(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

// Returns the exit status; stdout and stderr go to `log`.
int run_yosys(const Arguments& arguments, const fs::path& log) {
  std::vector<char*> words;
  for (const std::string& word : arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  FileActions actions;
  actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  actions.open(STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND);
  actions.copy(STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, words[0], actions.get(), nullptr, words.data(), ::environ);
  if (error == ENOENT)
    throw UsageError("yosys, which reads Verilog, is not installed: apt install yosys");
  if (error != 0) throw CommandError(std::string("cannot run yosys: ") + std::strerror(error));
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void replace_all(std::string& text, const std::string& word, const std::string& by) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
    text.replace(at, word.size(), by);
}

// Each selection of the list is taken from the one before it ("%d").
std::string deselected(const std::string& cells) {
  std::istringstream words(cells);
  std::string text;
  for (std::string word; words >> word;) text += (text.empty() ? "" : " ") + word + " %d";
  return text;
}

std::string script_for(const std::string& top, const fs::path& directory, Goal goal) {
  std::string script = "hierarchy -check -top " + top + kPrepare;
  for (const Way& way : kWays) {
    if (way.serves_depth_only && goal != Goal::Depth) continue;
    script += "design -load words\n";
    std::string commands = way.commands;
    replace_all(commands, "DIRECTORY", directory.string());
    replace_all(commands, "-ARITHMETIC", deselected(kArithmeticCells));
    replace_all(commands, "-TABLES", deselected(kTableCells));
    replace_all(commands, "-SEQUENTIAL", deselected(kSequentialCells));
    script += commands + "write_json " +
              (directory / (std::to_string(&way - kWays) + ".json")).string() + "\n";
  }
  return script;
}

std::string literal_path(const std::string& file) {
  if (!is_literal(file, ""))
    throw UsageError("the path '" + file +
                     "' has a character that Yosys would interpret: rename the file");
  const bool is_plain = !file.empty() && (file[0] == '/' || file[0] == '.' || file[0] == '_' ||
                                          std::isalnum(static_cast<unsigned char>(file[0])) != 0);
  return is_plain ? file : "./" + file;
}

}  // namespace

std::vector<Synthesis> synthesise(const std::string& file, const std::string& top, Goal goal,
                                  bool quiet) {
  require_identifier(top);
  if (!std::ifstream(file) || !fs::is_regular_file(file))
    throw UsageError("cannot read the design " + file);
  const engine::TemporaryDirectory directory;
  if (!is_literal(directory.path().string(), " \t;#"))
    throw UsageError("the path of temporary files, " + directory.path().string() +
                     ", has a character that Yosys would interpret: set TMPDIR to another one");
  const fs::path script = directory.path() / "script.ys", log = directory.path() / "log";
  write_text(directory.path() / "gates.genlib", kGateLibrary);
  write_text(directory.path() / "arithmetic.v", kShallowArithmetic);
  write_text(script, script_for(top, directory.path(), goal));
  const int status = run_yosys(
      {"yosys", "-q", "-f", "verilog -sv", "-s", script.string(), literal_path(file)}, log);
  std::string said = content_of(log);
  while (said.ends_with('\n')) said.pop_back();
  if (status != 0)
    throw UsageError("yosys cannot synthesise " + file + ":\n" +
                     (said.empty() ? "exit status " + std::to_string(status) : said));
  if (!quiet && !said.empty()) log_line(LogLevel::Warning, "yosys: " + said);
  std::vector<Synthesis> result;
  for (const Way& way : kWays) {
    if (way.serves_depth_only && goal != Goal::Depth) continue;
    const fs::path json = directory.path() / (std::to_string(&way - kWays) + ".json");
    try {
      result.push_back({way.name, Json::parse(content_of(json))});
    } catch (const Json::exception& error) {
      throw CommandError("yosys has written no netlist: " + std::string(error.what()));
    }
  }
  return result;
}

}  // namespace tinyot::tools
