#include "offline/silent/silent_source.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tinyot::offline {

SilentSource::SilentSource(const checks::Session& session, std::uint64_t number,
                           net::Channel& channel, net::PhaseLog& log, BitSource& start,
                           const SilentSet& set)
    : part_(session, "silent bits", number, channel, log), set_(set) {
  const net::PhaseLog::Scope phase(log, channel, "silent start", 0);
  AuthBits first;
  start.stream(part_, number, kStartSet.reserve())->make(first);
  coins_ = toss_code(part_);
  begin(kStartSet,
        copy_of(first.mine.view(0, kStartSet.reserve()), first.peers.view(0, kStartSet.reserve())));
  first = {};
  take_all_steps();
  AuthBits base;
  make_base(*next_, base);
  begin(set_, std::move(base));
  take_all_steps();
}

void SilentSource::begin(const SilentSet& set, AuthBits base) {
  next_ =
      std::make_unique<Iteration>(part_, SilentIteration{set, begun_++, coins_}, std::move(base));
}

// Both parties send what a step sends before they receive what the next one receives.
void SilentSource::take_step() {
  has_failed_ = true;  // unless the step ends
  switch (++next_->steps) {
    case 1:
      next_->peers.correct();
      break;
    case 2:
      next_->mine.challenge();
      break;
    case 3:
      next_->peers.answer();
      break;
    case 4:
      next_->mine.verify();
      break;
    default:
      ENSURE(false && "an iteration has four steps");
  }
  part_.channel().flush();
  has_failed_ = false;
}

void SilentSource::take_all_steps() {
  while (next_->steps < kSteps) take_step();
}

// The base of an iteration of set_, from the first outputs. Memory that already has the right size
// is used again: the columns are too large for an allocator to return them without loss.
void SilentSource::make_base(Iteration& from, AuthBits& base) const {
  if (base.mine.size() != set_.reserve())
    base = AuthBits{MacColumn(set_.reserve()), KeyColumn(set_.reserve())};
  from.mine.make(0, base.mine.view());
  from.peers.make(0, base.peers.view());
}

void SilentSource::roll() {
  AuthBits base;
  if (current_) base = {current_->mine.spent_base(), current_->peers.spent_base()};
  current_ = std::move(next_);
  make_base(*current_, base);  // what the last iteration was made from is overwritten
  begin(set_, std::move(base));
  at_ = 0;
}

void SilentSource::draw(MacColumnView mine, KeyColumnView peers) {
  ENSURE(!has_failed_ && mine.size() == peers.size() && mine.size() % kKappa == 0);
  const std::size_t net = set_.net(), quarter = net / 512 * kKappa;
  for (std::size_t done = 0; done < mine.size();) {
    if (!current_ || at_ == net) roll();
    while (next_->steps < kSteps && at_ >= next_->steps * quarter) take_step();
    const std::size_t until = next_->steps < kSteps ? next_->steps * quarter : net;
    const std::size_t count = std::min(mine.size() - done, until - at_);
    current_->mine.make(set_.reserve() + at_, mine.part(done, count));
    current_->peers.make(set_.reserve() + at_, peers.subspan(done, count));
    at_ += count;
    done += count;
  }
}

}  // namespace tinyot::offline
