// What Keys (keys.h) has the workers do: the steps of a request, or settling a key. Everything here
// but `keys`, `cost` and a request's terms is under the lock of Keys, or used by one thread at a
// time.
#pragma once

#include "service/keys.h"

namespace tinyot::service {

class Keys::Work : public KeyWork, public std::enable_shared_from_this<Keys::Work> {
 public:
  Work(Keys& keys, KeyCircuits::Cost cost) : keys_(keys), cost_(std::move(cost)) {}

  MaterialCounts material(AndMaterial form) const final { return cost_.material(form); }
  std::uint64_t ands() const final { return cost_.ands(); }
  bool begins(std::size_t worker, std::uint64_t group, std::uint64_t session) final;
  void run(Evaluator& evaluator, std::shared_ptr<KeyConnection>& connection) final;
  void ended(const std::optional<JobError>& error) final;

  // What is changed alone; and what is used meanwhile.
  virtual std::optional<custody::KeyId> changed_key() const = 0;
  virtual std::optional<custody::KeyId> used_key() const = 0;
  // Of which something is loaded, if it is.
  custody::KeyId loaded_key() const {
    return used_key().value_or(changed_key().value_or(custody::KeyId{}));
  }
  virtual void name_in(wire::KeyStart& start) const = 0;
  virtual void name_in(wire::KeyEnd& end) const = 0;
  virtual void take_steps(KeyConnection& connection) = 0;

  static constexpr int kAttemptsMax = 2;
  int attempts = 0;
  std::uint64_t group = 0;
  bool is_running = false, is_done_at_peer = false;
  bool is_loaded = false;    // the used key, at the leading party
  std::exception_ptr error;  // of the last attempt

 protected:
  Keys& keys_;

 private:
  const KeyCircuits::Cost cost_;
};

class Keys::Request final : public Keys::Work {
 public:
  enum class State : std::uint8_t { New, Waiting, Asked, Accepted, Ended };

  Request(Keys& keys, KeyCircuits::Cost cost, AskedKey what, custody::KeyAttributes about_what,
          std::variant<FromPeer, Caller> by_whom)
      : Work(keys, std::move(cost)), asked(std::move(what)), about(std::move(about_what)),
        by(std::move(by_whom)) {}

  bool is_own() const { return std::holds_alternative<Caller>(by); }
  const KeyTerms& terms() const { return asked.terms; }
  const custody::RequestId& id() const { return asked.terms.request; }
  KeyRequestTerms policy_terms() const;
  AuditLine line(AuditLine::Event event) const;

  Asker asker() const override { return {!is_own(), asked.client}; }
  std::optional<custody::KeyId> changed_key() const override;
  std::optional<custody::KeyId> used_key() const override;
  void name_in(wire::KeyStart& start) const override;
  void name_in(wire::KeyEnd& end) const override;
  void take_steps(KeyConnection& connection) override;

  AskedKey asked;
  const custody::KeyAttributes about;  // of the key that is used, or made
  const std::variant<FromPeer, Caller> by;
  std::shared_ptr<const KeyPayload> payload;  // of an own one
  std::optional<SignedMessage> answer;        // of the peer
  std::function<bool()> is_gone;              // of an own one; may be empty
  Clock::time_point client_until = kAnyTime;
  State state = State::New;
  bool has_begun_line = false, is_approved = false, may_be_asked_anew = false;
  bool waits_at_peer = false;     // for an officer there
  bool is_being_decided = false;  // by an officer of this party
  bool is_abandoned = false;      // by its client, of an own one
  // By which officers of this party decide on it while it waits. The peer chooses that of its
  // request, and could give it to another one once this process has ended.
  custody::RequestId number{};
  Clock::time_point until;  // of this party, for what it waits for
  KeyResult result;
  std::optional<Failure> failure;
};

class Keys::Settling final : public Keys::Work {
 public:
  Settling(Keys& keys, KeyCircuits::Cost cost, const custody::KeyId& id)
      : Work(keys, std::move(cost)), key(id) {}

  Asker asker() const override { return {}; }
  std::optional<custody::KeyId> changed_key() const override { return key; }
  std::optional<custody::KeyId> used_key() const override { return std::nullopt; }
  void name_in(wire::KeyStart& start) const override;
  void name_in(wire::KeyEnd& end) const override;
  void take_steps(KeyConnection& connection) override;

  const custody::KeyId key;
};

}  // namespace tinyot::service
