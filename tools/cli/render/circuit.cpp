#include "tools/cli/render/circuit.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "base/hex.h"
#include "circuitgen/formats/reading.h"
#include "circuitgen/generators/registry.h"
#include "tinyot/circuit/fingerprint.h"
#include "tools/cli/local_link.h"
#include "tools/cli/render/text.h"

namespace tinyot::tools {
namespace {

std::string owner_of(const circuit::InputBundle& bundle) {
  return std::string(name_of(bundle.source));
}

void add_gates(Json& report, const circuit::CircuitCost& cost) {
  report["ands"] = cost.ands;
  report["xors"] = cost.xors;
  report["nots"] = cost.nots;
  report["and_depth"] = cost.and_depth;
}

std::string gates_text(const circuit::CircuitCost& cost) {
  return grouped(cost.ands) + " ANDs, " + grouped(cost.xors) + " XORs, " + grouped(cost.nots) +
         " NOTs, AND depth " + grouped(cost.and_depth);
}

// How a circuit reads or writes the values of a bundle.
template <class Bundle>
void add_reading(Json& fields, const Bundle& bundle) {
  fields["format"] = name_of(bundle.format);
  fields["reading"] = name_of(bundle.reading);
  fields["value_bits"] = circuit::BundleReading(bundle).value_bits();
  if (!bundle.type.empty()) fields["type"] = bundle.type;
}

void add_bundles(Json& report, const circuit::CircuitInfo& info) {
  report["inputs"] = Json::array();
  for (const circuit::InputBundle& bundle : info.inputs) {
    Json fields = {{"name", bundle.name}, {"bits", bundle.bits}, {"owner", owner_of(bundle)}};
    add_reading(fields, bundle);
    if (const std::string conditions = conditions_text(bundle); !conditions.empty())
      fields["conditions"] = conditions;
    report["inputs"].push_back(std::move(fields));
  }
  report["outputs"] = Json::array();
  for (const circuit::OutputBundle& bundle : info.outputs) {
    Json fields = {
        {"name", bundle.name}, {"bits", bundle.bits}, {"to", std::string(name_of(bundle.to))}};
    add_reading(fields, bundle);
    report["outputs"].push_back(std::move(fields));
  }
}

std::string bundles_text(const circuit::CircuitInfo& info) {
  std::string text;
  for (const circuit::InputBundle& bundle : info.inputs) {
    const std::string conditions = conditions_text(bundle);
    text += "input " + bundle.name + ": " + std::to_string(bundle.bits) + " bits from " +
            owner_of(bundle) + ", " + circuit::BundleReading(bundle).text() +
            (conditions.empty() ? "" : ", " + conditions) + "\n";
  }
  for (const circuit::OutputBundle& bundle : info.outputs)
    text += "output " + bundle.name + ": " + std::to_string(bundle.bits) + " bits to " +
            std::string(name_of(bundle.to)) + ", " + circuit::BundleReading(bundle).text() + "\n";
  return text;
}

}  // namespace

void print_circuits(Format format) {
  Json names = Json::array(), families = Json::array();
  std::string text;
  for (const circuit::CircuitFamily& family : circuit::circuit_families()) {
    names.push_back(family.name);
    Json parameters = Json::array();
    text += family.name + ": " + family.description + "\n";
    for (const circuit::CircuitParameter& parameter : family.parameters) {
      parameters.push_back({{"name", parameter.name},
                            {"description", parameter.description},
                            {"default", parameter.default_value},
                            {"allowed", parameter.allowed()}});
      text += "    " + parameter.name + "=" + parameter.default_value + "    " +
              parameter.description + " (" + parameter.allowed() + ")\n";
    }
    families.push_back(
        {{"name", family.name}, {"description", family.description}, {"parameters", parameters}});
  }
  text += "Parameters follow the name, as in levenshtein:rows=200,columns=1000\n";
  print_report(format, {{"circuits", names}, {"families", families}}, text);
}

void print(Format format, const CircuitReport& of) {
  const circuit::CircuitCost& cost = of.circuit.cost();
  const circuit::CircuitInfo& info = of.circuit.info();
  const std::string fingerprint = text_of(of.circuit.fingerprint());
  Json report = {{"name", info.name}};
  add_gates(report, cost);
  report["invariant_ands"] = cost.invariant_ands;
  report["groups"] = cost.groups;
  report["masked_triples"] = cost.products;
  report["masked_depth"] = cost.product_depth;
  report["fingerprint"] = fingerprint;
  report["built_in"] = of.circuit.is_built_in();
  add_bundles(report, info);
  if (of.run) report["run"] = fields_of(*of.run, of.link);
  print_report(
      format, report,
      info.name + ": " + gates_text(cost) + "\nfingerprint: " + fingerprint + "\n" +
          (cost.invariant_ands > 0 ? "the same in all lanes, and evaluated once: " +
                                         grouped(cost.invariant_ands) + " ANDs\n"
                                   : "") +
          (cost.groups > 0 ? counted(cost.groups, "group") +
                                 "; with each as one gate: " + grouped(cost.products) +
                                 " triples, depth " + grouped(cost.product_depth) + "\n"
                           : "") +
          bundles_text(info) +
          (of.run
               ? text_of(*of.run, of.link)
               : "the rounds of a large circuit are counted with --lanes, --window or a link\n"));
}

void print(Format format, const NamedCircuit& circuit, const PrintedOutputs& outputs) {
  print_report(
      format,
      {{"circuit", circuit.info().name}, {"lanes", circuit.lanes()}, {"outputs", json_of(outputs)}},
      text_of(outputs));
}

void print_converted(Format format, const NamedCircuit& circuit,
                     const std::filesystem::path& file) {
  const std::uint64_t bytes = std::filesystem::file_size(file), ands = circuit.cost().ands;
  print_report(format,
               {{"circuit", circuit.info().name},
                {"ands", ands},
                {"output", file.string()},
                {"bytes", bytes}},
               circuit.info().name + ": " + grouped(ands) + " ANDs in " + file.string() + ", " +
                   grouped(bytes) + " bytes\n");
}

void print(Format format, const ImportReport& import) {
  const circuit::Candidate& best = import.candidates.front();
  const circuit::CircuitInfo& info = best.circuit->info();
  const std::uint64_t bytes = std::filesystem::file_size(import.file);
  const std::string fingerprint = text_of(fingerprint_of(*best.circuit));
  Json report = {{"circuit", info.name}, {"fingerprint", fingerprint}};
  std::string text = info.name + ": " + gates_text(best.cost) + "\n" + bundles_text(info) +
                     "fingerprint: " + fingerprint + "\n";
  add_gates(report, best.cost);
  add_bundles(report, info);
  report["synthesis"] = best.name;
  report["candidates"] = Json::array();
  for (const circuit::Candidate& each : import.candidates) {
    report["candidates"].push_back(
        {{"synthesis", each.name}, {"ands", each.cost.ands}, {"and_depth", each.cost.and_depth}});
    text += "synthesis " + each.name + ": " + grouped(each.cost.ands) + " ANDs, AND depth " +
            grouped(each.cost.and_depth) + (&each == &best ? ", taken\n" : "\n");
  }
  report["sandbox"] = name_of(import.sandbox);
  report["output"] = import.file.string();
  report["bytes"] = bytes;
  print_report(format, report,
               text + "sandbox: " + name_of(import.sandbox) + "\nin " + import.file.string() +
                   ", " + grouped(bytes) + " bytes\n");
}

namespace {

// A text that is no UTF-8 has no string in JSON: it is {"hex": its bytes}.
Json json_text(const std::string& text) {
  try {
    (void)Json(text).dump();
    return text;
  } catch (const Json::type_error&) {
    return {{"hex", hex_of(std::as_bytes(std::span(text)))}};
  }
}

}  // namespace

Json json_of(const PrintedOutputs& outputs) {
  Json json = Json::object();
  for (const PrintedOutput& output : outputs) {
    Json values = Json::array();
    for (const std::string& value : output.values) values.push_back(json_text(value));
    json[output.name] = output.is_list ? values : values.front();
  }
  return json;
}

std::string text_of(const PrintedOutputs& outputs) {
  std::string text;
  for (const PrintedOutput& output : outputs) text += output.name + " = " + output.lines() + "\n";
  return text;
}

Json half_round_trips_json(const std::array<std::uint64_t, 2>& half_round_trips) {
  return {{"a", half_round_trips[0]}, {"b", half_round_trips[1]}};
}

Json fields_of(const std::optional<net::LinkShape>& shape) {
  const net::LinkShape here = shape.value_or(net::LinkShape{});
  return {{"link", name_of(shape)},
          {"rtt_ms", std::chrono::duration<double, std::milli>(here.rtt).count()},
          {"rate_mbit", here.bits_per_s / 1e6}};
}

namespace {

Json cost_fields(const engine::RunEstimate& estimate, const std::optional<net::LinkShape>& link) {
  Json fields = {{"half_round_trips", half_round_trips_json(estimate.cost.half_round_trips)},
                 {"bytes_sent_a", estimate.cost.bytes_sent[0]},
                 {"bytes_sent_b", estimate.cost.bytes_sent[1]}};
  if (link) fields["link_s"] = estimate.link_s(*link);
  return fields;
}

std::string cost_text(const engine::RunEstimate& estimate,
                      const std::optional<net::LinkShape>& link) {
  const auto& [of_a, of_b] = estimate.cost.half_round_trips;
  return (of_a == of_b ? grouped(of_a) : grouped(of_a) + " (A) and " + grouped(of_b) + " (B)") +
         " half round trips; A sends " + bytes_text(estimate.cost.bytes_sent[0]) + ", B " +
         bytes_text(estimate.cost.bytes_sent[1]) +
         (link ? "; messages over the given link: " + seconds_text(estimate.link_s(*link)) : "");
}

// Of the phase, if something is done before the inputs; null otherwise.
const engine::RunEstimate* prepared_by(const RunForecast& forecast,
                                       const engine::RunEstimate& at_once) {
  const auto found =
      std::ranges::find(forecast.prepared, at_once.phase, &engine::RunEstimate::phase);
  return found != forecast.prepared.end() && found->cost.bytes_sent != at_once.cost.bytes_sent
             ? &*found
             : nullptr;
}

}  // namespace

Json fields_of(const RunForecast& forecast, const std::optional<net::LinkShape>& link) {
  const engine::RunEstimate& first = forecast.estimates.front();
  Json fields = {{"lanes", forecast.lanes},
                 {"window", first.window},
                 {"material", name_of(forecast.form)},
                 {"ands", first.cost.ands},
                 {"and_rounds", first.cost.and_rounds}};
  if (link) fields.update(fields_of(link));
  for (std::size_t i = 0; i < forecast.estimates.size(); ++i) {
    const engine::RunEstimate& estimate = forecast.estimates[i];
    Json& phase = fields["online"][std::string(estimate.phase->name)];
    phase = cost_fields(estimate, link);
    if (const engine::RunEstimate* const prepared = prepared_by(forecast, estimate))
      phase["prepared"] = cost_fields(*prepared, link);
    if (!forecast.wall_s.empty()) phase["wall_s"] = forecast.wall_s[i];
  }
  return fields;
}

std::string text_of(const RunForecast& forecast, const std::optional<net::LinkShape>& link) {
  const online::RunCost& first = forecast.estimates.front().cost;
  std::string text = "a run on " + counted(forecast.lanes, "lane") + ", on " +
                     std::string(name_of(forecast.form)) + ": " + grouped(first.ands) +
                     " ANDs in " + grouped(first.and_rounds) + " rounds\n";
  for (std::size_t i = 0; i < forecast.estimates.size(); ++i) {
    const engine::RunEstimate& estimate = forecast.estimates[i];
    const std::string name(estimate.phase->name);
    text +=
        name + ": " + cost_text(estimate, link) +
        (forecast.wall_s.empty() ? "" : "; time of the run: " + seconds_text(forecast.wall_s[i])) +
        "\n";
    if (const engine::RunEstimate* const prepared = prepared_by(forecast, estimate))
      text += name + ", once a prepared run has its inputs: " + cost_text(*prepared, link) + "\n";
  }
  return text;
}

}  // namespace tinyot::tools
