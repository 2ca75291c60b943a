// Keys of one party: how its requests end, and whom it takes for its peer.
#include "service/keys.h"

#include <fstream>
#include <set>

#include "base/error.h"
#include "keys_of_one_party.h"
#include "tests/support/small_disk.h"

namespace tinyot {
namespace {

using service::KeyResult;
using service::KeyTerms;
using test::KeysTest;
namespace config = service::config;
namespace wire = service::wire;

constexpr auto kCallPatience = std::chrono::seconds(20);
constexpr const char* kNotConfirmed =
    "no officer of the other party has bound such a key to this TLS key";

// No client waits for what does not come, and what has begun has an end in the log.
TEST_F(KeysTest, AllCallsEndWhenTheDaemonStops) {
  CustodySetup setup;
  setup.custody_a = "quorum: 2 approval_timeout_s: 25";
  make_parties(setup);
  open();
  std::vector<std::future<KeyResult>> calls;
  for (const char* const label : {"one", "two", "three"}) {
    calls.push_back(ask(create_terms(label)));
    (void)next_request();
  }
  KeyTerms import = create_terms("imported");
  import.operation = config::IMPORT;
  import.attributes->origin = custody::KeyOrigin::Imported;
  service::KeyPayload payload;
  payload.imported.emplace(32);
  calls.push_back(ask(std::move(import), std::move(payload)));
  ASSERT_TRUE(test::becomes_true([&] { return !keys().operations().empty(); }));
  const std::string why = "the daemon is stopping: repeat the request";
  peers_->peer().stop_beginning();
  for (auto& waiting : calls) EXPECT_EQ(failure_of(std::move(waiting)), why);
  EXPECT_EQ(failure_of(ask(create_terms("later"))), why);
  peers_.reset();
  EXPECT_EQ(lines_with("\"event\":\"begin\""), 3u);
  EXPECT_EQ(lines_with("\"event\":\"end\""), 3u);
  EXPECT_EQ(problems_of_a(), std::vector<std::string>());
}

// What has begun gets some time first. The peer is told, too.
TEST_F(KeysTest, AllCallsEndWhenTheTimeOfAStopIsOver) {
  make_parties();
  open();
  auto first = ask(create_terms("one"));
  const custody::RequestId one = next_request();
  auto second = ask(create_terms("two"));
  const custody::RequestId two = next_request();
  peers_->peer().give_up_requests();
  for (auto* const waiting : {&first, &second})
    EXPECT_EQ(failure_of(std::move(*waiting)), "the daemon has stopped before it was done");
  std::set<std::string> told;
  for (int i = 0; i < 2; ++i) told.insert(peer_->next(wire::Message::kKeyEnd).key_end().request());
  EXPECT_EQ(told, (std::set{bytes_of(one), bytes_of(two)}));
}

// What has no room on the disk as it ends is written by the end of the process.
TEST_F(KeysTest, EndsThatWaitForTheDiskAreWrittenAtAStop) {
  const std::filesystem::path audit = dir_ / "disk" / "audit.log",
                              filler = audit.parent_path() / "filler";
  const test::SmallDisk disk(audit.parent_path(), 1 << 20);
  if (!disk.is_mounted()) GTEST_SKIP() << "this process may not mount";
  CustodySetup setup;
  setup.custody_a = "audit_log: '" + audit.string() + "'";
  make_parties(setup);
  const std::string key = stored("data");
  open();
  // More than the last block of the log has room for.
  std::vector<custody::RequestId> requests;
  for (int i = 0; i < 20; ++i) {
    const KeyTerms terms = use_terms(config::ENCRYPT, key, 4);
    EXPECT_TRUE(is_accepted(message_of(asked(terms))));
    requests.push_back(terms.request);
  }
  std::ofstream(filler) << std::string(1 << 20, 'x');
  for (const custody::RequestId& request : requests) end(request);
  ASSERT_TRUE(test::becomes_true([&] { return is_logged("custody goes on after an error"); }));
  std::filesystem::remove(filler);
  peers_.reset();
  const std::string lines = test::read_file(audit);
  for (const custody::RequestId& request : requests)
    EXPECT_NE(lines.find("\"event\":\"end\",\"request\":\"" + hex_of(request)), std::string::npos);
}

// Those of either party, so that together they make no more than there may be.
TEST_F(KeysTest, KeysThatAreBeingMadeCount) {
  CustodySetup setup;
  setup.custody_a = "keys_max: 2";
  make_parties(setup);
  open();
  auto own = ask(create_terms("own"));
  const custody::RequestId of_own = next_request();
  const KeyTerms theirs = create_terms("theirs");
  ASSERT_TRUE(is_accepted(message_of(asked(theirs))));
  EXPECT_EQ(failure_of(ask(create_terms("more"))),
            "there are 2 keys, as many as keys_max of the configuration");
  EXPECT_EQ(refusal_of(message_of(asked(create_terms("more")))),
            "there are as many keys as keys_max allows");
  // There is room again once one of them is not made.
  end(theirs.request);
  EXPECT_TRUE(is_accepted(message_of(asked(create_terms("another")))));
  end(of_own);
  EXPECT_EQ(failure_of(std::move(own)), "bob: no more");
}

// A file that cannot be replaced, as on a full disk.
TEST_F(KeysTest, ThePeerIsToldOfAnErrorOfTheStoreWithoutItsCause) {
  make_parties();
  const std::string key = stored("data");
  open();
  const std::filesystem::path file = file_in_custody(key + ".key");
  put_directory_in_place_of(file);
  const KeyTerms terms = use_terms(config::ENCRYPT, key, 4);
  const service::keys::Answer answer = answer_to(message_of(asked(terms)));
  EXPECT_FALSE(answer.is_accepted());
  EXPECT_EQ(answer.reason(), "the other party cannot log it");
  const wire::KeyEnd ended = peer_->next(wire::Message::kKeyEnd).key_end();
  EXPECT_EQ(ended.request(), bytes_of(terms.request));
  EXPECT_EQ(ended.reason(), "its store or its log cannot be used");
  // The own client, too, learns what it is.
  service::KeyPayload payload;
  payload.use.text.assign(4, std::byte{'t'});
  const std::string failure =
      failure_of(ask(use_terms(config::ENCRYPT, key, 4), std::move(payload)));
  EXPECT_NE(failure.find(file.string()), std::string::npos) << failure;
  peers_.reset();
  const std::size_t line = log().find("\"key request failed\"");
  ASSERT_NE(line, std::string::npos) << log();
  EXPECT_NE(log().find(file.string(), line), std::string::npos) << log();
}

// What its former key's holder has said stays until officers say that they are the same.
TEST_F(KeysTest, WhoHasAnotherTlsKeySaysNothingOfAShare) {
  make_parties();
  const std::string key = stored("data", "sha256:former", true);
  open();
  for (const custody::KeyHave& have : {have_, destroyed(have_)}) {
    say(key, have);
    // It is looked at at the desk, and the next is answered there.
    EXPECT_FALSE(is_accepted(message_of(asked(use_terms(config::ENCRYPT, key, 4)))));
    EXPECT_TRUE(record(key).has_peer_destroyed);
    EXPECT_EQ(record(key).held.size(), 1u);
  }
}

TEST_F(KeysTest, WhatThePeerHasSaidOfAShareCountsOnceTheKeyIsBound) {
  make_parties();
  const std::string key = stored("data", "sha256:former");
  open();
  say(key, destroyed(have_));
  EXPECT_FALSE(is_accepted(message_of(asked(use_terms(config::ENCRYPT, key, 4)))));
  EXPECT_FALSE(record(key).has_peer_destroyed);
  EXPECT_EQ(record(key).state, custody::KeyState::Active);
  (void)keys().rebind(call(), {});
  EXPECT_TRUE(
      test::becomes_true([&] { return record(key).has_peer_destroyed; }, std::chrono::seconds(30)));
  EXPECT_EQ(record(key).state, custody::KeyState::Suspended);
}

// It would be as if officers had confirmed it: the record of such a key has this TLS key alone.
TEST_F(KeysTest, NoKeyIsMadeWithATlsKeyThatNobodyHasConfirmed) {
  make_parties();
  (void)stored("data", "sha256:former");
  open();
  KeyTerms import = create_terms("other");
  import.operation = config::IMPORT;
  for (const KeyTerms& terms : {create_terms("other"), import})
    EXPECT_NE(failure_of(ask(terms)).find("no key is made with another one before"),
              std::string::npos);
  (void)keys().rebind(call(), {});
  auto asked = ask(create_terms("other"));
  (void)next_request();
  peers_->peer().give_up_requests();
  EXPECT_EQ(failure_of(std::move(asked)), "the daemon has stopped before it was done");
}

// They have no TLS key, so that none has to be confirmed for them; what is said of them is what is
// said of unknown keys.
TEST_F(KeysTest, DestroyedKeysKeepNobodyOutAndTellNothing) {
  make_parties();
  const std::string data = stored("data", "sha256:former"), mac = stored("mac", "sha256:former"),
                    old = stored("old", "sha256:former");
  open();
  const auto id = [](const std::string& key) { return custody::key_id_from(key).value(); };
  const auto refusal_to_encrypt = [&](const std::string& key) {
    return refusal_of(message_of(asked(use_terms(config::ENCRYPT, key, 4))));
  };
  (void)keys().destroy(call(), id(old));
  EXPECT_EQ(refusal_to_encrypt(old), kNotConfirmed);
  (void)keys().rebind(call(), id(data));
  EXPECT_EQ(refusal_of(message_of(asked(create_terms("other")))), kNotConfirmed);
  (void)keys().destroy(call(), id(mac));
  EXPECT_TRUE(is_accepted(message_of(asked(create_terms("other")))));
  EXPECT_NE(refusal_to_encrypt(old), kNotConfirmed);
}

// Otherwise it would tell which keys and labels there are, and the TLS key that the peer had.
TEST_F(KeysTest, WhoHasATlsKeyThatNobodyHasConfirmedIsRefusedInOneWay) {
  make_parties();
  const std::string data = stored("data", "sha256:former"), mac = stored("mac", "sha256:former"),
                    unknown(32, '7');
  open();
  const auto refusals = [&](const std::string& key) {
    wire::Message certificate;
    custody::put_bytes(custody::key_id_from(key).value().bytes,
                       *certificate.mutable_key_certificate()->mutable_key());
    peer_->send(certificate);
    return std::set{
        peer_->next(wire::Message::kKeyCertificate).key_certificate().reason(),
        refusal_of(message_of(asked(use_terms(config::ENCRYPT, key, 4)))),
        refusal_of(message_of(asked(use_terms(config::REFRESH, key, 0)))),
    };
  };
  const std::set<std::string> one_way = {kNotConfirmed};
  for (const std::string& key : {data, mac, unknown}) EXPECT_EQ(refusals(key), one_way);
  for (const char* const label : {"data", "mac", "other"})
    EXPECT_EQ(refusal_of(message_of(asked(create_terms(label)))), kNotConfirmed);
  // Of the key that an officer has bound, it is the peer again; of others it is not yet.
  (void)keys().rebind(call(), custody::key_id_from(data));
  EXPECT_TRUE(is_accepted(message_of(asked(use_terms(config::ENCRYPT, data, 4)))));
  for (const std::string& key : {mac, unknown}) EXPECT_EQ(refusals(key), one_way);
  EXPECT_EQ(refusal_of(message_of(asked(create_terms("other")))), kNotConfirmed);
  (void)keys().rebind(call(), {});
  EXPECT_TRUE(is_accepted(message_of(asked(create_terms("other")))));
  EXPECT_EQ(refusal_of(message_of(asked(create_terms("data")))),
            "the next key data is of version 2, not 1: rotate it, or choose another label");
}

}  // namespace
}  // namespace tinyot
