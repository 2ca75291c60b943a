// A reactive computation: the parties learn an output, and then decide what to compute next on
// values that stay shared. Here they search for a number: each step compares a public guess with a
// secret that neither of them knows.
//
//   ./5_reactive A store-a 30 & ./5_reactive B store-b 12
#include <tinyot/tinyot.h>

#include <cstdio>
#include <cstdlib>
#include <string>

using tinyot::Party;
using tinyot::circuit::Number;
using tinyot::circuit::Program;
using tinyot::circuit::Receiver;

constexpr std::uint32_t kBits = 16;

std::string address() {
  const char* port = std::getenv("TINYOT_PORT");
  return std::string("127.0.0.1:") + (port != nullptr ? port : "7766");
}

// The product of both inputs, which no party receives.
std::unique_ptr<tinyot::circuit::Circuit> product() {
  return tinyot::circuit::make_circuit("product", [](Program& program) {
    const Number a = program.input("a", kBits, Party::A), b = program.input("b", kBits, Party::B);
    program.output("product", a * b, Receiver::None);
  });
}

// Whether a public guess is above the product.
std::unique_ptr<tinyot::circuit::Circuit> comparison(std::uint64_t guess) {
  return tinyot::circuit::make_circuit("comparison", [=](Program& program) {
    const Number value = program.input("product", kBits, tinyot::circuit::InputSource::Shared);
    program.output("is less", value < guess);
  });
}

void search(Party party, const std::string& store, std::uint64_t secret) {
  const tinyot::Endpoint endpoint = party == Party::A ? tinyot::Endpoint::listen(address())
                                                      : tinyot::Endpoint::connect(address());
  tinyot::PreprocessRequest job{.party = party, .endpoint = endpoint, .store = store};
  job.parameters.profile = tinyot::Profile::Fast;
  job.ands = 2'048;
  job.inputs = 64;
  tinyot::preprocess(job);

  tinyot::Evaluator evaluator({.party = party, .endpoint = endpoint, .stores = {store}});
  const tinyot::RunResult first =
      evaluator.run(*product(), tinyot::Values().set(party == Party::A ? "a" : "b", secret));
  // Both parties see the same answers, and so make the same guesses: they learn the product's first
  // four bits.
  std::uint64_t low = 0, high = std::uint64_t{1} << kBits;
  for (int step = 0; step < 4; ++step) {
    const std::uint64_t guess = (low + high) / 2;
    const bool is_less =
        evaluator.run(*comparison(guess), {}, first.shared).outputs.integer("is less") != 0;
    (is_less ? high : low) = guess;
  }
  std::printf("%c: the product is at least %llu and less than %llu\n", letter(party),
              static_cast<unsigned long long>(low), static_cast<unsigned long long>(high));
}

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "usage: %s A|B STORE NUMBER\n", argv[0]), 2;
  try {
    search(*argv[1] == 'A' ? Party::A : Party::B, argv[2], std::strtoull(argv[3], nullptr, 10));
    return 0;
  } catch (const std::exception& error) {
    return std::fprintf(stderr, "%s: %s\n", argv[1], error.what()), 1;
  }
}
