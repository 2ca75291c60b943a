// Work of custody beside jobs, as Scheduler and Evaluations know it: it takes material and a
// worker, and continues from the keys that are loaded on the worker's connection.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "custody/key_session.h"
#include "service/jobs.h"
#include "service/turns.h"
#include "tinyot/material.h"
#include "tinyot/run.h"

namespace tinyot::service {

// A connection of a worker as custody uses it. The evaluator, files and backups outlive it.
struct KeyConnection {
  KeyConnection(Evaluator& evaluator, custody::KeyFiles& files, const custody::Backups& backups,
                std::uint64_t link)
      : peer(evaluator), custodian(files, backups, link), session(custodian, peer) {}
  KeyConnection(const KeyConnection&) = delete;
  KeyConnection& operator=(const KeyConnection&) = delete;

  custody::EvaluatorPeer peer;
  custody::Custodian custodian;
  custody::KeySession session;
};

class KeyWork {
 public:
  virtual ~KeyWork() = default;
  // What it takes at most of material of this form, and the ANDs of that.
  virtual MaterialCounts material(AndMaterial form) const = 0;
  virtual std::uint64_t ands() const = 0;
  virtual Asker asker() const = 0;
  // Of the leading party, under the lock of Scheduler: the work gets this place, and the peer is to
  // be told, before the worker begins. False if the work is no longer wanted.
  virtual bool begins(std::size_t worker, std::uint64_t group, std::uint64_t session) = 0;
  // On the worker's thread. `connection` is empty until the first work on the worker's connection.
  // An exception ends the connection.
  virtual void run(Evaluator& evaluator, std::shared_ptr<KeyConnection>& connection) = 0;
  // Once for each beginning, without a lock.
  virtual void ended(const std::optional<JobError>& error) = 0;
};
using SharedKeyWork = std::shared_ptr<KeyWork>;

}  // namespace tinyot::service
