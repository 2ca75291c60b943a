// `tinyot demo`: both parties on this machine: preprocess, store, oblivious AES on the FIPS-197
// vector and on 27 blocks.
#include "tools/cli/demo.h"

#include <span>

#include "base/error.h"
#include "base/hex.h"
#include "crypto/rng.h"
#include "engine/both_parties.h"
#include "system/temporary_directory.h"
#include "tools/cli/failure.h"
#include "tools/cli/log.h"
#include "tools/cli/render/pair.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {
namespace {

constexpr std::size_t kBlocks = 27;  // as the paper's smallest amortised run
constexpr std::uint64_t kAnds = (1 + kBlocks) * 6400, kInputs = (1 + kBlocks) * 256;
constexpr crypto::AesBytes kFipsKey = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07,
                                       0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f};
constexpr crypto::AesBytes kFipsMessage = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                           0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
constexpr const char* kFipsCiphertext = "69c4e0d86a7b0430d8cdb78070b4c55a";

std::string hex(const std::vector<crypto::AesBytes>& blocks) {
  return hex_of(std::as_bytes(std::span(blocks)));
}

struct Encryption {
  crypto::AesBytes key;
  std::vector<crypto::AesBytes> message;
};

class Demo {
 public:
  explicit Demo(const CommandLine& line)
      : format_(line.common().format), is_quiet_(line.common().quiet), link_{timeouts_from(line)} {}

  PairEnded preprocess() const {
    if (!is_quiet_)
      log_line(LogLevel::Info,
               "two parties preprocess " + grouped(kAnds) + " ANDs over loopback ...");
    const auto command = [&](Party party) {
      PairCommand mine = command_of("preprocess", party, format_);
      for (const std::string& word : {std::string("--ands"), std::to_string(kAnds),
                                      std::string("--inputs"), std::to_string(kInputs)})
        mine.arguments.push_back(word);
      return mine;
    };
    return run({command(Party::A), command(Party::B)}, "preprocessing");
  }

  // Shares the key between the parties, runs oblivious AES and returns what B reports.
  EncryptionReport encrypt(const Encryption& encryption, crypto::Rng& rng) const {
    const auto key_a = rng.object<crypto::AesBytes>();
    crypto::AesBytes key_b;
    for (std::size_t i = 0; i < key_b.size(); ++i) key_b[i] = encryption.key[i] ^ key_a[i];
    const auto command = [&](Party party) {
      PairCommand mine = command_of("run", party, Format::Json);
      for (const std::string& word :
           {std::string("--circuit"), std::string("aes128"), std::string("--blocks"),
            std::to_string(encryption.message.size())})
        mine.arguments.push_back(word);
      return mine;
    };
    PairCommands commands = {command(Party::A), command(Party::B)};
    commands[0].add_input("key_a", hex({key_a}));
    commands[0].add_input("message", hex(encryption.message));
    commands[1].add_input("key_b", hex({key_b}));
    EncryptionReport report =
        encryption_from(run(std::move(commands), "oblivious AES").of(Party::B).out);
    check_ciphertext(report.ciphertext, encryption.key, encryption.message);
    return report;
  }

 private:
  // One progress bar is enough.
  PairCommand command_of(const std::string& subcommand, Party party, Format format) const {
    PairCommand command{{subcommand, "--store", engine::store_in(dir_.path(), party).string(),
                         "--format", format == Format::Json ? "json" : "text"}};
    if (is_quiet_ || party == Party::B) command.arguments.emplace_back("--quiet");
    return command;
  }
  PairEnded run(PairCommands commands, const std::string& step) const {
    PairEnded ended = run_pair(std::move(commands), link_);
    if (const int status = ended.cause().status; status != 0)
      throw CommandError("the demo failed in: " + step, static_cast<ExitStatus>(status));
    return ended;
  }

  Format format_;
  bool is_quiet_;
  LocalLink link_;
  system::TemporaryDirectory dir_;
};

}  // namespace

void check_ciphertext(const std::string& ciphertext, const crypto::AesBytes& key,
                      const std::vector<crypto::AesBytes>& message) {
  if (ciphertext != hex(crypto::aes128_by_library_vartime(key, message)))
    throw CommandError("the demo computed a wrong ciphertext, please report");
}

int demo_command(const Arguments& arguments) {
  CommandLine line("demo", "[options]", "tinyot demo");
  add_timeout_options(line.options());
  if (!line.parse(arguments)) return 0;
  const Demo demo(line);
  crypto::Rng rng = crypto::Rng::from_system();
  const PairEnded made = demo.preprocess();
  const EncryptionReport fips = demo.encrypt({kFipsKey, {kFipsMessage}}, rng);
  if (fips.ciphertext != kFipsCiphertext)
    throw CommandError("the demo missed the FIPS-197 vector, please report");
  std::vector<crypto::AesBytes> message(kBlocks);
  for (crypto::AesBytes& block : message) block = rng.object<crypto::AesBytes>();
  const EncryptionReport many = demo.encrypt({rng.object<crypto::AesBytes>(), message}, rng);
  print(line.common().format, DemoReport{made, fips, many});
  return 0;
}

}  // namespace tinyot::tools
