#include "engine/synchronise.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "engine/kept_halves.h"
#include "material/counts.h"

namespace tinyot::engine {
namespace {

constexpr net::MessageTag kStatus = net::message_tag("store.status");
constexpr net::MessageTag kUnlocked = net::message_tag("store.unlocked");
constexpr net::MessageTag kGrant = net::message_tag("store.grant");
constexpr net::MessageTag kTaken = net::message_tag("store.taken");
constexpr net::MessageTag kPlan = net::message_tag("store.plan");

constexpr net::MessageTag kHalfCount = net::message_tag("store.half_count");
constexpr net::MessageTag kHalves = net::message_tag("store.halves");
constexpr net::MessageTag kComplete = net::message_tag("store.complete");

constexpr std::size_t kHalvesAMessage = std::size_t{1} << 12;

// A message of some words, followed by a list of each of some counts.
template <std::size_t kWords, std::size_t kLists>
struct CountsMessage {
  static constexpr std::size_t kWordBytes = kWords * sizeof(std::uint64_t),
                               kBytesMax = kWordBytes + kLists * material::kListBytesMax;
  std::array<std::uint64_t, kWords> words;
  std::array<MaterialCounts, kLists> counts;
};

template <class Message>
void send_counts(net::Channel& channel, const net::MessageTag& tag, const Message& message) {
  std::vector<std::byte> bytes(Message::kWordBytes);
  if constexpr (Message::kWordBytes > 0)
    std::memcpy(bytes.data(), message.words.data(), Message::kWordBytes);
  for (const MaterialCounts& counts : message.counts) material::append_list(bytes, counts);
  channel.send(tag, bytes);
}

// Fails: PeerCheated(`check`) for bytes that no honest party sends.
template <class Message>
Message receive_counts(net::Channel& channel, const net::MessageTag& tag,
                       const std::string& check) {
  const std::vector<std::byte> bytes = channel.recv_variable(tag, Message::kBytesMax);
  if (bytes.size() < Message::kWordBytes) throw PeerCheated(check + ": truncated message");
  std::span<const std::byte> rest(bytes);
  Message message;
  for (std::uint64_t& word : message.words) {
    std::memcpy(&word, rest.data(), sizeof word);
    rest = rest.subspan(sizeof word);
  }
  for (MaterialCounts& counts : message.counts)
    counts = material::take_list(
        rest, [&](const std::string& flaw) { throw PeerCheated(check + ": " + flaw); });
  if (!rest.empty()) throw PeerCheated(check + ": bytes after the last list");
  return message;
}

// units made, units unlocked; served, confirmed
using StatusMessage = CountsMessage<2, 2>;
// what is unlocked
using UnlockedMessage = CountsMessage<0, 1>;
// number of the planned reservation or 0; start, end
using GrantMessage = CountsMessage<1, 2>;
// number, 1 if the reservation exists or 0; start, end
using PlanMessage = CountsMessage<2, 2>;

void send_status(net::Channel& channel, const StoreStatus& status) {
  send_counts(
      channel, kStatus,
      StatusMessage{{status.units_made, status.units_unlocked}, {status.served, status.confirmed}});
}

StoreStatus receive_status(net::Channel& channel) {
  const auto message = receive_counts<StatusMessage>(channel, kStatus, "store status");
  return {message.words[0], message.words[1], message.counts[0], message.counts[1]};
}

// A's grant, as sent to B.
struct Offer {
  storage::Range range;
  std::uint64_t plan;
};

std::string counts_text(MaterialKind kind, std::uint64_t served, std::uint64_t confirmed) {
  return "it has used " + std::to_string(served) + " of its " + std::string(name_of(kind)) +
         ", and earlier " + std::to_string(confirmed);
}

// A store that was rolled back would serve material again. Which of the two was, a party has only
// the peer's word for: neither is a failure of this party's disk.
void check_neither_is_older(const StoreStatus& mine, const StoreStatus& peers) {
  if (peers.units_unlocked > peers.units_made) throw PeerCheated("store status");
  for (const MaterialKind kind : kAllMaterialKinds) {
    if (mine.served[kind] < peers.confirmed[kind])
      throw Disagreement(
          "this store is an older copy: " +
          counts_text(kind, mine.served[kind], peers.confirmed[kind]) +
          ", as the peer has recorded; use the newest copy, or start a new session in a new store");
    if (peers.served[kind] < mine.confirmed[kind])
      throw Disagreement("the peer's store is an older copy: " +
                         counts_text(kind, peers.served[kind], mine.confirmed[kind]) +
                         "; it has to use its newest copy, or start a new session in a new store");
  }
  if (mine.units_made < peers.units_unlocked)
    throw Disagreement("this store is an older copy: it has " + std::to_string(mine.units_made) +
                       " units, and the peer has confirmed " +
                       std::to_string(peers.units_unlocked) +
                       "; use the newest copy, or start a new session in a new store");
  if (peers.units_made < mine.units_unlocked)
    throw Disagreement("the peer's store is an older copy: it has " +
                       std::to_string(peers.units_made) + " units, and has confirmed " +
                       std::to_string(mine.units_unlocked) +
                       "; it has to use its newest copy, or start a new session in a new store");
}

// Sends this party's halves and receives the peer's, some at a time. `count_max` is the largest
// number that a matching store can have.
template <class Take>
void exchange_halves(net::Channel& channel, std::span<const storage::Half> mine,
                     std::uint64_t count_max, const Take& take) {
  net::send_object(channel, kHalfCount, static_cast<std::uint64_t>(mine.size()));
  const auto count = net::recv_object<std::uint64_t>(channel, kHalfCount);
  if (count > count_max)
    throw Disagreement("the peer's store has " + std::to_string(count) +
                       " batches, more than the " + std::to_string(count_max) +
                       " objects that this one has made");
  for (std::size_t first = 0; first < std::max<std::uint64_t>(mine.size(), count);
       first += kHalvesAMessage) {
    if (first < mine.size())
      channel.send(kHalves, std::as_bytes(mine.subspan(
                                first, std::min(kHalvesAMessage, mine.size() - first))));
    if (first >= count) continue;
    std::vector<storage::Half> halves(std::min<std::uint64_t>(kHalvesAMessage, count - first));
    channel.recv(kHalves, std::as_writable_bytes(std::span(halves)));
    for (const storage::Half& half : halves) take(half);
  }
}

std::uint64_t objects_made(const storage::Store& store) {
  std::uint64_t objects = 0;
  for (const MaterialKind kind : kAllMaterialKinds) objects += store.made()[kind];
  return objects;
}

void unlock_with_peer(checks::Session& session, storage::Store& store, std::uint64_t first_unit,
                      std::uint64_t end_unit) {
  const storage::Halves mine = store.halves(first_unit, end_unit);
  send_counts(session.channel(), kUnlocked, UnlockedMessage{{}, {mine.unlocked}});
  storage::Halves peers{
      receive_counts<UnlockedMessage>(session.channel(), kUnlocked, "store status").counts[0], {}};
  KeptHalves kept(mine, peers);
  exchange_halves(session.channel(), mine.of, objects_made(store),
                  [&](const storage::Half& half) { kept.add(half); });
  store.unlock(first_unit, end_unit, peers);
}

void check_not_far_ahead(const MaterialCounts& mine, const MaterialCounts& peers) {
  for (const MaterialKind kind : kAllMaterialKinds)
    if (peers[kind] > mine[kind] && peers[kind] - mine[kind] > kBurnMax)
      throw Disagreement(
          "the peer's store is far ahead: its position of " + std::string(name_of(kind)) + " is " +
          std::to_string(peers[kind]) + ", this store's is " + std::to_string(mine[kind]) +
          "; continuing would burn the objects in between, start a new session in a new store");
}

// A range from the peer is checked before it affects the store.
void check_offer(const Offer& offer, const MaterialCounts& needed, bool is_plan,
                 const MaterialCounts& preferred) {
  MaterialCounts counts;
  for (const MaterialKind kind : kAllMaterialKinds)
    counts[kind] = offer.range.end[kind] - offer.range.start[kind];
  const bool is_preferred = counts == preferred;
  for (const MaterialKind kind : kAllMaterialKinds) {
    const std::uint64_t start = offer.range.start[kind], end = offer.range.end[kind];
    if (start > end) throw PeerCheated("store grant");
    if (!is_preferred && end - start != needed[kind])
      throw Disagreement("the peer grants " + std::to_string(end - start) + " " +
                         std::string(name_of(kind)) + ", but this party needs " +
                         std::to_string(needed[kind]) +
                         ": other runs use the stores at the same time, try again");
  }
  if ((offer.plan != 0) != is_plan) throw PeerCheated("store grant");
}

}  // namespace

void check_enough(std::span<const storage::Store> stores, const MaterialCounts& needed) {
  std::string shortages;
  for (const MaterialKind kind : kAllMaterialKinds) {
    std::uint64_t left = 0;
    for (const storage::Store& store : stores) left += store.made()[kind] - store.served()[kind];
    if (left >= needed[kind]) continue;
    shortages += (shortages.empty() ? "" : ", ") + std::string(name_of(kind)) + " has " +
                 std::to_string(left) + ", needs " + std::to_string(needed[kind]);
  }
  if (!shortages.empty())
    throw OutOfMaterial("not enough material in this store: " + shortages, Remedy::AddMaterial);
}

StoreStatus status_of(const storage::Store& store) {
  const storage::MaterialCursors& cursors = store.cursors();
  return {store.manifest().units_made, cursors.units_unlocked, cursors.served, cursors.confirmed};
}

StoreStatuses synchronise(checks::Session& session, storage::Store& store, SynchroniseFor purpose) {
  // Other runs of both parties may go on at the same time. What this party had recorded about the
  // peer cannot exceed what the peer reports now, and what the peer had recorded about this party
  // cannot exceed this party's status when it receives the peer's report.
  const StoreStatus before = status_of(store);
  store.refresh();
  StoreStatus mine = status_of(store);
  mine.confirmed = before.confirmed;
  send_status(session.channel(), mine);
  const StoreStatus peers = receive_status(session.channel());
  store.refresh();
  StoreStatus now = status_of(store);
  now.confirmed = before.confirmed;
  now.units_unlocked = before.units_unlocked;
  check_neither_is_older(now, peers);
  const std::uint64_t common = std::min(mine.units_made, peers.units_made);
  if (purpose == SynchroniseFor::Making && mine.units_made > common) store.cut_back(common);
  const std::uint64_t unlocked = std::min(mine.units_unlocked, peers.units_unlocked);
  if (unlocked < common) unlock_with_peer(session, store, unlocked, common);
  return {mine, peers};
}

void confirm_completion(checks::Session& session, storage::Store& store) {
  net::send_object(session.channel(), kComplete, std::uint64_t{1});
  if (net::recv_object<std::uint64_t>(session.channel(), kComplete) != 1)
    throw PeerCheated("store status");
  store.update_manifest([](storage::Manifest& manifest) { manifest.peer_complete = true; });
}

storage::Grant grant_with_peer(checks::Session& session, storage::Store& store,
                               const StoreStatuses& statuses, const MaterialCounts& needed,
                               bool is_plan, const std::optional<MaterialCounts>& preferred) {
  net::Channel& channel = session.channel();
  const StoreStatus& peers = statuses.peers;
  check_not_far_ahead(store.served(), peers.served);
  if (session.me() == Party::A) {
    const auto grant = [&](const MaterialCounts& counts) {
      return store.grant({.counts = counts, .at_least = peers.served, .is_plan = is_plan});
    };
    const storage::Grant granted = [&] {
      try {
        return grant(preferred.value_or(needed));
      } catch (const OutOfMaterial&) {
        return grant(needed);
      }
    }();
    send_counts(channel, kGrant,
                GrantMessage{{granted.plan}, {granted.range.start, granted.range.end}});
    if (net::recv_object<std::uint64_t>(channel, kTaken) != 1) throw PeerCheated("store grant");
    return granted;
  }
  const auto message = receive_counts<GrantMessage>(channel, kGrant, "store grant");
  const Offer offer{{message.counts[0], message.counts[1]}, message.words[0]};
  check_offer(offer, needed, is_plan, preferred.value_or(needed));
  check_not_far_ahead(store.served(), offer.range.start);
  const storage::Grant granted = store.take({offer.range, offer.plan, {}}, peers.served);
  net::send_object(channel, kTaken, std::uint64_t{1});
  return granted;
}

storage::Reservation reserve_with_peer(checks::Session& session, storage::Store& store,
                                       const MaterialCounts& needed) {
  const StoreStatuses statuses = synchronise(session, store, SynchroniseFor::Running);
  return store.hold(grant_with_peer(session, store, statuses, needed, false));
}

storage::ReservationChain reserve_with_peer(checks::Session& session,
                                            std::span<storage::Store> shards,
                                            const MaterialCounts& needed) {
  std::vector<StoreStatuses> statuses;
  for (storage::Store& shard : shards)
    statuses.push_back(synchronise(session, shard, SynchroniseFor::Running));
  MaterialCounts missing = needed;
  std::vector<storage::Reservation> links;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    MaterialCounts part;
    for (const MaterialKind kind : kAllMaterialKinds) {
      // Both parties have exchanged these numbers, and compute the same parts.
      const std::uint64_t start = std::max(statuses[i].mine.served[kind],
                                           statuses[i].peers.served[kind]),
                          unlocked = shards[i].cursors().unlocked[kind];
      // The rest is requested from the last one, whose error names what is missing.
      part[kind] = i + 1 == shards.size()
                       ? missing[kind]
                       : std::min(missing[kind], unlocked - std::min(unlocked, start));
      missing[kind] -= part[kind];
    }
    if (part == MaterialCounts{} && (i + 1 < shards.size() || !links.empty())) continue;
    links.push_back(shards[i].hold(grant_with_peer(session, shards[i], statuses[i], part, false)));
  }
  return storage::ReservationChain(std::move(links));
}

MaterialCounts reserved_in(const storage::Store& store, std::uint64_t plan) {
  const std::vector<storage::PlannedReservation>& planned = store.cursors().planned;
  const auto found = std::ranges::find(planned, plan, &storage::PlannedReservation::id);
  MaterialCounts counts;
  if (found == planned.end()) return counts;
  for (const MaterialKind kind : kAllMaterialKinds)
    counts[kind] = found->range.end[kind] - found->range.start[kind];
  return counts;
}

storage::Reservation claim_with_peer(checks::Session& session, storage::Store& store,
                                     std::uint64_t plan, const MaterialCounts& needed) {
  const std::vector<storage::PlannedReservation>& planned = store.cursors().planned;
  const auto found = std::ranges::find(planned, plan, &storage::PlannedReservation::id);
  const bool exists = found != planned.end();
  const storage::Range range = exists ? found->range : storage::Range{};
  send_counts(session.channel(), kPlan,
              PlanMessage{{plan, exists ? 1u : 0u}, {range.start, range.end}});
  const auto peers = receive_counts<PlanMessage>(session.channel(), kPlan, "store grant");
  if (peers.words[0] != plan)
    throw Disagreement("this party runs reservation " + std::to_string(plan) + ", the peer " +
                       std::to_string(peers.words[0]));
  if (!exists) return store.claim(plan);  // fails: there is no such plan
  for (const MaterialKind kind : kAllMaterialKinds)
    if (range.end[kind] - range.start[kind] < needed[kind])
      throw OutOfMaterial("reservation " + std::to_string(plan) + " has " +
                          std::to_string(range.end[kind] - range.start[kind]) + " " +
                          std::string(name_of(kind)) + ", but the run needs " +
                          std::to_string(needed[kind]) + "; the reservation is kept");
  storage::Reservation reservation = store.claim(plan);
  const storage::Range of_peer{peers.counts[0], peers.counts[1]};
  if (peers.words[1] != 1 || !(of_peer == range))
    throw Disagreement("the peer's store no longer holds reservation " + std::to_string(plan) +
                       "; it is discarded here too");
  return reservation;
}

namespace {

// Both lists are in order; the peer's arrives in pieces.
class Comparer {
 public:
  // Below its position a party may have dropped a batch that the other one still holds for a later
  // run, if the connection ended before both had reserved it. Up to the higher of the two
  // positions, one of the parties may have dropped or cut batches.
  Comparer(std::span<const storage::BatchEntry> mine, const MaterialCounts& position,
           const MaterialCounts& peers_position)
      : mine_(mine), position_(position), peers_position_(peers_position) {}

  void add(const storage::Half& peers) {
    while (next_ < mine_.size() && storage::order_of(mine_[next_]) < storage::order_of(peers))
      miss();
    if (next_ == mine_.size() || !storage::is_half_of(peers, mine_[next_])) {
      if (peers.kind < kMaterialKinds && is_passed_over(peers.first, peers.kind, position_)) {
        ++result_.passed_over;
        return;
      }
      differ("the peer has a batch of " + std::to_string(peers.count) + " " +
             name_of_kind(peers.kind) + " from " + std::to_string(peers.first) +
             " on, and this store does not");
      return;
    }
    const storage::BatchEntry& entry = mine_[next_++];
    if (!entry.peers_tag)
      ++result_.cut;
    else if (*entry.peers_tag == peers.tag)
      ++result_.matched;
    else
      differ("batch " + storage::text_of(entry) +
             ": the peer's half is not the one that was made with this one");
  }
  PeersHalves finish() {
    while (next_ < mine_.size()) miss();
    return std::move(result_);
  }

 private:
  static std::string name_of_kind(std::uint32_t kind) {
    return kind < kMaterialKinds ? std::string(name_of(static_cast<MaterialKind>(kind)))
                                 : "objects of an unknown kind";
  }
  // `position` is that of the party that does not have the batch.
  bool is_passed_over(std::uint64_t first, std::uint32_t kind,
                      const MaterialCounts& position) const {
    if (first < position.of[kind]) return true;
    return position_.of[kind] != peers_position_.of[kind] &&
           first <= std::max(position_.of[kind], peers_position_.of[kind]);
  }
  void miss() {
    const storage::BatchEntry& entry = mine_[next_++];
    if (is_passed_over(entry.first, static_cast<std::uint32_t>(entry.kind), peers_position_))
      ++result_.passed_over;
    else
      differ("batch " + storage::text_of(entry) + ": the peer does not have its half");
  }
  void differ(std::string what) {
    if (++result_.different <= PeersHalves::kDifferencesMax)
      result_.differences.push_back(std::move(what));
  }

  std::span<const storage::BatchEntry> mine_;
  MaterialCounts position_, peers_position_;
  std::size_t next_ = 0;
  PeersHalves result_;
};

}  // namespace

PeersHalves compare_halves(checks::Session& session, const storage::Store& store,
                           std::span<const storage::BatchEntry> mine) {
  const StoreStatus status = status_of(store);
  send_status(session.channel(), status);
  const StoreStatus peers = receive_status(session.channel());
  std::vector<storage::Half> halves;
  for (const storage::BatchEntry& entry : mine) halves.push_back(storage::half_of(entry));
  Comparer comparer(mine, status.served, peers.served);
  exchange_halves(session.channel(), halves, objects_made(store),
                  [&](const storage::Half& half) { comparer.add(half); });
  return comparer.finish();
}

}  // namespace tinyot::engine
