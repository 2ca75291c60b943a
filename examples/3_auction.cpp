// A circuit as a C++ function: a sealed-bid auction. B bids for an item that A sells with a reserve
// price. Both learn whether it is sold, and the price: the mean of bid and reserve price. No store:
// the material is made during the run.
//
//   ./3_auction A 700 & ./3_auction B 900
#include <tinyot/tinyot.h>

#include <cstdio>
#include <cstdlib>
#include <string>

using tinyot::Party;
using tinyot::circuit::Bit;
using tinyot::circuit::Word;

std::string address() {
  const char* port = std::getenv("TINYOT_PORT");
  return std::string("127.0.0.1:") + (port != nullptr ? port : "7766");
}

std::unique_ptr<tinyot::circuit::Circuit> auction() {
  return tinyot::circuit::make_circuit("auction", [](tinyot::circuit::Program& program) {
    const auto reserve = program.input<32>("reserve_price", Party::A);
    const auto bid = program.input<32>("bid", Party::B);
    const Bit is_sold = bid >= reserve;
    const Word<32> middle = reserve + ((bid - reserve) >> 1);
    program.output("sold", is_sold);
    program.output("price", select(is_sold, middle, 0));
  });
}

void trade(Party party, std::uint64_t amount) {
  tinyot::RunRequest request{.party = party,
                             .endpoint = party == Party::A ? tinyot::Endpoint::listen(address())
                                                           : tinyot::Endpoint::connect(address())};
  request.live = tinyot::ParameterRequest{.profile = tinyot::Profile::Fast};
  tinyot::Values inputs;
  inputs.set(party == Party::A ? "reserve_price" : "bid", amount);
  const tinyot::Values outputs = tinyot::run(request, *auction(), inputs).outputs;
  if (outputs.integer("sold") == 0)
    std::printf("%c: not sold\n", letter(party));
  else
    std::printf("%c: sold for %llu\n", letter(party),
                static_cast<unsigned long long>(outputs.integer("price")));
}

int main(int argc, char** argv) {
  const std::string party = argc == 3 ? argv[1] : "";
  if (party != "A" && party != "B") {
    std::fprintf(stderr, "usage: %s A|B AMOUNT\n", argv[0]);
    return 2;
  }
  try {
    trade(party == "A" ? Party::A : Party::B, std::strtoull(argv[2], nullptr, 10));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", party.c_str(), error.what());
    return 1;
  }
}
