#include "service/session_record.h"

#include <fcntl.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/error.h"
#include "session_record.pb.h"
#include "system/file.h"

namespace tinyot::service {
namespace {

constexpr auto kDay = std::chrono::hours(24);
constexpr std::uint32_t kSigmaOfAll = 4;  // by so many bits all sessions may exceed one
constexpr std::uint64_t kRecordBytesMax = std::uint64_t{1} << 20;

// A clock that was set back must not make what has begun forgotten.
bool is_within_a_day(SessionRecord::Clock::time_point at, SessionRecord::Clock::time_point now) {
  return at + kDay > now;
}

Risk risk_from(const record::Risk& coded) {
  Risk risk;
  for (int i = 0; i < std::min(coded.word_size(), static_cast<int>(risk.words.size())); ++i)
    risk.words[static_cast<std::size_t>(i)] = coded.word(i);
  return risk;
}

void put_risk(const Risk& risk, record::Risk& coded) {
  for (const std::uint64_t word : risk.words) coded.add_word(word);
}

// Of a risk that is not zero.
std::string exponent_of(const Risk& risk) {
  const std::string text = std::to_string(std::log2(as_double(risk)));
  return "2^" + text.substr(0, text.find('.') + 2);
}

}  // namespace

SessionRecord::SessionRecord(std::filesystem::path file, Limits limits)
    : file_(std::move(file)), limits_(limits), state_(read()) {}

SessionRecord::State SessionRecord::read() const {
  State state;
  std::error_code error;
  if (!std::filesystem::exists(file_, error) && !error) return state;
  const system::File file(file_, O_RDONLY);
  std::string text(std::min(file.size(), kRecordBytesMax), '\0');
  text.resize(file.read_at(0, std::as_writable_bytes(std::span(text))));
  record::Record coded;
  if (!google::protobuf::TextFormat::ParseFromString(text, &coded))
    throw StoreError(file_.string() +
                     " is not a record of sessions: it says how often and with which risk sessions "
                     "with this peer have ended; restore it, or remove it if it is lost");
  state.last_number = coded.last_number();
  state.first_active_session = coded.first_active_session();
  for (const record::Beginning& begun : coded.begun())
    state.begun.push_back({Clock::time_point(std::chrono::seconds(begun.at_unix_s())),
                           begun.is_by_claim() ? BeginsBy::PeersClaim : BeginsBy::OwnAccount});
  state.ended_numbers.assign(coded.ended_number().begin(), coded.ended_number().end());
  state.ended = risk_from(coded.ended());
  state.accepted = risk_from(coded.accepted());
  return state;
}

void SessionRecord::write(State next) {
  record::Record coded;
  coded.set_last_number(next.last_number);
  coded.set_first_active_session(next.first_active_session);
  for (const State::Beginning& begun : next.begun) {
    record::Beginning& added = *coded.add_begun();
    added.set_at_unix_s(
        std::chrono::duration_cast<std::chrono::seconds>(begun.at.time_since_epoch()).count());
    added.set_is_by_claim(begun.by == BeginsBy::PeersClaim);
  }
  for (const std::uint64_t number : next.ended_numbers) coded.add_ended_number(number);
  put_risk(next.ended, *coded.mutable_ended());
  put_risk(next.accepted, *coded.mutable_accepted());
  std::string text;
  google::protobuf::TextFormat::PrintToString(coded, &text);
  try {
    system::replace_file(file_, std::as_bytes(std::span(text)));
  } catch (const StoreError& error) {
    throw StoreError(
        "the record of the sessions with this peer cannot be written, and no session begins that "
        "is not recorded: " +
        std::string(error.what()));
  }
  state_ = std::move(next);
}

std::uint64_t SessionRecord::last_number() const {
  const std::lock_guard lock(mutex_);
  return state_.last_number;
}

std::uint64_t SessionRecord::first_active_session() const {
  const std::lock_guard lock(mutex_);
  return state_.first_active_session;
}

void SessionRecord::set_first_active_session(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  State next = state_;
  next.first_active_session = std::max(next.first_active_session, number);
  write(std::move(next));
}

std::optional<std::string> SessionRecord::refusal_to_begin(BeginsBy by,
                                                           Clock::time_point now) const {
  const std::lock_guard lock(mutex_);
  return refusal(by, now);
}

std::optional<std::string> SessionRecord::refusal(BeginsBy by, Clock::time_point now) const {
  std::uint32_t all = 0, by_claim = 0;
  for (const State::Beginning& begun : state_.begun) {
    if (!is_within_a_day(begun.at, now)) continue;
    ++all;
    by_claim += begun.by == BeginsBy::PeersClaim;
  }
  const std::uint32_t by_claim_max = std::max<std::uint32_t>(limits_.sessions_per_day / 2, 1);
  if (all >= limits_.sessions_per_day)
    return std::to_string(all) +
           " sessions have begun within 24 hours (sessions_per_day of the configuration): no other "
           "begins until that is over, or the operator resumes the refills";
  if (by == BeginsBy::PeersClaim && by_claim >= by_claim_max)
    return "the peer has claimed " + std::to_string(by_claim) +
           " times within 24 hours that it cannot use a session which this party can use: no other "
           "begins for such a claim until that is over, or the operator resumes the refills";
  return std::nullopt;
}

void SessionRecord::begin(std::uint64_t number, BeginsBy by, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (number <= state_.last_number)
    throw Disagreement("session " + std::to_string(number) + " has ended");
  if (const auto reason = refusal(by, now)) throw Disagreement(*reason);
  add(number, by, now);
}

void SessionRecord::add_begun(std::uint64_t number, BeginsBy by, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  add(number, by, now);
}

void SessionRecord::add(std::uint64_t number, BeginsBy by, Clock::time_point now) {
  State next = state_;
  next.last_number = std::max(next.last_number, number);
  std::erase_if(next.begun,
                [&](const State::Beginning& begun) { return !is_within_a_day(begun.at, now); });
  next.begun.push_back({now, by});
  write(std::move(next));
}

void SessionRecord::add_ended(std::uint64_t number, const Risk& risk) {
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(state_.ended_numbers, number) != state_.ended_numbers.end()) return;
  State next = state_;
  next.ended_numbers.push_back(number);
  next.ended += risk;
  write(std::move(next));
}

bool SessionRecord::has_ended(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::find(state_.ended_numbers, number) != state_.ended_numbers.end();
}

void SessionRecord::removed(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  State next = state_;
  if (std::erase(next.ended_numbers, number) > 0) write(std::move(next));
}

Risk SessionRecord::total(const Risk& open) const {
  const std::lock_guard lock(mutex_);
  return state_.ended + open;
}

std::optional<std::string> SessionRecord::refusal_to_refill(const Risk& open) const {
  const std::lock_guard lock(mutex_);
  const Risk all = state_.ended + open;
  const Risk limit = state_.accepted + risk_limit(limits_.sigma - kSigmaOfAll, 1);
  if (all <= limit) return std::nullopt;
  return "units that were broken off, in all sessions with this peer, give it a chance of " +
         exponent_of(all) + " to learn a part of this party's key, more than " +
         exponent_of(limit) +
         ": the refills are stopped until the operator has found the cause and resumes them";
}

void SessionRecord::resume(const Risk& open) {
  const std::lock_guard lock(mutex_);
  State next = state_;
  next.accepted = next.ended + open;
  next.begun.clear();
  write(std::move(next));
}

}  // namespace tinyot::service
