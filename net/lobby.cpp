#include "net/lobby.h"

#include <poll.h>

#include <algorithm>

#include "base/error.h"

namespace tinyot::net {
namespace {

constexpr std::size_t kLogLinesMax = 100;

}  // namespace

std::string seconds_of(std::chrono::milliseconds time) {
  return std::to_string((time.count() + 999) / 1000) + " s";
}

void Lobby::enter(std::unique_ptr<TcpStream> stream, const Admission& admission) {
  if (guests_.size() == kGuestsMax)
    turn_away(guests_.begin(),
              "it had shown nothing when " + std::to_string(kGuestsMax) + " others had come");
  Guest guest{stream->descriptor(), stream->remote(), Clock::now() + patience_, nullptr};
  guest.pending = admission.begin(std::move(stream), Side::Listens);
  guests_.push_back(std::move(guest));
}

std::unique_ptr<ByteStream> Lobby::admit() {
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    try {
      if (auto stream = guest->pending->advance()) {
        guests_.erase(guest);
        return stream;
      }
      if (Clock::now() < guest->until)
        ++guest;
      else
        guest = turn_away(guest, "it has not shown who it is within " + seconds_of(patience_));
    } catch (const NetworkError& error) {
      guest = turn_away(guest, error.what());
    }
  }
  return nullptr;
}

void Lobby::wait(int door, Clock::time_point until) const {
  std::vector<pollfd> descriptors = {{door, POLLIN, 0}};
  for (const Guest& guest : guests_) {
    descriptors.push_back({guest.descriptor, POLLIN, 0});
    until = std::min(until, guest.until);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  ::poll(descriptors.data(), descriptors.size(),
         static_cast<int>(std::clamp<long>(left.count(), 0, 1000)));
}

std::string Lobby::account() const {
  return turned_away_ == 0
             ? ""
             : "; " + std::to_string(turned_away_) + " turned away, the last one " + last_;
}

Lobby::Place Lobby::turn_away(Place guest, const std::string& reason) {
  last_ = guest->from + ": " + reason;
  if (++turned_away_ <= kLogLinesMax)
    log_("turned away " + last_ +
         (turned_away_ == kLogLinesMax ? " (no more of these lines)" : ""));
  return guests_.erase(guest);
}

}  // namespace tinyot::net
