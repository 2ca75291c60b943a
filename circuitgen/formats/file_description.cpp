#include "circuitgen/formats/file_description.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>
#include <system_error>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

constexpr std::string_view kVersion = "1", kCommon = "common";

constexpr std::array<std::pair<std::string_view, ValueFormat>, 3> kFormats = {
    {{"bytes", ValueFormat::Bytes},
     {"integer", ValueFormat::Integer},
     {"msb-integer", ValueFormat::MsbInteger}}};
constexpr std::array<std::pair<std::string_view, std::optional<Party>>, 3> kOwners = {
    {{"A", Party::A}, {"B", Party::B}, {"none", std::nullopt}}};
constexpr std::array<std::pair<std::string_view, Receiver>, 4> kReceivers = {
    {{"A", Receiver::A}, {"B", Receiver::B}, {"both", Receiver::Both}, {"none", Receiver::None}}};

template <class Table>
std::string words_of(const Table& table) {
  std::string words;
  for (const auto& [word, value] : table) words += (words.empty() ? "" : ", ") + std::string(word);
  return words;
}

template <class Table, class Value>
std::string_view word_of(const Table& table, const Value& value) {
  const auto found =
      std::ranges::find_if(table, [&](const auto& row) { return row.second == value; });
  ENSURE(found != table.end());
  return found->first;
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
  template <class Table>
  auto value(const Table& table, std::string_view word, const char* what) const {
    const auto found =
        std::ranges::find_if(table, [&](const auto& row) { return row.first == word; });
    if (found == table.end())
      fail(FileLines::shown(word) + " is no " + what + ": " + words_of(table));
    return found->second;
  }

  void read_bundle() {
    const bool is_input = word(1) == "input", is_common = words_.size() == 7 && word(6) == kCommon;
    if (!is_input && word(1) != "output")
      fail("a line of the description describes an input or an output, not " +
           FileLines::shown(word(1)));
    if (words_.size() != 6 && !(is_input && is_common))
      fail("a bundle is described by its name, its width, its " +
           std::string(is_input ? "owner" : "receivers") + " and its format");
    std::string name(word(2));
    const std::uint32_t bits = width(word(3));
    const ValueFormat format = value(kFormats, word(5), "format");
    if (format == ValueFormat::Bytes && bits % 8 != 0)
      fail("the width of bytes is a multiple of 8, not " + std::to_string(bits));
    if (!(is_input ? input_names_ : output_names_).insert(name).second)
      fail(FileLines::shown(name) + " is described twice");
    if (is_input)
      description_.inputs.push_back(
          {std::move(name), bits, value(kOwners, word(4), "owner"), format, is_common});
    else
      description_.outputs.push_back(
          {std::move(name), bits, value(kReceivers, word(4), "receiver"), format});
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

template <class Bundles>
void require_words(const Bundles& bundles) {
  std::set<std::string> names;
  for (const auto& bundle : bundles) {
    const bool is_word = !bundle.name.empty() && std::ranges::all_of(bundle.name, [](char c) {
      return c > ' ' && c <= '~';
    });
    if (!is_word || !names.insert(bundle.name).second)
      throw UsageError("a circuit file needs distinct names without white space, unlike '" +
                       bundle.name + "'");
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
  require_words(info.inputs);
  require_words(info.outputs);
  const std::string begin(FileLines::kNote);
  out << begin << " description " << kVersion << '\n';
  for (const InputBundle& bundle : info.inputs)
    out << begin << " input " << bundle.name << ' ' << bundle.bits << ' '
        << word_of(kOwners, bundle.owner) << ' ' << word_of(kFormats, bundle.format)
        << (bundle.same_in_all_lanes ? " common\n" : "\n");
  for (const OutputBundle& bundle : info.outputs)
    out << begin << " output " << bundle.name << ' ' << bundle.bits << ' '
        << word_of(kReceivers, bundle.to) << ' ' << word_of(kFormats, bundle.format) << '\n';
}

}  // namespace tinyot::circuit
