// Two parties with keys on disks in a test directory, their copies, and what an observer of both
// knows: the keys themselves.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "custody/custodian.h"
#include "ideal_peers.h"
#include "tests/support/both_parties.h"
#include "tests/support/files.h"

namespace tinyot::test {

inline custody::KeyId key_id(std::uint8_t number) {
  custody::KeyId id;
  id.bytes.fill(std::byte{number});
  return id;
}
inline custody::RequestId request_id(std::uint8_t number) {
  custody::RequestId id{};
  id.back() = std::byte{number};
  return id;
}
inline custody::KeyAttributes attributes_of(
    std::uint8_t number, custody::KeyClass key_class = custody::KeyClass::Aead,
    custody::KeyAlgorithm algorithm = custody::KeyAlgorithm::Aes128) {
  custody::KeyAttributes attributes;
  attributes.id = key_id(number);
  attributes.label = "test/key-" + std::to_string(number);
  attributes.key_class = key_class;
  attributes.algorithm = algorithm;
  return attributes;
}

inline custody::Epoch epoch(std::uint64_t number, std::uint8_t tag = 1) {
  custody::Epoch epoch{number, {}};
  epoch.tag.fill(std::byte{tag});
  return epoch;
}

inline StoreKey store_key_of(Party party) {
  const std::string text = std::string("the store key of ") + letter(party) + ", 32 bytes..";
  return StoreKey(std::as_bytes(std::span(text)));
}

// How a step has ended at a party.
struct StepEnd {
  bool is_done = false, has_crashed = false;
  std::string message;
  std::optional<custody::KeyProblem> problem;
};
using StepEnds = std::array<StepEnd, 2>;

class TwoCustodians {
 public:
  using Step = std::function<void(custody::Custodian&, custody::KeyPeer&)>;

  explicit TwoCustodians(std::uint64_t seed = 1, bool has_backups = true)
      : seed_(seed), has_backups_(has_backups) {
    for (const Party party : {Party::A, Party::B}) {
      std::filesystem::create_directory(backups_of(party));
      open(party);
    }
  }

  std::filesystem::path disk_of(Party party) const {
    return directory / (std::string("disk ") + letter(party));
  }
  std::filesystem::path backups_of(Party party) const {
    return directory / (std::string("backups ") + letter(party));
  }

  // Both parties take a step on a new connection, and start again if one has ended.
  StepEnds run(const Step& step, const CrashAt& crash = {}) {
    IdealConnection connection(seed_++, crash);
    connection_ = &connection;
    StepEnds ends;
    both([&](Party party) { ends[index(party)] = take(step, party, connection); });
    connection_ = nullptr;
    for (const Party party : {Party::A, Party::B}) {
      steps[index(party)] = connection.steps(party);
      open(party);
    }
    return ends;
  }
  // The same, which must be done at both parties.
  void run_done(const Step& step) {
    const StepEnds ends = run(step);
    for (const StepEnd& end : ends) ASSERT_TRUE(end.is_done) << end.message;
  }

  // As when a link comes up: all keys are settled. Keys that cannot be are left as they are.
  void synchronise(const CrashAt& crash = {}) {
    std::set<custody::KeyId> ids;
    for (const Party party : {Party::A, Party::B})
      for (const custody::KeyRecord& record : files(party).records())
        ids.insert(record.attributes.id);
    for (const custody::KeyId& id : ids)
      run([&](custody::Custodian& custodian,
              custody::KeyPeer& peer) { custodian.settle(peer, id); },
          crash);
  }

  custody::KeyFiles& files(Party party) { return *files_[index(party)]; }

  // The key, of the shares on both disks in an epoch that both have.
  std::optional<std::vector<std::byte>> key(const custody::KeyId& id) {
    const auto a = files(Party::A).find(id), b = files(Party::B).find(id);
    if (!a || !b) return std::nullopt;
    for (const custody::HeldEpoch& held : a->held)
      for (const custody::HeldEpoch& other : b->held)
        if (held.epoch == other.epoch)
          return sum(files(Party::A).share(id, held.epoch), files(Party::B).share(id, held.epoch));
    return std::nullopt;
  }
  static std::vector<std::byte> sum(const custody::Share& a, const custody::Share& b) {
    std::vector<std::byte> sum(a.begin(), a.end());
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] ^= b[k];
    return sum;
  }

  // Whether the key is loaded, which checks the shares.
  bool loads(const custody::KeyId& id) {
    const StepEnds ends = run(
        [&](custody::Custodian& custodian, custody::KeyPeer& peer) { custodian.load(peer, id); });
    return ends[0].is_done && ends[1].is_done;
  }

  // Starts anew from the disk.
  void open(Party party) {
    files_[index(party)].reset();
    files_[index(party)] = std::make_unique<custody::KeyFiles>(
        disk_of(party), custody::KeyFiles::Owner{party, "the peer", peer_identities[index(party)]},
        store_key_of(party), [this, party](std::string_view step) {
          if (keeps_history) copy_disk(party, step);
          if (connection_ != nullptr) connection_->step(party);
        });
  }

  // Puts an old copy in the place of the disk.
  void set_back(Party party, const std::filesystem::path& copy) {
    files_[index(party)].reset();
    std::filesystem::remove_all(disk_of(party));
    std::filesystem::copy(copy, disk_of(party), std::filesystem::copy_options::recursive);
    open(party);
  }
  std::filesystem::path copy_disk(Party party, std::string_view = {}) {
    const std::filesystem::path copy =
        directory / ("copy " + std::to_string(copies_++) + letter(party));
    if (std::filesystem::exists(disk_of(party)))
      std::filesystem::copy(disk_of(party), copy, std::filesystem::copy_options::recursive);
    history[index(party)].push_back(copy);
    return copy;
  }

  static std::size_t index(Party party) { return static_cast<std::size_t>(party); }

  TestDirectory directory{"/dev/shm"};  // every step is synced
  std::array<crypto::BoxPrivateKey, 2> backup_keys{crypto::random_box_key(),
                                                   crypto::random_box_key()};
  std::array<std::string, 2> peer_identities{"identity", "identity"};  // from open() on
  bool keeps_history = false;
  std::array<std::vector<std::filesystem::path>, 2> history;  // before each durable step
  std::array<std::size_t, 2> steps{};                         // of the last run

 private:
  StepEnd take(const Step& step, Party party, IdealConnection& connection) {
    StepEnd end;
    try {
      const custody::Backups backups =
          has_backups_ ? custody::Backups(backups_of(party),
                                          {{"officer", public_key_of(backup_keys[index(party)])}})
                       : custody::Backups();
      custody::Custodian custodian(files(party), backups, files(party).begin_link());
      step(custodian, *connection.end_of(party));
      end.is_done = true;
    } catch (const Crashed&) {
      end.has_crashed = true;
      end.message = "crashed";
    } catch (const custody::KeyError& error) {
      end.message = error.what();
      end.problem = error.problem();
    } catch (const Error& error) {
      end.message = error.what();
    }
    connection.close();
    return end;
  }

  std::uint64_t seed_;
  bool has_backups_;
  std::atomic<std::size_t> copies_ = 0;
  IdealConnection* connection_ = nullptr;
  std::array<std::unique_ptr<custody::KeyFiles>, 2> files_;
};

}  // namespace tinyot::test
