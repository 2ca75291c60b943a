#include "engine/base_ot_choice.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace tinyot::engine {
namespace {

constexpr std::string_view kParameter = "base-ot";

}  // namespace

net::Parameter base_ot_parameter(std::optional<BaseOt> requested, const std::string& shortage) {
  const bool has_ml_kem = shortage.empty();
  ENSURE(has_ml_kem || requested != BaseOt::MlKem);
  const BaseOt usual = has_ml_kem ? BaseOt::MlKem : BaseOt::Ristretto;
  net::Parameter parameter{.name = std::string(kParameter),
                           .value = std::string(name_of(requested.value_or(usual))),
                           .is_open = !requested && has_ml_kem};
  if (!requested && !has_ml_kem) parameter.shown = parameter.value + " (" + shortage + ")";
  return parameter;
}

BaseOt agreed_base_ot(const checks::Agreement& agreement) {
  const auto agreed = std::ranges::find(agreement.parameters, kParameter, &net::Parameter::name);
  ENSURE(agreed != agreement.parameters.end());
  for (const BaseOt kind : {BaseOt::MlKem, BaseOt::Ristretto})
    if (agreed->value == name_of(kind)) return kind;
  throw Disagreement(
      "the peer asks for base OTs that this party does not have; run the same release on both "
      "sides");
}

}  // namespace tinyot::engine
