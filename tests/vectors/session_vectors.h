// Whole sessions of two parties under published seeds, from the handshake over preprocessing to the
// outputs of one run, with every message: test vectors for another implementation.
//
// A session takes the steps of a live run (engine/live_run.cpp), without `session.latency`, whose
// messages are times: the run on the first connection, its material made before it on a second one.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "crypto/rng.h"
#include "tests/vectors/recorded_channel.h"

namespace tinyot::test {

// Of the generators of A and B, and of the one that draws the inputs of the circuit.
struct SessionSeeds {
  std::array<Seed, 2> parties;
  Seed inputs;
};
// The bytes 00 to 0f, 10 to 1f and 20 to 2f.
SessionSeeds published_seeds();

struct SessionVector {
  nlohmann::ordered_json description;  // what both parties know before they begin, and the seeds
  std::vector<RecordedMessage> messages;
  nlohmann::ordered_json results;  // of each party, by "A" and "B"
};

std::vector<std::string> session_vector_names();

// Fails: std::out_of_range for another name; as the protocols; std::logic_error if the outputs are
// not those of the circuit.
SessionVector make_session_vector(const std::string& name,
                                  const SessionSeeds& seeds = published_seeds());

}  // namespace tinyot::test
