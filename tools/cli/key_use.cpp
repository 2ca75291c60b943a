// `tinyot key encrypt|decrypt|sign|verify`. Payloads come from files or stdin, never from the
// command line, and go to files or stdout, never into a report.
#include "tools/cli/failure.h"
#include "tools/cli/key_files.h"
#include "tools/cli/key_options.h"
#include "tools/cli/render/key.h"

namespace tinyot::tools {
namespace {

using service::AssociatedData;
using service::EncryptedText;

const std::string kStandard = "-";

void take_input(CommandLine& line, const std::string& what) {
  line.options().value("in", "FILE with " + what + "; - is stdin", kStandard);
  line.positional("in", 1);
}

void take_output(CommandLine& line, const std::string& what) {
  line.options().value("out", "FILE for " + what + ", replaced as a whole, mode 0600; - is stdout",
                       kStandard);
  line.positional("out", 1);
}

void add_associated_data(Options& options) {
  options.value("aad", "TEXT or @FILE: associated data, the same to encrypt and to decrypt")
      .flag("shown", "the peer sees the associated data, as a rule of its policy may demand");
}

AssociatedData associated_data_from(const CommandLine& line) {
  if (!line.has("aad")) {
    if (line.has("shown")) throw UsageError("--shown is of associated data: give --aad");
    return {};
  }
  return {read_public(line.text("aad")), line.has("shown")};
}

// A report would be mixed with the bytes.
void require_output_file(const CommandLine& line) {
  if (line.common().format == Format::Json && line.text("out") == kStandard)
    throw UsageError("--format json takes a file for the output: give OUT");
}

void write_and_report(const CommandLine& line, const std::string& command, const std::string& key,
                      std::size_t text_bytes, std::span<const std::byte> output) {
  const std::string& path = line.text("out");
  write_output(path, output);
  if (path != kStandard) print_written(line.common().format, command, key, text_bytes, path);
}

}  // namespace

int key_encrypt(const Arguments& arguments) {
  CommandLine line = key_line("encrypt", "KEY [IN [OUT]] [--aad TEXT|@FILE] [--peer NAME]",
                              "payments/card data.key data.key.enc");
  take_key(line);
  take_input(line, "what is encrypted");
  take_output(line, "what is encrypted, with the id of the key, nonce and tag");
  add_associated_data(line.options());
  line.options()
      .value("nonce",
             "HEX, 12 bytes, of a key whose nonces the client chooses; never the same twice")
      .secret();  // one of a file or the environment would be used again
  add_key_wait(line.options());
  if (!line.parse(arguments)) return 0;
  require_output_file(line);
  std::optional<service::KeyNonce> nonce;
  if (line.has("nonce")) parse_hex_option("nonce", line.text("nonce"), nonce.emplace());
  const AssociatedData associated = associated_data_from(line);
  const SecretVector<std::byte> text = read_payload(line.text("in"));
  const EncryptedText encrypted =
      keys_from(line).encrypt(key_name_from(line), text, associated, nonce);
  write_and_report(line, "key encrypt", encrypted.key, text.size(), encrypted_file_of(encrypted));
  return 0;
}

int key_decrypt(const Arguments& arguments) {
  CommandLine line =
      key_line("decrypt", "[IN [OUT]] [--aad TEXT|@FILE] [--peer NAME]", "data.key.enc data.key");
  take_input(line, "what tinyot key encrypt has written");
  take_output(line, "the text");
  line.options().value("key", "id or label of the key, in place of the id in the file");
  add_associated_data(line.options());
  add_key_wait(line.options());
  if (!line.parse(arguments)) return 0;
  require_output_file(line);
  const AssociatedData associated = associated_data_from(line);
  const EncryptedText encrypted = read_encrypted_file(line.text("in"));
  const std::string key = line.has("key") ? line.text("key") : encrypted.key;
  const auto text = keys_from(line).decrypt({peer_name_from(line), key}, encrypted, associated);
  if (!text)
    throw CommandError("the tag is not valid: text, tag or associated data are not what key " +
                       key + " was used for; nothing is written");
  write_and_report(line, "key decrypt", key, text->size(), *text);
  return 0;
}

int key_sign(const Arguments& arguments) {
  CommandLine line = key_line("sign", "KEY [IN] [--raw] [--peer NAME]", "orders/mac order.xml");
  take_key(line);
  take_input(line, "the message");
  line.options().flag("raw", "print the bytes of the tag, not their hex digits");
  add_key_wait(line.options());
  if (!line.parse(arguments)) return 0;
  if (line.has("raw") && line.common().format == Format::Json)
    throw UsageError("--raw and --format json exclude each other");
  const SecretVector<std::byte> message = read_payload(line.text("in"));
  const std::vector<std::byte> tag = keys_from(line).sign(key_name_from(line), message);
  if (line.has("raw"))
    write_output(kStandard, tag);
  else
    print_tag(line.common().format, tag);
  return 0;
}

int key_verify(const Arguments& arguments) {
  CommandLine line = key_line("verify", "KEY --tag HEX|@FILE [IN] [--peer NAME]",
                              "orders/mac --tag @order.tag order.xml");
  take_key(line);
  take_input(line, "the message");
  line.options().value("tag", "HEX, or @FILE with the bytes: the whole tag");
  line.require("tag");
  add_key_wait(line.options());
  if (!line.parse(arguments)) return 0;
  const std::vector<std::byte> tag = read_hex_or_file("tag", line.text("tag"));
  const SecretVector<std::byte> message = read_payload(line.text("in"));
  if (!keys_from(line).verify(key_name_from(line), message, tag))
    throw CommandError("the tag is not valid");
  print_valid(line.common().format, line.text("key"));
  return 0;
}

}  // namespace tinyot::tools
