// Runs both profiles, and an iteration of silent bits, under valgrind with all secrets marked as
// undefined: the output of each party's random generator, its global key and its inputs. valgrind
// then reports each branch and each address that depends on them. Sent data are public, and so is
// what is passed to declassified().
//   valgrind --error-exitcode=99 constant_time nnob12|nnob12-triples|fast|fast-k4|silent
//   valgrind --error-exitcode=99 constant_time --planted-leak branch|address
#include <valgrind/memcheck.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <thread>

#include "base/lane_bits.h"
#include "circuitgen/cost.h"
#include "circuitgen/generators/family.h"
#include "material/pipe.h"
#include "offline/silent/silent_bits.h"
#include "offline/softspoken/softspoken_source.h"
#include "offline/unit/preprocessor.h"
#include "offline/unit/unit_maker.h"
#include "online/interactive/runtime.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

constexpr std::size_t kAnds = 64, kLanes = 9, kBits = 4;

template <class T>
void make_secret(T& object) {
  (void)VALGRIND_MAKE_MEM_UNDEFINED(&object, sizeof object);
}

// Marks sent data as public.
class PublishingStream final : public ByteStream {
 public:
  explicit PublishingStream(std::unique_ptr<ByteStream> inner) : inner_(std::move(inner)) {}

  void write(std::span<const std::byte> bytes, std::span<const std::byte> more) override {
    std::vector<std::byte> sent(bytes.begin(), bytes.end());
    sent.insert(sent.end(), more.begin(), more.end());
    (void)VALGRIND_MAKE_MEM_DEFINED(sent.data(), sent.size());
    inner_->write(sent, {});
  }
  void read(std::span<std::byte> bytes) override { inner_->read(bytes); }
  void flush() override { inner_->flush(); }
  void set_deadline(std::chrono::steady_clock::time_point deadline) noexcept override {
    inner_->set_deadline(deadline);
  }

 private:
  std::unique_ptr<ByteStream> inner_;
};

void emit_circuit(Builder& builder) {
  const Bits x = builder.input(0), y = builder.input(1);
  Bits z;
  for (std::size_t i = 0; i < kBits; ++i) z.push_back(x[i] & y[(i + 1) % kBits]);
  builder.output(0, std::vector{z[0] & ~z[1], z[1] ^ x[2]});
  builder.output(1, std::vector{z[2] & z[3]});
}

std::unique_ptr<Circuit> small_circuit() {
  CircuitInfo info{"small",
                   {integer_input("x", kBits, Party::A), integer_input("y", kBits, Party::B)},
                   {integer_output("to_both", 2), integer_output("to_b", 1)}};
  info.outputs[1].to = Receiver::B;
  return std::make_unique<GeneratedCircuit>(std::move(info), emit_circuit);
}

void run_profile(Session& session, const offline::SecurityParameters& params) {
  material::Pipe pipe(session.me());
  Preprocessor(session, params)
      .make_units(std::vector<UnitRequest>(2, {params.plan(kAnds).at(0), 64}), pipe);

  const auto circuit = small_circuit();
  const CircuitCost cost = cost_of(*circuit);
  BundleValues inputs(2);
  LaneMatrix& mine = inputs[static_cast<std::size_t>(session.me())].emplace(kLanes, kBits);
  for (std::size_t lane = 0; lane < kLanes; ++lane) set_lane(mine, lane, session.rng().bits(kBits));
  CircuitRounds rounds(*circuit, cost.gates(), kLanes, 1024);
  run_circuit(session, pipe,
              material_for(circuit->info(), cost.ands_of(kLanes), params.material(), kLanes),
              params.material(), rounds, inputs);
}

// An iteration of silent bits with both roles, from a base of SoftSpoken bits.
void make_silent_bits(checks::Session& session) {
  constexpr offline::SilentSet kSet{"small", 128, 7, 8, 0};
  offline::SoftSpokenSource start(session, 4, {});
  start.prepare(1);
  offline::AuthBits base;
  start.stream(session, 0, kSet.reserve())->make(base);
  const offline::SilentIteration iteration{kSet, 0, offline::toss_code(session)};
  offline::AuthBits first =
      offline::copy_of(base.mine.view(0, kSet.reserve()), base.peers.view(0, kSet.reserve()));
  offline::SilentMacHolder mine(session, iteration, std::move(first.mine));
  offline::SilentKeyHolder peers(session, iteration, std::move(first.peers));
  peers.correct();
  mine.challenge();
  peers.answer();
  mine.verify();
  MacColumn bits(kSet.outputs());
  KeyColumn keys(kSet.outputs());
  mine.make(0, bits.view());
  peers.make(0, keys.view());
}

// `params`: of the profile; none for silent bits.
void run_party(Party me, const std::optional<offline::SecurityParameters>& params,
               Channel& channel) {
  Rng public_rng(Seed{{1, static_cast<std::uint64_t>(me)}});
  const SessionIds ids = establish_session(channel, public_rng, me, {}, std::nullopt);
  Block seed{2, static_cast<std::uint64_t>(me)};
  make_secret(seed);
  Rng rng(Seed{seed});
  const Delta key =
      params ? draw_global_key(rng, me, params->profile(), params->material()) : Delta{rng.block()};
  PhaseLog log;
  Session session(me, ids, key, channel, std::move(rng), log);
  if (params)
    run_profile(session, *params);
  else
    make_silent_bits(session);
}

// Leaks that valgrind must report.
void leak(const char* how) {
  Rng rng(Seed{{3, 3}});
  auto secret = rng.object<std::uint64_t>();
  make_secret(secret);
  volatile std::uint64_t table[2] = {1, 2}, sink = 0;
  if (std::strcmp(how, "branch") == 0) {
    if ((secret & 1) != 0) sink = sink + 1;
  } else {
    sink = table[secret & 1];
  }
}

offline::SecurityParameters parameters(const char* profile) {
  ParameterRequest request;
  const bool is_fast = std::strncmp(profile, "fast", 4) == 0;
  request.profile = is_fast ? Profile::Fast : Profile::Nnob12;
  request.unit = kAnds;
  request.bucket = 3;
  request.weak_allowed = true;
  if (!is_fast) request.own = Nnob12Parameters{Columns::Experiment};
  if (std::strcmp(profile, "nnob12-triples") == 0) request.material = AndMaterial::Triples;
  if (std::strcmp(profile, "fast-k4") == 0) request.own = FastParameters{4};
  return offline::SecurityParameters::make(request);
}

int run(const char* profile) {
  std::optional<offline::SecurityParameters> params;
  if (std::strcmp(profile, "silent") != 0) params = parameters(profile);
  MemoryStreams streams = make_memory_streams();
  int failures = 0;
  const auto end_of = [&](Party me, std::unique_ptr<ByteStream>& stream) {
    try {
      const auto channel =
          make_framed_channel(std::make_unique<PublishingStream>(std::move(stream)));
      run_party(me, params, *channel);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%c: %s\n", letter(me), error.what());
      ++failures;
    }
  };
  std::thread thread([&] { end_of(Party::B, streams.b); });
  end_of(Party::A, streams.a);
  thread.join();
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tinyot

int main(int argc, char** argv) {
  if (RUNNING_ON_VALGRIND == 0) {
    std::fprintf(stderr, "run it under valgrind: tests/constant_time/run\n");
    return 2;
  }
  if (argc == 3 && std::strcmp(argv[1], "--planted-leak") == 0) {
    tinyot::leak(argv[2]);
    return 0;
  }
  return argc == 2 ? tinyot::run(argv[1]) : 2;
}
