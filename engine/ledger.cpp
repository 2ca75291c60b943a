#include "engine/ledger.h"

#include <fcntl.h>

#include "engine/connection.h"
#include "system/file.h"

namespace tinyot::engine {

void append_to_ledger(const std::filesystem::path& ledger, const storage::Manifest& manifest,
                      std::span<const storage::BatchEntry> batches) {
  std::string lines;
  for (std::size_t i = 0; i < batches.size();) {
    const storage::BatchEntry& first = batches[i];
    std::uint64_t end = first.origin + first.count;
    for (++i; i < batches.size() && batches[i].kind == first.kind &&
              batches[i].shard == first.shard && batches[i].origin == end;
         ++i)
      end += batches[i].count;
    lines += hex_of(session_id_of(manifest)) + " " + letter(manifest.me) + " " +
             std::string(name_of(first.kind)) + " " + std::to_string(first.shard) + " " +
             std::to_string(first.origin) + " " + std::to_string(end - first.origin) + "\n";
  }
  const system::File file(ledger, O_RDWR | O_CREAT | O_APPEND);
  // A killed process may have left a partial line, which must not be joined to the next one. None
  // of its objects was used.
  std::byte last{'\n'};
  if (const std::uint64_t size = file.size(); size > 0)
    (void)file.read_at(size - 1, std::span(&last, 1));
  if (last != std::byte{'\n'}) lines.insert(0, 1, '\n');
  file.write_at(0, std::as_bytes(std::span(lines)));  // O_APPEND ignores the offset
  file.sync();
  // The file may be new, or the process that made it may have been killed before this sync.
  system::sync_directory(ledger.has_parent_path() ? ledger.parent_path() : ".");
}

}  // namespace tinyot::engine
