// `tinyot key backups|restore|backup-key`: backups of shares, and the private keys that open them,
// which are kept where no daemon is.
#include "custody/backups.h"
#include "system/input_file.h"
#include "tools/cli/key_files.h"
#include "tools/cli/key_options.h"
#include "tools/cli/render/key.h"

namespace tinyot::tools {

int key_backups(const Arguments& arguments) {
  CommandLine line = key_line("backups", "[KEY] [--peer NAME]", "payments/card");
  line.options().value("key", "id or label of a key; default: all");
  line.positional("key", 1);
  if (!line.parse(arguments)) return 0;
  print_backups(
      line.common().format,
      keys_from(line).backups({peer_name_from(line), line.has("key") ? line.text("key") : ""}));
  return 0;
}

int key_restore(const Arguments& arguments) {
  constexpr std::size_t kFileBytesMax = 1 << 20;
  CommandLine line =
      key_line("restore", "FILE --key PRIVATE_KEY_FILE [--fingerprint HEX] [--peer NAME]",
               "0a1b.3-9c2d.bank.safe.backup --key safe.key");
  line.options()
      .value("backup", "FILE of a share, as the daemon has written it")
      .value("key", "FILE of the private key that opens it; the daemon gets the share alone")
      .value("fingerprint",
             "64 hex digits, of the key, as its certificate has it: needed if the disk has neither "
             "record nor certificate of the key");
  add_key_wait(line.options());
  line.positional("backup", 1);
  line.require("backup");
  line.require("key");
  if (!line.parse(arguments)) return 0;
  const crypto::BoxPrivateKey key = read_backup_key(line.text("key"));
  const std::string file = system::read_text(system::InputFile(line.text("backup")), kFileBytesMax);
  const SecretVector<std::byte> content = custody::open_backup(std::as_bytes(std::span(file)), key);
  const std::string peer =
      line.has("peer") ? line.text("peer") : custody::backup_from(content).peer;
  print(line.common().format, "key restore",
        keys_from(line).restore(peer, content,
                                line.has("fingerprint") ? line.text("fingerprint") : ""));
  return 0;
}

int key_backup_key(const Arguments& arguments) {
  CommandLine line("key backup-key", "FILE", "tinyot key backup-key safe.key");
  line.options().value("file", "FILE for the private key, which must not exist; mode 0600");
  line.positional("file", 1);
  line.require("file");
  if (!line.parse(arguments)) return 0;
  const crypto::BoxPrivateKey key = crypto::random_box_key();
  write_backup_key(key, line.text("file"));
  print_backup_key(line.common().format, crypto::public_key_of(key), line.text("file"));
  return 0;
}

}  // namespace tinyot::tools
