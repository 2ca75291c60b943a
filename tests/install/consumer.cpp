// A program that uses only the installed headers: two processes add their secrets.
#include <tinyot/tinyot.h>

#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const tinyot::Party party = *argv[1] == 'A' ? tinyot::Party::A : tinyot::Party::B;
  const char* port = std::getenv("TINYOT_PORT");
  const std::string address = std::string("127.0.0.1:") + (port != nullptr ? port : "7766");
  try {
    const auto sum = tinyot::circuit::make_circuit("sum", [](tinyot::circuit::Program& program) {
      program.output("sum", program.input<32>("a", tinyot::Party::A) +
                                program.input<32>("b", tinyot::Party::B));
    });
    tinyot::RunRequest request{.party = party,
                               .endpoint = party == tinyot::Party::A
                                               ? tinyot::Endpoint::listen(address)
                                               : tinyot::Endpoint::connect(address)};
    request.live = tinyot::ParameterRequest{.profile = tinyot::Profile::Fast};
    tinyot::Values inputs;
    inputs.set(party == tinyot::Party::A ? "a" : "b", std::strtoull(argv[2], nullptr, 10));
    const tinyot::RunResult result = tinyot::run(request, *sum, inputs);
    std::printf("the sum is %llu\n",
                static_cast<unsigned long long>(result.outputs.integer("sum")));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
