// Runs all profiles under valgrind with all secrets marked as undefined: the output of each
// party's random generator, its global key and its inputs. valgrind then reports each branch and
// each address that depends on them. Sent data are public, and so is what is passed to
// declassified().
//   valgrind --error-exitcode=99 constant_time nnob12|nnob12-triples|fast|fast-k4|fast-ml-kem
//   valgrind --error-exitcode=99 constant_time garbled|prepared-batched|prepared-early
//   valgrind --error-exitcode=99 constant_time masked|prepared-masked
//   valgrind --error-exitcode=99 constant_time silent|wan
//   valgrind --error-exitcode=99 constant_time --planted-leak branch|address
#include <valgrind/memcheck.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <thread>

#include "base/lane_bits.h"
#include "circuitgen/cost.h"
#include "circuitgen/generators/family.h"
#include "crypto/ml_kem.h"
#include "material/pipe.h"
#include "offline/silent/silent_bits.h"
#include "offline/softspoken/softspoken_source.h"
#include "offline/unit/preprocessor.h"
#include "offline/unit/unit_maker.h"
#include "online/online_phase.h"
#include "tests/support/layers.h"
#include "tinyot/circuit/integer.h"

namespace tinyot {
namespace {

constexpr std::size_t kAnds = 64, kLanes = 7, kBits = 4;

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
  const Bit of_group = all(BitSpan(z).last(4), 4);
  builder.output(1, std::vector{(z[2] & z[3]) ^ of_group});
}

std::unique_ptr<Circuit> small_circuit() {
  CircuitInfo info{"small",
                   {integer_input("x", kBits, Party::A), integer_input("y", kBits, Party::B)},
                   {integer_output("to_both", 2), integer_output("to_b", 1)}};
  info.outputs[1].to = Receiver::B;
  return std::make_unique<GeneratedCircuit>(std::move(info), emit_circuit);
}

// The material that is made, and how it is used.
struct Method {
  offline::SecurityParameters params;
  OnlinePhase phase = OnlinePhase::Interactive;
  bool is_prepared = false;
  std::optional<RowCheck> row_check = {};
  bool has_silent_bits_only = false;
};

// Of a phase, with inputs drawn from the session's randomness.
void evaluate_circuit(Session& session, material::Source& source, const Method& method) {
  const auto circuit = small_circuit();
  const CircuitCost cost = cost_of(*circuit);
  const AndMaterial form = method.params.material();
  const online::OnlinePhaseEntry& phase = *online::phases_on(form, method.phase).front();
  std::optional<online::Preparation> preparation;
  if (method.is_prepared) preparation = {method.row_check, method.params.sigma()};
  BundleValues inputs(2);
  LaneMatrix& mine = inputs[static_cast<std::size_t>(session.me())].emplace(kLanes, kBits);
  for (std::size_t lane = 0; lane < kLanes; ++lane) set_lane(mine, lane, session.rng().bits(kBits));
  CircuitRounds rounds(*circuit, cost.gates(), kLanes, 1024, {}, phase.groups);
  const auto run =
      phase.make({.session = session,
                  .source = source,
                  .wanted = phase.material_for(
                      circuit->info(), online::ands_for(phase, cost, kLanes), form, kLanes, {}),
                  .form = form,
                  .rounds = rounds,
                  .shared = {},
                  .preparation = preparation,
                  .progress = {}});
  run->prepare();
  run->finish(inputs);
}

// An iteration of silent bits with both roles, from a base of SoftSpoken bits.
void make_silent_bits(Session& session) {
  constexpr SilentSet kSet{LpnSet::B9, 128, 7, 8, 0};
  SoftSpokenSource start(session, 4, {});
  start.prepare(1);
  AuthBits made;
  start.stream(session, 0, kSet.reserve())->make(made);
  AuthBits base = copy_of(made.mine.view(0, kSet.reserve()), made.peers.view(0, kSet.reserve()));
  const SilentIteration iteration{kSet, 0, toss_code(session)};
  SilentMacHolder mine(session, iteration, std::move(base.mine));
  SilentKeyHolder peers(session, iteration, std::move(base.peers));
  peers.correct();
  mine.challenge();
  peers.answer();
  mine.verify();
  MacColumn bits(kSet.outputs());
  KeyColumn keys(kSet.outputs());
  mine.make(0, bits.view());
  peers.make(0, keys.view());
}

void run_party(Party me, const Method& method, Channel& channel) {
  const offline::SecurityParameters& params = method.params;
  Rng public_rng(Seed{{1, static_cast<std::uint64_t>(me)}});
  const SessionIds ids = establish_session(channel, public_rng, me, {}, std::nullopt);
  Block seed{2, static_cast<std::uint64_t>(me)};
  make_secret(seed);
  Rng rng(Seed{seed});
  const Delta key = draw_global_key(rng, me, params.profile(), params.material());
  PhaseLog log;
  Session session(me, ids, key, channel, std::move(rng), log, {}, params.base_ot());
  if (method.has_silent_bits_only) return make_silent_bits(session);
  material::Pipe pipe(me);
  Preprocessor(session, params)
      .make_units(std::vector<UnitRequest>(2, {params.plan(kAnds).at(0), 64}), pipe);
  evaluate_circuit(session, pipe, method);
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

// Names as in the usage above.
Method method_of(const std::string& name) {
  const bool is_masked = name == "masked" || name == "prepared-masked",
             is_prepared = name.starts_with("prepared-"),
             is_garbled = name == "garbled" || (is_prepared && !is_masked);
  const bool is_fast = is_garbled || is_masked || name.starts_with("fast") || name == "silent";
  ParameterRequest request;
  request.profile = is_fast ? Profile::Fast : name == "wan" ? Profile::Wan : Profile::Nnob12;
  request.unit = kAnds;
  request.bucket = 3;
  request.weak_allowed = true;
  request.base_ot = name == "fast-ml-kem" ? BaseOt::MlKem : BaseOt::Ristretto;
  if (request.profile == Profile::Nnob12) request.own = Nnob12Parameters{Columns::Experiment};
  if (request.profile == Profile::Wan) request.own = WanParameters{.silent_set = LpnSet::B9};
  if (name == "nnob12-triples") request.material = AndMaterial::Triples;
  if (is_garbled) request.material = AndMaterial::Garbling;
  if (name == "fast-k4") request.own = FastParameters{.softspoken_k = 4};
  Method method{offline::SecurityParameters::make(request)};
  if (is_garbled) method.phase = OnlinePhase::Garbled;
  if (is_masked) method.phase = OnlinePhase::Masked;
  method.is_prepared = is_prepared;
  if (name == "prepared-batched") method.row_check = RowCheck::Batched;
  if (name == "prepared-early") method.row_check = RowCheck::Early;
  method.has_silent_bits_only = name == "silent";
  return method;
}

int run(const char* name) {
  const Method method = method_of(name);
  MemoryStreams streams = make_memory_streams();
  int failures = 0;
  const auto end_of = [&](Party me, std::unique_ptr<ByteStream>& stream) {
    try {
      const auto channel =
          make_framed_channel(std::make_unique<PublishingStream>(std::move(stream)));
      run_party(me, method, *channel);
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
  if (argc == 2 && std::strcmp(argv[1], "--ml-kem-shortage") == 0) {
    std::printf("%s", tinyot::crypto::ml_kem_shortage().c_str());
    return 0;
  }
  return argc == 2 ? tinyot::run(argv[1]) : 2;
}
