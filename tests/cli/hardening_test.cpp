// The executable of an optimised build has been built with the hardening flags.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/files.h"

namespace tinyot::test {
namespace {

// An ELF file of the machine that runs the test.
class Executable {
 public:
  explicit Executable(const std::string& path) {
    bytes_ = read_file(path);
    header_ = at<Elf64_Ehdr>(0);
    for (std::size_t i = 0; i < header_.e_phnum; ++i)
      segments_.push_back(at<Elf64_Phdr>(header_.e_phoff + i * header_.e_phentsize));
    for (std::size_t i = 0; i < header_.e_shnum; ++i)
      sections_.push_back(at<Elf64_Shdr>(header_.e_shoff + i * header_.e_shentsize));
  }

  bool is_elf64() const {
    return std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
           header_.e_ident[EI_CLASS] == ELFCLASS64;
  }
  bool is_position_independent() const { return header_.e_type == ET_DYN; }

  bool has_segment(Elf64_Word type) const {
    for (const Elf64_Phdr& segment : segments_)
      if (segment.p_type == type) return true;
    return false;
  }

  // The value of an entry of the dynamic section, or 0.
  Elf64_Xword dynamic(Elf64_Sxword tag) const {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_DYNAMIC) continue;
      for (Elf64_Xword at_entry = 0; at_entry < section.sh_size; at_entry += sizeof(Elf64_Dyn)) {
        const auto entry = at<Elf64_Dyn>(section.sh_offset + at_entry);
        if (entry.d_tag == tag) return entry.d_un.d_val;
      }
    }
    return 0;
  }

  // The functions that it imports from shared libraries.
  std::vector<std::string> imports() const {
    std::vector<std::string> names;
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_DYNSYM) continue;
      const Elf64_Off strings = sections_.at(section.sh_link).sh_offset;
      for (Elf64_Xword at_entry = 0; at_entry < section.sh_size; at_entry += sizeof(Elf64_Sym)) {
        const auto symbol = at<Elf64_Sym>(section.sh_offset + at_entry);
        if (symbol.st_shndx == SHN_UNDEF) names.emplace_back(&bytes_.at(strings + symbol.st_name));
      }
    }
    return names;
  }

 private:
  template <class T>
  T at(std::size_t offset) const {
    if (offset + sizeof(T) > bytes_.size()) throw std::out_of_range("not a whole ELF file");
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

  std::string bytes_;
  Elf64_Ehdr header_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
};

TEST(HardeningTest, OptimisedExecutableIsHardened) {
  if (!TINYOT_HARDENED) GTEST_SKIP() << "not hardened: not optimised, or with a sanitizer";
  const Executable command(TINYOT_BINARY);
  if (!command.is_elf64()) GTEST_SKIP() << "not a 64-bit ELF file";
  EXPECT_TRUE(command.is_position_independent());
  EXPECT_TRUE(command.dynamic(DT_FLAGS_1) & DF_1_PIE);
  EXPECT_TRUE(command.has_segment(PT_GNU_RELRO));
  EXPECT_TRUE(command.dynamic(DT_FLAGS_1) & DF_1_NOW);
  bool has_stack_check = false, has_checked_calls = false;
  for (const std::string& name : command.imports()) {
    has_stack_check |= name == "__stack_chk_fail";
    has_checked_calls |= name.ends_with("_chk");
  }
  EXPECT_TRUE(has_stack_check) << "-fstack-protector-strong";
  EXPECT_TRUE(has_checked_calls) << "_FORTIFY_SOURCE";
}

}  // namespace
}  // namespace tinyot::test
