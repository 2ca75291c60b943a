// Files that change or become unreadable between the check and generate().
#include <filesystem>

#include "circuit_texts.h"
#include "circuits.h"
#include "tests/support/files.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

const std::string kText =
    "4 7\n2 2 1\n1 2\n\n2 1 0 1 3 AND\n1 1 2 4 INV\n2 1 3 4 5 XOR\n1 1 0 6 EQW\n";

class FileChange : public testing::Test {
 protected:
  void write(const std::string& text) const { test::write_file(path_, text); }

  // The error message of an evaluation with generate(); the stream must not be malformed.
  static std::string message_of_run(const Circuit& circuit) {
    std::mt19937_64 rng(3);
    try {
      evaluate(circuit, 3, random_inputs(circuit.info(), 3, rng));
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  }

  const test::TestDirectory directory_;
  const std::filesystem::path path_ = directory_ / "circuit.txt";
};

TEST_F(FileChange, IsDetectedByLengthAndByEveryByte) {
  write(kText);
  const auto circuit = open_circuit_file(path_);
  EXPECT_EQ(message_of_run(*circuit), "accepted");
  for (std::size_t i = 0; i < kText.size(); ++i) {
    for (const char c : {'0', '1', '5', ' ', '\n', 'X', 'N'}) {
      if (kText[i] == c) continue;
      std::string changed = kText;
      changed[i] = c;
      write(changed);
      const std::string message = message_of_run(*circuit);
      EXPECT_EQ(message.find(path_.string() + ", line "), 0u) << message;
      EXPECT_NE(message.find("the file has changed since it was checked"), std::string::npos)
          << message << " at " << i << " " << c;
    }
    write(kText.substr(0, i));
    EXPECT_NE(message_of_run(*circuit).find(
                  "the file has changed since it was opened: its length is different"),
              std::string::npos);
  }
  write(kText + "\n");
  EXPECT_NE(message_of_run(*circuit).find("its length is different"), std::string::npos);
  write(kText);
  EXPECT_EQ(message_of_run(*circuit), "accepted");
}

TEST_F(FileChange, AnotherValidCircuitIsDetectedAtItsFirstWrongLineOrAtTheEnd) {
  write(kText);
  const auto circuit = open_circuit_file(path_);
  std::string other = kText;
  other.replace(other.find("XOR"), 3, "AND");
  write(other);
  EXPECT_NE(message_of_run(*circuit).find("line 8: the file has changed"), std::string::npos)
      << message_of_run(*circuit);
  other = kText;
  other.replace(other.find("3 4 5 XOR"), 9, "3 1 5 XOR");
  write(other);
  EXPECT_NE(message_of_run(*circuit).find("the file has changed"), std::string::npos);
}

// A file that changes at any time: each pass may read a text that differs from that of the pass
// before.
class ChangingText final : public TextSource {
 public:
  ChangingText(std::string first, std::string second, std::size_t change_at)
      : TextSource("changing", first.size()), texts_{std::move(first), std::move(second)},
        change_at_(change_at) {}
  void read(std::uint64_t offset, std::span<char> block) const override {
    texts_[reads_++ >= change_at_].copy(block.data(), block.size(), offset);
  }

 private:
  std::array<std::string, 2> texts_;
  std::size_t change_at_;
  mutable std::size_t reads_ = 0;
};

TEST_F(FileChange, IsHarmlessAtAnyTime) {
  std::size_t refused = 0;
  for (std::size_t i = 0; i < kText.size(); ++i) {
    for (const char c : {'0', '1', '3', '5', '9', ' ', '\n', 'X'}) {
      std::string changed = kText;
      changed[i] = c;
      for (std::size_t at = 1; at <= 5; ++at) {
        try {
          const auto circuit =
              read_circuit(std::make_shared<ChangingText>(kText, changed, at), "changing");
          refused += message_of_run(*circuit) != "accepted";
        } catch (const UsageError&) {
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(refused, 1000u);
}

TEST_F(FileChange, NamesUnreadableFile) {
  for (const std::string path : {"/no/such/file.txt", "/tmp", "/dev/null"}) {
    try {
      open_circuit_file(path);
      ADD_FAILURE() << path;
    } catch (const UsageError& error) {
      EXPECT_EQ(std::string(error.what()).find("cannot read " + path + ": "), 0u);
    }
  }
}

}  // namespace
}  // namespace tinyot
