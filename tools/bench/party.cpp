#include "tools/bench/party.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "base/error.h"
#include "engine/connection.h"
#include "offline/base_ot/base_ot.h"
#include "offline/parameters.h"
#include "offline/silent/silent_source.h"
#include "offline/softspoken/ot_extension.h"
#include "offline/softspoken/softspoken_source.h"
#include "tools/bench/naor_pinkas.h"
#include "tools/cli/endpoint.h"
#include "tools/cli/render/report.h"

namespace tinyot::tools {
namespace {

constexpr std::uint64_t kDomain = 0;

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
    return [ots, keys = std::make_shared<KeyColumn>(job.round_ots)] {
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
    return [ots, bits = std::make_shared<MacColumn>(job.round_ots)] {
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
  const auto bits = std::make_shared<offline::SoftSpokenStream>(session, trees, kDomain);
  const auto mine = std::make_shared<MacColumn>(whole_blocks(job.round_ots));
  const auto peers = std::make_shared<KeyColumn>(mine->size());
  return [=, &session] {
    bits->fill(mine->view(), peers->view());
    session.channel().flush();
  };
}

// A round is an iteration's outputs, drawn as a unit draws them.
Round drawing(offline::SilentSource& chain, const OtJob& job) {
  constexpr std::size_t kDraw = std::size_t{1} << 14;
  const auto mine = std::make_shared<MacColumn>(kDraw);
  const auto peers = std::make_shared<KeyColumn>(kDraw);
  return [=, &chain] {
    for (std::size_t done = 0; done < job.round_ots; done += kDraw) {
      const std::size_t count = std::min(kDraw, job.round_ots - done);
      chain.draw(mine->view(0, count), peers->view(0, count));
    }
  };
}

constexpr const char* kNaorPinkas = "base-naor-pinkas";

// What a round makes is not used, so all rounds have the same domains of hashes.
Round making_base_ots(checks::Session& session, const OtJob& job) {
  return [&session, count = job.round_ots, is_naor_pinkas = job.kind == kNaorPinkas] {
    if (is_naor_pinkas)
      naor_pinkas_ots(session, count);
    else
      offline::base_ots_by_public_key(session, count);
    session.channel().flush();
  };
}

// Of a kind of base OTs; none of the others.
std::optional<BaseOt> base_ot_of(const std::string& kind) {
  for (const BaseOt each : {BaseOt::MlKem, BaseOt::Ristretto})
    if (kind == "base-" + std::string(name_of(each))) return each;
  return std::nullopt;
}

constexpr Kind kKinds[] = {{"abits", both_ways, both_ways},    {"delta", sending, receiving},
                           {"random", sending, receiving},     {"random-for", sending, receiving},
                           {"correlated", sending, receiving}, {"chosen", sending, receiving}};

const Kind& kind_from(const std::string& name) {
  for (const Kind& kind : kKinds)
    if (kind.name == name) return kind;
  throw UsageError(
      "--kind must be abits, silent, delta, random, random-for, correlated, chosen, base-ml-kem, "
      "base-ristretto or base-naor-pinkas, not '" +
      name + "'");
}

// A session, the trees, a warm-up round, the measured rounds.
Json ot_report(const OtJob& job, Party party, const Endpoint& endpoint) {
  engine::Connector connector(endpoint);
  const std::unique_ptr<net::Channel> channel = connector.open();
  crypto::Rng rng = crypto::Rng::from_system();
  const std::vector<net::Parameter> parameters = {{"command", "bench ot"},
                                                  {"kind", job.kind},
                                                  {"softspoken-k", std::to_string(job.k)},
                                                  {"silent-set", job.silent_set}};
  const checks::SessionIds ids =
      checks::establish_session(*channel, rng, party, parameters, std::nullopt);
  net::PhaseLog log;
  const Delta delta{rng.block()};
  checks::Session session(party, ids, delta, *channel, std::move(rng), log, {},
                          base_ot_of(job.kind).value_or(BaseOt::Ristretto));
  const auto within = [&](const std::string& name, std::uint64_t items, const auto& work) {
    const net::PhaseLog::Scope phase(log, *channel, name, items);
    return work();
  };
  offline::Trees trees;
  offline::SoftSpokenSource start(session, job.k, {});
  std::optional<offline::SilentSource> chain;
  Round round;
  if (job.is_silent()) {
    within("set-up", 0, [&] { start.prepare(1); });
    within("start", 0, [&] {
      chain.emplace(session, 0, *channel, log, start,
                    offline::silent_set(offline::lpn_set_named(job.silent_set)));
    });
    round = drawing(*chain, job);
  } else if (job.is_base()) {
    within("set-up", 0, [] {});
    round = making_base_ots(session, job);
  } else {
    within("set-up", 0, [&] { trees = offline::make_trees(session, job.k); });
    const Kind& kind = kind_from(job.kind);
    round = (party == Party::A ? kind.of_a : kind.of_b)(session, trees, job);
  }
  within("warm-up", job.round_ots, round);
  for (std::uint64_t i = 0; i < job.repeat; ++i) {
    within(name_of_repeat(i), job.ots(), [&] {
      for (std::uint64_t r = 0; r < job.rounds; ++r) round();
    });
  }
  Json report = Json::object();
  add_measurements(report, log.phases());
  return report;
}

// Messages back and forth, without computation.
Json round_trips_report(std::uint64_t rounds, Party party, const Endpoint& endpoint) {
  constexpr net::MessageTag kTrip = net::message_tag("bench.trip");
  const auto channel = engine::Connector(endpoint).open();
  crypto::Rng rng = crypto::Rng::from_system();
  checks::establish_session(*channel, rng, party, {{"command", "bench round trips"}}, std::nullopt);
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < rounds; ++i) {
    net::send_object(*channel, kTrip, i);
    net::recv_object<std::uint64_t>(*channel, kTrip);
  }
  return {
      {"wall_s", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()}};
}

}  // namespace

void require_ot_kind(const std::string& name) {
  if (const auto base_ot = base_ot_of(name)) return offline::require_base_ot(base_ot);
  if (name != "silent" && name != kNaorPinkas) kind_from(name);
}

std::string name_of_repeat(std::uint64_t number) { return "repeat " + std::to_string(number); }

Arguments arguments_of(const OtJob& job) {
  return {"bench",          "party",
          "--kind",         job.kind,
          "--softspoken-k", std::to_string(job.k),
          "--silent-set",   job.silent_set,
          "--rounds",       std::to_string(job.rounds),
          "--ots",          std::to_string(job.round_ots),
          "--repeat",       std::to_string(job.repeat)};
}

int bench_party(const Arguments& arguments) {
  CommandLine line("bench party", "--party A|B (--listen | --connect) HOST:PORT --rounds N",
                   "tinyot bench party --party A --listen 127.0.0.1:7766 --rounds 100");
  add_endpoint_options(line.options());
  line.options()
      .group("Work")
      .value("rounds", "rounds of OTs, or without --kind of messages back and forth")
      .value("kind", "of OTs, as in tinyot bench ot")
      .value("softspoken-k", "bits of Delta per tree: 1, 2 or 4", "2")
      .value("silent-set", "of kind silent: b9, b10, b11 or b12", "b12")
      .value("ots", "OTs of a round", "2^17")
      .value("repeat", "how often all rounds are measured", "1");
  line.require("party");
  line.require_one_of({"listen", "connect"});
  line.require("rounds");
  if (!line.parse(arguments)) return 0;
  const Party party = parse_party("party", line.text("party"));
  const Endpoint endpoint = endpoint_from(line);
  Json report;
  if (line.has("kind")) {
    const std::uint64_t k = line.size("softspoken-k");
    offline::require_softspoken_k(k);
    report = ot_report({line.text("kind"), static_cast<std::uint32_t>(k), line.size("rounds"),
                        line.size("ots"), line.size("repeat"), line.text("silent-set")},
                       party, endpoint);
  } else {
    report = round_trips_report(line.size("rounds"), party, endpoint);
  }
  print_report(Format::Json, report, {});
  return 0;
}

}  // namespace tinyot::tools
