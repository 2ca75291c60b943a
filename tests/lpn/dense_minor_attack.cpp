// The attack by dense minors of doc/wan_profile.md on small instances of silent bits. It finds
// their secrets in as many trials as the formula of tests/lpn/estimates.py says, and not in as many
// as a random code would take.
//
// A trial finds a minor by randomised peeling, and takes as many of its rows as it has columns, and
// some more. Elimination gives the left kernel of these rows. If at most p of them are wrong, then
// their kernel's sums show which ones, the minor's part of the secret is known, and the rest
// follows row by row. All rows have an even number of ones, so a secret and its complement have the
// same outputs: the last column of a minor is set to 0.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "offline/silent/sparse_code.h"
#include "tests/support/from_environment.h"
#include "tests/support/layers.h"
#include "tests/support/two_parties.h"

namespace tinyot::test {
namespace {

using Random = std::mt19937_64;

constexpr std::uint32_t kSecretLog = 9;
constexpr std::size_t kColumns = std::size_t{1} << kSecretLog, kBlock = 64;
// Iterations of a chain that are attacked in turn, each with its own code, secret and noise. One
// that falls is enough, because its outputs are the secrets of the later ones. The minors of one
// small code share rows, so their trials are not independent: with one iteration the mean is a
// quarter above the formula.
constexpr std::size_t kIterations = 8;

struct Case {
  std::size_t ratio;  // n / k
  std::size_t wrong;  // p, the wrong rows that a trial accepts; at most 2

  std::size_t n() const { return ratio * kColumns; }
  double rows() const { return static_cast<double>(n()); }
  std::size_t blocks() const { return n() / kBlock; }
  // Rows of a minor beyond its columns: few explanations of a syndrome are wrong by chance.
  std::size_t checks() const { return 8 + 8 * wrong; }
};

// Returns the probability that at most p rows are wrong, if each block's wrong row is among the
// attacker's with probability `share`. The exact law is hypergeometric: 5 % less at these sizes.
double success(const Case& c, double share) {
  const auto t = static_cast<double>(c.blocks());
  double sum = 0, term = std::pow(1 - share, t);
  for (std::size_t i = 0; i <= c.wrong; ++i) {
    sum += term;
    term *= (t - static_cast<double>(i)) / static_cast<double>(i + 1) * share / (1 - share);
  }
  return sum;
}

// ---------------------------------------------------------------------------------------------
// Instances.

struct Instance {
  std::vector<std::uint32_t> columns;  // of each row in turn
  std::vector<bool> secret;
  std::vector<bool> outputs;
  std::vector<std::uint32_t> starts, rows;  // column x is in rows[starts[x]..starts[x + 1])

  std::span<const std::uint32_t> columns_of(std::size_t row) const {
    return std::span(columns).subspan(row * kRowOnes, kRowOnes);
  }
  std::span<const std::uint32_t> rows_of(std::size_t column) const {
    return std::span(rows).subspan(starts[column], starts[column + 1] - starts[column]);
  }
};

bool sum_of(const Instance& instance, std::size_t row, const std::vector<bool>& secret) {
  bool sum = false;
  for (const std::uint32_t column : instance.columns_of(row)) sum ^= secret[column];
  return sum;
}

// The code is that of iteration `number`; the noise is wrong once in each block.
Instance make_instance(const Case& c, std::uint64_t number, Random& random) {
  Instance made;
  made.columns.resize(c.n() * kRowOnes);
  run_sessions([&](Session& session) {
    if (session.me() == Party::A)
      SparseCode(session, Party::A, number, {}, kSecretLog).indices(0, made.columns);
  });
  made.secret.resize(kColumns);
  for (std::size_t x = 0; x < kColumns; ++x) made.secret[x] = random() & 1;
  for (std::size_t y = 0; y < c.n(); ++y) made.outputs.push_back(sum_of(made, y, made.secret));
  for (std::size_t i = 0; i < c.blocks(); ++i) {
    const std::size_t at = i * kBlock + random() % kBlock;
    made.outputs[at] = !made.outputs[at];
  }
  made.starts.resize(kColumns + 1);
  for (const std::uint32_t column : made.columns) ++made.starts[column + 1];
  std::partial_sum(made.starts.begin(), made.starts.end(), made.starts.begin());
  made.rows.resize(made.columns.size());
  std::vector<std::uint32_t> next(made.starts);
  for (std::size_t i = 0; i < made.columns.size(); ++i)
    made.rows[next[made.columns[i]]++] = static_cast<std::uint32_t>(i / kRowOnes);
  return made;
}

// ---------------------------------------------------------------------------------------------
// Minors.

struct Minor {
  std::vector<std::uint32_t> columns, rows;
};

// Columns that are removed at random first, so that two searches find different minors.
constexpr std::size_t kRandomColumns = kColumns / 16;

// Removes a column of the lowest degree, with the rows that touch it, while there are enough rows.
// Ties are broken at random, and the minor's rows are drawn at random from those that are left.
Minor peel(const Case& c, const Instance& instance, Random& random) {
  std::vector<std::int32_t> degrees(kColumns);
  for (std::size_t x = 0; x < kColumns; ++x)
    degrees[x] = static_cast<std::int32_t>(instance.rows_of(x).size());
  std::vector<bool> is_removed(c.n());
  std::size_t columns = kColumns, rows = c.n();
  std::vector<std::uint32_t> order(kColumns);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::vector<std::uint32_t>> by_degree(
      static_cast<std::size_t>(*std::max_element(degrees.begin(), degrees.end())) + 1);
  std::size_t lowest = 0;
  const auto remove = [&](std::uint32_t column) {
    degrees[column] = -1;
    --columns;
    for (const std::uint32_t row : instance.rows_of(column)) {
      if (is_removed[row]) continue;
      is_removed[row] = true;
      --rows;
      for (const std::uint32_t other : instance.columns_of(row)) {
        if (degrees[other] < 0) continue;
        const auto degree = static_cast<std::size_t>(--degrees[other]);
        by_degree[degree].push_back(other);
        lowest = std::min(lowest, degree);
      }
    }
  };
  for (const std::uint32_t column : order)
    by_degree[static_cast<std::size_t>(degrees[column])].push_back(column);
  for (std::size_t i = 0; i < kRandomColumns; ++i) remove(order[i]);
  while (true) {
    while (by_degree[lowest].empty()) ++lowest;
    const std::size_t at = random() % by_degree[lowest].size();
    std::swap(by_degree[lowest][at], by_degree[lowest].back());
    const std::uint32_t column = by_degree[lowest].back();
    if (degrees[column] == static_cast<std::int32_t>(lowest)) {
      if (rows - lowest < columns - 1 + c.checks()) break;
      by_degree[lowest].pop_back();
      remove(column);
    } else {
      by_degree[lowest].pop_back();
    }
  }
  Minor found;
  for (std::uint32_t x = 0; x < kColumns; ++x)
    if (degrees[x] >= 0) found.columns.push_back(x);
  for (std::uint32_t y = 0; y < c.n(); ++y)
    if (!is_removed[y]) found.rows.push_back(y);
  std::shuffle(found.rows.begin(), found.rows.end(), random);
  found.rows.resize(found.columns.size() + c.checks());
  return found;
}

// ---------------------------------------------------------------------------------------------
// A trial.

// The rows of a minor after elimination. The first ones have one column each, the others none: they
// are the left kernel. Each row is kept with a bit for each of the minor's rows that it sums up.
class Reduced {
 public:
  Reduced(const Instance& instance, const Minor& minor)
      : columns_(minor.columns.size() - 1), rows_(minor.rows.size()),
        words_((columns_ + rows_ + 63) / 64), bits_(rows_ * words_) {
    std::vector<std::size_t> place(instance.secret.size());
    for (std::size_t x = 0; x <= columns_; ++x) place[minor.columns[x]] = x;
    for (std::size_t y = 0; y < rows_; ++y) {
      for (const std::uint32_t column : instance.columns_of(minor.rows[y]))
        if (place[column] < columns_) flip(y, place[column]);
      flip(y, columns_ + y);
    }
    for (std::size_t x = 0; x < columns_ && has_full_rank_; ++x) reduce(x);
  }

  bool has_full_rank() const { return has_full_rank_; }
  // The secret's bit in column x of the minor if its rows have the outputs `values`.
  bool column(std::size_t x, const std::vector<bool>& values) const { return sum(x, values); }
  // The kernel's sums of the outputs, at most 64: 0 if no row is wrong.
  std::uint64_t syndrome(const std::vector<bool>& values) const {
    std::uint64_t all = 0;
    for (std::size_t y = columns_; y < rows_; ++y) all = all << 1 | std::uint64_t{sum(y, values)};
    return all;
  }
  // What a wrong row adds to the syndrome.
  std::uint64_t syndrome_of(std::size_t row) const {
    std::uint64_t all = 0;
    for (std::size_t y = columns_; y < rows_; ++y)
      all = all << 1 | std::uint64_t{has(y, columns_ + row)};
    return all;
  }

 private:
  bool has(std::size_t y, std::size_t at) const {
    return (bits_[y * words_ + at / 64] >> (at % 64)) & 1;
  }
  void flip(std::size_t y, std::size_t at) {
    bits_[y * words_ + at / 64] ^= std::uint64_t{1} << (at % 64);
  }
  bool sum(std::size_t y, const std::vector<bool>& values) const {
    bool all = false;
    for (std::size_t row = 0; row < rows_; ++row) all ^= values[row] && has(y, columns_ + row);
    return all;
  }
  void reduce(std::size_t x) {
    std::size_t pivot = x;
    while (pivot < rows_ && !has(pivot, x)) ++pivot;
    has_full_rank_ = pivot < rows_;
    if (!has_full_rank_) return;
    std::uint64_t* const from = &bits_[x * words_];
    std::swap_ranges(from, from + words_, &bits_[pivot * words_]);
    for (std::size_t y = 0; y < rows_; ++y) {
      if (y == x || !has(y, x)) continue;
      std::uint64_t* const to = &bits_[y * words_];
      for (std::size_t word = x / 64; word < words_; ++word) to[word] ^= from[word];
    }
  }

  std::size_t columns_, rows_, words_;
  std::vector<std::uint64_t> bits_;
  bool has_full_rank_ = true;
};

// All sets of at most `most` wrong rows that would give the syndrome; `most` is at most 2.
std::vector<std::vector<std::uint32_t>> explanations(const Reduced& reduced, std::size_t rows,
                                                     std::uint64_t syndrome, std::size_t most) {
  std::vector<std::vector<std::uint32_t>> found;
  if (syndrome == 0) found.push_back({});
  if (most == 0) return found;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> table;
  for (std::uint32_t row = 0; row < rows; ++row) table.emplace_back(reduced.syndrome_of(row), row);
  std::sort(table.begin(), table.end());
  for (const auto& [value, row] : table) {
    if (value == syndrome) found.push_back({row});
    if (most == 1) continue;
    auto other = std::lower_bound(table.begin(), table.end(), std::pair(syndrome ^ value, row + 1));
    for (; other != table.end() && other->first == (syndrome ^ value); ++other)
      found.push_back({row, other->second});
  }
  return found;
}

// The secret with these bits in the known columns, if there is one with which each block has one
// wrong row. Rows with one unknown column vote on it. Then a bit is flipped if most of its rows are
// wrong.
std::optional<std::vector<bool>> completed(const Case& c, const Instance& instance,
                                           std::vector<bool> secret, std::vector<bool> is_known) {
  std::vector<std::uint8_t> unknown(c.n());
  for (std::size_t y = 0; y < c.n(); ++y)
    for (const std::uint32_t column : instance.columns_of(y)) unknown[y] += !is_known[column];
  while (true) {
    std::size_t best = 0, most = 0;
    for (std::size_t x = 0; x < kColumns; ++x) {
      if (is_known[x]) continue;
      const auto votes = static_cast<std::size_t>(std::ranges::count_if(
          instance.rows_of(x), [&](std::uint32_t row) { return unknown[row] == 1; }));
      if (votes > most) best = x, most = votes;
    }
    if (most == 0) break;
    std::size_t ones = 0;
    for (const std::uint32_t row : instance.rows_of(best))
      if (unknown[row] == 1) ones += sum_of(instance, row, secret) != instance.outputs[row];
    secret[best] = 2 * ones > most;
    is_known[best] = true;
    for (const std::uint32_t row : instance.rows_of(best)) --unknown[row];
  }
  for (std::size_t round = 0; round < 8; ++round) {
    std::vector<bool> is_wrong(c.n());
    std::size_t wrong = 0;
    for (std::size_t y = 0; y < c.n(); ++y) {
      is_wrong[y] = sum_of(instance, y, secret) != instance.outputs[y];
      wrong += is_wrong[y];
    }
    if (wrong == c.blocks()) {
      for (std::size_t i = 0; i < c.blocks(); ++i)
        if (std::count(is_wrong.begin() + i * kBlock, is_wrong.begin() + (i + 1) * kBlock, true) !=
            1)
          return std::nullopt;
      return secret;
    }
    for (std::size_t x = 0; x < kColumns; ++x) {
      const auto rows = instance.rows_of(x);
      const auto ones = std::ranges::count_if(rows, [&](auto row) { return is_wrong[row]; });
      if (2 * static_cast<std::size_t>(ones) > rows.size()) secret[x] = !secret[x];
    }
  }
  return std::nullopt;
}

// The secret, if a trial with this minor finds it.
std::optional<std::vector<bool>> solve(const Case& c, const Instance& instance, const Minor& minor,
                                       const Reduced& reduced) {
  std::vector<bool> values;
  for (const std::uint32_t row : minor.rows) values.push_back(instance.outputs[row]);
  for (const auto& wrong :
       explanations(reduced, minor.rows.size(), reduced.syndrome(values), c.wrong)) {
    std::vector<bool> right = values, secret(kColumns), is_known(kColumns);
    for (const std::uint32_t row : wrong) right[row] = !right[row];
    for (std::size_t x = 0; x < minor.columns.size(); ++x) {
      secret[minor.columns[x]] = x + 1 < minor.columns.size() && reduced.column(x, right);
      is_known[minor.columns[x]] = true;
    }
    if (auto found = completed(c, instance, std::move(secret), std::move(is_known))) return found;
  }
  return std::nullopt;
}

// ---------------------------------------------------------------------------------------------
// The number of trials.

struct Attacks {
  std::vector<double> trials;  // of each chain
  double columns = 0;          // of a minor, on average
  double success = 0;          // by the formula, on average over the minors
};

// Attacks chains of iterations until one iteration of each falls.
Attacks attack(const Case& c, std::size_t chains, std::uint64_t seed) {
  Attacks made;
  std::size_t all = 0;
  for (std::uint64_t chain = 0; chain < chains; ++chain) {
    Random random(seed << 32 | chain);
    std::vector<Instance> iterations;
    for (std::size_t trial = 0;; ++trial) {
      if (trial < kIterations)
        iterations.push_back(make_instance(c, chain * kIterations + trial, random));
      const Instance& instance = iterations[trial % kIterations];
      std::optional<Minor> minor;
      std::optional<Reduced> reduced;
      do {
        minor = peel(c, instance, random);
        reduced.emplace(instance, *minor);
      } while (!reduced->has_full_rank());
      made.columns += static_cast<double>(minor->columns.size());
      made.success += success(c, static_cast<double>(minor->rows.size()) / c.rows());
      ++all;
      auto secret = solve(c, instance, *minor, *reduced);
      if (!secret) continue;
      if (secret->front() != instance.secret.front()) secret->flip();
      EXPECT_EQ(*secret, instance.secret) << "chain " << chain;
      made.trials.push_back(static_cast<double>(trial + 1));
      break;
    }
  }
  made.columns /= static_cast<double>(all);
  made.success /= static_cast<double>(all);
  return made;
}

// Compares the mean number of trials with the formula, at the share of the rows that a minor has,
// and at the share k / n that an attack on a random code needs.
void compare(const Case& c, std::size_t chains, std::uint64_t seed) {
  const auto begin = std::chrono::steady_clock::now();
  const Attacks made = attack(c, chains, seed);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  const auto count = static_cast<double>(chains);
  double mean = 0, variance = 0;
  for (const double trials : made.trials) mean += trials / count;
  for (const double trials : made.trials)
    variance += (trials - mean) * (trials - mean) / (count - 1);
  const double error = std::sqrt(variance / count);
  const double expected = 1 / made.success,
               expected_of_random = 1 / success(c, 1 / static_cast<double>(c.ratio));
  std::printf(
      "n/k = %zu, p = %zu, %zu chains: |S| = %.3f k; trials %.1f +- %.1f, formula %.1f, "
      "random code %.1f; %.0f s\n",
      c.ratio, c.wrong, chains, made.columns / static_cast<double>(kColumns), mean, error, expected,
      expected_of_random, took.count());
  std::fflush(stdout);
  EXPECT_LE(std::abs(mean - expected), 3 * error);
  EXPECT_GT(std::abs(mean - expected_of_random), 3 * error);
}

TEST(DenseMinorAttack, TakesTheTrialsOfTheFormula) { compare({.ratio = 9, .wrong = 2}, 64, 1); }

// Takes minutes: tests/nightly runs it.
TEST(DenseMinorCampaign, TakesTheTrialsOfTheFormula) {
  const std::size_t chains = from_environment("TINYOT_LPN_CHAINS", 0);
  if (chains == 0) GTEST_SKIP() << "TINYOT_LPN_CHAINS is not set";
  ASSERT_GE(chains, 64u);
  for (const std::size_t ratio : {9u, 16u})
    for (const std::size_t wrong : {0u, 1u, 2u})
      compare({.ratio = ratio, .wrong = wrong}, chains, from_environment("TINYOT_SEED", 1));
}

}  // namespace
}  // namespace tinyot::test
