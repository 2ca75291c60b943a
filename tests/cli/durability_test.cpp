// What is durable on a party's disk before the peer is notified or the party's computation uses
// it: file syncs and messages in one list.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <random>
#include <set>

#include "engine/endpoint.h"
#include "engine/ledger.h"
#include "engine/synchronise.h"
#include "tests/storage/faults/disk.h"
#include "tests/storage/store_support.h"
#include "tests/support/both_parties.h"
#include "tests/support/cheating_channel.h"
#include "tests/support/circuit_files.h"
#include "tests/support/layers.h"
#include "tests/support/ports.h"
#include "tests/support/process.h"
#include "tests/support/two_parties.h"
#include "tinyot/run.h"
#include "tools/cli/circuit_spec.h"

namespace tinyot::test {
namespace {

thread_local char party_here = 0;  // 0 for a thread of neither party

// The events of the two parties, each on its own thread, in order.
class Trace final : public faults::Observer {
 public:
  struct Event {
    char party;
    std::string what;      // "commit", "sync FILE", or a message
    std::string unsynced;  // a file that had been written but not synced at that time
  };
  Trace() { faults::observe(this); }
  ~Trace() override { faults::observe(nullptr); }

  void written(int file, std::uint64_t, std::size_t) override {
    if (party_here == 0) return;
    const std::string name = name_of(file);
    if (!kSynced.contains(name)) return;
    // This is how LMDB writes the page that completes a commit.
    const bool is_synced = (::fcntl(file, F_GETFL) & O_DSYNC) != 0;
    const std::lock_guard lock(mutex_);
    if (is_synced)
      add("commit");
    else
      unsynced_[party_here == 'B'].insert(name);
  }
  void resized(int) override {}
  void synced(int file) override {
    if (party_here == 0) return;
    const std::lock_guard lock(mutex_);
    unsynced_[party_here == 'B'].erase(name_of(file));
    add("sync " + name_of(file));
  }
  void note(const std::string& what) {
    if (party_here == 0) return;
    const std::lock_guard lock(mutex_);
    add(what);
  }

  std::vector<Event> of(char party) const {
    std::vector<Event> events;
    std::ranges::copy_if(events_, std::back_inserter(events),
                         [&](const Event& event) { return event.party == party; });
    return events;
  }

 private:
  inline static const std::set<std::string> kSynced = {"material.mdb", "store.keys", "ledger"};

  static std::string name_of(int file) {
    return std::filesystem::path(faults::path_of(file)).filename().string();
  }
  void add(const std::string& what) {
    const auto& unsynced = unsynced_[party_here == 'B'];
    events_.push_back({party_here, what, unsynced.empty() ? "" : *unsynced.begin()});
  }

  std::mutex mutex_;
  std::set<std::string> unsynced_[2];
  std::vector<Event> events_;
};
Trace* tracing = nullptr;

using Events = std::vector<Trace::Event>;
Events::const_iterator find(const Events& events, Events::const_iterator from,
                            const std::string& what) {
  return std::find_if(from, events.end(),
                      [&](const Trace::Event& event) { return event.what == what; });
}

class DurabilityTest : public StoreTest {
 protected:
  std::filesystem::path place(char party) const { return root_ / std::string(1, party); }
};

// A commits the range before it sends it to B, and B before it confirms it; nothing is drawn before
// the keys of the range are erased.
TEST_F(DurabilityTest, RangeIsDurablyReservedBeforeThePeerIsTold) {
  constexpr MaterialKind kKind = MaterialKind::Triples;
  for (const Party party : {Party::A, Party::B}) {
    Store store = make_store(place(letter(party)), party);
    add_locked_unit(store, kKind, 1000);
  }
  Trace trace;
  PartyOptions options;
  const auto tap = [&](char party) {
    return cheating([&trace, party](std::string_view tag, std::size_t, std::vector<std::byte>&) {
      if (party_here == party) trace.note(std::string(tag));
    });
  };
  options.wrap_a = tap('A');
  options.wrap_b = tap('B');
  run_sessions(
      [&](Session& session) {
        party_here = letter(session.me());
        Store store = Store::open(place(party_here));
        // A part of a batch, so that the key of the whole batch has to be erased.
        Reservation reservation = reserve_with_peer(session, store, counts_of(kKind, 50));
        trace.note("reserved");
        party_here = 0;
      },
      options);
  for (const char party : {'A', 'B'}) {
    SCOPED_TRACE(party);
    const Events events = trace.of(party);
    const std::string message = party == 'A' ? "store.grant" : "store.taken";
    const auto sent = find(events, events.begin(), message);
    ASSERT_NE(sent, events.end());
    EXPECT_EQ(sent->unsynced, "");
    // The preceding message.
    const auto before =
        std::find_if(std::make_reverse_iterator(sent), events.rend(),
                     [](const Trace::Event& event) { return event.what.starts_with("store."); })
            .base();
    ASSERT_NE(before, events.begin());
    ASSERT_LT(find(events, before, "commit"), sent) << "the range is committed";
    const auto commit =
        std::find_if(std::make_reverse_iterator(sent), events.rend(),
                     [](const Trace::Event& event) { return event.what == "commit"; })
            .base();
    EXPECT_LT(find(events, commit, "sync store.keys"), sent)
        << "and then the keys of batches that were cut are erased";
    const auto reserved = find(events, sent, "reserved");
    ASSERT_NE(reserved, events.end());
    EXPECT_EQ(reserved->unsynced, "");
    EXPECT_LT(find(events, sent, "sync store.keys"), reserved)
        << "the keys of the range are erased";
  }
}

TEST_F(DurabilityTest, LedgerIsSyncedBeforeTheRunSends) {
  const Ended made =
      Process(TINYOT_BINARY, {"local", "preprocess", "--store", root_.string(), "--ands", "2^10",
                              "--profile", "fast", "--unit", "2^8", "--allow-weak"})
          .end();
  ASSERT_EQ(made.status, 0) << made.err;
  const std::string port = reserved_port();
  Trace trace;
  tracing = &trace;
  both([&](Party party) {
    party_here = letter(party);
    RunRequest job;
    job.party = party;
    job.endpoint = engine::endpoint_with(
        {.listen = party == Party::A,
         .address = {"127.0.0.1", port},
         .timeouts = {.connect = std::chrono::seconds(20), .idle = std::chrono::seconds(20)}});
    job.stores = {place(party_here)};
    std::filesystem::create_directory(root_ / ("ledger_of_" + std::string(1, party_here)));
    job.ledger = root_ / ("ledger_of_" + std::string(1, party_here)) / "ledger";
    CircuitSpec spec;
    spec.name = circuit_file("adder64.txt");
    const NamedCircuit circuit(spec);
    const Values inputs =
        parse_inputs(circuit, read_inputs({party == Party::A ? "0=0x2a" : "1=0x17"}));
    EXPECT_EQ(message_of<std::exception>([&] { tinyot::run(job, circuit.circuit(), inputs); }), "");
  });
  tracing = nullptr;
  party_here = 0;
  for (const char party : {'A', 'B'}) {
    SCOPED_TRACE(party);
    const Events events = trace.of(party);
    const auto ledger = find(events, events.begin(), "sync ledger");
    ASSERT_NE(ledger, events.end());
    EXPECT_EQ(ledger->unsynced, "");
    // The keys were erased when the material was taken.
    const auto taken =
        std::find_if(std::make_reverse_iterator(ledger), events.rend(),
                     [](const Trace::Event& event) { return event.what == "sync store.keys"; });
    ASSERT_NE(taken, events.rend());
    EXPECT_LT(ledger, find(events, taken.base(), "send"))
        << "something was sent before the ledger was synced";
    EXPECT_NE(find(events, ledger, "send"), events.end());
  }
}

TEST_F(DurabilityTest, LedgerKeepsItsLinesAfterPowerCut) {
  const std::filesystem::path disk_dir = root_ / "disk", image = root_ / "image";
  std::filesystem::create_directory(disk_dir);
  std::size_t lines = 0;
  std::mt19937_64 rng(1);
  const faults::Disk::Chance oldest = [](std::size_t) { return 0; };
  const faults::Disk::Chance any = [&](std::size_t states) { return rng() % states; };
  faults::Disk* disk = nullptr;
  const auto cut = [&] {
    for (const auto& chance : {oldest, any}) {
      disk->after_power_cut(image, chance);
      const std::string text = lines == 0 ? "" : read_file(image / "ledger");
      for (std::size_t i = 0; i < lines; ++i) {
        EXPECT_TRUE(mentions(text, " 2 " + std::to_string(100 * i) + " 50\n"));
      }
      std::filesystem::remove_all(image);
    }
  };
  faults::Disk observed(disk_dir, cut);
  disk = &observed;
  faults::observe(disk);
  for (std::size_t i = 0; i < 40; ++i) {
    const BatchEntry entry{
        .kind = MaterialKind::Triples, .first = 0, .count = 50, .shard = 2, .origin = 100 * i};
    append_to_ledger(disk_dir / "ledger", Manifest{}, std::span(&entry, 1));
    lines = i + 1;
  }
  faults::observe(nullptr);
  cut();
}

}  // namespace

void note_send() {
  if (tracing != nullptr) tracing->note("send");
}

}  // namespace tinyot::test

// These definitions replace those of the C library.
extern "C" {
ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  tinyot::test::note_send();
  return ::syscall(SYS_sendmsg, socket, message, flags);
}
ssize_t send(int socket, const void* bytes, std::size_t size, int flags) {
  tinyot::test::note_send();
  return ::syscall(SYS_sendto, socket, bytes, size, flags, nullptr, 0);
}
}
