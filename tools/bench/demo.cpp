// `tinyot demo`: both parties on this machine: preprocess, store, oblivious AES on the FIPS-197
// vector and on 27 blocks.
#include <span>

#include "base/error.h"
#include "base/hex.h"
#include "crypto/rng.h"
#include "system/temporary_directory.h"
#include "tools/bench/bench.h"
#include "tools/bench/pair_report.h"
#include "tools/cli/failure.h"
#include "tools/cli/log.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {
namespace {

constexpr std::size_t kBlocks = 27;  // as the paper's smallest amortised run
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

PairEnded succeed_in(const std::string& step, PairEnded ended) {
  if (const int status = ended.cause().status; status != 0)
    throw CommandError("the demo failed in: " + step, static_cast<ExitStatus>(status));
  return ended;
}

// Shares the key between the parties, runs oblivious AES and returns B's report.
Json encrypt_obliviously(const Encryption& encryption, const std::filesystem::path& dir,
                         const LocalLink& link, bool is_quiet, crypto::Rng& rng) {
  const auto key_a = rng.object<crypto::AesBytes>();
  crypto::AesBytes key_b;
  for (std::size_t i = 0; i < key_b.size(); ++i) key_b[i] = encryption.key[i] ^ key_a[i];
  MeasuredRun run;
  run.spec.name = "aes128";
  run.spec.blocks = encryption.message.size();
  const InputTexts inputs = {{"key_a", secret_text(hex({key_a}))},
                             {"key_b", secret_text(hex({key_b}))},
                             {"message", secret_text(hex(encryption.message))}};
  const PairEnded ended = succeed_in(
      "oblivious AES",
      run_pair(run_commands(run, NamedCircuit(run.spec), inputs, dir, {Format::Json, is_quiet}),
               link));
  Json report = joined(ended)["B"];
  check_ciphertext(report["outputs"]["ciphertext"], encryption.key, encryption.message);
  return report;
}

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
  const CommonOptions common = line.common();
  const LocalLink link{timeouts_from(line)};
  const system::TemporaryDirectory dir;
  crypto::Rng rng = crypto::Rng::from_system();

  PreprocessRequest job;
  job.ands = (1 + kBlocks) * kAndsOfABlock;
  job.inputs = (1 + kBlocks) * 256;
  if (!common.quiet)
    log_line(LogLevel::Info,
             "two parties preprocess " + grouped(job.ands) + " ANDs over loopback ...");
  const PairEnded made =
      succeed_in("preprocessing", run_pair(preprocess_commands(job, dir.path(), common), link));
  const auto encrypt = [&](const Encryption& encryption) {
    return encrypt_obliviously(encryption, dir.path(), link, common.quiet, rng);
  };
  const Json fips = encrypt({kFipsKey, {kFipsMessage}});
  if (fips["outputs"]["ciphertext"] != kFipsCiphertext)
    throw CommandError("the demo missed the FIPS-197 vector, please report");
  std::vector<crypto::AesBytes> message(kBlocks);
  for (crypto::AesBytes& block : message) block = rng.object<crypto::AesBytes>();
  const Json many = encrypt({rng.object<crypto::AesBytes>(), message});

  if (common.format == Format::Json)
    print_report(Format::Json,
                 {{"command", "demo"},
                  {"preprocess", joined(made)},
                  {"fips_197", fips},
                  {"blocks_27", many},
                  {"version", version_text()}},
                 {});
  else
    print_report(Format::Text, {},
                 made.of(Party::A).out +
                     "oblivious AES, 1 block:   " + seconds_text(fips["wall_s"]) + "\n" +
                     "oblivious AES, 27 blocks: " + seconds_text(many["wall_s"]) + ", " +
                     grouped(many["gates_per_s"].get<double>()) +
                     " gates/s; all equal to AES by Crypto++\n"
                     "FIPS-197 ciphertext, computed by two processes that know neither key "
                     "nor message in full:\n" +
                     kFipsCiphertext + "\n");
  return 0;
}

}  // namespace tinyot::tools
