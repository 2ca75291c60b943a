#include "engine/run_estimate.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/bit_vector.h"
#include "base/error.h"
#include "circuitgen/layering.h"
#include "engine/top_up.h"
#include "engine/two_party_harness.h"
#include "online/interactive/runtime.h"
#include "online/windowed_exchange.h"
#include "system/temporary_directory.h"
#include "tinyot/preprocess.h"
#include "tinyot/run.h"

namespace tinyot::engine {
namespace {

constexpr std::uint64_t kHeaderBytes = sizeof(net::FrameHeader);
constexpr std::uint64_t kDigestBytes = 32;
constexpr std::uint64_t kOutputRounds = 3;

// ANDs of a measured run: about as many as are made in a second.
constexpr std::uint64_t kSampleTriples = std::uint64_t{1} << 19,
                        kSamplePairs = std::uint64_t{1} << 15;
constexpr std::size_t kSampleRuns = 3;
constexpr std::uint64_t kSampleWidthMax = 65536, kSampleDepthMax = 4096;

// The bytes of `entries` entries of `bits` bits (online/windowed_exchange.h).
std::uint64_t bytes_of_flights(std::uint64_t entries, std::uint64_t bits) {
  return online::WindowedExchange::messages(entries) * kHeaderBytes + bytes_for(bits * entries);
}

class MessageCounter final : public circuit::RoundSink {
 public:
  MessageCounter(const LoadedCircuit& circuit, AndMaterial form, RunEstimate& estimate)
      : info_(circuit.info()), lanes_(circuit.lanes()), form_(form), estimate_(estimate) {}

  void round(circuit::Round& round) override {
    std::array<std::uint64_t, 2> masked{};
    for (const circuit::RoundInput& input : round.inputs) {
      const circuit::InputBundle& bundle = info_.inputs[input.bundle];
      if (const auto owner = owner_of(bundle.source))
        masked[static_cast<std::size_t>(*owner)] += bundle.same_in_all_lanes ? 1 : lanes_;
    }
    const std::uint64_t ands = round.and_count(lanes_);
    estimate_.ands += ands;
    estimate_.and_rounds += ands > 0;
    for (std::size_t party = 0; party < 2; ++party) {
      std::uint64_t& bytes = estimate_.bytes_sent[party];
      if (masked[party] > 0) bytes += kHeaderBytes + bytes_for(masked[party]);
      bytes += form_ != AndMaterial::AandAot
                   ? bytes_of_flights(ands, 2)
                   : bytes_of_flights(ands, 4) + bytes_of_flights(ands, 1);
    }
    // Inputs of a round without ANDs are waited for when the messages of the next round, if there
    // is one, have been sent.
    const std::uint64_t sent = estimate_.rounds;
    wait_for_inputs();
    if (ands > 0)
      estimate_.rounds = std::max(estimate_.rounds, sent + 1) + (form_ == AndMaterial::AandAot);
    else if (masked[0] + masked[1] > 0)
      inputs_sent_ = sent;
  }

  void wait_for_inputs() {
    if (inputs_sent_) estimate_.rounds = std::max(estimate_.rounds, *inputs_sent_ + 1);
    inputs_sent_.reset();
  }

 private:
  const circuit::CircuitInfo& info_;
  std::size_t lanes_;
  AndMaterial form_;
  RunEstimate& estimate_;
  std::optional<std::uint64_t> inputs_sent_;  // of a round without ANDs: the rounds before it
};

std::uint64_t ands_of(const LoadedCircuit& circuit) {
  return circuit.cost().ands_of(circuit.lanes());
}

// A circuit, on its lanes, whose run is small enough to be measured.
LoadedCircuit sample_of(const LoadedCircuit& circuit, const RunEstimate& estimate,
                        AndMaterial form) {
  const std::uint64_t most = form == AndMaterial::AandAot ? kSamplePairs : kSampleTriples;
  const circuit::CircuitCost& cost = circuit.cost();
  std::size_t lanes = circuit.lanes();
  while (lanes > 1 && cost.ands_of(lanes) > most) lanes /= 2;
  if (cost.ands_of(lanes) <= most) return circuit.on_lanes(lanes);
  const std::uint64_t rounds = std::max<std::uint64_t>(estimate.and_rounds, 1),
                      width = std::clamp<std::uint64_t>(cost.ands / rounds, 1,
                                                        std::min(kSampleWidthMax, most));
  lanes = std::clamp<std::size_t>(most / width, 1, circuit.lanes());
  const std::uint64_t depth =
      std::clamp<std::uint64_t>(most / (width * lanes), 1, std::min(rounds, kSampleDepthMax));
  auto random = LoadedCircuit::generated(
      "random:width=" + std::to_string(width) + ",depth=" + std::to_string(depth), lanes);
  ENSURE(random);
  return std::move(*random);
}

const offline::ProfileEntry& fastest_for(AndMaterial form) {
  const offline::ProfileEntry* fastest = nullptr;
  for (const offline::ProfileEntry* entry : offline::profiles())
    if (std::ranges::find(entry->materials, form) != entry->materials.end() &&
        (fastest == nullptr || entry->speed > fastest->speed))
      fastest = entry;
  ENSURE(fastest != nullptr);
  return *fastest;
}

// Material for the sample's runs, made in the fastest way there is.
PreprocessRequest material_request(const LoadedCircuit& sample, AndMaterial form) {
  const offline::ProfileEntry& profile = fastest_for(form);
  PreprocessRequest request;
  request.parameters.profile = profile.profile;
  request.parameters.own = profile.fastest;
  request.parameters.material = form;
  const Demand demand = demand_of_runs(sample, form, kSampleRuns);
  request.ands = demand.ands;
  request.inputs = demand.inputs;
  return request;
}

Values zeros(const LoadedCircuit& circuit, Party me) {
  Values values;
  for (const circuit::InputBundle& bundle : circuit.info().inputs)
    if (gives(bundle.source, me))
      values.set(bundle.name,
                 LaneMatrix(bundle.same_in_all_lanes ? 1 : circuit.lanes(), bundle.bits));
  return values;
}

}  // namespace

MaterialCounts material_of_run(const LoadedCircuit& circuit, std::uint64_t ands, AndMaterial form) {
  return online::phase_on(form, {}).material_for(circuit.info(), ands, form, circuit.lanes(), {});
}

Demand demand_of_runs(const LoadedCircuit& circuit, AndMaterial form, std::uint64_t runs) {
  const Demand of_run = demand_for(material_of_run(circuit, ands_of(circuit), form), form);
  return {std::max<std::uint64_t>(runs * of_run.ands, 1), runs * of_run.inputs};
}

double RunEstimate::link_s(const net::LinkShape& link) const {
  const double latency_s = std::chrono::duration<double>(link.rtt).count() / 2;
  const auto bytes = static_cast<double>(std::max(bytes_sent[0], bytes_sent[1]));
  return static_cast<double>(rounds) * latency_s +
         (link.bits_per_s > 0 ? 8 * bytes / link.bits_per_s : 0);
}

RunEstimate estimate_run(const LoadedCircuit& circuit, AndMaterial form,
                         std::optional<std::uint64_t> window) {
  RunEstimate estimate;
  estimate.window = window.value_or(online::phase_on(form, {}).window_for(circuit.lanes()));
  MessageCounter counter(circuit, form, estimate);
  circuit::generate_rounds(circuit.circuit(), circuit.lanes(), estimate.window, counter);
  counter.wait_for_inputs();
  estimate.rounds += kOutputRounds;
  std::uint64_t revealed = 0;
  std::array<std::uint64_t, 2> received{};
  for (const circuit::OutputBundle& bundle : circuit.info().outputs) {
    const std::uint64_t bits = std::uint64_t{bundle.bits} * circuit.lanes();
    revealed += bundle.to == circuit::Receiver::None ? 0 : bits;
    for (const Party party : {Party::A, Party::B})
      received[static_cast<std::size_t>(party)] += circuit::receives(bundle.to, party) ? bits : 0;
  }
  for (std::size_t party = 0; party < 2; ++party)
    estimate.bytes_sent[party] +=
        bytes_of_flights(form != AndMaterial::AandAot ? revealed : received[1 - party], 1) +
        2 * (kHeaderBytes + kDigestBytes);
  return estimate;
}

RunComputation measure_computation(const LoadedCircuit& circuit, const RunEstimate& estimate,
                                   AndMaterial form, const net::TcpTimeouts& timeouts) {
  const LoadedCircuit sample = sample_of(circuit, estimate, form);
  const system::TemporaryDirectory dir;
  preprocess_as_both(material_request(sample, form), dir.path(), timeouts);
  std::vector<RunResult> runs;
  for (std::size_t i = 0; i < kSampleRuns; ++i)
    runs.push_back(slower_of(as_both_parties(timeouts, [&](Party party, const Endpoint& endpoint) {
      const RunRequest request{
          .party = party, .endpoint = endpoint, .stores = {store_in(dir.path(), party)}};
      return run(request, sample.circuit(), zeros(sample, party), sample.lanes());
    })));
  std::ranges::sort(runs, {}, &RunResult::wall_s);
  const RunResult& median = runs[kSampleRuns / 2];
  const double scale = static_cast<double>(estimate.ands) /
                       static_cast<double>(std::max<std::uint64_t>(ands_of(sample), 1));
  return {scale * median.blocks_s,
          scale * std::max(0.0, median.wall_s - median.blocks_s - median.wire_wait_s)};
}

double estimated_s(const RunEstimate& estimate, const RunComputation& computation,
                   const net::LinkShape& link) {
  return computation.between_s + std::max(computation.while_waiting_s, estimate.link_s(link));
}

}  // namespace tinyot::engine
