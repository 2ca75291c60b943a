// What a preprocessing job continues: its store, or the session of which the store is a shard.
#pragma once

#include <optional>
#include <string>

#include "engine/plan.h"
#include "storage/session_file.h"
#include "storage/store.h"

namespace tinyot::engine {

// The store and session file that a job continues, if any.
struct Begun {
  std::optional<storage::SessionFile> session_file;
  std::optional<storage::Store> store;

  // Of the session; null if there is none yet.
  const storage::Manifest* manifest() const {
    return store ? &store->manifest() : session_file ? &session_file->manifest : nullptr;
  }
  std::string name(const PreprocessRequest& request) const {
    return store ? "the store in " + request.store.string()
                 : "the session of " + request.session->string();
  }
};

// Fails: UsageError for a request that begins nothing; StoreError if what it continues is missing,
// or cannot be used, or if a store that it is to begin exists.
Begun open_existing(const PreprocessRequest& job);

// The job that a connection continues or, in a complete store that is to grow, the most that it may
// begin: how much is known once connected, since it depends on what is left. Fails: StoreError if
// the amounts differ from those that were begun.
JobPlan plan_of(const PreprocessRequest& request, const Begun& begun);

}  // namespace tinyot::engine
