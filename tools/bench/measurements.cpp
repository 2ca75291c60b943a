#include "tools/bench/measurements.h"

#include <algorithm>
#include <cmath>

#include "offline/base_ot/base_ot.h"
#include "offline/parameters.h"

namespace tinyot::tools {
namespace {

constexpr std::uint32_t kSigmas[] = {40, 64, 80};

std::string power_of_two(int exponent) { return "2^" + std::to_string(exponent); }

// The time of a job, from rates of a machine of two slow cores.
double offline_s(Profile profile, double ands, double bucket) {
  return profile == Profile::Fast ? 0.3 + ands * bucket / 6e6 : 1 + ands * bucket / 250e3;
}

class MeasurementGrid {
 public:
  MeasurementGrid(Extent extent, bool weak) : full_(extent == Extent::Full), weak_(weak) {}

  void add_bucket_sweep();
  void add_size_sweep();
  void add_link_sweep();
  void add_online_link_sweep();
  void add_phase_sweep();
  void add_block_sweep();
  void add_ots();
  void add_stored_and_not();
  void add_slow_links();
  void add_tls();
  void add_circuits();
  void add_prepared();
  std::vector<Measurement> take() { return std::move(list_); }

 private:
  void add(const std::string& experiment, Arguments bench, double seconds) {
    list_.push_back({experiment, std::move(bench), seconds});
  }
  std::string repeat() const { return full_ ? "3" : "1"; }
  double repeats() const { return full_ ? 3 : 1; }
  const char* round_trips() const {
    return full_ ? "0.2ms,5ms,20ms,100ms,200ms" : "0.2ms,20ms,100ms";
  }
  void add_buckets_of(Profile profile, int exponent);

  bool full_, weak_;
  std::vector<Measurement> list_;
};

// Each bucket size from the smallest that reaches 40 bits to the smallest that reaches 80, with the
// largest sigma that it reaches.
void MeasurementGrid::add_buckets_of(Profile profile, int exponent) {
  const std::uint64_t unit = std::uint64_t{1} << exponent;
  // Enough for a rate that is not that of the set-up.
  const int least = profile == Profile::Fast ? (full_ ? 20 : 18) : (full_ ? 16 : 14),
            ands = std::max(exponent, least);
  const offline::SecurityParameters params = offline::SecurityParameters::make(
      {.profile = profile, .unit = unit, .bucket = 2, .weak_allowed = true});
  for (std::uint32_t bucket = 2;; ++bucket) {
    const double bound = params.bound_bits(unit, bucket);
    const bool is_weak = bound < kSigmas[0];
    if (is_weak && !weak_) continue;
    std::uint32_t sigma = kSigmas[0];
    for (const std::uint32_t each : kSigmas) sigma = bound >= each ? each : sigma;
    Arguments bench = {"offline",
                       "--profile",
                       std::string(name_of(profile)),
                       "--unit",
                       power_of_two(exponent),
                       "--bucket",
                       std::to_string(bucket),
                       "--sigma",
                       std::to_string(sigma),
                       "--ands",
                       power_of_two(ands),
                       "--store",
                       "no",
                       "--repeat",
                       repeat()};
    if (is_weak) bench.push_back("--allow-weak");
    add("buckets", std::move(bench), repeats() * offline_s(profile, std::ldexp(1, ands), bucket));
    if (bound >= kSigmas[2]) break;
  }
}

void MeasurementGrid::add_bucket_sweep() {
  for (const int exponent : full_ ? std::vector{14, 16, 18, 20} : std::vector{14, 18})
    add_buckets_of(Profile::Fast, exponent);
  for (const int exponent : full_ ? std::vector{12, 14, 16, 18} : std::vector{12, 14})
    add_buckets_of(Profile::Nnob12, exponent);
}

void MeasurementGrid::add_size_sweep() {
  const auto up_to = [&](Profile profile, int last) {
    for (int exponent = 10; exponent <= last; exponent += full_ ? 2 : 3) {
      // One run of the largest takes minutes.
      const bool is_large = exponent > (profile == Profile::Fast ? 22 : 18);
      add("sizes",
          {"offline", "--profile", std::string(name_of(profile)), "--ands", power_of_two(exponent),
           "--repeat", is_large ? "1" : repeat()},
          (is_large ? 1 : repeats()) * 1.5 * offline_s(profile, std::ldexp(1, exponent), 3));
    }
  };
  up_to(Profile::Fast, full_ ? 24 : 22);
  up_to(Profile::Nnob12, full_ ? 22 : 16);
}

void MeasurementGrid::add_link_sweep() {
  const auto of = [&](Profile profile, const char* ands, const char* rate, const char* tls,
                      double seconds) {
    add("links",
        {"offline", "--profile", std::string(name_of(profile)), "--ands", ands, "--store", "no",
         "--rtt", round_trips(), "--rate", rate, "--tls", tls, "--repeat", repeat()},
        seconds);
  };
  if (full_) {
    of(Profile::Fast, "2^23", "1gbit", "no,yes", 300);
    of(Profile::Fast, "2^20", "100mbit", "no", 180);
    of(Profile::Nnob12, "2^17", "1gbit", "no,yes", 300);
    of(Profile::Nnob12, "2^14", "100mbit", "no", 180);
  } else {
    of(Profile::Fast, "2^21", "1gbit", "no", 12);
    of(Profile::Fast, "2^18", "100mbit", "no", 12);
    of(Profile::Nnob12, "2^13", "1gbit", "no", 8);
  }
}

void MeasurementGrid::add_online_link_sweep() {
  const auto of = [&](const char* lanes, const char* rate, double seconds) {
    add("online links",
        {"online", "--circuit", "aes128", "--lanes", lanes, "--rtt", round_trips(), "--rate", rate,
         "--repeat", repeat()},
        seconds);
  };
  if (full_) {
    of("1,64,1024", "10mbit", 130);
    of("1,64,1024", "100mbit", 110);
  } else {
    of("1,64", "100mbit", 9);
  }
}

// A few layers of many ANDs, tens of layers, and thousands: what is fast for one may be slow for
// another.
void MeasurementGrid::add_phase_sweep() {
  const auto of = [&](const char* circuit, const char* rate, double seconds) {
    add("online phases",
        {"online", "--circuit", circuit, "--material", "garbling", "--online",
         "interactive,garbled,auto", "--rtt", full_ ? "0.2ms,5ms,20ms,100ms" : "0.2ms,20ms",
         "--rate", rate, "--repeat", "1"},
        seconds);
  };
  for (const char* rate : full_ ? std::vector{"100mbit", "1gbit"} : std::vector{"100mbit"}) {
    of("comparisons", rate, full_ ? 60 : 15);
    of("aes128", rate, full_ ? 15 : 4);
    if (full_) of("sha256:bytes=55", rate, 250);
  }
}

void MeasurementGrid::add_block_sweep() {
  add("blocks", {"fig17", "--profile", "fast", "--max-blocks", full_ ? "4096" : "54"},
      full_ ? 60 : 2);
  add("blocks",
      {"fig17", "--profile", "nnob12", "--labit-columns",
       full_ ? "theorem,experiment" : "experiment", "--max-blocks", full_ ? "256" : "27"},
      full_ ? 120 : 4);
}

void MeasurementGrid::add_ots() {
  const auto of = [&](const char* experiment, Arguments options, double seconds) {
    Arguments bench = {"ot", "--repeat", full_ ? "5" : "1"};
    bench.insert(bench.end(), options.begin(), options.end());
    add(experiment, std::move(bench), seconds);
  };
  of("OT extension",
     {"--kind", "abits,delta,random,chosen", "--softspoken-k", full_ ? "1,2,4" : "2", "--count",
      full_ ? "2^22" : "2^20"},
     full_ ? 12 : 1);
  if (!full_) return;
  of("silent bits",
     {"--kind", "silent", "--silent-set", "b9,b10,b11,b12", "--softspoken-k", "4", "--count",
      "2^24"},
     15);
  of("base OTs", {"--kind", "base-ristretto,base-naor-pinkas"}, 4);
  if (offline::usual_base_ot() == BaseOt::MlKem) of("base OTs", {"--kind", "base-ml-kem"}, 3);
}

// What is made, and what of it is left when it is stored.
void MeasurementGrid::add_stored_and_not() {
  if (!full_) return;
  add("store",
      {"offline", "--profile", "fast", "--ands", "2^22,2^24", "--store", "no,yes", "--repeat", "3"},
      60);
  add("store",
      {"offline", "--profile", "nnob12", "--labit-columns", "theorem,experiment", "--ands", "2^20",
       "--store", "no,yes", "--repeat", "1"},
      30);
}

void MeasurementGrid::add_slow_links() {
  const auto of = [&](Profile profile, const char* k, const char* ands, double seconds) {
    add("slow links",
        {"offline", "--profile", std::string(name_of(profile)), "--softspoken-k", k, "--ands", ands,
         "--store", "no", "--rtt", "40ms", "--rate", "10mbit,100mbit,1gbit", "--repeat", "1"},
        seconds);
  };
  if (!full_) return;
  of(Profile::Fast, "2,4", "2^18", 70);
  of(Profile::Wan, "4", "2^22", 60);
}

void MeasurementGrid::add_tls() {
  const auto of = [&](Profile profile, const char* ands) {
    add("TLS",
        {"offline", "--profile", std::string(name_of(profile)), "--ands", ands, "--store", "no",
         "--tls", "no,yes", "--repeat", "3"},
        25);
  };
  if (!full_) return;
  of(Profile::Fast, "2^22");
  of(Profile::Nnob12, "2^18");
}

void MeasurementGrid::add_circuits() {
  if (!full_) return;
  add("circuits", {"online", "--profile", "fast", "--repeat", "3"}, 240);
  add("circuits",
      {"online", "--profile", "fast", "--live", "--circuit", "levenshtein", "--repeat", "1"}, 50);
}

// Runs that are prepared before their inputs are known, beside those that are not.
void MeasurementGrid::add_prepared() {
  const auto of = [&](Arguments options, double seconds) {
    Arguments bench = {"online", "--circuit", "aes128:sbox=gf16", "--inputs-later", "no,yes"};
    bench.insert(bench.end(), options.begin(), options.end());
    add("prepared runs", std::move(bench), seconds);
  };
  of({"--material", "triples", "--online", "interactive,masked", "--lanes",
      full_ ? "1,512,1024" : "1,64", "--repeat", full_ ? "5" : "1"},
     full_ ? 40 : 4);
  of({"--material", "garbling", "--online", "interactive,garbled,masked,auto", "--rtt",
      full_ ? "0.2ms,5ms,20ms,100ms" : "20ms", "--rate", "100mbit", "--repeat", repeat()},
     full_ ? 90 : 5);
}

}  // namespace

std::string command_of(const Measurement& measurement) {
  std::string text = "tinyot bench";
  for (const std::string& word : measurement.bench) text += " " + word;
  return text;
}

std::vector<Measurement> measurements(Extent extent, bool weak) {
  MeasurementGrid grid(extent, weak);
  grid.add_bucket_sweep();
  grid.add_size_sweep();
  grid.add_link_sweep();
  grid.add_online_link_sweep();
  grid.add_phase_sweep();
  grid.add_block_sweep();
  grid.add_ots();
  grid.add_stored_and_not();
  grid.add_slow_links();
  grid.add_tls();
  grid.add_circuits();
  grid.add_prepared();
  return grid.take();
}

}  // namespace tinyot::tools
