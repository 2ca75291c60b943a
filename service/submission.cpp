#include "service/submission.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/lane_bits.h"
#include "base/suggestion.h"
#include "circuitgen/formats/column.h"
#include "circuitgen/formats/reading.h"
#include "circuitgen/generators/registry.h"
#include "service/configuration.h"
#include "service/names.h"

namespace tinyot::service {
namespace {

namespace pb = google::protobuf;
using pb::internal::WireFormatLite;

// The number of the fields in a message, and of the entries of those that are packed. Ends where
// the message is malformed, as its parser does.
std::uint64_t fields_in(pb::io::CodedInputStream& in, const pb::Descriptor& type) {
  std::uint64_t fields = 0;
  while (const std::uint32_t tag = in.ReadTag()) {
    ++fields;
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_VARINT: {
        std::uint64_t value = 0;
        if (!in.ReadVarint64(&value)) return fields;
        break;
      }
      case WireFormatLite::WIRETYPE_FIXED64:
        if (!in.Skip(sizeof(std::uint64_t))) return fields;
        break;
      case WireFormatLite::WIRETYPE_FIXED32:
        if (!in.Skip(sizeof(std::uint32_t))) return fields;
        break;
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
        int length = 0;
        if (!in.ReadVarintSizeAsInt(&length)) return fields;
        const auto* const field = type.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
        if (field != nullptr && field->is_packable()) fields += static_cast<std::uint64_t>(length);
        if (field == nullptr || field->message_type() == nullptr) {
          if (!in.Skip(length)) return fields;
          break;
        }
        const auto outer = in.PushLimit(length);
        fields += fields_in(in, *field->message_type());
        if (!in.Skip(std::max(in.BytesUntilLimit(), 0))) return fields;
        in.PopLimit(outer);
        break;
      }
      default:  // the beginning or the end of a group, whose fields follow
        break;
    }
  }
  return fields;
}

// What a message takes in memory once it is parsed, at most.
std::uint64_t parsed_bytes_max(const grpc::ByteBuffer& message) {
  constexpr std::uint64_t kOfMessage = 1024, kOfField = 128;
  grpc::ByteBuffer bytes(message);  // shares them
  grpc::ProtoBufferReader reader(&bytes);
  pb::io::CodedInputStream in(&reader);
  return kOfMessage + message.Length() + kOfField * fields_in(in, *v1::SubmitRequest::descriptor());
}

// The inputs in a message, of which protobuf keeps no other copy.
class WipesInputs {
 public:
  explicit WipesInputs(v1::SubmitRequest& part) : part_(part) {}
  ~WipesInputs() {
    for (v1::Input& input : *part_.mutable_inputs()) {
      wipe(input.mutable_bits()->data(), input.bits().size());
      for (std::string& number : *input.mutable_numbers()) wipe(number.data(), number.size());
    }
  }
  WipesInputs(const WipesInputs&) = delete;
  WipesInputs& operator=(const WipesInputs&) = delete;

 private:
  v1::SubmitRequest& part_;
};

// What this object keeps of a part; empty numbers and inputs take memory too.
std::uint64_t bytes_of(const v1::SubmitRequest& part) {
  constexpr std::uint64_t kOfEntry = 128;
  std::uint64_t bytes = part.job().SpaceUsedLong() + part.circuit_part().size();
  for (const v1::Input& input : part.inputs()) {
    bytes += kOfEntry + input.name().size() + input.bits().size();
    for (const std::string& number : input.numbers()) bytes += number.size() + sizeof(std::size_t);
  }
  return bytes;
}

std::vector<std::string> input_names_of(const std::vector<circuit::InputBundle>& bundles) {
  std::vector<std::string> names;
  names.reserve(bundles.size());
  for (const circuit::InputBundle& bundle : bundles) names.push_back(bundle.name);
  return names;
}

}  // namespace

circuit::CircuitFileOptions options_of(const v1::FileRoles& roles) {
  circuit::CircuitFileOptions options;
  for (const auto& [number, owner] : roles.owners()) {
    const auto source = circuit::input_source_named(owner);
    if (!source)
      throw UsageError("the owner of an input is A, B, shared or public, not '" + owner + "'");
    options.sources[number] = *source;
  }
  if (roles.receiver() == "both")
    options.other_receivers = circuit::Receiver::Both;
  else if (!roles.receiver().empty())
    options.other_receivers =
        party_named(roles.receiver()) == Party::A ? circuit::Receiver::A : circuit::Receiver::B;
  options.bundles.assign(roles.bundles().begin(), roles.bundles().end());
  return options;
}

Submission::Submission(std::uint64_t bytes_max, MemoryBudget& budget)
    : bytes_max_(bytes_max), budget_(budget), share_(budget) {
  share_.take(kCallBytes);
}

void Submission::add(const grpc::ByteBuffer& message) {
  MemoryBudget::Share of_message(budget_);
  of_message.take(parsed_bytes_max(message));
  grpc::ByteBuffer bytes(message);
  grpc::ProtoBufferReader reader(&bytes);
  v1::SubmitRequest part;
  const bool is_well_formed = part.ParseFromZeroCopyStream(&reader);
  const WipesInputs wipes(part);
  if (!is_well_formed) throw UsageError("a message of the submission is malformed");
  add(std::move(part));
}

void Submission::add(v1::SubmitRequest&& part) {
  const WipesInputs wipes(part);
  if (has_job_ == part.has_job())
    throw UsageError("the first message of a submission has the job, and the others do not");
  const std::uint64_t bytes = bytes_of(part);
  bytes_ += bytes;
  if (bytes_ > bytes_max_)
    throw UsageError("the inputs or the circuit are larger than job_bytes_max, " +
                     std::to_string(bytes_max_) + " bytes");
  share_.take(bytes);
  if (part.has_job()) {
    has_job_ = true;
    job_ = part.job();
    if (!is_name(job_.id()))
      throw UsageError("the id of a job has 1 to 64 letters, digits and . _ -");
  }
  file_ += part.circuit_part();
  circuit_bytes_ = file_.size();
  for (const v1::Input& input : part.inputs()) {
    Given& given = inputs_[input.name()];
    const auto bits = std::as_bytes(std::span(input.bits()));
    given.bits.insert(given.bits.end(), bits.begin(), bits.end());
    for (const std::string& number : input.numbers()) {
      given.numbers.insert(given.numbers.end(), number.begin(), number.end());
      given.ends.push_back(given.numbers.size());
    }
    if (!given.bits.empty() && !given.ends.empty())
      throw UsageError("input " + input.name() + " is given as bits and as numbers");
  }
}

engine::LoadedCircuit circuit_of(const v1::NewJob& job, std::string file) {
  const std::size_t lanes = std::max<std::uint64_t>(job.lanes(), 1);
  if (lanes > engine::LoadedCircuit::kLanesMax)
    throw UsageError("lanes is out of range: 1 to 2^24");
  if (job.is_file())
    return engine::LoadedCircuit::from_text(std::move(file), job.circuit(), options_of(job.roles()),
                                            lanes);
  if (!file.empty() || job.has_roles())
    throw UsageError("a circuit by name has its own gates, owners and receivers");
  if (auto found = engine::LoadedCircuit::not_generated(job.circuit(), lanes)) return *found;
  throw UsageError(
      "there is no circuit '" + job.circuit() + "'" +
      did_you_mean(job.circuit().substr(0, job.circuit().find(':')), circuit::circuit_names()));
}

engine::LoadedCircuit Submission::circuit() {
  share_.take(file_.size());
  return circuit_of(job_, file_);
}

LaneMatrix Submission::from_bits(const circuit::InputBundle& bundle, std::size_t lanes,
                                 std::span<const std::byte> bits) {
  const std::size_t bytes = bytes_for(bundle.bits);
  if (bits.size() != lanes * bytes)
    throw UsageError("input " + bundle.name + ": " + std::to_string(bits.size()) +
                     " bytes given, " + std::to_string(lanes * bytes) + " expected");
  LaneMatrix values(lanes, bundle.bits);
  for (std::size_t lane = 0; lane < lanes; ++lane)
    if (!values.assign(lane, bits.subspan(lane * bytes, bytes)))
      throw UsageError("input " + bundle.name + ": bits are set beyond the " +
                       std::to_string(bundle.bits) + " of a value");
  return values;
}

LaneMatrix Submission::from_numbers(const circuit::InputBundle& bundle, std::size_t lanes,
                                    const Given& given) {
  const std::uint32_t value_bits = circuit::BundleReading(bundle).value_bits();
  const std::size_t in_list = bundle.bits / value_bits;
  const bool is_list = in_list > 1 && given.ends.size() != lanes;
  const std::size_t count = is_list ? lanes * in_list : lanes;
  if (given.ends.size() != count)
    throw UsageError("input " + bundle.name + ": " + std::to_string(given.ends.size()) +
                     " values given, " + std::to_string(count) + " expected");
  // A value of a list, or a whole one; a number of all bits as if there were no type.
  const auto parse = [&](std::string_view text) {
    const bool is_text = bundle.reading == circuit::Reading::Text;
    const bool is_whole = !is_text && (text.starts_with("0x") || text.starts_with("0b"));
    if (!is_list && (is_whole || in_list > 1))
      return circuit::parse_value(text, bundle.bits, bundle.format, false);
    return circuit::ColumnType(bundle.type, value_bits, bundle.format, circuit::NumberBase::Decimal)
        .parse(text);
  };
  LaneMatrix values(lanes, bundle.bits);
  std::size_t begin = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t end = given.ends[k];
    try {
      const BitVector bits = parse(view_of(given.numbers).substr(begin, end - begin));
      const std::size_t lane = is_list ? k / in_list : k,
                        at = is_list ? k % in_list * value_bits : 0;
      for (std::size_t i = 0; i < bits.size(); ++i) values[lane].put(at + i, bits[i]);
    } catch (const UsageError& error) {
      throw UsageError("input " + bundle.name + ": " + error.what());
    }
    begin = end;
  }
  return values;
}

Values Submission::inputs(const engine::LoadedCircuit& circuit, Party me) {
  const auto& bundles = circuit.info().inputs;
  for (const auto& [name, given] : inputs_) {
    const auto bundle = std::ranges::find(bundles, name, &circuit::InputBundle::name);
    if (bundle == bundles.end())
      throw UsageError("circuit " + circuit.info().name + " has no input '" + name + "'" +
                       did_you_mean(name, input_names_of(bundles)));
    if (!gives(bundle->source, me))
      throw UsageError("input " + name + " does not belong to this party, " + name_of(me));
  }
  Values values;
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    if (!gives(bundles[i].source, me)) continue;
    const auto given = inputs_.find(bundles[i].name);
    if (given == inputs_.end())
      throw UsageError("input " + bundles[i].name + " of this party, " + name_of(me) +
                       ", is missing");
    const std::size_t lanes = bundles[i].same_in_all_lanes ? 1 : circuit.lanes();
    share_.take(bytes_of_values(lanes, bundles[i].bits));
    LaneMatrix rows = given->second.ends.empty() ? from_bits(bundles[i], lanes, given->second.bits)
                                                 : from_numbers(bundles[i], lanes, given->second);
    require_conditions(bundles[i], rows);
    values.set(bundles[i].name, std::move(rows));
  }
  return values;
}

}  // namespace tinyot::service
