// A joint coin toss: 256 public bits that neither party controls, by commit and open.
#pragma once

#include <string_view>

#include "base/secret.h"
#include "checks/session.h"
#include "crypto/public_coins.h"

namespace tinyot::checks {

// In two steps, so that A's commitment can travel with what it sends before. Everything that must
// be independent of the coins has arrived before finish(). Wire: A sends 32 and 64 bytes, B 32; 3
// messages.
class CoinToss {
 public:
  // Role: A commits to its half under a salt of 256 bits. `purpose` names the use of the coins, the
  // same on both sides.
  CoinToss(Session& session, std::string_view purpose);
  CoinToss(const CoinToss&) = delete;
  CoinToss& operator=(const CoinToss&) = delete;
  ~CoinToss() { wipe_object(mine_); }
  // Once. Role: B sends its half, A opens.
  // Fails: PeerCheated("coin toss") if A's opening is not what it committed to.
  crypto::PublicSeed finish();

 private:
  struct Opening {
    crypto::PublicSeed half;
    crypto::PublicSeed salt;
  };
  crypto::Digest commitment_to(const Opening& opening) const;

  Session& session_;
  std::string_view purpose_;
  std::uint64_t counter_;
  Opening mine_;
  bool has_finished_ = false;
};

// Role: both. Both steps.
crypto::PublicSeed toss_coins(Session& session, std::string_view purpose);

}  // namespace tinyot::checks
