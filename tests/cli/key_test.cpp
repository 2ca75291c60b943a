// `tinyot key`: what each subcommand asks the daemon for, what it makes of the answer, and the
// files that it reads and writes.
#include <sys/stat.h>

#include "base/hex.h"
#include "custody/backups.h"
#include "engine/key_file.h"
#include "service/key_audit.h"
#include "service/key_certificate.h"
#include "tests/cli/fake_daemon.h"
#include "tests/cli/fake_keys.h"
#include "tests/support/command_test.h"
#include "tools/cli/key_files.h"

namespace tinyot::test {
namespace {

namespace fs = std::filesystem;

const std::string kKeyId = "000102030405060708090a0b0c0d0e0f";

std::string bytes_of_hex(const std::string& hex) {
  std::string bytes(hex.size() / 2, '\0');
  EXPECT_TRUE(parse_hex(hex, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

class KeyTest : public CommandTest {
 protected:
  KeyTest() { server_.emplace("unix:" + path("socket")); }

  Arguments key(const std::string& verb, const Arguments& more = {}) const {
    return Arguments{"key", verb, "--server", "unix:" + path("socket")} + more;
  }
  Ended ask(const std::string& verb, const Arguments& more = {},
            const std::string& input = {}) const {
    return tinyot(key(verb, more), input);
  }
  Json json(const std::string& verb, const Arguments& more = {},
            const std::string& input = {}) const {
    const Ended ended = ask(verb, more + Arguments{"--format", "json"}, input);
    EXPECT_TRUE(ended_with(ended, 0));
    EXPECT_EQ(ended.err, "");
    const Json report = json_of(ended);
    EXPECT_EQ(report["command"], "key " + verb);
    return report;
  }
  mode_t mode_of(const std::string& name) const {
    struct stat found {};
    EXPECT_EQ(::stat(path(name).c_str(), &found), 0);
    return found.st_mode & 0777;
  }
  // The files in the directory, for what a failed command leaves.
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_)) names.insert(entry.path().filename());
    return names;
  }

  std::optional<FakeKeys> server_;
};

TEST_F(KeyTest, CreateSendsAttributesAndPrintsTheKey) {
  const Json report = json("create", {"payments/card"});
  EXPECT_EQ(report["id"], kKeyId);
  EXPECT_EQ(report["peer"], "bank");
  EXPECT_EQ(report["label"], "payments/card");
  EXPECT_EQ(report["version"], 2);
  EXPECT_EQ(report["class"], "aead");
  EXPECT_EQ(report["algorithm"], "aes256");
  EXPECT_EQ(report["nonces"], "joint");
  EXPECT_EQ(report["origin"], "generated");
  EXPECT_EQ(report["state"], "active");
  EXPECT_EQ(report["peer_state"], "active");
  EXPECT_EQ(report["fingerprint"], std::string(64, 'f'));
  EXPECT_EQ(report["epochs"], Json({"1-" + std::string(32, 'e')}));
  EXPECT_EQ(report["use_bound"], 1024);
  EXPECT_FALSE(report.contains("parent"));
  const v1::CreateKeyRequest usual = server_->create_request;
  EXPECT_EQ(usual.label(), "payments/card");
  EXPECT_EQ(usual.key_class(), "aead");
  EXPECT_EQ(usual.algorithm(), "aes256");
  EXPECT_EQ(usual.nonces(), "joint");
  EXPECT_EQ(usual.peer(), "");
  EXPECT_EQ(usual.request().size(), 16u);
  json("create", {"m", "--class", "mac", "--algorithm", "hmac_sha256", "--nonces", "caller",
                  "--peer", "bank", "--request", kKeyId});
  const v1::CreateKeyRequest& other = server_->create_request;
  EXPECT_EQ(other.key_class(), "mac");
  EXPECT_EQ(other.algorithm(), "hmac_sha256");
  EXPECT_EQ(other.nonces(), "caller");
  EXPECT_EQ(other.peer(), "bank");
  EXPECT_EQ(other.request(), bytes_of_hex(kKeyId));
  EXPECT_NE(usual.request(), other.request());
  const Ended text = ask("create", {"payments/card"});
  EXPECT_TRUE(ended_with(text, 0));
  EXPECT_EQ(text.out, "key " + kKeyId +
                          ": payments/card, version 2, with bank\naead aes256, joint nonces, "
                          "generated; active\nfingerprint " +
                          std::string(64, 'f') + ", the same at both parties\nepoch 1-" +
                          std::string(32, 'e') + "\nat most 1,024 uses so far\n");
}

TEST_F(KeyTest, CreateSaysWhyThereIsNoCertificate) {
  server_->key.set_certificate_problem("bank is not connected");
  const std::string problem =
      "no certificate yet: bank is not connected; ask for it again with "
      "tinyot key certificate " +
      kKeyId + "\n";
  const Ended made = ask("create", {"a"});
  EXPECT_TRUE(ended_with(made, 0));
  EXPECT_TRUE(made.out.ends_with(problem)) << made.out;
  EXPECT_EQ(json("create", {"a"})["certificate_problem"], "bank is not connected");
  const Ended wanted = ask("create", {"a", "--certificate", path("out")});
  EXPECT_TRUE(ended_with(wanted, 1,
                         "key " + kKeyId +
                             " is made, and can be used, but has no certificate "
                             "yet: bank is not connected; tinyot key certificate " +
                             kKeyId));
  EXPECT_FALSE(fs::exists(path("out")));
}

// Whether the key has been made is not known: a command that is repeated makes no second one.
TEST_F(KeyTest, LostConnectionNamesTheRequestToRepeat) {
  server_->answer = refused(grpc::StatusCode::UNAVAILABLE, v1::NETWORK, "the link broke");
  const Ended ended = ask("create", {"a", "--request", kKeyId, "--format", "json"});
  EXPECT_TRUE(ended_with(ended, 3,
                         "the link broke; the same command with --request " + kKeyId +
                             " completes it and makes no second key"));
  EXPECT_EQ(json_of(ended)["error"]["remedy"],
            "the same command with --request " + kKeyId + " completes it and makes no second key");
}

TEST_F(KeyTest, ImportReadsPrivateFilesAndStdin) {
  const std::string bytes("\0key\n with any bytes, 32 of them..", 32);
  write_private_file(path("card.key"), bytes);
  json("import", {"card", "--key-file", path("card.key"), "--algorithm", "aes128"});
  EXPECT_EQ(server_->import_request.bytes(), bytes);
  EXPECT_EQ(server_->import_request.key().label(), "card");
  EXPECT_EQ(server_->import_request.key().algorithm(), "aes128");
  json("import", {"card", "--key-file", "-"}, bytes.substr(16));
  EXPECT_EQ(server_->import_request.bytes(), bytes.substr(16));
  write_private_file(path("hex.key"), std::string(64, 'a') + "\n");
  EXPECT_TRUE(ended_with(ask("import", {"card", "--key-file", path("hex.key")}), 2,
                         path("hex.key") + " has more than 32 bytes, and no key has"));
  ::chmod(path("card.key").c_str(), 0644);
  EXPECT_TRUE(ended_with(ask("import", {"card", "--key-file", path("card.key")}), 2,
                         "readable by other users"));
  EXPECT_TRUE(ended_with(ask("import", {"card"}), 2, "--key-file is missing"));
}

TEST_F(KeyTest, DeriveTakesContextAsDigitsOrAFile) {
  server_->key.set_origin("derived");
  server_->key.set_parent(std::string(32, 'b'));
  const Json report = json("derive", {"card/1", "--parent", "root", "--context", "07E7"});
  EXPECT_EQ(report["parent"], std::string(32, 'b'));
  EXPECT_EQ(server_->derive_request.context(), "\x07\xe7");
  EXPECT_EQ(server_->derive_request.parent(), "root");
  EXPECT_EQ(server_->derive_request.key().label(), "card/1");
  write_file(path("context"), "07E7");
  json("derive", {"card/1", "--parent", "root", "--context", "@" + path("context")});
  EXPECT_EQ(server_->derive_request.context(), "07E7");
  for (const char* wrong : {"07e", "07g7", "0x07"})
    EXPECT_TRUE(ended_with(ask("derive", {"c", "--parent", "r", "--context", wrong}), 2,
                           "--context takes two hex digits for each byte, or @FILE"));
}

TEST_F(KeyTest, ListPrintsALineForEachKey) {
  EXPECT_EQ(ask("list").out, "no keys\n");
  *server_->list.add_keys() = server_->key;
  v1::Key& other = *server_->list.add_keys();
  other = server_->key;
  other.set_key_class("mac");
  other.set_peer_state("suspended");
  server_->calls.clear();
  EXPECT_EQ(ask("list", {"--all", "--peer", "bank"}).out,
            kKeyId +
                "  payments/card, version 2, with bank: aead aes256, joint nonces, generated, "
                "active\n" +
                kKeyId +
                "  payments/card, version 2, with bank: mac aes256, generated, active, at the peer "
                "suspended\n");
  EXPECT_EQ(json("list")["keys"].size(), 2u);
  EXPECT_EQ(server_->calls, (std::vector<std::string>{"List peer: \"bank\" all: true", "List "}));
}

TEST_F(KeyTest, StepsNameTheKey) {
  for (const auto& [verb, call] :
       std::vector<std::pair<std::string, std::string>>{{"show", "Show"},
                                                        {"rotate", "Rotate"},
                                                        {"refresh", "Refresh"},
                                                        {"suspend", "Suspend"},
                                                        {"resume", "Resume"},
                                                        {"deactivate", "Deactivate"}}) {
    server_->calls.clear();
    EXPECT_EQ(json(verb, {"payments/card", "--peer", "bank"})["id"], kKeyId);
    EXPECT_EQ(json(verb, {kKeyId})["state"], "active");
    EXPECT_EQ(server_->calls,
              (std::vector<std::string>{call + " peer: \"bank\" key: \"payments/card\"",
                                        call + " key: \"" + kKeyId + "\""}));
    EXPECT_TRUE(ended_with(ask(verb), 2,
                           verb == "resume" ? "--key or --peer-cheated" : "--key is missing"));
  }
}

TEST_F(KeyTest, ResumesAllKeysOfAPeerThatCheated) {
  EXPECT_EQ(json("resume", {"--peer-cheated", "bank"})["peer"], "bank");
  EXPECT_EQ(server_->calls, (std::vector<std::string>{"ResumePeer peer: \"bank\""}));
  EXPECT_TRUE(ended_with(ask("resume", {"a", "--peer-cheated", "bank"}), 2, "leave out KEY"));
  EXPECT_TRUE(
      ended_with(ask("resume", {"--epoch", "1-aa", "--peer-cheated", "bank"}), 2, "leave out KEY"));
}

TEST_F(KeyTest, ResumesAKeyWithOneEpochAlone) {
  EXPECT_EQ(json("resume", {"a", "--epoch", "1-aa"})["id"], kKeyId);
  EXPECT_EQ(server_->calls, (std::vector<std::string>{"ResumeEpoch key: \"a\" epoch: \"1-aa\""}));
}

TEST_F(KeyTest, DestroyTakesYesAndNamesTheBackups) {
  EXPECT_TRUE(ended_with(ask("destroy", {"a"}), 2, "give --yes to destroy it"));
  EXPECT_TRUE(server_->calls.empty());
  *server_->destroyed.mutable_key() = server_->key;
  server_->destroyed.mutable_key()->set_state("destroyed");
  EXPECT_EQ(ask("destroy", {"a", "--yes"}).out,
            "this party's share of key " + kKeyId +
                ", payments/card, version 2, with bank, is destroyed\nthere is no backup of it in "
                "the daemon's directory; those that were taken elsewhere have it still\n");
  server_->destroyed.add_backups("/safe/1.backup");
  const Json report = json("destroy", {"a", "--yes"});
  EXPECT_EQ(report["state"], "destroyed");
  EXPECT_EQ(report["backups"], Json({"/safe/1.backup"}));
  EXPECT_NE(ask("destroy", {"a", "--yes"}).out.find("remove them, and their copies:\n/safe/1.bac"),
            std::string::npos);
}

TEST_F(KeyTest, EncryptWritesAFileThatDecryptReads) {
  server_->encrypted.set_ciphertext("secret 5");
  write_file(path("text"), "a secret");
  const Json report = json("encrypt", {"payments/card", path("text"), path("out")});
  EXPECT_EQ(
      report,
      Json({{"command", "key encrypt"}, {"key", kKeyId}, {"bytes", 8}, {"output", path("out")}}));
  EXPECT_EQ(server_->encrypt_request.key(), "payments/card");
  EXPECT_EQ(server_->encrypt_request.plaintext(), "a secret");
  EXPECT_EQ(server_->encrypt_request.associated_data(), "");
  EXPECT_FALSE(server_->encrypt_request.shown());
  EXPECT_EQ(server_->encrypt_request.nonce(), "");
  const std::string file =
      "TOT1" + bytes_of_hex(kKeyId) + std::string(12, 'n') + "secret 5" + std::string(16, 't');
  EXPECT_EQ(read_file(path("out")), file);
  EXPECT_EQ(mode_of("out"), 0600u);
  // By stdin and stdout.
  EXPECT_EQ(ask("encrypt", {"payments/card"}, "another").out, file);
  EXPECT_EQ(server_->encrypt_request.plaintext(), "another");

  server_->decrypted.set_is_valid(true);
  server_->decrypted.set_plaintext("a secret");
  write_file(path("text"), "what was there before");
  ::chmod(path("text").c_str(), 0644);
  EXPECT_EQ(
      json("decrypt", {path("out"), path("text")}),
      Json({{"command", "key decrypt"}, {"key", kKeyId}, {"bytes", 8}, {"output", path("text")}}));
  EXPECT_EQ(read_file(path("text")), "a secret");
  EXPECT_EQ(mode_of("text"), 0600u);
  const v1::DecryptRequest& request = server_->decrypt_request;
  EXPECT_EQ(request.key(), kKeyId);
  EXPECT_EQ(request.nonce(), std::string(12, 'n'));
  EXPECT_EQ(request.ciphertext(), "secret 5");
  EXPECT_EQ(request.tag(), std::string(16, 't'));
  EXPECT_EQ(ask("decrypt", {"--key", "payments/card"}, file).out, "a secret");
  EXPECT_EQ(server_->decrypt_request.key(), "payments/card");
}

TEST_F(KeyTest, EmptyTextsAreTextsToo) {
  const Ended ended = ask("encrypt", {"a"});
  EXPECT_TRUE(ended_with(ended, 0));
  EXPECT_EQ(ended.out.size(), 48u);
  server_->decrypted.set_is_valid(true);
  const Ended back = ask("decrypt", {}, ended.out);
  EXPECT_TRUE(ended_with(back, 0));
  EXPECT_EQ(back.out, "");
  EXPECT_EQ(server_->decrypt_request.ciphertext(), "");
}

TEST_F(KeyTest, AssociatedDataAndNonces) {
  write_file(path("aad"), "of a file");
  ask("encrypt", {"a", "--aad", "tenant 7", "--shown", "--nonce", std::string(24, 'C')}, "x");
  EXPECT_EQ(server_->encrypt_request.associated_data(), "tenant 7");
  EXPECT_TRUE(server_->encrypt_request.shown());
  EXPECT_EQ(server_->encrypt_request.nonce(), std::string(12, '\xcc'));
  const std::string file = ask("encrypt", {"a", "--aad", "@" + path("aad")}, "x").out;
  EXPECT_EQ(server_->encrypt_request.associated_data(), "of a file");
  EXPECT_FALSE(server_->encrypt_request.shown());
  ask("decrypt", {"--aad", "@" + path("aad"), "--shown"}, file);
  EXPECT_EQ(server_->decrypt_request.associated_data(), "of a file");
  EXPECT_TRUE(server_->decrypt_request.shown());
  EXPECT_TRUE(ended_with(ask("encrypt", {"a", "--shown"}, "x"), 2, "give --aad"));
  EXPECT_TRUE(ended_with(ask("encrypt", {"a", "--nonce", "00"}, "x"), 2,
                         "--nonce takes 24 hex digits; '00' has 2 characters"));
}

TEST_F(KeyTest, InvalidTagsWriteNothing) {
  const std::string file = ask("encrypt", {"a"}, "x").out;
  write_file(path("in"), file);
  server_->decrypted.set_plaintext("not to be written");  // whatever the daemon says
  const auto before = files();
  EXPECT_TRUE(ended_with(ask("decrypt", {path("in"), path("out")}), 1,
                         "the tag is not valid: text, tag or associated data are not what key " +
                             kKeyId + " was used for; nothing is written"));
  EXPECT_EQ(files(), before);
  const Ended verified = ask("verify", {"a", "--tag", "00", path("in"), "--format", "json"});
  EXPECT_TRUE(ended_with(verified, 1, "the tag is not valid"));
}

TEST_F(KeyTest, FilesOfOtherProgramsAreNotDecrypted) {
  const std::string file = ask("encrypt", {"a"}, "x").out;
  for (const std::string& wrong : {std::string(), file.substr(0, 47), "tot1" + file.substr(4),
                                   "TOT2" + file.substr(4), std::string(100, 'x')})
    EXPECT_TRUE(ended_with(ask("decrypt", {}, wrong), 2, "is not a file that tinyot key encrypt"));
  EXPECT_EQ(server_->calls.size(), 1u) << "only the encryption";
}

TEST_F(KeyTest, LongTextsTakeADataKey) {
  write_file(path("long"), std::string(65537, 'x'));
  const std::string advice =
      " has more than 65536 bytes, the most that a key in two shares is used for at a time: make a "
      "key for the data, encrypt the data with it by another program, and encrypt that key here";
  for (const Arguments& arguments :
       {Arguments{"encrypt", "a", path("long")}, Arguments{"sign", "a", path("long")},
        Arguments{"verify", "a", "--tag", "00", path("long")}})
    EXPECT_TRUE(ended_with(ask(arguments[0], {arguments.begin() + 1, arguments.end()}), 2,
                           path("long") + advice));
  EXPECT_TRUE(server_->calls.empty());
  write_file(path("long"), std::string(65536, 'x'));
  EXPECT_TRUE(ended_with(ask("encrypt", {"a", path("long")}), 0));
}

TEST_F(KeyTest, SignPrintsTheTagAndVerifyTakesIt) {
  server_->signed_reply.set_tag("\x01\xab\n");
  const Ended text = ask("sign", {"orders/mac"}, "a message");
  EXPECT_TRUE(ended_with(text, 0));
  EXPECT_EQ(text.out, "01ab0a\n");
  EXPECT_EQ(server_->sign_request.message(), "a message");
  EXPECT_EQ(server_->sign_request.key(), "orders/mac");
  write_file(path("message"), "in a file");
  EXPECT_EQ(json("sign", {"orders/mac", path("message")})["tag"], "01ab0a");
  EXPECT_EQ(server_->sign_request.message(), "in a file");
  const Ended raw = ask("sign", {"orders/mac", "--raw"}, "a message");
  EXPECT_EQ(raw.out, "\x01\xab\n");
  EXPECT_TRUE(ended_with(ask("sign", {"a", "--raw", "--format", "json"}, "x"), 2, "--raw"));

  server_->verified.set_is_valid(true);
  write_file(path("tag"), raw.out);
  for (const std::string& tag : {std::string("01AB0a"), "@" + path("tag")}) {
    EXPECT_EQ(json("verify", {"orders/mac", "--tag", tag, path("message")})["is_valid"], true);
    EXPECT_EQ(server_->verify_request.tag(), "\x01\xab\n");
    EXPECT_EQ(server_->verify_request.message(), "in a file");
  }
  EXPECT_EQ(ask("verify", {"orders/mac", "--tag", "01ab0a"}, "x").out, "the tag is valid\n");
  EXPECT_TRUE(ended_with(ask("verify", {"a"}, "x"), 2, "--tag is missing"));
}

TEST_F(KeyTest, PayloadsAreNoPartOfReportsAndErrors) {
  const std::string secret = "pay 17 to the bearer of this";
  write_file(path("text"), secret);
  server_->decrypted.set_is_valid(true);
  server_->decrypted.set_plaintext(secret);
  const std::string file = ask("encrypt", {"a"}, "x").out;
  write_file(path("in"), file);
  std::vector<Ended> all = {ask("encrypt", {"a", path("text"), path("out")}),
                            ask("decrypt", {path("in"), path("out")}),
                            ask("sign", {"a", path("text")})};
  server_->answer = {grpc::StatusCode::INTERNAL, "it failed"};
  for (const Arguments& arguments : {Arguments{"encrypt", "a", path("text")},
                                     {"decrypt", path("in")},
                                     {"sign", "a", path("text")}})
    all.push_back(ask(arguments[0], {arguments.begin() + 1, arguments.end()}));
  for (const Ended& ended : all)
    EXPECT_EQ((ended.out + ended.err).find(secret.substr(0, 8)), std::string::npos);
  EXPECT_TRUE(ended_with(ask("encrypt", {"a", path("text"), "--format", "json"}), 2, "give OUT"));
}

TEST_F(KeyTest, OutputsReplaceFilesAlone) {
  EXPECT_TRUE(ended_with(ask("encrypt", {"a", "-", dir_.string()}, "x"), 2,
                         "exists and is not a regular file"));
  EXPECT_TRUE(ended_with(ask("encrypt", {"a", "-", path("none/out")}, "x"), 1, path("none/out")));
  const Ended full =
      Process("/bin/sh",
              {"-c", std::string("exec '") + TINYOT_BINARY +
                         "' key encrypt a --server unix:" + path("socket") + " > /dev/full"})
          .end();
  EXPECT_TRUE(ended_with(full, 1, "cannot write the result to stdout"));
}

TEST_F(KeyTest, BackupsOfAllKeysOrOfOne) {
  EXPECT_EQ(ask("backups").out, "no backups\n");
  server_->backups.add_files("/safe/1.backup");
  server_->backups.add_files("/safe/2.backup");
  EXPECT_EQ(ask("backups", {"a", "--peer", "bank"}).out, "/safe/1.backup\n/safe/2.backup\n");
  EXPECT_EQ(json("backups")["files"].size(), 2u);
  EXPECT_EQ(server_->calls, (std::vector<std::string>{
                                "Backups ", "Backups peer: \"bank\" key: \"a\"", "Backups "}));
}

TEST_F(KeyTest, RestoreOpensTheBackupAndSendsItsContent) {
  const Json made = json_of(tinyot({"key", "backup-key", path("safe.key"), "--format", "json"}));
  EXPECT_EQ(made["command"], "key backup-key");
  EXPECT_EQ(made["key"], path("safe.key"));
  EXPECT_EQ(mode_of("safe.key"), 0600u);
  custody::BackupRecipient recipient{"safe", {}};
  ASSERT_TRUE(parse_hex(made["public_key"].get<std::string>(), recipient.key));
  fs::create_directory(path("medium"));
  const custody::Backups backups(path("medium"), {recipient});
  custody::KeyRecord record;
  record.attributes.id = *custody::key_id_from(kKeyId);
  record.attributes.label = "payments/card";
  const custody::Share share(32, std::byte{'s'});
  backups.write({Party::A, "bank", {}}, record, {3, {}}, share);
  const std::string file = backups.files().at(0).string();

  EXPECT_EQ(json("restore", {file, "--key", path("safe.key")})["id"], kKeyId);
  EXPECT_EQ(server_->restore_request.peer(), "bank") << "as the backup says";
  const auto content = std::as_bytes(std::span(server_->restore_request.backup()));
  const auto opened = custody::backup_from(SecretVector<std::byte>(content.begin(), content.end()));
  EXPECT_EQ(opened.record.attributes.label, "payments/card");
  EXPECT_EQ(opened.share, share);
  json("restore", {file, "--key", path("safe.key"), "--peer", "other"});
  EXPECT_EQ(server_->restore_request.peer(), "other");
  EXPECT_EQ(server_->restore_request.fingerprint(), "");
  json("restore", {file, "--key", path("safe.key"), "--fingerprint", "a7"});
  EXPECT_EQ(server_->restore_request.fingerprint(), "a7");

  server_->calls.clear();
  EXPECT_TRUE(ended_with(tinyot({"key", "backup-key", path("safe.key")}), 2, "already exists"));
  EXPECT_TRUE(ended_with(tinyot({"key", "backup-key", path("other.key")}), 0));
  EXPECT_TRUE(ended_with(ask("restore", {file, "--key", path("other.key")}), 2,
                         "is not for this private key, or is damaged"));
  EXPECT_TRUE(ended_with(ask("restore", {path("safe.key"), "--key", path("safe.key")}), 2,
                         "is not a backup of a key"));
  EXPECT_TRUE(ended_with(ask("restore", {file, "--key", file}), 2,
                         file + " is not a private key of backups"));
  ::chmod(path("safe.key").c_str(), 0644);
  EXPECT_TRUE(
      ended_with(ask("restore", {file, "--key", path("safe.key")}), 2, "readable by other users"));
  EXPECT_TRUE(server_->calls.empty());
}

TEST_F(KeyTest, ApprovalsAreListedAndDecided) {
  EXPECT_EQ(ask("approvals").out, "no request waits for an approval\n");
  v1::Approval& one = *server_->approvals.add_approvals();
  one.set_request(std::string(32, '1'));
  one.set_peer("bank");
  one.set_client("billing\x1b[2J");
  one.set_operation("encrypt");
  one.set_key(kKeyId);
  one.set_label("payments/card");
  one.set_bytes(32);
  one.set_aad_bytes(8);
  one.set_shown_aad("tenant\n7");
  one.set_details("aead aes256, joint nonces");
  one.set_expires_unix_ms(1'500'000'000'500);
  EXPECT_EQ(ask("approvals", {"--peer", "bank"}).out,
            std::string(32, '1') + "  encrypt with payments/card (" + kKeyId +
                "), aead aes256, joint nonces, 32 bytes, associated data of 8 bytes 'tenant?7'; by "
                "billing?[2J of bank, until "
                "2017-07-14T02:40:00Z\n");
  const Json report = json("approvals")["approvals"][0];
  EXPECT_EQ(report["request"], std::string(32, '1'));
  EXPECT_EQ(report["is_own"], false);
  EXPECT_EQ(report["shown_aad"], "74656e616e740a37");
  EXPECT_EQ(report["details"], one.details());
  EXPECT_EQ(report["expires_at_s"], 1'500'000'000.5);
  server_->calls.clear();
  EXPECT_EQ(ask("approve", {std::string(32, '1')}).out,
            "request " + std::string(32, '1') + " is approved\n");
  EXPECT_EQ(json("deny", {std::string(32, '2'), "--peer", "bank"})["request"],
            std::string(32, '2'));
  EXPECT_EQ(server_->calls, (std::vector<std::string>{
                                "Approve request: \"" + std::string(32, '1') + "\"",
                                "Deny peer: \"bank\" request: \"" + std::string(32, '2') + "\""}));
}

TEST_F(KeyTest, OperationsOfOfficersAreShownWithWhoConfirmedThem) {
  v1::Approval& one = *server_->approvals.add_approvals();
  one.set_request(std::string(32, '1'));
  one.set_peer("bank");
  one.set_is_own(true);
  one.set_client("user 7");
  one.set_operation("restore");
  one.set_key(kKeyId);
  one.set_label("payments/card");
  one.set_bytes(32);
  one.set_details("epoch 3-" + std::string(32, 'e'));
  one.set_expires_unix_ms(1'500'000'000'500);
  one.set_quorum(3);
  one.add_officers("user 7");
  one.add_officers("the client 'x\x1b'");
  EXPECT_EQ(ask("approvals").out, std::string(32, '1') + "  restore of payments/card (" + kKeyId +
                                      "), 32 bytes, epoch 3-" + std::string(32, 'e') +
                                      "; confirmed by 2 of 3 officers (user 7, the client 'x?'), "
                                      "until 2017-07-14T02:40:00Z\n");
  const Json report = json("approvals")["approvals"][0];
  EXPECT_EQ(report["quorum"], 3);
  EXPECT_EQ(report["officers"][0], "user 7");
  EXPECT_EQ(report["details"], one.details());
  one.set_operation("resume_peer");
  one.clear_key();
  one.clear_label();
  EXPECT_NE(ask("approvals").out.find("resume_peer of all keys with bank, "), std::string::npos);
}

TEST_F(KeyTest, RefusedCallsExitWithTheirClass) {
  const std::tuple<grpc::StatusCode, v1::ErrorClass, int> classes[] = {
      {grpc::StatusCode::INTERNAL, v1::INTERNAL, 1},
      {grpc::StatusCode::NOT_FOUND, v1::USAGE, 2},
      {grpc::StatusCode::DEADLINE_EXCEEDED, v1::NETWORK, 3},
      {grpc::StatusCode::ABORTED, v1::PEER_CHEATED, 4},
      {grpc::StatusCode::FAILED_PRECONDITION, v1::STORE, 5},
      {grpc::StatusCode::PERMISSION_DENIED, v1::DISAGREEMENT, 6}};
  for (const auto& [code, error_class, status] : classes) {
    server_->answer = refused(code, error_class, "the reason");
    for (const Arguments& arguments : {Arguments{"create", "a"},
                                       {"list"},
                                       {"show", "a"},
                                       {"encrypt", "a"},
                                       {"sign", "a"},
                                       {"verify", "a", "--tag", "00"},
                                       {"destroy", "a", "--yes"},
                                       {"approve", "a"}})
      EXPECT_TRUE(ended_with(ask(arguments[0], {arguments.begin() + 1, arguments.end()}), status,
                             "the reason"))
          << arguments[0];
  }
  server_->answer = {grpc::StatusCode::PERMISSION_DENIED, "user 7 may not"};
  EXPECT_TRUE(ended_with(ask("list"), 2, "user 7 may not"));
  EXPECT_TRUE(ended_with(tinyot({"key", "list", "--server", "unix:" + path("none")}), 3,
                         "check that tinyot serve is running"));
  EXPECT_TRUE(ended_with(ask("list", {"--tls-ca", "x"}), 2, "--tls-certificate, --tls-key"));
  EXPECT_TRUE(ended_with(ask("encrypt", {"a", "--wait", "0"}), 2, "--wait is out of range"));
}

// The encryption under an id that the daemon makes up would be lost.
TEST_F(KeyTest, AnswersThatAreNoneAreRefused) {
  server_->encrypted.set_nonce("short");
  EXPECT_TRUE(ended_with(ask("encrypt", {"a"}), 1, "a nonce of 5 bytes, not 12"));
  server_->encrypted.set_nonce(std::string(12, 'n'));
  server_->encrypted.set_key("payments/card");
  EXPECT_TRUE(ended_with(ask("encrypt", {"a"}), 1, "an id of a key that is none"));
}

TEST_F(KeyTest, CertificatesAreWrittenPrintedAndVerified) {
  for (const char* name : {"a.pem", "b.pem", "c.pem"})
    ASSERT_TRUE(ended_with(tinyot({"keygen", "--output", path(name)}), 0));
  const net::Identity a = engine::read_identity(path("a.pem")),
                      b = engine::read_identity(path("b.pem"));
  custody::KeyRecord record;
  ASSERT_TRUE(parse_hex(kKeyId, record.attributes.id.bytes));
  record.attributes.label = "payments/card";
  record.attributes.version = 2;
  const service::KeyStatement statement = service::statement_of(
      record, std::chrono::system_clock::time_point(std::chrono::seconds(1'800'000'000)));
  const service::KeyParties parties{a.fingerprint(), b.fingerprint()};
  const std::vector<std::byte> bytes =
      service::file_of({parties, service::signed_statement(statement, parties, a),
                        service::signed_statement(statement, {parties.peer, parties.own}, b)});
  const std::string file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // Of a key that is made.
  server_->key.set_certificate(file);
  server_->calls.clear();
  json("create", {"payments/card", "--certificate", path("made")});
  EXPECT_EQ(read_file(path("made")), file);
  json("rotate", {"payments/card", "--certificate", path("rotated")});
  EXPECT_EQ(read_file(path("rotated")), file);
  // Of one that is there.
  server_->certificate.set_certificate(file);
  server_->calls.clear();
  const Json report =
      json("certificate", {"payments/card", "--peer", "bank", "--output", path("card")});
  EXPECT_EQ(server_->calls,
            std::vector<std::string>{"Certificate peer: \"bank\" key: \"payments/card\""});
  EXPECT_EQ(read_file(path("card")), file);
  EXPECT_EQ(report["id"], kKeyId);
  EXPECT_EQ(report["label"], "payments/card");
  EXPECT_EQ(report["version"], 2);
  EXPECT_EQ(report["class"], "aead");
  EXPECT_EQ(report["fingerprint"], hex_of(crypto::bytes_of(statement.fingerprint)));
  EXPECT_EQ(report["request"], std::string(32, '0'));
  EXPECT_EQ(report["signed"][0]["key"], net::text_of(parties.own));
  EXPECT_EQ(report["signed"][1]["key"], net::text_of(parties.peer));
  EXPECT_EQ(report["signed"][0]["time"], "2027-01-15T08:00:00Z");
  EXPECT_EQ(report["output"], path("card"));
  server_->certificate.set_certificate("none");
  EXPECT_TRUE(ended_with(ask("certificate", {"payments/card"}), 5,
                         "the certificate of the daemon: it is not the certificate of a key"));
  // By an auditor.
  const auto verify = [&](const std::string& key, const std::string& peer_key) {
    return tinyot({"key", "verify-certificate", path("card"), "--key", "@" + path(key + ".crt"),
                   "--peer-key",
                   net::text_of(engine::read_identity(path(peer_key)).fingerprint())});
  };
  const Ended right = verify("a.pem", "b.pem");
  EXPECT_TRUE(ended_with(right, 0));
  EXPECT_EQ(right.out, "key " + kKeyId +
                           ": payments/card, version 2\naead aes256, joint nonces, generated\n"
                           "fingerprint " +
                           hex_of(crypto::bytes_of(statement.fingerprint)) + "\nmade by request " +
                           std::string(32, '0') + "\nsigned by " + net::text_of(parties.own) +
                           " at 2027-01-15T08:00:00Z\nsigned by " + net::text_of(parties.peer) +
                           " at 2027-01-15T08:00:00Z\n");
  EXPECT_TRUE(ended_with(verify("b.pem", "a.pem"), 0));
  EXPECT_TRUE(ended_with(verify("a.pem", "c.pem"), 5,
                         path("card") + ": the statement of " + net::text_of(parties.own) +
                             " is not about a key with sha256:"));
  EXPECT_TRUE(ended_with(verify("c.pem", "b.pem"), 5,
                         path("card") + ": the signature is not that of sha256:"));
  EXPECT_TRUE(ended_with(verify("a.pem", "a.pem"), 5, "these are the same"));
  write_file(path("card"), file.substr(0, 100));
  EXPECT_TRUE(ended_with(verify("a.pem", "b.pem"), 5, "it is damaged"));
  EXPECT_TRUE(ended_with(tinyot({"key", "verify-certificate", path("card")}), 2,
                         "these are missing: --key, --peer-key"));
}

// The keys that both parties have bound to the new TLS key are refreshed; the others are named.
TEST_F(KeyTest, RebindRefreshesWhatBothHaveBound) {
  EXPECT_EQ(ask("rebind").out, "no key is to be rebound or refreshed\n");
  v1::Key& waiting = *server_->rebound.add_keys();
  waiting = server_->key;
  waiting.set_id(std::string(32, 'a'));
  waiting.set_peer_state("suspended");
  v1::Key& unknown = *server_->rebound.add_keys();
  unknown = waiting;
  unknown.clear_peer_state();
  *server_->rebound.add_keys() = server_->key;
  // A rotation has deactivated it, at one party.
  v1::Key& here = *server_->rebound.add_keys();
  here = server_->key;
  here.set_state("deactivated");
  v1::Key& there = *server_->rebound.add_keys();
  there = server_->key;
  there.set_peer_state("deactivated");
  server_->calls.clear();
  const std::string rest = "payments/card, version 2, with bank: ",
                    refresh = "Refresh peer: \"bank\" key: \"" + kKeyId + "\"";
  EXPECT_EQ(ask("rebind", {"--peer", "bank"}).out,
            std::string(32, 'a') + "  " + rest + "not refreshed, it is suspended at bank\n" +
                std::string(32, 'a') + "  " + rest + "not refreshed, bank is not connected\n" +
                kKeyId + "  " + rest + "refreshed\n" + kKeyId + "  " + rest + "refreshed\n" +
                kKeyId + "  " + rest + "refreshed\n" +
                "once both parties have rebound their keys, the same command refreshes the "
                "rest\n");
  EXPECT_EQ(server_->calls,
            (std::vector<std::string>{"Rebind peer: \"bank\"", refresh, refresh, refresh}));
  const Json report = json("rebind", {"payments/card"});
  EXPECT_EQ(report["keys"].size(), 5u);
  EXPECT_EQ(report["keys"][0]["is_refreshed"], false);
  EXPECT_EQ(report["keys"][0]["reason"], "it is suspended at bank");
  EXPECT_EQ(report["keys"][2]["is_refreshed"], true);
  EXPECT_EQ(report["keys"][2]["label"], "payments/card");
  // What `show` says of such a key.
  server_->key.set_needs_rebind(true);
  EXPECT_NE(ask("show", {kKeyId}).out.find("active, to be rebound since a TLS key has changed"),
            std::string::npos);
  EXPECT_EQ(json("show", {kKeyId})["needs_rebind"], true);
  server_->key.set_needs_rebind(false);
  server_->key.set_needs_refresh(true);
  EXPECT_NE(ask("show", {kKeyId}).out.find("active, to be refreshed since it was rebound"),
            std::string::npos);
  EXPECT_EQ(json("show", {kKeyId})["needs_refresh"], true);
}

TEST_F(KeyTest, AuditVerifyPrintsWhatIsWrong) {
  for (const char* name : {"a.pem", "b.pem"})
    ASSERT_TRUE(ended_with(tinyot({"keygen", "--output", path(name)}), 0));
  service::AuditLine line;
  line.request = std::string(32, '1');
  line.client = "billing";
  line.operation = "encrypt";
  line.key = kKeyId;
  line.bytes = 32;
  {
    service::KeyAudit log(path("audit.log"));
    log.append(line);
    line.request = std::string(32, '2');
    log.append(line);
  }
  const auto verify = [&](const Arguments& more = {}) {
    return tinyot(Arguments{"key", "audit", "verify", path("audit.log"), "--key",
                            "@" + path("a.pem.crt"), "--peer-key", "@" + path("b.pem.crt")} +
                  more);
  };
  const Ended right = verify();
  EXPECT_TRUE(ended_with(right, 0));
  EXPECT_EQ(right.out, path("audit.log") + ": 2 lines, 2 requests: nothing is wrong\n");
  const std::string text = read_file(path("audit.log"));
  write_file(path("audit.log"), text.substr(text.find('\n') + 1));
  const Ended wrong = verify({"--format", "json"});
  EXPECT_EQ(wrong.status, 5);
  const Json report = json_of(wrong);
  EXPECT_EQ(report["command"], "key audit verify");
  EXPECT_EQ(report["lines"], 1);
  EXPECT_FALSE(report["problems"].empty());
  const Ended in_text = verify();
  EXPECT_EQ(in_text.status, 5);
  EXPECT_NE(in_text.out.find("problem"), std::string::npos) << in_text.out;
  EXPECT_TRUE(ended_with(verify({"--with", path("none")}), 2, path("none")));
  for (const char* option : {"--former-key", "--former-peer-key"})
    EXPECT_TRUE(ended_with(verify({option, "@" + path("a.pem.crt"), option, "none"}), 2, "none"));
  const std::string former = "@" + path("a.pem.crt") + ",until=";
  EXPECT_TRUE(ended_with(verify({"--former-key", former + "2026-02-30T1"}), 2,
                         "until=2026-02-30T1 is neither a day"));
  EXPECT_EQ(verify({"--former-key", former + "2026-02-28"}).status, 5);
  EXPECT_TRUE(ended_with(verify({"--with", path("./audit.log")}), 2, "the same file"));
  EXPECT_TRUE(ended_with(tinyot({"key", "audit", "verify", path("audit.log")}), 2,
                         "these are missing: --key, --peer-key"));
  EXPECT_TRUE(ended_with(tinyot({"key", "audit"}), 2, "tinyot key audit verify"));
  EXPECT_TRUE(
      ended_with(tinyot({"key", "audit", "verfy"}), 2, "there is no 'tinyot key audit verfy'"));
}

}  // namespace
}  // namespace tinyot::test
