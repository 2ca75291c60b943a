// What the endemic OTs of Masny and Rindal (2019) over a group and over a key encapsulation share:
// the receiver offers two keys per OT, of which it knows the private one of the chosen key only,
// and the sender answers.
#pragma once

#include <vector>

#include "base/block.h"
#include "base/session_id.h"
#include "checks/session.h"
#include "offline/base_ot/base_ot.h"

namespace tinyot::offline {

// The RO domain of one direction; `sender` is the OT sender's letter.
struct OtDirection {
  SessionId session;
  char sender;
};

template <class T>
struct OtPair {
  T of[2];
};

// `chosen` at index c and `other` at 1 - c. T: bytes. Timing: constant in c and the contents.
template <class T>
OtPair<T> pair_with(bool c, const T& chosen, const T& other) {
  const auto mask = static_cast<std::uint8_t>(mask_of(c));
  OtPair<T> pair;
  for (std::size_t i = 0; i < chosen.bytes.size(); ++i) {
    const auto swapped = static_cast<std::uint8_t>((chosen.bytes[i] ^ other.bytes[i]) & mask);
    pair.of[0].bytes[i] = chosen.bytes[i] ^ swapped;
    pair.of[1].bytes[i] = other.bytes[i] ^ swapped;
  }
  return pair;
}

// The one at index c. Timing: as pair_with.
template <class T>
T chosen_of(const OtPair<T>& pair, bool c) {
  return pair_with(c, pair.of[0], pair.of[1]).of[0];
}

// Role: both; the receiver's first message, the sender's answer. Offers are what
// `receiver.choose(rng)` returns and `sender.answer(rng, offers, ots)` takes, answers what this
// returns and `receiver.finish(answers)` takes, one of each per OT.
template <class Receiver, class Sender>
BaseOts exchange_base_ots(checks::Session& session, Receiver receiver, Sender sender,
                          const net::MessageTag& of_receiver, const net::MessageTag& of_sender) {
  net::Channel& channel = session.channel();
  BaseOts ots;
  auto offers = receiver.choose(session.rng());
  net::send_words(channel, of_receiver, std::span(std::as_const(offers)));
  net::recv_words(channel, of_receiver, std::span(offers));

  auto answers = sender.answer(session.rng(), offers, ots.sent);
  net::send_words(channel, of_sender, std::span(std::as_const(answers)));
  net::recv_words(channel, of_sender, std::span(answers));
  ots.received = receiver.finish(answers);
  return ots;
}

}  // namespace tinyot::offline
