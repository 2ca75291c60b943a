#include "tests/online/cheat.h"

#include <array>
#include <map>

#include "online/masked/masked_round.h"
#include "tests/support/layers.h"

namespace tinyot::test {
namespace {

// The layers of a job, in order.
struct Layers : RoundSink {
  explicit Layers(const OnlineJob& job) : job_(job) {
    generate_rounds(job.circuit, job.lanes, job.window == 0 ? window_for(job.lanes) : job.window,
                    *this, groups_of(job));
    for (const std::vector<std::size_t>& level : levels_)
      opened_before.insert(opened_before.end(), level.begin(), level.end());
  }
  void round(Round& round) override {
    const std::size_t n = round.and_count(job_.lanes);
    if (n > 0) ands.push_back(n);
    const online::RoundPlan plan = planner_.plan(round);
    const std::size_t after = plan.opened_after(job_.lanes);
    if (after > 0) opened_after.push_back(after);
    const auto before = online::opened_before(round, plan, online::Lanes(job_.lanes));
    for (std::size_t level = 0; level < before.size(); ++level)
      if (before[level] > 0) levels_[level].push_back(before[level]);
    for (const Party owner : {Party::A, Party::B}) {
      std::size_t bits = 0;
      for (const RoundInput& input : round.inputs) {
        const InputBundle& bundle = job_.circuit.info().inputs[input.bundle];
        if (bundle.source == source_of(owner)) bits += bundle.same_in_all_lanes ? 1 : job_.lanes;
      }
      if (bits > 0) inputs[static_cast<int>(owner)].push_back(bits);
    }
  }
  std::vector<std::size_t> ands, inputs[2];
  std::vector<std::size_t> opened_before, opened_after;  // of a masked run

 private:
  const OnlineJob& job_;
  online::MaskPlanner planner_{job_.atoms_max};
  std::array<std::vector<std::size_t>, online::kLevelsMost> levels_;
};

}  // namespace

Messages messages_of(const OnlineJob& job, Party sender, std::uint64_t seed) {
  Messages sent;
  PartyOptions options{.seed = seed};
  (sender == Party::A ? options.wrap_a : options.wrap_b) = recording(sent);
  run_online(job, options);
  return sent;
}

std::size_t bits_of_message(const OnlineJob& job, Party sender, const std::string& tag,
                            std::size_t occurrence) {
  const Layers layers(job);
  if (tag == "input.masked") return layers.inputs[static_cast<int>(sender)].at(occurrence);
  if (tag == "and.fgdh") return 4 * layers.ands.at(occurrence);
  if (tag == "and.e") return layers.ands.at(occurrence);
  if (tag == "and.de") return 2 * layers.ands.at(occurrence);
  if (tag == "masked.products") return layers.opened_before.at(occurrence);
  if (tag == "masked.operands") return layers.opened_after.at(occurrence);
  if (tag == "mac_transcript.digest") return 256;
  EXPECT_EQ(tag, "output.shares");
  std::size_t bits = 0;
  for (const OutputBundle& bundle : job.circuit.info().outputs)
    if (job.form == AndMaterial::Triples || receives(bundle.to, peer_of(sender)))
      bits += bundle.bits * job.lanes;
  return bits;
}

std::vector<std::pair<std::string, std::size_t>> some_of_each(const Messages& messages) {
  std::map<std::string, std::size_t> count;
  for (const Message& message : messages) count[message.tag] = message.occurrence + 1;
  std::vector<std::pair<std::string, std::size_t>> chosen;
  for (const char* tag : {"input.masked", "and.fgdh", "and.e", "and.de", "masked.products",
                          "masked.operands", "output.shares", "mac_transcript.digest"}) {
    const std::size_t n = count[tag];
    if (n > 0) chosen.emplace_back(tag, 0);
    if (n > 2) chosen.emplace_back(tag, n / 2);
    if (n > 1) chosen.emplace_back(tag, n - 1);
  }
  return chosen;
}

OnlineRun expect_caught(const OnlineJob& job, Party cheater, ChannelWrapper wrapper,
                        const std::string& check, std::uint64_t seed) {
  PartyOptions options{.seed = seed};
  (cheater == Party::A ? options.wrap_a : options.wrap_b) = std::move(wrapper);
  OnlineRun run = run_online(job, options, false);
  const Party honest = peer_of(cheater);
  EXPECT_EQ(run.outcome(honest).kind, Outcome::Kind::PeerCheated) << run.outcome(honest).message;
  EXPECT_TRUE(run.outcome(honest).check.starts_with(check))
      << run.outcome(honest).check << " instead of " << check;
  EXPECT_TRUE(run.of(honest).outputs.empty());
  return run;
}

void expect_change_caught(const OnlineJob& job, Party cheater, const std::string& tag,
                          std::size_t occurrence,
                          const std::function<void(std::vector<std::byte>&)>& change,
                          const std::string& check) {
  SCOPED_TRACE(std::string(1, letter(cheater)) + "'s " + tag + " number " +
               std::to_string(occurrence) + ", " + std::string(name_of(job.form)));
  bool done = false;
  expect_caught(
      job, cheater,
      cheating([&](std::string_view sent, std::size_t number, std::vector<std::byte>& payload) {
        if (sent != tag || number != occurrence) return;
        done = true;
        change(payload);
      }),
      check);
  EXPECT_TRUE(done) << "the attacked message was not sent";
}

}  // namespace tinyot::test
