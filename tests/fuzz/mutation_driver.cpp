// Runs a fuzzer on mutated files of a corpus, for compilers without libFuzzer.
//
//   fuzz_NAME [--seconds S] [--run N] CORPUS...
//
// CORPUS is a file or a folder of files. Run n depends only on the corpus and n; run 0 is the
// corpus itself. The number of a run that fails or crashes is printed; --run repeats that run
// alone.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_circuit.h"
#include "tests/support/files.h"

namespace {

using Corpus = std::vector<std::string>;

class Mutator {
 public:
  Mutator(const Corpus& corpus, std::uint64_t run) : corpus_(corpus), rng_(run) {}

  std::string text() {
    std::string text = corpus_[below(corpus_.size())];
    for (std::size_t count = 1 + below(4); count > 0; --count) mutate(text);
    return text;
  }

 private:
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(rng_() % bound); }
  std::size_t place_in(const std::string& text) { return below(text.size() + 1); }

  void mutate(std::string& text) {
    switch (below(9)) {
      case 0:
        if (!text.empty()) text[below(text.size())] ^= static_cast<char>(1 << below(8));
        return;
      case 1:
        text.insert(place_in(text), 1, static_cast<char>(below(256)));
        return;
      case 2:
        text.erase(place_in(text), 1 + below(4));
        return;
      case 3:
        return change_lines(text);
      case 4:
      case 5:
      case 6:
        return replace_number(text);
      case 7: {
        const std::string& other = corpus_[below(corpus_.size())];
        text = text.substr(0, place_in(text)) + other.substr(place_in(other));
        return;
      }
      default:
        if (text.size() > 1) std::swap(text[below(text.size())], text[below(text.size())]);
    }
  }

  // Doubles, deletes or swaps lines.
  void change_lines(std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
      lines.push_back(text.substr(at, end - at));
      at = end;
    }
    if (lines.empty()) return;
    const std::size_t i = below(lines.size()), j = below(lines.size());
    const std::size_t kind = below(3);
    if (kind == 0) lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(i), lines[j]);
    if (kind == 1) lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
    if (kind == 2) std::swap(lines[i], lines[j]);
    text.clear();
    for (const std::string& line : lines) text += line;
  }

  void replace_number(std::string& text) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto from = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(place_in(text)),
                                   text.end(), is_digit);
    const auto to = std::find_if_not(from, text.end(), is_digit);
    if (from == text.end()) return;
    static const char* const kNumbers[] = {"0",
                                           "1",
                                           "2",
                                           "3",
                                           "7",
                                           "31",
                                           "64",
                                           "1000",
                                           "1048576",
                                           "1048700",
                                           "4294967294",
                                           "4294967295",
                                           "4294967296",
                                           "9999999999",
                                           "18446744073709551615",
                                           "18446744073709551616",
                                           "00",
                                           "-1",
                                           "01",
                                           "0001",
                                           "01110001"};
    text.replace(from, to,
                 below(3) == 0 ? std::to_string(below(100)) : kNumbers[below(std::size(kNumbers))]);
  }

  const Corpus& corpus_;
  std::mt19937_64 rng_;
};

void load(const std::filesystem::path& path, Corpus& corpus) {
  if (std::filesystem::is_directory(path)) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(path))
      files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const auto& file : files) load(file, corpus);
    return;
  }
  corpus.push_back(tinyot::test::read_file(path));
}

void run(const std::string& text) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

volatile std::uint64_t run_number = 0;

// Uses only functions that are allowed in a signal handler.
void report_crash(int signal) {
  char text[64] = "crash in run ";
  char* end = std::to_chars(text + std::strlen(text), text + sizeof text - 1,
                            static_cast<std::uint64_t>(run_number))
                  .ptr;
  *end++ = '\n';
  if (::write(STDERR_FILENO, text, static_cast<std::size_t>(end - text)) < 0) ::_exit(2);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

int run_corpus(const Corpus& corpus, double seconds, std::uint64_t only) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) std::signal(signal, report_crash);
  const auto run_one = [&corpus](std::uint64_t number) {
    run_number = number;
    run(Mutator(corpus, number).text());
  };
  try {
    for (const std::string& text : corpus) run(text);
    if (only != 0) return run_one(only), 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) run_one(run_number + 1);
  } catch (const std::exception& error) {
    std::printf("run %llu failed: %s\n", static_cast<unsigned long long>(run_number), error.what());
    return 1;
  }
  std::printf("%zu files and %llu mutations of them\n", corpus.size(),
              static_cast<unsigned long long>(run_number));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Corpus corpus;
  double seconds = 1;
  std::uint64_t only = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--seconds" && i + 1 < argc) {
      seconds = std::stod(argv[++i]);
    } else if (argument == "--run" && i + 1 < argc) {
      only = std::stoull(argv[++i]);
    } else {
      load(argument, corpus);
    }
  }
  if (corpus.empty()) return std::printf("no corpus\n"), 2;
  return run_corpus(corpus, seconds, only);
}
