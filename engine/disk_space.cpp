#include "engine/disk_space.h"

#include "engine/top_up.h"
#include "system/file.h"

namespace tinyot::engine {
namespace {

constexpr net::MessageTag kSpace = net::message_tag("store.space");

// What LMDB adds, as measured: a record ends with its page, an eighth of a percent to 3 % of the
// material; small units have few objects in each record; a store keeps free pages for commits.
constexpr std::uint64_t kPartOfRecords = 32, kBytesOfUnit = 16 << 10, kBytesOfStore = 2 << 20;

}  // namespace

std::uint64_t space_for(std::span<const offline::UnitRequest> units, AndMaterial form) {
  if (units.empty()) return 0;
  const Demand demand = demand_of(units);
  const std::uint64_t material = bytes_on_disk(form, demand.ands, demand.inputs);
  return material + material / kPartOfRecords + units.size() * kBytesOfUnit + kBytesOfStore;
}

std::uint64_t space_for(const PreprocessRequest& request, const MaterialCounts& left) {
  const JobPlan plan = next_job(request, left);
  return space_for(plan.units, plan.params.material());
}

std::optional<DiskFull> disk_shortage(const std::filesystem::path& store, std::uint64_t bytes) {
  try {
    system::require_free_space(store, bytes, "the material to be made");
  } catch (const DiskFull& shortage) {
    return shortage;
  }
  return std::nullopt;
}

void agree_on_space(net::Channel& channel, const std::optional<DiskFull>& shortage) {
  net::send_object(channel, kSpace, std::uint64_t{shortage ? 0u : 1u});
  const bool can_peer_store = net::recv_object<std::uint64_t>(channel, kSpace) == 1;
  if (shortage) throw DiskFull(*shortage);
  if (!can_peer_store)
    throw Disagreement(
        "the peer cannot store the material: it does not have enough free disk space; nothing has "
        "been begun, start again when it has");
}

}  // namespace tinyot::engine
