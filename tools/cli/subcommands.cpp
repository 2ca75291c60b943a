#include "tools/cli/subcommands.h"

#include <iostream>

#include "base/error.h"
#include "base/suggestion.h"
#include "net/handshake.h"
#include "service/messages_version.h"
#include "storage/manifest.h"
#include "tools/cli/failure.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {
namespace {

// A group, whose members follow it, has an example instead of a function.
struct Subcommand {
  std::string_view name, what;
  int (*run)(const Arguments&);
  std::string_view example = {};
};

constexpr Subcommand kSubcommands[] = {
    {"demo", "both parties on this machine: preprocess, store, oblivious AES", demo_command},
    {"keygen", "make this party's key and certificate, for channels between machines",
     keygen_command},
    {"preprocess", "make material with the peer and store it", preprocess_command},
    {"run", "evaluate a circuit with the peer on stored material", run_command},
    {"serve", "a party's daemon: jobs of clients, and the material for them", serve_command},
    {"client", "jobs for this party's daemon, and its state", nullptr,
     "tinyot client run --job payroll-7 --circuit aes128 --input key_b=@key.hex"},
    {"client run", "submit a job, wait for it and print its outputs", client_run},
    {"client submit", "submit a job", client_submit},
    {"client status", "the state of a job", client_status},
    {"client result", "wait for a job and print its outputs", client_result},
    {"client cancel", "cancel a job", client_cancel},
    {"client stock", "the material that is left, by session", client_stock},
    {"client peers", "the peers, and whether they are connected", client_peers},
    {"client retire", "end the session with a peer: all its material is lost, and a new one begins",
     client_retire},
    {"client resume", "let refills with a peer go on that a limit has stopped", client_resume},
    {"key", "keys in two shares, one at each party: uses, life, approvals and evidence", nullptr,
     "tinyot key encrypt payments/card data.key data.key.enc"},
    {"key create", "make a key with the peer", key_create},
    {"key import", "put a key that is there already into two shares", key_import},
    {"key derive", "make a key from one of class kdf", key_derive},
    {"key list", "the keys, and their states", key_list},
    {"key show", "a key", key_show},
    {"key encrypt", "encrypt a data key, or another short text", key_encrypt},
    {"key decrypt", "decrypt what `encrypt` has written", key_decrypt},
    {"key sign", "print the tag of a message", key_sign},
    {"key verify", "check the tag of a message", key_verify},
    {"key rotate", "make the next version; the older ones only decrypt and verify", key_rotate},
    {"key refresh", "give both parties new shares of the same key", key_refresh},
    {"key certificate", "what both parties have signed of a key", key_certificate},
    {"key verify-certificate", "check the signatures of both parties, without a daemon",
     key_verify_certificate},
    {"key rebind", "use keys again after a party's TLS key has changed", key_rebind},
    {"key suspend", "stop all uses, until the key is resumed", key_suspend},
    {"key resume", "allow uses again, of a key or after the peer cheated", key_resume},
    {"key deactivate", "from now on the key only decrypts and verifies", key_deactivate},
    {"key destroy", "erase this party's share", key_destroy},
    {"key backups", "the backups of shares in the daemon's directory", key_backups},
    {"key restore", "give the daemon a share from a backup", key_restore},
    {"key backup-key", "make a private key that opens backups", key_backup_key},
    {"key approvals", "requests and operations that wait for an officer of this party",
     key_approvals},
    {"key approve", "let a request go on", key_approve},
    {"key deny", "refuse a request", key_deny},
    {"key audit", "logs of what keys were used for", nullptr,
     "tinyot key audit verify audit.log --key @party-a.pem.crt --peer-key @party-b.pem.crt"},
    {"key audit verify", "what is wrong with a log, by itself or beside the peer's",
     key_audit_verify},
    {"local", "preprocess or run, both parties as two processes on this machine", nullptr,
     "tinyot local preprocess --store trial --ands 2^18"},
    {"local preprocess", "make material and store it, for both parties", local_preprocess},
    {"local run", "evaluate a circuit on the stores of both parties", local_run},
    {"params", "security and cost of a preprocessing job, before anything runs", params_command},
    {"store", "inspect, verify, merge, adopt and retire stores", nullptr,
     "tinyot store info store-a"},
    {"store info", "what is left: session, peer, security, counts by kind", store_info},
    {"store verify",
     "open and check every batch; with --listen or --connect, that both parties' halves match",
     store_verify},
    {"store retire",
     "end the session: the keys are erased, and nothing in the store can be used afterwards",
     store_retire},
    {"store merge", "move all shards of a session into one store", store_merge},
    {"store adopt", "declare that a copied or restored store is the only one left", store_adopt},
    {"circuit", "circuits by name and circuit files", nullptr, "tinyot circuit info aes128"},
    {"circuit list", "the circuits by name, and their parameters", circuit_list},
    {"circuit info", "gates, depth, inputs and outputs; the cost of a run", circuit_info},
    {"circuit eval", "plain evaluation", circuit_eval},
    {"circuit convert", "write a circuit file in the Bristol Fashion", circuit_convert},
    {"circuit import", "make a circuit file from a Verilog design", circuit_import},
    {"bench", "measurements on this machine", nullptr,
     "tinyot bench offline --unit 2^18 --repeat 3"},
    {"bench offline", "preprocessing: ANDs per second, bytes, memory", bench_offline},
    {"bench online", "runs of circuits: ANDs per second, rounds, bytes", bench_online},
    {"bench ot", "OT extension by itself", bench_ot},
    {"bench fig17", "the table of the paper's Figure 17", bench_fig17},
    {"bench party", "one party of a bench that has no other command", bench_party},
    {"report", "measure a grid of parameters; figures and a page of the results", report_command},
    {"selftest", "sessions in which one party cheats, to check that it is caught",
     selftest_command},
};

const Subcommand* find(std::string_view name) {
  for (const Subcommand& subcommand : kSubcommands)
    if (subcommand.name == name) return &subcommand;
  return nullptr;
}

// The members of a group, or with an empty name all that are not in a group.
std::vector<const Subcommand*> members_of(std::string_view group) {
  std::vector<const Subcommand*> members;
  for (const Subcommand& subcommand : kSubcommands) {
    const auto space = subcommand.name.rfind(' ');
    const std::string_view parent =
        space == std::string_view::npos ? "" : subcommand.name.substr(0, space);
    if (parent == group) members.push_back(&subcommand);
  }
  return members;
}

std::string_view last_word(std::string_view name) { return name.substr(name.rfind(' ') + 1); }

std::string list_of(std::string_view group) {
  constexpr std::size_t kColumn = 14;
  std::string text;
  for (const Subcommand* member : members_of(group)) {
    std::string name = "  " + std::string(last_word(member->name));
    name.resize(std::max(kColumn, name.size() + 1), ' ');
    text += name + std::string(member->what) + "\n";
  }
  return text;
}

std::string help_of(const Subcommand& group) {
  return "Usage: tinyot " + std::string(group.name) + " COMMAND ...\n\n" + list_of(group.name) +
         "\nEach has its own --help.\n\nExample:\n  " + std::string(group.example) + "\n";
}

std::string help() {
  return "Usage: tinyot SUBCOMMAND ...\n\n" + list_of("") +
         "\ntinyot help SUBCOMMAND prints the options and an example; tinyot --version, the "
         "build.\n"
         "Options can also be set by a file (--config FILE) and by environment variables "
         "(TINYOT_SIGMA for --sigma).\n"
         "Exit status: 0 done, 2 usage, 3 peer or network, 4 the peer cheated, 5 store, 6 the "
         "parties disagree, 1 anything else.\n";
}

std::string version() {
  return "tinyot " + version_text() + ", vector instructions in use: " + vector_instructions() +
         ", wire version " + std::to_string(net::kWireVersion) + ", daemon version " +
         std::to_string(service::kMessagesVersion) + ", store format " +
         std::to_string(storage::kStoreFormat) + "\n";
}

bool asks_for_help(const std::string& word) {
  return word == "-h" || word == "--help" || word == "help";
}

[[noreturn]] void refuse(const std::string& word, std::string_view group) {
  std::vector<std::string> known;
  for (const Subcommand* member : members_of(group)) known.emplace_back(last_word(member->name));
  const std::string command = "tinyot" + (group.empty() ? "" : " " + std::string(group));
  throw UsageError("there is no '" + command + " " + word + "'" + did_you_mean(word, known) +
                   "; see " + command + " --help");
}

// Without a word that says what to do, the help is an error message.
int missing_word(const std::string& help) {
  std::cerr << help << std::flush;
  return static_cast<int>(ExitStatus::Usage);
}

int print(const std::string& text) {
  std::cout << text;
  return 0;
}

int run_member(const Subcommand& group, const Arguments& rest) {
  if (rest.empty()) return missing_word(help_of(group));
  if (asks_for_help(rest[0]) && rest.size() == 1) return print(help_of(group));
  if (rest[0] == "help") return run_member(group, {rest[1], "--help"});
  const Subcommand* member = find(std::string(group.name) + " " + rest[0]);
  if (member == nullptr || rest[0].find(' ') != std::string::npos) refuse(rest[0], group.name);
  const Arguments after(rest.begin() + 1, rest.end());
  return member->run != nullptr ? member->run(after) : run_member(*member, after);
}

}  // namespace

bool is_subcommand(std::string_view name) {
  const Subcommand* const found = find(name);
  return found != nullptr && found->run != nullptr;
}

int run_subcommand(const Arguments& arguments) {
  if (arguments.empty()) return missing_word(help());
  const std::string& word = arguments[0];
  if (word == "-V" || word == "--version") return print(version());
  Arguments rest(arguments.begin() + 1, arguments.end());
  if (asks_for_help(word)) {
    if (word != "help" || rest.empty()) return print(help());
    rest.push_back("--help");
    return run_subcommand(rest);
  }
  const Subcommand* const found = find(word);
  if (found == nullptr || word.find(' ') != std::string::npos) refuse(word, "");
  return found->run != nullptr ? found->run(rest) : run_member(*found, rest);
}

}  // namespace tinyot::tools
