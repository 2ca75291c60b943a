#include "tools/cli/run_estimate.h"

#include "online/runtime.h"

namespace tinyot::tools {

RunForecast run_forecast(const NamedCircuit& circuit, MaterialForm form, const CommandLine& line) {
  const std::size_t window = window_from(line).value_or(online::window_for(circuit.lanes()));
  return {circuit.lanes(), window, form, engine::estimate_run(circuit, form, window)};
}

Json fields_of(const RunForecast& forecast, const std::optional<net::LinkShape>& link) {
  const engine::RunEstimate& estimate = forecast.estimate;
  Json fields = {{"lanes", forecast.lanes},
                 {"window", forecast.window},
                 {"material", name_of(forecast.form)},
                 {"ands", estimate.ands},
                 {"and_rounds", estimate.and_rounds},
                 {"rounds", estimate.rounds},
                 {"bytes_sent_a", estimate.bytes_sent[0]},
                 {"bytes_sent_b", estimate.bytes_sent[1]}};
  if (link) {
    fields.update(fields_of(link));
    fields["link_s"] = estimate.link_s(*link);
  }
  return fields;
}

std::string text_of(const RunForecast& forecast, const std::optional<net::LinkShape>& link) {
  const engine::RunEstimate& estimate = forecast.estimate;
  std::string text =
      "a run on " + grouped(forecast.lanes) + (forecast.lanes == 1 ? " lane" : " lanes") + ", on " +
      std::string(name_of(forecast.form)) + ": " + grouped(estimate.ands) + " ANDs in " +
      grouped(estimate.and_rounds) + " rounds; " + grouped(estimate.rounds) +
      " messages are waited for, half a round trip each; A sends " +
      bytes_text(static_cast<double>(estimate.bytes_sent[0])) + ", B " +
      bytes_text(static_cast<double>(estimate.bytes_sent[1])) + "\n";
  if (link) text += "messages over the given link: " + seconds_text(estimate.link_s(*link)) + "\n";
  return text;
}

}  // namespace tinyot::tools
