// Uses of loaded keys: results, nonces, what a class and a state allow, and what is forgotten.
#include "custody/key_session.h"

#include <cryptopp/aes.h>
#include <cryptopp/gcm.h>

#include "two_custodians.h"

namespace tinyot::test {
namespace {

using custody::Custodian;
using custody::KeyClass;
using custody::KeyPeer;
using custody::KeyProblem;
using custody::KeySession;
using custody::KeyState;
using custody::KeyUse;
using custody::UsePayload;
using custody::UseResult;
using custody::UseTerms;

SecretVector<std::byte> secret(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}
std::vector<std::byte> plain(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

UseTerms terms_of(KeyUse use, Party requester, std::size_t bytes, std::size_t aad_bytes = 0) {
  UseTerms terms;
  terms.key = key_id(1);
  terms.use = use;
  terms.requester = requester;
  terms.bytes = static_cast<std::uint32_t>(bytes);
  terms.aad_bytes = static_cast<std::uint32_t>(aad_bytes);
  return terms;
}

class KeySessionTest : public ::testing::Test {
 protected:
  void create(KeyClass key_class, custody::NonceMode nonces = custody::NonceMode::Joint) {
    custody::KeyAttributes attributes = attributes_of(1, key_class);
    attributes.nonces = nonces;
    world.run_done([=](Custodian& custodian, KeyPeer& peer) {
      custodian.create(peer, request_id(1), attributes);
    });
  }
  // Uses on one connection, each with its payload at the requester; results of the requesters.
  std::vector<UseResult> use(const std::vector<std::pair<UseTerms, UsePayload>>& uses) {
    std::vector<UseResult> results(uses.size());
    ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
      KeySession session(custodian, peer);
      for (std::size_t i = 0; i < uses.size(); ++i) {
        const auto& [terms, payload] = uses[i];
        const bool asks = custodian.files().owner().party == terms.requester;
        UseResult result = session.use(terms, asks ? &payload : nullptr);
        if (asks) {
          results[i] = std::move(result);
        } else {
          EXPECT_TRUE(result.text.empty() && result.tag.empty()) << "the peer gets nothing";
        }
      }
    });
    return results;
  }
  UseResult use(const UseTerms& terms, const UsePayload& payload) {
    return use({{terms, payload}}).front();
  }
  bool is_done() const { return ends[0].is_done && ends[1].is_done; }

  TwoCustodians world;
  StepEnds ends;
};

std::string by_cryptopp(const std::vector<std::byte>& key, const custody::Nonce& nonce,
                        const std::string& aad, const std::string& message) {
  const auto data = [](const auto& bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
  };
  CryptoPP::GCM<CryptoPP::AES>::Encryption cipher;
  cipher.SetKeyWithIV(data(key), key.size(), data(nonce), nonce.size());
  std::string sealed(message.size() + 16, '\0');
  auto* const out = reinterpret_cast<unsigned char*>(sealed.data());
  cipher.EncryptAndAuthenticate(out, out + message.size(), 16, data(nonce), 12, data(aad),
                                aad.size(), data(message), message.size());
  return sealed;
}

std::string text_of(const UseResult& result) {
  std::string text(reinterpret_cast<const char*>(result.text.data()), result.text.size());
  return text.append(reinterpret_cast<const char*>(result.tag.data()), result.tag.size());
}

TEST_F(KeySessionTest, EncryptsAsTheKeyDoesAndDecryptsForTheOtherParty) {
  create(KeyClass::Aead);
  const std::string message = "a message of 35 bytes, two and some", aad = "header";
  for (const Party party : {Party::A, Party::B})
    for (const bool shown : {false, true}) {
      UseTerms terms = terms_of(KeyUse::Encrypt, party, message.size(), aad.size());
      UsePayload payload{secret(message), shown ? plain("") : plain(aad), {}, {}};
      if (shown) terms.shown_aad = plain(aad);
      const UseResult sealed = use(terms, payload);
      ASSERT_TRUE(is_done()) << ends[0].message << ends[1].message;
      EXPECT_EQ(text_of(sealed), by_cryptopp(*world.key(key_id(1)), sealed.nonce, aad, message));
      terms.use = KeyUse::Decrypt;
      terms.requester = peer_of(party);
      payload = {sealed.text, shown ? plain("") : plain(aad), sealed.nonce, sealed.tag};
      const UseResult opened = use(terms, payload);
      EXPECT_TRUE(opened.is_valid);
      EXPECT_EQ(opened.text, secret(message));
      payload.tag[7] ^= std::byte{1};
      const UseResult refused = use(terms, payload);
      EXPECT_FALSE(refused.is_valid);
      EXPECT_TRUE(refused.text.empty());
    }
}

TEST_F(KeySessionTest, SignsAndVerifies) {
  create(KeyClass::Mac);
  UsePayload payload{secret("text"), {}, {}, {}};
  const UseResult signature = use(terms_of(KeyUse::Sign, Party::B, 4), payload);
  ASSERT_EQ(signature.tag.size(), 16u);
  payload.tag = signature.tag;
  EXPECT_TRUE(use(terms_of(KeyUse::Verify, Party::A, 4), payload).is_valid);
  payload.text[0] ^= std::byte{1};
  EXPECT_FALSE(use(terms_of(KeyUse::Verify, Party::A, 4), payload).is_valid);
}

// On a connection, on others, and after both disks are set back.
TEST_F(KeySessionTest, NoncesAreNotRepeated) {
  create(KeyClass::Aead);
  const auto a = world.copy_disk(Party::A), b = world.copy_disk(Party::B);
  std::set<custody::Nonce> nonces;
  std::size_t seals = 0;
  const std::pair<UseTerms, UsePayload> seal = {terms_of(KeyUse::Encrypt, Party::A, 0), {}};
  for (int connection = 0; connection < 4; ++connection) {
    for (const UseResult& result : use({seal, seal, seal})) {
      nonces.insert(result.nonce);
      ++seals;
    }
    world.set_back(Party::A, a);
    world.set_back(Party::B, b);
  }
  EXPECT_EQ(seals, 12u);
  EXPECT_EQ(nonces.size(), seals);
}

TEST(JointNonce, DiffersByCoinsRunAndLane) {
  std::set<custody::Nonce> nonces;
  SecretVector<std::byte> coins(32, std::byte{0});
  for (const std::uint8_t byte : {0, 1})
    for (const std::uint64_t run : {0, 1, 256})
      for (const std::uint64_t lane : {0, 1, 256}) {
        coins[31] = std::byte{byte};
        nonces.insert(custody::joint_nonce(coins, run, lane));
      }
  EXPECT_EQ(nonces.size(), 18u);
}

TEST_F(KeySessionTest, CallerChoosesNoncesOnlyOfSuchKeys) {
  create(KeyClass::Aead, custody::NonceMode::Caller);
  UseTerms terms = terms_of(KeyUse::Encrypt, Party::A, 3);
  const UsePayload payload{secret("abc"), {}, {}, {}};
  use(terms, payload);
  EXPECT_FALSE(is_done()) << "no nonce";
  terms.nonce.emplace().fill(std::byte{3});
  const UseResult sealed = use(terms, payload);
  ASSERT_TRUE(is_done()) << ends[0].message;
  EXPECT_EQ(sealed.nonce, *terms.nonce);
  EXPECT_EQ(text_of(sealed), by_cryptopp(*world.key(key_id(1)), *terms.nonce, "", "abc"));
}

TEST_F(KeySessionTest, ClassHasItsUsesAlone) {
  const std::map<KeyClass, std::set<KeyUse>> uses = {
      {KeyClass::Aead, {KeyUse::Encrypt, KeyUse::Decrypt}},
      {KeyClass::Mac, {KeyUse::Sign, KeyUse::Verify}},
      {KeyClass::Kdf, {KeyUse::Derive}}};
  for (const auto& [key_class, allowed] : uses)
    for (const KeyUse use :
         {KeyUse::Encrypt, KeyUse::Decrypt, KeyUse::Sign, KeyUse::Verify, KeyUse::Derive}) {
      custody::KeyRecord record;
      record.attributes = attributes_of(1, key_class);
      record.state = KeyState::Active;
      record.held.resize(1);
      std::optional<KeyProblem> problem;
      try {
        custody::require_use(record, use);
      } catch (const custody::KeyError& error) {
        problem = error.problem();
      }
      EXPECT_EQ(problem, allowed.contains(use) ? std::nullopt : std::optional(KeyProblem::Use));
    }
}

TEST_F(KeySessionTest, StateAllowsWhatItSays) {
  const auto allows = [](KeyState state, KeyClass key_class, KeyUse use, std::size_t epochs = 1) {
    custody::KeyRecord record;
    record.attributes = attributes_of(1, key_class);
    record.state = state;
    record.held.resize(epochs);
    try {
      custody::require_use(record, use);
    } catch (const custody::KeyError& error) {
      EXPECT_EQ(error.problem(), KeyProblem::State);
      return false;
    }
    return true;
  };
  for (const KeyState state :
       {KeyState::Pending, KeyState::Suspended, KeyState::Restored, KeyState::Destroyed})
    for (const KeyUse use : {KeyUse::Encrypt, KeyUse::Decrypt})
      EXPECT_FALSE(allows(state, KeyClass::Aead, use));
  EXPECT_TRUE(allows(KeyState::Deactivated, KeyClass::Aead, KeyUse::Decrypt));
  EXPECT_TRUE(allows(KeyState::Deactivated, KeyClass::Mac, KeyUse::Verify));
  EXPECT_FALSE(allows(KeyState::Deactivated, KeyClass::Aead, KeyUse::Encrypt));
  EXPECT_FALSE(allows(KeyState::Deactivated, KeyClass::Mac, KeyUse::Sign));
  EXPECT_FALSE(allows(KeyState::Deactivated, KeyClass::Kdf, KeyUse::Derive));
  EXPECT_TRUE(allows(KeyState::Active, KeyClass::Aead, KeyUse::Encrypt, 2)) << "after a refresh";
}

// Nothing of a key is loaded while its epochs are not settled.
TEST_F(KeySessionTest, KeyThatIsBeingRefreshedIsNotUsed) {
  create(KeyClass::Mac);
  const UsePayload payload{secret("text"), {}, {}, {}};
  ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
    KeySession session(custodian, peer);
    const bool is_a = custodian.files().owner().party == Party::A;
    const auto sign = [&] {
      return session.use(terms_of(KeyUse::Sign, Party::A, 4), is_a ? &payload : nullptr).tag;
    };
    (void)sign();
    custody::KeyFiles& files = custodian.files();
    files.store_epoch(files.begin_link(), files.record(key_id(1)), epoch(2),
                      custody::Share(16, std::byte{1}));
    try {
      (void)sign();
      ADD_FAILURE() << "the key was used";
    } catch (const custody::KeyError& error) {
      EXPECT_EQ(error.problem(), KeyProblem::State);
    }
  });
}

// An officer of one party has it forgotten: what the other one has loaded is of no use.
TEST_F(KeySessionTest, BothPartiesLoadAsOneOfThemSays) {
  create(KeyClass::Mac);
  const UsePayload payload{secret("text"), {}, {}, {}};
  ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
    KeySession session(custodian, peer);
    const bool is_a = custodian.files().owner().party == Party::A;
    const auto sign = [&](std::optional<bool> is_loaded) {
      return session.use(terms_of(KeyUse::Sign, Party::A, 4), is_a ? &payload : nullptr, is_loaded)
          .tag;
    };
    const auto first = sign(false);
    if (is_a) session.forget(key_id(1));
    EXPECT_EQ(sign(false), first) << "both load again";
    session.forget(key_id(1));
    EXPECT_THROW((void)sign(true), NetworkError);
  });
  for (const test::StepEnd& end : ends) EXPECT_TRUE(end.is_done) << end.message;
}

// A use whose parties mean different ones: neither gets a result, or spends the other's.
TEST_F(KeySessionTest, UsesThatDifferInAnythingDoNotMeet) {
  create(KeyClass::Aead);
  world.run_done([](Custodian& custodian, KeyPeer& peer) {
    custodian.create(peer, request_id(2), attributes_of(2));
  });
  UseTerms right = terms_of(KeyUse::Encrypt, Party::A, 4, 6);
  right.request = request_id(8);
  right.shown_aad = plain("header");
  const UsePayload payload{secret("text"), {}, {}, {}};
  const std::map<std::string, std::function<void(UseTerms & terms)>> changes = {
      {"nothing", [](UseTerms&) {}},
      {"request", [](UseTerms& terms) { terms.request[0] ^= std::byte{1}; }},
      {"key", [](UseTerms& terms) { terms.key = key_id(2); }},
      {"use", [](UseTerms& terms) { terms.use = KeyUse::Decrypt; }},
      {"requester", [](UseTerms& terms) { terms.requester = Party::B; }},
      {"bytes", [](UseTerms& terms) { terms.bytes = 5; }},
      {"length of the associated data",
       [](UseTerms& terms) {
         terms.aad_bytes = 5;
         terms.shown_aad->pop_back();
       }},
      {"associated data", [](UseTerms& terms) { terms.shown_aad->back() ^= std::byte{1}; }},
      {"what is shown", [](UseTerms& terms) { terms.shown_aad.reset(); }}};
  for (const auto& [name, change] : changes) {
    UseTerms other = right;
    change(other);
    bool has_result = false;
    ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
      KeySession session(custodian, peer);
      // Both have both keys, so that the use alone differs.
      session.load(key_id(1));
      session.load(key_id(2));
      const bool is_a = custodian.files().owner().party == Party::A;
      if (is_a) {
        has_result = !session.use(right, &payload).text.empty();
        return;
      }
      const UsePayload of_b{secret("text."), {}, {}, {}};
      session.use(other, other.requester == Party::B ? &of_b : nullptr);
    });
    EXPECT_EQ(is_done(), name == "nothing") << name << ends[0].message << ends[1].message;
    EXPECT_EQ(has_result, name == "nothing") << name;
  }
}

TEST_F(KeySessionTest, LoadedKeyOfADroppedEpochIsNotUsed) {
  create(KeyClass::Mac);
  const UsePayload payload{secret("text"), {}, {}, {}};
  ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
    KeySession session(custodian, peer);
    const bool is_a = custodian.files().owner().party == Party::A;
    const auto sign = [&] {
      return session.use(terms_of(KeyUse::Sign, Party::A, 4), is_a ? &payload : nullptr).tag;
    };
    const auto first = sign();
    EXPECT_TRUE(session.has_loaded(key_id(1)));
    const custody::Epoch old = session.load(key_id(1)).epoch;
    custodian.refresh(peer, request_id(2), key_id(1));
    EXPECT_EQ(sign(), first) << "the same key";
    EXPECT_NE(session.load(key_id(1)).epoch, old);
    session.forget(key_id(1));
    EXPECT_FALSE(session.has_loaded(key_id(1)));
    custodian.files().set_state(key_id(1), KeyState::Suspended);
    EXPECT_THROW(sign(), custody::KeyError);
  });
  EXPECT_TRUE(is_done()) << ends[0].message << ends[1].message;
}

// The memory of both parties in different epochs, or before and after a suspension, does not
// combine.
TEST_F(KeySessionTest, WhatIsOfNoUseAnyMoreIsWiped) {
  create(KeyClass::Mac);
  ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
    KeySession session(custodian, peer);
    const auto loaded = [&] {
      return std::weak_ptr(session.load(key_id(1)).values.begin()->second.value());
    };
    const auto first = loaded();
    session.forget_unusable(key_id(1));
    EXPECT_FALSE(first.expired()) << "it is used on";
    custodian.refresh(peer, request_id(2), key_id(1));
    EXPECT_FALSE(first.expired());
    session.forget_unusable(key_id(1));
    EXPECT_TRUE(first.expired()) << "of an earlier epoch";
    const auto second = loaded();
    custodian.files().set_state(key_id(1), KeyState::Suspended);
    session.forget_unusable(key_id(1));
    EXPECT_TRUE(second.expired()) << "of a suspended key";
  });
  EXPECT_TRUE(is_done()) << ends[0].message << ends[1].message;
}

// A load that was under way when its key was forgotten, or all were, leaves nothing.
TEST_F(KeySessionTest, KeyThatIsForgottenDuringItsLoadIsNotKept) {
  create(KeyClass::Mac);
  class Forgetting final : public PassingPeer {
   public:
    explicit Forgetting(KeyPeer& peer) : PassingPeer(peer) {}
    RunResult run(const circuit::Circuit& circuit, const Values& inputs, const SharedInputs& shared,
                  const std::string& label) override {
      RunResult result = PassingPeer::run(circuit, inputs, shared, label);
      if (forgets_all)
        session->forget_all();
      else
        session->forget(key_id(1));
      return result;
    }
    KeySession* session = nullptr;
    bool forgets_all = false;
  };
  for (const bool forgets_all : {false, true}) {
    ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
      Forgetting forgetting(peer);
      KeySession session(custodian, forgetting);
      forgetting.session = &session;
      forgetting.forgets_all = forgets_all;
      EXPECT_THROW(session.load(key_id(1)), custody::KeyError);
      EXPECT_FALSE(session.has_loaded(key_id(1)));
    });
    EXPECT_TRUE(is_done());
  }
}

TEST_F(KeySessionTest, LoadedKeyIsNotGivenOnceItIsSuspended) {
  create(KeyClass::Mac);
  ends = world.run([&](Custodian& custodian, KeyPeer& peer) {
    KeySession session(custodian, peer);
    session.load(key_id(1));
    custodian.files().set_state(key_id(1), KeyState::Suspended);
    EXPECT_THROW(session.load(key_id(1)), custody::KeyError);
  });
  EXPECT_TRUE(is_done());
}

// Derivation is no use that returns something: it would evaluate another circuit under the key.
TEST_F(KeySessionTest, DerivationIsNoUseOfALoadedKey) {
  create(KeyClass::Kdf);
  UsePayload payload{secret("text"), {}, {}, {}};
  use(terms_of(KeyUse::Derive, Party::A, 4), payload);
  for (const StepEnd& end : ends)
    EXPECT_NE(end.message.find("it makes a key"), std::string::npos) << end.message;
}

// The limits, and what a use without associated data says of it.
TEST_F(KeySessionTest, TermsAreThoseOfTheUse) {
  constexpr std::size_t kMost = 1 << 16;
  const auto refusal_of = [](KeyClass key_class, const UseTerms& terms) -> std::string {
    custody::KeyRecord record;
    record.attributes = attributes_of(1, key_class);
    record.state = KeyState::Active;
    record.held.resize(1);
    try {
      custody::require_terms(terms, record);
    } catch (const UsageError& error) {
      return error.what();
    }
    return {};
  };
  const auto expect_refused = [](const std::string& refusal, const std::string& why) {
    EXPECT_NE(refusal.find(why), std::string::npos) << "'" << refusal << "'";
  };
  const auto encrypt = [](std::size_t bytes, std::size_t aad_bytes) {
    return terms_of(KeyUse::Encrypt, Party::A, bytes, aad_bytes);
  };
  EXPECT_EQ(refusal_of(KeyClass::Aead, encrypt(kMost, kMost)), "");
  for (const UseTerms& more : {encrypt(kMost + 1, 0), encrypt(0, kMost + 1)})
    expect_refused(refusal_of(KeyClass::Aead, more), "at most 65536 bytes");
  for (const KeyUse use : {KeyUse::Sign, KeyUse::Verify}) {
    UseTerms terms = terms_of(use, Party::A, kMost);
    EXPECT_EQ(refusal_of(KeyClass::Mac, terms), "");
    terms.shown_aad.emplace();
    expect_refused(refusal_of(KeyClass::Mac, terms), "it takes no associated data");
    expect_refused(refusal_of(KeyClass::Mac, terms_of(use, Party::A, 4, 1)),
                   "it takes no associated data");
  }
}

TEST_F(KeySessionTest, RefusesTermsAndPayloadsThatDoNotFit) {
  create(KeyClass::Aead);
  const auto refuses = [&](const UseTerms& terms, const UsePayload& payload) {
    use(terms, payload);
    return !ends[0].is_done && ends[0].message.find("key ") != std::string::npos;
  };
  const UseTerms right = terms_of(KeyUse::Encrypt, Party::A, 3, 2);
  const UsePayload payload{secret("abc"), plain("de"), {}, {}};
  EXPECT_FALSE(refuses(right, payload)) << ends[0].message;
  UseTerms wrong = right;
  wrong.bytes = 4;
  EXPECT_TRUE(refuses(wrong, payload));
  wrong = right;
  wrong.aad_bytes = 1;
  EXPECT_TRUE(refuses(wrong, payload));
  wrong = right;
  wrong.shown_aad = plain("d");
  EXPECT_TRUE(refuses(wrong, payload));
  wrong = right;
  wrong.nonce = custody::Nonce{};
  EXPECT_TRUE(refuses(wrong, payload)) << "nonces of a joint key are not the caller's";
  wrong = right;
  wrong.use = KeyUse::Decrypt;
  EXPECT_TRUE(refuses(wrong, payload)) << "no tag";
  wrong = right;
  wrong.bytes = (1 << 16) + 1;
  EXPECT_TRUE(refuses(wrong, payload));
}

}  // namespace
}  // namespace tinyot::test
