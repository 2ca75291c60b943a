#include "circuitgen/formats/file_description.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "base/error.h"
#include "circuitgen/formats/reading.h"

namespace tinyot::circuit {
namespace {

constexpr std::string_view kVersion = "1", kCommon = "common";
constexpr std::string_view kAscending = "ascending", kDistinct = "distinct", kRange = "range=";

constexpr std::array kFormats = {ValueFormat::Bytes, ValueFormat::Integer, ValueFormat::MsbInteger};
constexpr std::array kReceivers = {Receiver::A, Receiver::B, Receiver::Both, Receiver::None};

template <class Values>
std::string names_of(const Values& values) {
  std::string names;
  for (const auto& value : values)
    names += (names.empty() ? "" : ", ") + std::string(name_of(value));
  return names;
}

class DescriptionReader {
 public:
  explicit DescriptionReader(const FileLines& lines) : lines_(lines) {}

  FileDescription read() && {
    bool is_first = true;
    for (const FileLines::Note& note : lines_.notes()) {
      number_ = note.line;
      words_ = FileLines::split(note.text);
      if (is_first != (word(1) == "description"))
        fail("the description begins with '#tinyot description 1'");
      if (is_first) {
        if (words_.size() != 3 || word(2) != kVersion)
          fail("this version reads descriptions of version " + std::string(kVersion) + " alone");
      } else {
        read_bundle();
      }
      is_first = false;
    }
    return std::move(description_);
  }

 private:
  template <class Values>
  auto value(const Values& values, std::string_view word, const char* what) const {
    const auto found =
        std::ranges::find_if(values, [&](const auto& value) { return name_of(value) == word; });
    if (found == values.end())
      fail(FileLines::shown(word) + " is no " + what + ": " + names_of(values));
    return *found;
  }

  void read_bundle() {
    const bool is_input = word(1) == "input", is_common = is_input && word(6) == kCommon;
    if (!is_input && word(1) != "output")
      fail("a line of the description describes an input or an output, not " +
           FileLines::shown(word(1)));
    const std::size_t type_at = is_common ? 7 : 6;
    if (words_.size() < type_at)
      fail("a bundle is described by its name, its width, its " +
           std::string(is_input ? "source" : "receivers") + " and its format");
    std::string name(word(2));
    const std::uint32_t bits = width(word(3));
    const ValueFormat format = value(kFormats, word(5), "format");
    if (format == ValueFormat::Bytes && bits % 8 != 0)
      fail("the width of bytes is a multiple of 8, not " + std::to_string(bits));
    if (!(is_input ? input_names_ : output_names_).insert(name).second)
      fail(FileLines::shown(name) + " is described twice");
    if (is_input) {
      InputBundle bundle{std::move(name), bits, value(kInputSources, word(4), "source of an input"),
                         format, is_common};
      read_words(bundle, type_at);
      description_.inputs.push_back(std::move(bundle));
    } else {
      OutputBundle bundle{std::move(name), bits, value(kReceivers, word(4), "receiver"), format};
      read_words(bundle, type_at);
      description_.outputs.push_back(std::move(bundle));
    }
  }

  // The type, the reading and the conditions, all of which are optional.
  template <class Bundle>
  void read_words(Bundle& bundle, std::size_t at) try {
    if (at < words_.size() && !read_word(bundle, word(at))) set_type(bundle, word(at));
    for (++at; at < words_.size(); ++at)
      if (!read_word(bundle, word(at)))
        throw UsageError(FileLines::shown(word(at)) + " is no reading and no condition");
    if (bundle.format == ValueFormat::MsbInteger && bundle.reading == Reading::Signed)
      throw UsageError("signed numbers are for the format integer");
    if constexpr (std::is_same_v<Bundle, InputBundle>) require_possible(bundle);
  } catch (const UsageError& error) {
    fail(error.what());
  }

  // False for another word.
  template <class Bundle>
  static bool read_word(Bundle& bundle, std::string_view word) {
    for (const Reading reading : {Reading::Bits, Reading::Unsigned, Reading::Signed})
      if (word == name_of(reading)) {
        if (reading != Reading::Bits && ValueType::parse(bundle.type).reading() != Reading::Bits)
          throw UsageError("type " + bundle.type + " says how the values are read");
        bundle.reading = reading;
        return true;
      }
    if constexpr (std::is_same_v<Bundle, InputBundle>) {
      if (word == kAscending) return bundle.conditions.is_ascending = true;
      if (word == kDistinct) return bundle.conditions.is_distinct = true;
      if (word.starts_with(kRange)) {
        bundle.conditions.range = range(word.substr(kRange.size()));
        return true;
      }
    }
    return false;
  }

  static InputConditions::Range range(std::string_view text) {
    const std::size_t dots = std::min(text.find(".."), text.size());
    return {bound(text.substr(0, dots)), bound(text.substr(std::min(dots + 2, text.size())))};
  }

  static std::uint64_t bound(std::string_view text) {
    std::uint64_t number = 0;
    std::int64_t with_sign = 0;
    const auto reads_all = [&](auto& into) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
      return error == std::errc() && end == text.data() + text.size();
    };
    if (reads_all(number)) return number;
    if (reads_all(with_sign)) return static_cast<std::uint64_t>(with_sign);
    throw UsageError("a range is two numbers, such as range=0..99");
  }

  std::string_view word(std::size_t index) const {
    return index < words_.size() ? words_[index] : std::string_view();
  }

  std::uint32_t width(std::string_view text) const {
    std::uint32_t bits = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
    if (error != std::errc() || end != text.data() + text.size())
      fail(FileLines::shown(text) + " is not a width");
    return bits;
  }

  [[noreturn]] void fail(const std::string& reason) const { lines_.fail_at(number_, reason); }

  const FileLines& lines_;
  std::uint64_t number_ = 0;
  std::vector<std::string_view> words_;
  FileDescription description_;
  std::set<std::string> input_names_, output_names_;
};

template <class Bundles>
std::vector<std::uint32_t> widths_of(const Bundles& bundles) {
  std::vector<std::uint32_t> widths;
  for (const auto& bundle : bundles)
    if (bundle.bits > 0) widths.push_back(bundle.bits);
  return widths;
}

// The type, and the reading where the type does not say it.
template <class Bundle>
std::string type_word(const Bundle& bundle) {
  const std::string type = bundle.type.empty() ? "" : " " + bundle.type;
  if (bundle.format == ValueFormat::Bytes ||
      ValueType::parse(bundle.type).reading() == bundle.reading)
    return type;
  return type + " " + std::string(name_of(bundle.reading));
}

std::string condition_words(const InputBundle& bundle) {
  const InputConditions& conditions = bundle.conditions;
  std::string words;
  if (conditions.is_ascending) words += " " + std::string(kAscending);
  if (conditions.is_distinct) words += " " + std::string(kDistinct);
  if (!conditions.range) return words;
  const auto text = [&](std::uint64_t bound) {
    const bool has_sign = bundle.reading == Reading::Signed || bundle.reading == Reading::Fixed;
    return has_sign ? std::to_string(static_cast<std::int64_t>(bound)) : std::to_string(bound);
  };
  return words + " " + std::string(kRange) + text(conditions.range->lowest) + ".." +
         text(conditions.range->highest);
}

bool is_word_character(char c) { return c > ' ' && c <= '~'; }

template <class Bundles>
void require_words(const std::string& kind, const CircuitInfo& info, const Bundles& bundles) {
  std::set<std::string> names;
  for (const auto& bundle : bundles) {
    if (!bundle.name.empty() && std::ranges::all_of(bundle.name, is_word_character)) {
      if (names.insert(bundle.name).second) continue;
      throw UsageError("circuit " + info.name + " has two " + kind + "s '" + bundle.name +
                       "': in a circuit file their names differ");
    }
    std::string word = bundle.name;
    for (char& c : word)
      if (!is_word_character(c)) c = '_';
    throw UsageError("circuit " + info.name + " has an " + kind + " '" + bundle.name +
                     "': in a circuit file a name is a word of ASCII without spaces; rename the " +
                     kind + (word.empty() ? "" : ", for example to " + word));
  }
}

}  // namespace

std::vector<std::uint32_t> FileDescription::input_widths() const { return widths_of(inputs); }
std::vector<std::uint32_t> FileDescription::output_widths() const { return widths_of(outputs); }

std::optional<FileDescription> description_in(const FileLines& lines) {
  if (lines.notes().empty()) return std::nullopt;
  return DescriptionReader(lines).read();
}

void write_description(const CircuitInfo& info, std::ostream& out) {
  require_words("input", info, info.inputs);
  require_words("output", info, info.outputs);
  const std::string begin(FileLines::kNote);
  out << begin << " description " << kVersion << '\n';
  for (const InputBundle& bundle : info.inputs)
    out << begin << " input " << bundle.name << ' ' << bundle.bits << ' ' << name_of(bundle.source)
        << ' ' << name_of(bundle.format) << (bundle.same_in_all_lanes ? " common" : "")
        << type_word(bundle) << condition_words(bundle) << '\n';
  for (const OutputBundle& bundle : info.outputs)
    out << begin << " output " << bundle.name << ' ' << bundle.bits << ' ' << name_of(bundle.to)
        << ' ' << name_of(bundle.format) << type_word(bundle) << '\n';
}

}  // namespace tinyot::circuit
