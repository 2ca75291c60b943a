// `tinyot key ...`: the keys that this party shares with its peers, and requests that wait for an
// officer. Uses, backups and audit logs are in files of their own.
#include "tools/cli/render/key.h"

#include "base/hex.h"
#include "crypto/rng.h"
#include "tools/cli/failure.h"
#include "tools/cli/key_files.h"
#include "tools/cli/key_options.h"

namespace tinyot::tools {
namespace {

using service::KeysConnection;
using service::NewRemoteKey;
using service::RemoteKey;

// Of a key that is made.
CommandLine new_key_line(const std::string& verb, const std::string& usage,
                         const std::string& example) {
  CommandLine line = key_line(verb, "LABEL " + usage, example);
  line.options()
      .value("label", "of the key: 1 to 64 of a-z, A-Z, 0-9, '-', '_', '.' and '/'")
      .value("class", "aead (encrypt, decrypt), mac (sign, verify) or kdf (derive)", "aead")
      .value("algorithm", "aes128, aes256 or hmac_sha256", "aes256")
      .value(
          "nonces",
          "joint, from both parties, or caller: the client chooses those of encryption, and this "
          "party alone uses the key",
          "joint")
      .value("request",
             "HEX, 16 bytes; repeated with the same one, the command returns the same key. "
             "Default: random")
      .advanced();
  add_key_wait(line.options());
  add_certificate_output(line.options());
  line.positional("label", 1);
  line.require("label");
  return line;
}

NewRemoteKey new_key_from(const CommandLine& line) {
  NewRemoteKey key{peer_name_from(line),   line.text("label"),  line.text("class"),
                   line.text("algorithm"), line.text("nonces"), {}};
  if (line.has("request"))
    parse_hex_option("request", line.text("request"), key.request);
  else
    key.request = crypto::Rng::from_system().object<service::KeyRequestId>();
  return key;
}

void print_made(const CommandLine& line, const std::string& command, const RemoteKey& key) {
  if (line.has("certificate") && !key.certificate_problem.empty()) {
    const std::string remedy = "tinyot key certificate " + key.id + " --output FILE asks for it";
    throw CommandError("key " + key.id + " is made, and can be used, but has no certificate yet: " +
                           key.certificate_problem + "; " + remedy,
                       ExitStatus::Failure, remedy);
  }
  if (line.has("certificate")) write_output(line.text("certificate"), key.certificate);
  print(line.common().format, command, key);
}

// Whether the key has been made may be unknown if the connection is lost.
template <class Make>
void print_made(const CommandLine& line, const std::string& command, const NewRemoteKey& key,
                const Make& make) {
  try {
    print_made(line, command, make());
  } catch (const Error& error) {
    if (error.error_class() != ErrorClass::Network) throw;
    const std::string remedy = "the same command with --request " + hex_of(key.request) +
                               " completes it and makes no second key";
    throw CommandError(with_remedy(error.what(), error.remedy()) + "; " + remedy,
                       ExitStatus::Network, remedy);
  }
}

// A step about one key, and what has become of it.
int run_step(const Arguments& arguments, const std::string& verb, const std::string& example,
             RemoteKey (KeysConnection::*step)(const service::KeyName&)) {
  CommandLine line = key_line(verb, "KEY [--peer NAME]", example);
  take_key(line);
  if (!line.parse(arguments)) return 0;
  KeysConnection keys = keys_from(line);
  print(line.common().format, "key " + verb, (keys.*step)(key_name_from(line)));
  return 0;
}

CommandLine decision_line(const std::string& verb) {
  CommandLine line = key_line(verb, "REQUEST [--peer NAME]", "3f0a9c5b1d2e4f60718293a4b5c6d7e8");
  line.options().value("request",
                       "32 hex digits, as tinyot key approvals prints them, of a request or of an "
                       "operation of another officer");
  line.positional("request", 1);
  line.require("request");
  return line;
}

}  // namespace

int key_create(const Arguments& arguments) {
  CommandLine line = new_key_line("create", "[--class CLASS] [--algorithm NAME] [--peer NAME]",
                                  "payments/card --peer bank");
  if (!line.parse(arguments)) return 0;
  const NewRemoteKey key = new_key_from(line);
  KeysConnection keys = keys_from(line);
  print_made(line, "key create", key, [&] { return keys.create(key); });
  return 0;
}

int key_import(const Arguments& arguments) {
  CommandLine line = new_key_line("import", "--key-file FILE|- [--class CLASS] [--peer NAME]",
                                  "payments/card --key-file card.key");
  line.options().value("key-file",
                       "FILE with the bytes of the key, or - for stdin. It has to be random, and "
                       "stays outside the two shares where the file is");
  line.require("key-file");
  if (!line.parse(arguments)) return 0;
  const NewRemoteKey key = new_key_from(line);
  const SecretVector<std::byte> bytes = read_key_bytes(line.text("key-file"));
  KeysConnection keys = keys_from(line);
  print_made(line, "key import", key, [&] { return keys.import(key, bytes); });
  return 0;
}

int key_derive(const Arguments& arguments) {
  CommandLine line =
      new_key_line("derive", "--parent KEY --context HEX|@FILE [--class CLASS] [--peer NAME]",
                   "card/2027 --parent card/root --context 07e7");
  line.options()
      .value("parent", "id or label of a key of class kdf")
      .value("context", "HEX, or @FILE with bytes: the same ones give the same key");
  line.require("parent");
  line.require("context");
  if (!line.parse(arguments)) return 0;
  const NewRemoteKey key = new_key_from(line);
  const std::vector<std::byte> context = read_hex_or_file("context", line.text("context"));
  KeysConnection keys = keys_from(line);
  print_made(line, "key derive", key,
             [&] { return keys.derive(key, line.text("parent"), context); });
  return 0;
}

int key_list(const Arguments& arguments) {
  CommandLine line = key_line("list", "[--all] [--peer NAME]", "--format json");
  line.options().flag("all", "also keys that are destroyed");
  if (!line.parse(arguments)) return 0;
  print(line.common().format, keys_from(line).list(peer_name_from(line), line.has("all")));
  return 0;
}

int key_show(const Arguments& arguments) {
  return run_step(arguments, "show", "payments/card", &KeysConnection::show);
}

int key_rotate(const Arguments& arguments) {
  CommandLine line = key_line("rotate", "KEY [--peer NAME]", "payments/card");
  take_key(line);
  add_key_wait(line.options());
  add_certificate_output(line.options());
  if (!line.parse(arguments)) return 0;
  print_made(line, "key rotate", keys_from(line).rotate(key_name_from(line)));
  return 0;
}

int key_refresh(const Arguments& arguments) {
  CommandLine line = key_line("refresh", "KEY [--peer NAME]", "payments/card");
  take_key(line);
  add_key_wait(line.options());
  if (!line.parse(arguments)) return 0;
  print(line.common().format, "key refresh", keys_from(line).refresh(key_name_from(line)));
  return 0;
}

int key_suspend(const Arguments& arguments) {
  return run_step(arguments, "suspend", "payments/card", &KeysConnection::suspend);
}

int key_deactivate(const Arguments& arguments) {
  CommandLine line = key_line("deactivate", "KEY [--peer NAME]", "payments/card");
  take_key(line);
  add_key_wait(line.options());
  if (!line.parse(arguments)) return 0;
  print(line.common().format, "key deactivate", keys_from(line).deactivate(key_name_from(line)));
  return 0;
}

int key_resume(const Arguments& arguments) {
  CommandLine line =
      key_line("resume", "KEY [--epoch E] [--peer NAME] | --peer-cheated PEER", "payments/card");
  add_key_wait(line.options());
  line.options()
      .value("key", "id of the key, 32 hex digits, or its label: the newest version")
      .value("epoch",
             "E as tinyot key show prints it: this party keeps its share of this epoch, and drops "
             "all others for good")
      .value("peer-cheated", "PEER whose keys are all suspended since it cheated");
  line.positional("key", 1);
  line.require_one_of({"key", "peer-cheated"});
  if (!line.parse(arguments)) return 0;
  if (!line.has("peer-cheated")) {
    KeysConnection keys = keys_from(line);
    const service::KeyName name = key_name_from(line);
    print(line.common().format, "key resume",
          line.has("epoch") ? keys.resume(name, line.text("epoch")) : keys.resume(name));
    return 0;
  }
  if (line.has("key") || line.has("epoch"))
    throw UsageError("--peer-cheated is for all keys with the peer: leave out KEY and --epoch");
  const std::string& peer = line.text("peer-cheated");
  keys_from(line).resume_peer(peer);
  print_resumed_keys(line.common().format, peer);
  return 0;
}

int key_destroy(const Arguments& arguments) {
  CommandLine line = key_line("destroy", "KEY --yes [--peer NAME]", "payments/card --yes");
  take_key(line);
  line.options().flag("yes", "destroy it: what it has encrypted can never be decrypted again");
  add_key_wait(line.options());
  if (!line.parse(arguments)) return 0;
  if (!line.has("yes"))
    throw UsageError("what key " + line.text("key") +
                     " has encrypted can never be decrypted again without a backup: give --yes to "
                     "destroy it");
  print(line.common().format, keys_from(line).destroy(key_name_from(line)));
  return 0;
}

int key_approvals(const Arguments& arguments) {
  CommandLine line = key_line("approvals", "[--peer NAME]", "");
  if (!line.parse(arguments)) return 0;
  print(line.common().format, keys_from(line).approvals(peer_name_from(line)));
  return 0;
}

int key_approve(const Arguments& arguments) {
  CommandLine line = decision_line("approve");
  if (!line.parse(arguments)) return 0;
  keys_from(line).approve(peer_name_from(line), line.text("request"));
  print_decided(line.common().format, "key approve", line.text("request"), "approved");
  return 0;
}

int key_deny(const Arguments& arguments) {
  CommandLine line = decision_line("deny");
  if (!line.parse(arguments)) return 0;
  keys_from(line).deny(peer_name_from(line), line.text("request"));
  print_decided(line.common().format, "key deny", line.text("request"), "denied");
  return 0;
}

}  // namespace tinyot::tools
