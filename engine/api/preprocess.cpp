#include "tinyot/preprocess.h"

#include "engine/api/state.h"
#include "engine/preprocess.h"
#include "storage/store.h"

namespace tinyot {

PreprocessResult preprocess(const PreprocessRequest& request, Observer* observer,
                            std::stop_token cancel) {
  const engine::PreprocessRequest job{.party = request.party,
                                      .endpoint = engine_endpoint(request.endpoint),
                                      .store = request.store,
                                      .store_key = read_key(request.store_key),
                                      .session = request.session,
                                      .shard = request.shard,
                                      .shards = request.shards,
                                      .parameters = request.parameters,
                                      .amount = request.amount,
                                      .ands = request.ands,
                                      .inputs = request.inputs,
                                      .threads = request.threads,
                                      .memory_bytes = request.memory_bytes,
                                      .resume = request.resume};
  Observer none;
  engine::PreprocessResult result =
      engine::preprocess(job, observer != nullptr ? *observer : none, std::move(cancel));
  return {.store = Store(request.store, request.store_key).info(),
          .ands = result.ands,
          .wall_s = result.wall_s,
          .phases = std::move(result.phases)};
}

}  // namespace tinyot
