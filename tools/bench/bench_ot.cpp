// `tinyot bench ot`: the OT extension, with A as sender and B as receiver, one row per kind and k.
#include <algorithm>

#include "base/error.h"
#include "engine/connection.h"
#include "offline/softspoken/bit_source.h"
#include "offline/softspoken/ot_extension.h"
#include "tools/bench/bench.h"
#include "tools/cli/failure.h"
#include "tools/cli/pair.h"

namespace tinyot::tools {
namespace {

constexpr std::uint64_t kCountMax = std::uint64_t{1} << 36;
// of one round; all rounds use the same memory
constexpr std::uint64_t kRoundOts = std::uint64_t{1} << 17;
constexpr std::uint64_t kDomain = 0;

struct OtJob {
  std::string kind;
  std::uint32_t k = 2;
  std::uint64_t rounds = 1, round_ots = 1;
  std::uint64_t repeat = 1;

  std::uint64_t directions() const { return kind == "abits" ? 2 : 1; }
  std::uint64_t ots() const { return directions() * rounds * round_ots; }
};

// A party's work in one round, in its own memory.
using Round = std::function<void()>;

SecretVector<Block> random_blocks(checks::Session& session, std::size_t count) {
  SecretVector<Block> blocks(count);
  session.rng().fill_blocks(std::span(blocks));
  return blocks;
}

Round sending(checks::Session& session, const offline::Trees& trees, const OtJob& job) {
  const auto ots = std::make_shared<offline::OtExtensionSender>(session, trees.peers, kDomain);
  if (job.kind == "delta")
    return [ots, keys = std::make_shared<AuthBitsPeers>(job.round_ots)] {
      ots->delta_correlated(keys->view());
    };
  const auto zero = std::make_shared<SecretVector<Block>>(random_blocks(session, job.round_ots));
  const auto one = std::make_shared<SecretVector<Block>>(random_blocks(session, job.round_ots));
  if (job.kind == "random") return [=] { ots->random(*zero, *one); };
  if (job.kind == "random-for") return [=] { ots->random_for(*zero, *one); };
  if (job.kind == "correlated") return [=] { ots->correlated(*one, *zero); };
  return [=] { ots->chosen(*zero, *one); };
}

Round receiving(checks::Session& session, const offline::Trees& trees, const OtJob& job) {
  const auto ots = std::make_shared<offline::OtExtensionReceiver>(session, trees.mine, kDomain);
  if (job.kind == "delta")
    return [ots, bits = std::make_shared<AuthBitsMine>(job.round_ots)] {
      ots->delta_correlated(bits->view());
    };
  const auto choices = std::make_shared<BitVector>(session.rng().bits(job.round_ots));
  const auto x = std::make_shared<SecretVector<Block>>(job.round_ots);
  if (job.kind == "random") return [=] { ots->random(*choices, *x); };
  if (job.kind == "random-for") return [=] { ots->random_for(*choices, *x); };
  if (job.kind == "correlated") return [=] { ots->correlated(*choices, *x); };
  return [=] { ots->chosen(*choices, *x); };
}

struct Kind {
  const char* name;
  Round (*of_a)(checks::Session&, const offline::Trees&, const OtJob&);
  Round (*of_b)(checks::Session&, const offline::Trees&, const OtJob&);
};
// Both directions at the same time, as preprocessing makes its bits.
Round both_ways(checks::Session& session, const offline::Trees& trees, const OtJob& job) {
  const auto bits = std::make_shared<offline::BitSource>(session, trees, kDomain);
  const auto mine = std::make_shared<AuthBitsMine>(whole_blocks(job.round_ots));
  const auto peers = std::make_shared<AuthBitsPeers>(mine->size());
  return [=, &session] {
    bits->make(mine->view(), peers->view());
    session.channel().flush();
  };
}

constexpr Kind kKinds[] = {{"abits", both_ways, both_ways},    {"delta", sending, receiving},
                           {"random", sending, receiving},     {"random-for", sending, receiving},
                           {"correlated", sending, receiving}, {"chosen", sending, receiving}};

const Kind& kind_from(const std::string& name) {
  for (const Kind& kind : kKinds)
    if (kind.name == name) return kind;
  throw UsageError("--kind must be abits, delta, random, random-for, correlated or chosen, not '" +
                   name + "'");
}

std::string name_of_repeat(std::uint64_t number) { return "repeat " + std::to_string(number); }

// One party's part of a row: a session, the trees, a warm-up round, the measured rounds.
CommandResult run_ot_party(const OtJob& job, Party party, const Endpoint& endpoint) {
  engine::Connector connector(endpoint);
  const std::unique_ptr<net::Channel> channel = connector.open();
  crypto::Rng rng = crypto::Rng::from_system();
  const std::vector<net::Parameter> parameters = {
      {"command", "bench ot"}, {"kind", job.kind}, {"softspoken-k", std::to_string(job.k)}};
  const checks::SessionIds ids =
      checks::establish_session(*channel, rng, party, parameters, std::nullopt);
  net::PhaseLog log;
  const Delta delta{rng.block()};
  checks::Session session(party, ids, delta, *channel, std::move(rng), log);
  const auto within = [&](const std::string& name, std::uint64_t items, const auto& work) {
    const net::PhaseLog::Scope phase(log, *channel, name, items);
    return work();
  };
  const offline::Trees trees =
      within("set-up", 0, [&] { return offline::make_trees(session, job.k); });
  const Kind& kind = kind_from(job.kind);
  const Round round = (party == Party::A ? kind.of_a : kind.of_b)(session, trees, job);
  within("warm-up", job.round_ots, round);
  for (std::uint64_t i = 0; i < job.repeat; ++i) {
    within(name_of_repeat(i), job.ots(), [&] {
      for (std::uint64_t r = 0; r < job.rounds; ++r) round();
    });
  }
  CommandResult result;
  add_measurements(result.report, log.phases());
  return result;
}

const Json& phase_of(const Json& report, const std::string& name) {
  for (const Json& phase : report["phases"])
    if (phase["name"] == name) return phase;
  throw CommandError("a measured job has no phase " + name);
}

Json row_of(const OtJob& job, const LocalLink& link, const Json& report) {
  const Json &a = report["A"], &b = report["B"];
  std::vector<double> rates, rates_of_a, rates_of_b;
  const double ots = static_cast<double>(job.ots());
  for (std::uint64_t i = 0; i < job.repeat; ++i) {
    const Json &of_a = phase_of(a, name_of_repeat(i)), &of_b = phase_of(b, name_of_repeat(i));
    rates.push_back(ots / std::max(of_a["wall_s"].get<double>(), of_b["wall_s"].get<double>()));
    rates_of_a.push_back(ots / of_a["cpu_s"].get<double>());
    rates_of_b.push_back(ots / of_b["cpu_s"].get<double>());
  }
  const double to_receiver = phase_of(a, name_of_repeat(0))["bytes_sent"],
               to_sender = phase_of(b, name_of_repeat(0))["bytes_sent"];
  Json row = {{"kind", job.kind},
              {"softspoken_k", job.k},
              {"ots", job.ots()},
              {"ots_per_s", median(rates)},
              {"ots_per_cpu_s_sender", median(rates_of_a)},
              {"ots_per_cpu_s_receiver", median(rates_of_b)},
              {"bytes_per_ot", (to_receiver + to_sender) / ots},
              {"bytes_per_ot_to_sender", to_sender / ots},
              {"bytes_per_ot_to_receiver", to_receiver / ots},
              {"set_up_s", std::max(wall_of_phase(a, "set-up"), wall_of_phase(b, "set-up"))},
              {"repeats", job.repeat},
              {"rates", rates}};
  row.update(link.fields());
  return row;
}

}  // namespace

int bench_ot(const Arguments& arguments, const RowSink& sink) {
  CommandLine line(
      "bench ot", "[options]",
      "tinyot bench ot --count 2^22 --kind random,chosen --softspoken-k 1,2,4 --repeat 3");
  line.options()
      .value("count", "OTs of a row; above 2^17 rounded up to a multiple of it", "2^22")
      .value("kind",
             "a list of: delta (x1 = x0 ^ Delta), random, random-for (given choices), correlated "
             "(given offsets), chosen (given messages), and abits: "
             "delta both ways at once, OTs of both counted",
             "abits,delta,random,random-for,correlated,chosen")
      .value(
          "softspoken-k",
          "bits of Delta per tree, a list of 1, 2, 4: with more bits, more work and less traffic",
          "2")
      .value("repeat", "runs of each row; the median is shown", "1");
  add_link_options(line.options());
  if (!line.parse(arguments)) return 0;
  Rows rows(line, sink);
  const std::vector<LocalLink> links = links_from(line);
  const std::uint64_t count = line.size("count");
  if (count < 1 || count > kCountMax) throw UsageError("--count is out of range: 1 to 2^36");
  OtJob job;
  job.round_ots = std::min(count, kRoundOts);
  job.rounds = (count + job.round_ots - 1) / job.round_ots;
  job.repeat = repeat_from(line);
  const std::vector<std::string> kinds = parse_names(line.text("kind"));
  for (const std::string& kind : kinds) kind_from(kind);
  const std::vector<std::uint64_t> ks = parse_sizes("softspoken-k", line.text("softspoken-k"));
  for (const std::uint64_t k : ks) offline::require_softspoken_k(k);

  for (const std::string& kind : kinds) {
    for (const std::uint64_t k : ks) {
      job.kind = kind;
      job.k = static_cast<std::uint32_t>(k);
      for (const LocalLink& link : links)
        rows.add(row_of(job, link,
                        succeed(run_pair(
                            [&](Party party, const Endpoint& endpoint) {
                              return run_ot_party(job, party, endpoint);
                            },
                            link))));
    }
  }
  return 0;
}

}  // namespace tinyot::tools
