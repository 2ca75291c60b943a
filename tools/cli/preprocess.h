// `tinyot preprocess`: makes material with the peer and pours it into this party's store.
#pragma once

#include <filesystem>
#include <optional>

#include "base/error.h"
#include "engine/plan.h"
#include "tinyot/parameters.h"
#include "tinyot/preprocess.h"
#include "tools/cli/endpoint.h"
#include "tools/cli/store_options.h"

namespace tinyot::tools {

// The options for security parameters, and those for a whole job. A parameter that is not given has
// the profile's default.
void add_parameter_options(Options& options);
void add_preprocess_options(Options& options);
// `begun` has the values of parameters that are not given.
ParameterRequest parameters_from(const CommandLine& line, const storage::Manifest* begun = nullptr);
// Fails: UsageError naming the first of the parameters' options that is given.
void refuse_parameter_options(const CommandLine& line, const std::string& reason);
// The options of parameters that one profile has and others do not.
struct OwnOption {
  const char* option;
  const char* parameter;
};
inline constexpr OwnOption kOwnOptions[] = {{"labit-columns", "columns"},
                                            {"softspoken-k", "softspoken-k"},
                                            {"abits", "abits"},
                                            {"silent-set", "silent-set"}};
// Fails: UsageError naming the option.
void set_own(ParameterRequest& request, const OwnOption& own, const std::string& value);
Profile profile_from(const std::string& name);
// A value of --base-ot; nothing for auto. Fails: UsageError.
std::optional<BaseOt> parse_base_ot(const std::string& name);
// "3", or "3+4" for a profile with two bucket sizes. Fails: UsageError.
BucketSizes bucket_from(const std::string& text);

// Everything but party, endpoint and store. `wanted` is what the job makes if --ands and --inputs
// are not given; `begun` has what is not given at all.
PreprocessRequest preprocess_request_from(const CommandLine& line,
                                          const std::optional<engine::Demand>& wanted = {},
                                          const storage::Manifest* begun = nullptr);

// Options of a job that stores its material: how much it makes, other than --ands. A job of
// `stored_request_from` needs one of amount_options().
void add_amount_options(Options& options);
std::vector<std::string> amount_options();
// Everything but party and endpoint, for this party's store in the directory `store`.
PreprocessRequest stored_request_from(const CommandLine& line, const std::filesystem::path& store);

// Fails: UsageError if `parties` such jobs do not fit into this machine's memory, with what they
// need, what is free, and the unit and threads that would fit.
void check_memory(const PreprocessRequest& job, std::uint64_t parties,
                  std::uint64_t available_bytes);

}  // namespace tinyot::tools
