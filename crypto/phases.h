// The registry of the phases of RO: what a digest is for, once. A phase separates its queries from
// those of all other phases. A literal that is not in the registry does not compile as a Phase.
#pragma once

#include <array>
#include <string_view>

#include "base/distinct.h"

namespace tinyot::crypto {

// A phase and the file whose queries it separates, without its extension.
struct PhaseEntry {
  std::string_view phase;
  std::string_view file;
};

// doc/protocol.md, section 2.1, has the direction, counter and input of each.
inline constexpr auto kPhases = std::to_array<PhaseEntry>({
    {"session", "checks/session"},
    {"connection", "checks/session"},
    {"confirm", "checks/session"},
    {"channel", "checks/session"},
    {"worker", "checks/session"},
    {"randomness of a part", "checks/session"},
    {"unit", "offline/unit/preprocessor"},
    {"reference bits", "offline/unit/preprocessor"},
    {"live material", "engine/live_run"},
    {"EQ", "checks/equality"},
    {"EQ base 0", "checks/equality"},
    {"EQ base 1", "checks/equality"},
    {"EQ confirm", "checks/equality"},
    {"coin toss commit", "checks/coin_toss"},
    {"coin toss", "checks/coin_toss"},
    {"base OT group 0", "offline/base_ot/group_ot"},
    {"base OT group 1", "offline/base_ot/group_ot"},
    {"base OT key", "offline/base_ot/group_ot"},
    {"base OT vector", "offline/base_ot/kem_ot"},
    {"base OT KEM key", "offline/base_ot/kem_ot"},
    {"base OT from bits", "offline/base_ot/base_ot"},
    {"LaBit pairing", "offline/nnob12/leaky_bits"},
    {"LaBit chi", "offline/nnob12/leaky_bits"},
    {"LaBit EQ", "offline/nnob12/leaky_bits"},
    {"global key EQ", "offline/global_key"},
    {"LaAND", "offline/nnob12/leaky_and"},
    {"LaAND EQ", "offline/nnob12/leaky_and"},
    {"LaOT", "offline/nnob12/leaky_ot"},
    {"LaOT EQ", "offline/nnob12/leaky_ot"},
    {"bucket permutation LaAND", "offline/nnob12/nnob12_unit"},
    {"bucket permutation LaOT", "offline/nnob12/nnob12_unit"},
    {"GGM leaf check", "offline/softspoken/ggm_trees"},
    {"GGM leaf seed", "offline/softspoken/ggm_trees"},
    {"GGM tree check", "offline/softspoken/ggm_trees"},
    {"SoftSpoken chi", "offline/softspoken/softspoken"},
    {"LaTriple", "offline/triples/leaky_triple"},
    {"LaTriple sum", "offline/triples/leaky_triple"},
    {"LaTriple EQ", "offline/triples/leaky_triple"},
    {"layer shift", "offline/triples/layer_shifts"},
    {"silent bits", "offline/silent/silent_source"},
    {"silent code", "offline/silent/sparse_code"},
    {"silent tree", "offline/silent/silent_bits"},
    {"silent chi", "offline/silent/silent_bits"},
    {"silent check", "offline/silent/silent_bits"},
    {"BitProduct", "offline/wan/bit_triple"},
    {"sacrifice order", "offline/wan/sacrifice"},
    {"MAC transcript", "checks/mac_transcript"},
    {"shared MAC transcript", "checks/mac_transcript"},
    {"garbled gates", "checks/mac_transcript"},
    {"MAC chain", "checks/mac_transcript"},
    {"MAC digest", "checks/mac_transcript"},
    {"OT extension", "offline/softspoken/ot_extension"},
    {"garbled rows", "online/garbled/row_hash"},
    {"public input", "engine/run_inputs"},
    {"agreed inputs", "engine/run_inputs"},
    {"circuit v2", "engine/circuit_fingerprint"},
    {"circuit interface v2", "engine/circuit_fingerprint"},
    {"key attributes", "custody/key"},
    {"key fingerprint", "custody/key"},
    {"key table", "custody/key_files"},
    {"key coins", "custody/custodian"},
    {"derived key", "custody/custodian"},
    {"key nonces", "custody/key_session"},
});

static_assert(are_distinct(kPhases, &PhaseEntry::phase));

class Phase {
 public:
  consteval Phase(const char* text) : text_(text) {  // implicit: the literal is the phase
    for (const PhaseEntry& entry : kPhases)
      if (entry.phase == text_) return;
    throw "this phase is not in kPhases";
  }
  // A phase that no protocol has, for tests and benches.
  static constexpr Phase unregistered(std::string_view text) { return Phase(text); }

  constexpr std::string_view text() const { return text_; }

 private:
  constexpr explicit Phase(std::string_view text) : text_(text) {}

  std::string_view text_;
};

}  // namespace tinyot::crypto
