#include "storage/page_check.h"

#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "system/file.h"
#include "system/memory_use.h"

namespace tinyot::storage {
namespace {

// The layout of the file.

// LMDB takes the system's pages, but none of 64 KiB, whose end does not fit into 16 bits.
constexpr std::size_t kPageBytesMin = 4096, kPageBytesMax = 32768;
constexpr std::uint64_t kNoPage = ~std::uint64_t{0};
constexpr std::uint32_t kMagic = 0xBEEFC0DE, kVersion = 1;
constexpr std::uint16_t kBranch = 1, kLeaf = 2, kOverflow = 4, kMeta = 8, kDirty = 16;
constexpr std::uint16_t kBigData = 1, kSubData = 2;
// of the free list: MDB_INTEGERKEY, and MDB_NOSUBDIR, which LMDB stores in the same field
constexpr std::uint16_t kIntegerKeys = 0x4008;
constexpr std::size_t kKeyBytesMax = 511;
constexpr int kDepthMax = 32;
constexpr std::size_t kIndexKeyBytes = 8;
constexpr std::size_t kLargeRecordBytes = 32768;

struct PageHead {
  std::uint64_t number;
  std::uint16_t pad;
  std::uint16_t flags;
  std::uint16_t lower, upper;  // of an overflow page: number of pages, 32 bits

  std::uint32_t pages() const { return lower | std::uint32_t{upper} << 16; }
};
static_assert(sizeof(PageHead) == 16);

struct NodeHead {
  std::uint16_t low, high, flags, key_bytes;

  std::uint64_t child() const {
    return low | std::uint64_t{high} << 16 | std::uint64_t{flags} << 32;
  }
  std::uint32_t value_bytes() const { return low | std::uint32_t{high} << 16; }
};
static_assert(sizeof(NodeHead) == 8);

struct Tree {
  std::uint32_t pad;
  std::uint16_t flags;
  std::uint16_t depth;
  std::uint64_t branch_pages, leaf_pages, overflow_pages, entries, root;
};
static_assert(sizeof(Tree) == 48);

struct Meta {
  std::uint32_t magic, version;
  std::uint64_t address, map_bytes;
  Tree free, main;
  std::uint64_t last_page, transaction;
};
static_assert(sizeof(Meta) == 136);

using Page = std::vector<std::byte>;

template <class T>
T read_as(std::span<const std::byte> bytes, std::size_t at) {
  T object;
  std::memcpy(&object, bytes.data() + at, sizeof object);
  return object;
}

std::uint64_t pages_for(std::uint64_t value_bytes, std::size_t page_bytes) {
  return (sizeof(PageHead) + value_bytes + page_bytes - 1) / page_bytes;
}

// The value of a larger node is stored in overflow pages.
std::size_t node_bytes_max(std::size_t page_bytes) {
  return (((page_bytes - sizeof(PageHead)) / 2) & ~std::size_t{1}) - 2;
}

using Key = std::vector<std::byte>;

class PageChecker {
 public:
  explicit PageChecker(const std::filesystem::path& path) : file_(path, O_RDONLY) {}
  void check();

 private:
  using Leaf = std::function<void(std::span<const std::byte> key, std::span<const std::byte> value,
                                  std::uint16_t flags)>;
  struct Counted {
    std::uint64_t branch_pages = 0, leaf_pages = 0, overflow_pages = 0, entries = 0;
  };
  struct Bounds {
    std::optional<Key> low, high;
  };

  [[noreturn]] void fail(std::uint64_t page, const std::string& what) const;
  [[noreturn]] void fail_on_missing(std::uint64_t page) const;
  Page read_page(std::uint64_t number) const;
  Meta read_meta(std::uint64_t number) const;
  bool has_magic(std::uint64_t number) const;
  std::size_t find_page_bytes() const;
  void mark(std::uint64_t first, std::uint64_t count, std::uint64_t from);
  void check_tree(const Tree& tree, std::uint16_t flags, const Leaf& leaf);
  void check_page(const Tree& tree, std::uint64_t number, int depth, const Bounds& bounds,
                  Counted& counted, const Leaf& leaf);
  void check_packed(const Page& page, const PageHead& head) const;
  void check_leaf_node(std::uint64_t number, const Page& page, std::size_t at, const NodeHead& node,
                       Counted& counted, const Leaf& leaf);
  void check_free_list(std::span<const std::byte> list);
  bool in_order(const Tree& tree, std::span<const std::byte> a, std::span<const std::byte> b) const;

  system::File file_;
  std::size_t page_bytes_ = kPageBytesMin;
  std::uint64_t last_page_ = 0;
  std::vector<bool> seen_;
};

void PageChecker::fail(std::uint64_t page, const std::string& what) const {
  throw StoreError(file_.path().string() + " is corrupt: page " + std::to_string(page) + ", " +
                   what +
                   "; nothing in it has been changed, but its material cannot be used: start a new "
                   "session in a new store");
}

void PageChecker::fail_on_missing(std::uint64_t page) const {
  throw StoreError(file_.path().string() + " is truncated: it has " + std::to_string(file_.size()) +
                   " bytes, and page " + std::to_string(page) +
                   " is missing; its material is lost; start a new session in a new store");
}

Page PageChecker::read_page(std::uint64_t number) const {
  Page page(page_bytes_);
  if (file_.read_at(number * page_bytes_, page) != page.size()) fail_on_missing(number);
  return page;
}

Meta PageChecker::read_meta(std::uint64_t number) const {
  const Page page = read_page(number);
  const auto head = read_as<PageHead>(page, 0);
  const auto meta = read_as<Meta>(page, sizeof head);
  if (head.number != number || head.flags != kMeta || meta.magic != kMagic ||
      meta.version != kVersion)
    fail(number, "its header");
  // A nonzero address would map the file at that address.
  if (meta.address != 0 || meta.free.flags != kIntegerKeys || meta.free.pad != page_bytes_ ||
      meta.main.flags != 0)
    fail(number, "its settings");
  if (meta.last_page >= meta.map_bytes / page_bytes_ || meta.last_page < 1)
    fail(number, "its sizes");
  return meta;
}

// Marks pages as used; fails if one is used already.
void PageChecker::mark(std::uint64_t first, std::uint64_t count, std::uint64_t from) {
  if (first < 2 || first > last_page_ || count > last_page_ - first + 1)
    fail(from, "a page number");
  for (std::uint64_t page = first; page < first + count; ++page) {
    if (seen_[page]) fail(page, "used twice");
    seen_[page] = true;
  }
}

bool PageChecker::has_magic(std::uint64_t number) const {
  Page page(page_bytes_);
  (void)file_.read_at(number * page_bytes_, page);
  return read_as<Meta>(page, sizeof(PageHead)).magic == kMagic;
}

// As the first page says, if that is possible; read_meta compares both meta pages with it.
std::size_t PageChecker::find_page_bytes() const {
  Page page(kPageBytesMin);
  (void)file_.read_at(0, page);
  const auto meta = read_as<Meta>(page, sizeof(PageHead));
  const std::size_t bytes = meta.free.pad;
  if (meta.magic != kMagic || !std::has_single_bit(bytes) || bytes < kPageBytesMin ||
      bytes > kPageBytesMax)
    return std::min(system::page_bytes(), kPageBytesMax);
  // The map of such a file might begin inside one of its pages.
  if (bytes > system::page_bytes())
    throw StoreError(file_.path().string() + " has pages of " + std::to_string(bytes) +
                     " bytes, as the system that made it; this one has pages of " +
                     std::to_string(system::page_bytes()) +
                     ", and can use stores with pages up to that size only; nothing in it has "
                     "been changed");
  return bytes;
}

void PageChecker::check() {
  page_bytes_ = find_page_bytes();
  if (!has_magic(0) && !has_magic(1))
    throw StoreError(file_.path().string() +
                     " is not a TinyOT store; nothing in it has been changed");
  const Meta metas[2] = {read_meta(0), read_meta(1)};
  const Meta& meta = metas[metas[0].transaction < metas[1].transaction ? 1 : 0];
  last_page_ = meta.last_page;
  if (file_.size() / page_bytes_ <= last_page_) fail_on_missing(last_page_);
  seen_.assign(last_page_ + 1, false);
  check_tree(
      meta.main, 0,
      [&](std::span<const std::byte>, std::span<const std::byte> value, std::uint16_t flags) {
        if (flags != kSubData || value.size() != sizeof(Tree)) fail(meta.main.root, "a table");
        check_tree(read_as<Tree>(value, 0), 0, {});
      });
  std::vector<std::vector<std::byte>> lists;
  check_tree(meta.free, kIntegerKeys,
             [&](std::span<const std::byte>, std::span<const std::byte> value, std::uint16_t) {
               lists.emplace_back(value.begin(), value.end());
             });
  for (const auto& list : lists) check_free_list(list);
}

void PageChecker::check_tree(const Tree& tree, std::uint16_t flags, const Leaf& leaf) {
  if (tree.flags != flags) fail(tree.root, "flags of a table");
  Counted counted;
  if (tree.root != kNoPage) {
    if (tree.depth < 1 || tree.depth > kDepthMax) fail(tree.root, "depth of a table");
    check_page(tree, tree.root, 1, {}, counted, leaf);
  } else if (tree.depth != 0) {
    fail(0, "depth of a table");
  }
  if (counted.branch_pages != tree.branch_pages || counted.leaf_pages != tree.leaf_pages ||
      counted.overflow_pages != tree.overflow_pages || counted.entries != tree.entries)
    fail(tree.root, "counts of a table");
}

bool PageChecker::in_order(const Tree& tree, std::span<const std::byte> a,
                           std::span<const std::byte> b) const {
  if (tree.flags == kIntegerKeys)
    return read_as<std::uint64_t>(a, 0) < read_as<std::uint64_t>(b, 0);
  return std::ranges::lexicographical_compare(a, b);
}

void PageChecker::check_page(const Tree& tree, std::uint64_t number, int depth,
                             const Bounds& bounds, Counted& counted, const Leaf& leaf) {
  mark(number, 1, number);
  const Page page = read_page(number);
  const auto head = read_as<PageHead>(page, 0);
  const bool is_leaf = depth == tree.depth;
  if (head.number != number || head.flags != (is_leaf ? kLeaf : kBranch))
    fail(number, "its header");
  if (head.lower < sizeof head || head.lower > head.upper || head.upper > page_bytes_ ||
      head.lower % 2 != 0)
    fail(number, "its bounds");
  const std::size_t keys = (head.lower - sizeof head) / 2;
  if (keys < (is_leaf ? 1u : 2u)) fail(number, "too few keys");
  ++(is_leaf ? counted.leaf_pages : counted.branch_pages);
  struct Child {
    std::uint64_t page;
    Key key;
  };
  std::vector<Child> children;
  Key last;
  const Key* before = bounds.low ? &*bounds.low : nullptr;
  for (std::size_t i = 0; i < keys; ++i) {
    const std::size_t at = read_as<std::uint16_t>(page, sizeof head + 2 * i);
    if (at < head.upper || at > page_bytes_ - sizeof(NodeHead)) fail(number, "position of a node");
    const auto node = read_as<NodeHead>(page, at);
    if (node.key_bytes > kKeyBytesMax || at + sizeof node + node.key_bytes > page_bytes_)
      fail(number, "size of a key");
    const auto key_at = page.begin() + static_cast<std::ptrdiff_t>(at + sizeof node);
    const Key key(key_at, key_at + node.key_bytes);
    const bool has_key = is_leaf || i > 0;  // the first key of a branch page is unused
    if (has_key) {
      if (tree.flags == kIntegerKeys && key.size() != sizeof(std::uint64_t))
        fail(number, "size of a key");
      if (before != nullptr &&
          (is_leaf && i == 0 ? in_order(tree, key, *before) : !in_order(tree, *before, key)))
        fail(number, "order of its keys");
      if (bounds.high && !in_order(tree, key, *bounds.high)) fail(number, "order of its keys");
      last = key;
      before = &last;
    }
    if (is_leaf) {
      ++counted.entries;
      check_leaf_node(number, page, at, node, counted, leaf);
    } else {
      children.push_back({node.child(), key});
    }
  }
  check_packed(page, head);
  for (std::size_t i = 0; i < children.size(); ++i) {
    const Bounds within{i == 0 ? bounds.low : std::optional(children[i].key),
                        i + 1 < children.size() ? std::optional(children[i + 1].key) : bounds.high};
    check_page(tree, children[i].page, depth + 1, within, counted, leaf);
  }
}

// LMDB packs its nodes, each in an even number of bytes. If their sizes add up to the used space,
// none overlaps another.
void PageChecker::check_packed(const Page& page, const PageHead& head) const {
  std::size_t bytes = 0;
  for (std::size_t i = sizeof head; i < head.lower; i += 2) {
    const auto node = read_as<NodeHead>(page, read_as<std::uint16_t>(page, i));
    const std::size_t value = head.flags == kBranch    ? 0
                              : node.flags == kBigData ? sizeof(std::uint64_t)
                                                       : node.value_bytes();
    bytes += (sizeof node + node.key_bytes + value + 1) & ~std::size_t{1};
  }
  if (bytes != page_bytes_ - head.upper) fail(head.number, "sizes of its nodes");
}

void PageChecker::check_leaf_node(std::uint64_t number, const Page& page, std::size_t at,
                                  const NodeHead& node, Counted& counted, const Leaf& leaf) {
  const std::size_t value_at = at + sizeof node + node.key_bytes;
  const auto key = std::span<const std::byte>(page).subspan(at + sizeof node, node.key_bytes);
  if (node.flags == kBigData) {
    if (value_at + sizeof(std::uint64_t) > page_bytes_) fail(number, "position of a value");
    const auto first = read_as<std::uint64_t>(page, value_at);
    std::uint64_t pages = pages_for(node.value_bytes(), page_bytes_);
    // A value that is overwritten by a smaller one keeps its pages, so more pages than it needs are
    // allowed. Records are never overwritten; for large values the number must be exact.
    const bool keeps_pages = leaf || node.value_bytes() < kLargeRecordBytes;
    if (keeps_pages) {
      if (first < 2 || first > last_page_) fail(number, "a page number");
      const auto head = read_as<PageHead>(read_page(first), 0);
      if (head.number != first || head.flags != kOverflow || head.pages() < pages)
        fail(first, "its header");
      pages = head.pages();
    }
    mark(first, pages, number);
    counted.overflow_pages += pages;
    if (!leaf) return;
    std::vector<std::byte> value(node.value_bytes());
    if (file_.read_at(first * page_bytes_ + sizeof(PageHead), value) != value.size())
      fail(first, "missing");
    leaf(key, value, 0);
    return;
  }
  if (node.flags != 0 && node.flags != kSubData) fail(number, "flags of a node");
  if (node.flags == kSubData && !leaf) fail(number, "flags of a node");
  if (node.value_bytes() > page_bytes_ || value_at + node.value_bytes() > page_bytes_)
    fail(number, "size of a value");
  if (leaf)
    leaf(key, std::span<const std::byte>(page).subspan(value_at, node.value_bytes()), node.flags);
}

// A list of page numbers, preceded by their count; unused space may follow.
void PageChecker::check_free_list(std::span<const std::byte> list) {
  if (list.size() < sizeof(std::uint64_t) || list.size() % sizeof(std::uint64_t) != 0)
    fail(0, "size of a list of free pages");
  const auto count = read_as<std::uint64_t>(list, 0);
  if (count > list.size() / sizeof(std::uint64_t) - 1) fail(0, "length of a list of free pages");
  for (std::uint64_t i = 1; i <= count; ++i)
    mark(read_as<std::uint64_t>(list, i * sizeof(std::uint64_t)), 1, 0);
}

}  // namespace

void check_pages(const std::filesystem::path& file) { PageChecker(file).check(); }

PageMap map_around(std::span<const std::byte> value, std::size_t page_bytes) {
  const std::byte* const page =
      value.data() - reinterpret_cast<std::uintptr_t>(value.data()) % page_bytes;
  std::uint64_t number;
  std::memcpy(&number, page, sizeof number);
  return {page - number * page_bytes, page_bytes};
}

void check_value_pages(const PageMap& map, std::span<const std::byte> value) {
  const std::size_t node_bytes = sizeof(NodeHead) + kIndexKeyBytes + value.size();
  if (node_bytes <= node_bytes_max(map.page_bytes)) return;
  PageHead head;
  const std::byte* const at = value.data() - sizeof head;
  std::memcpy(&head, at, sizeof head);
  const auto offset = static_cast<std::uint64_t>(at - map.begin);
  const std::uint64_t number = offset / map.page_bytes;
  // Pages written by this transaction are not in the map yet.
  if (head.flags == (kOverflow | kDirty)) return;
  if (offset % map.page_bytes != 0 || head.number != number || head.flags != kOverflow ||
      head.pages() != pages_for(value.size(), map.page_bytes))
    throw StoreError("page " + std::to_string(number) +
                     " of the store's database is corrupt; retire the store and start a new "
                     "session in a new one");
}

}  // namespace tinyot::storage
