// `tinyot bench fig17`: the table of the paper's experiments (NNOB12 Fig. 17), with the paper's
// figures beside the measured ones.
#include "base/error.h"
#include "base/hex.h"
#include "crypto/rng.h"
#include "system/temporary_directory.h"
#include "tools/bench/bench.h"

namespace tinyot::tools {
namespace {

// Fig. 17: blocks, gates, seconds of preprocessing, seconds online. Java, two machines of two 2.4
// GHz cores on a LAN.
struct PaperRow {
  std::uint64_t blocks;
  double gates;
  double offline_s;
  double online_s;
};
constexpr PaperRow kPaper[] = {{1, 34520, 38, 4},
                               {27, 922056, 38, 5},
                               {54, 1842728, 79, 6},
                               {81, 2765400, 126, 10},
                               {108, 3721208, 170, 12},
                               {135, 4642880, 210, 15},
                               {256, 8739200, 406, 16},
                               {512, 17478016, 907, 26},
                               {1024, 34955648, 2303, 52},
                               {2048, 69910912, 5324, 143},
                               {4096, 139821440, 11238, 194},
                               {8192, 279642496, 22720, 258},
                               {16384, 559284608, 46584, 517}};

std::string random_hex(crypto::Rng& rng, std::size_t bytes) {
  std::vector<std::byte> drawn(bytes);
  rng.fill(drawn);
  return hex_of(drawn);
}

Json measure(const PaperRow& paper, const ParameterRequest& parameters, const LocalLink& link) {
  const system::TemporaryDirectory dir;
  PreprocessRequest offline;
  offline.parameters = parameters;
  offline.ands = paper.blocks * kAndsOfABlock;
  offline.inputs = 128 * (paper.blocks + 1);
  const Json made = require_success(run_pair(preprocess_commands(offline, dir.path()), link));

  crypto::Rng rng = crypto::Rng::from_system();
  MeasuredRun online;
  online.spec.name = "aes128";
  online.spec.blocks = paper.blocks;
  const InputTexts inputs = {{"key_a", secret_text(random_hex(rng, 16))},
                             {"key_b", secret_text(random_hex(rng, 16))},
                             {"message", secret_text(random_hex(rng, 16 * paper.blocks))}};
  const Json run = require_success(
      run_pair(run_commands(online, NamedCircuit(online.spec), inputs, dir.path()), link));

  const double offline_s = slower_of(made)["wall_s"], online_s = slower_of(run)["wall_s"],
               total_s = offline_s + online_s, blocks = static_cast<double>(paper.blocks);
  Json row = {{"blocks", paper.blocks},
              {"paper_gates", paper.gates},
              {"sigma_bits", made["A"]["sigma_paper_bound"]},
              {"offline_s", offline_s},
              {"online_s", online_s},
              {"s_per_block", total_s / blocks},
              {"gates_per_s", paper.gates / total_s},
              {"paper_offline_s", paper.offline_s},
              {"paper_online_s", paper.online_s},
              {"paper_gates_per_s", paper.gates / (paper.offline_s + paper.online_s)},
              {"speedup", (paper.offline_s + paper.online_s) / total_s}};
  for (const char* field : {"profile", "material", "columns", "sigma", "sigma_paper_bound",
                            "sigma_exact", "bucket", "unit"})
    row[field] = made["A"].value(field, Json("-"));
  row["weak"] = made["A"]["sigma_paper_bound"] < made["A"]["sigma"];
  row.update(fields_of(link));
  return row;
}

}  // namespace

int fig17_rows(const Arguments& arguments, const RowSink& sink) {
  CommandLine line("bench fig17", "[options]",
                   "tinyot bench fig17 --max-blocks 135 --labit-columns experiment");
  line.options().value("max-blocks", "the largest row to run", "135");
  const ParameterLists lists;
  add_parameter_lists(line.options(), lists);
  Rows::add_options(line.options());
  add_link_options(line.options());
  if (!line.parse(arguments)) return 0;
  Rows rows(line, sink,
            {"blocks", "profile", "sigma", "bucket", "offline_s", "online_s", "s_per_block",
             "speedup", "paper_gates_per_s"});
  const std::vector<ParameterRequest> points = parameters_listed(line, lists);
  const std::vector<LocalLink> links = links_from(line);
  for (const PaperRow& row : kPaper) {
    if (row.blocks > line.size("max-blocks")) break;
    for (const ParameterRequest& parameters : points)
      for (const LocalLink& link : links) {
        rows.begin_group();
        rows.add(measure(row, parameters, link));
      }
  }
  return 0;
}

}  // namespace tinyot::tools
