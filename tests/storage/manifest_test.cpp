#include "storage/manifest.h"

#include <limits>

#include "cursors.pb.h"
#include "manifest.pb.h"
#include "tests/storage/store_support.h"
#include "tests/support/layers.h"

namespace tinyot {
namespace {

std::string parsed_message(const std::string& coded) {
  return message_of([&] { parse_manifest(std::as_bytes(std::span(coded))); });
}

// The error message for a manifest whose protobuf record was changed.
template <class Change>
std::string message_after(const Change& change) {
  stored::ManifestRecord record;
  EXPECT_TRUE(record.ParseFromString(serialize_manifest(test_manifest(Party::A))));
  change(record);
  return parsed_message(record.SerializeAsString());
}

TEST(Manifest, RoundTripKeepsEveryField) {
  for (const Party me : {Party::A, Party::B}) {
    for (const StoreState state : {StoreState::Open, StoreState::Complete, StoreState::Revoked}) {
      Manifest manifest = test_manifest(me);
      manifest.state = state;
      manifest.revocation_reason = state == StoreState::Revoked ? "the peer deviated" : "";
      manifest.units_made = 12345678901;
      manifest.units_requested = 12345678902;
      manifest.units_before = 12345;
      manifest.ands_before = 123456;
      if (me == Party::A) manifest.inputs_requested = 12345678;
      manifest.peer_complete = me == Party::B;
      manifest.own = {{"columns", "theorem"}, {"silent-set", "13"}};
      manifest.bucket = me == Party::A ? BucketSizes(4) : BucketSizes(3, 160);
      manifest.shard = 3;
      manifest.shards = 7;
      const std::string coded = serialize_manifest(manifest);
      EXPECT_EQ(parse_manifest(std::as_bytes(std::span(coded))), manifest);
    }
  }
}

TEST(Manifest, FormatDescriptionHasEveryField) {
  const std::string format =
      read_file(std::filesystem::path(TINYOT_VECTORS_DIR) / "../../storage/FORMAT.md");
  ASSERT_FALSE(format.empty());
  const auto expect_all = [&](const google::protobuf::Descriptor& record) {
    for (int i = 0; i < record.field_count(); ++i) {
      const std::string name(record.field(i)->name());
      EXPECT_TRUE(format.find("| " + name + " |") != std::string::npos ||
                  format.find("| " + name + ",") != std::string::npos ||
                  format.find(", " + name + ",") != std::string::npos ||
                  format.find(", " + name + " |") != std::string::npos)
          << record.name() << ": " << name;
    }
  };
  expect_all(*stored::ManifestRecord::descriptor());
  expect_all(*stored::CursorsRecord::descriptor());
}

TEST(Manifest, OtherFormatNamesBothAndWhatToDo) {
  const auto message_of_format = [](std::uint32_t format) {
    return message_after([&](auto& record) { record.set_format_version(format); });
  };
  for (const std::uint32_t format : {1u, 2u, 3u})
    EXPECT_EQ(message_of_format(format), "this store has format " + std::to_string(format) +
                                             "; this version reads format 4: preprocess into a "
                                             "new store");
  for (const std::uint32_t format : {5u, ~std::uint32_t{0}})
    EXPECT_EQ(message_of_format(format), "this store has format " + std::to_string(format) +
                                             "; this version reads format 4: use the version "
                                             "that made the store");
}

// Other formats are refused before any other field is looked at.
TEST(Manifest, FormatIsCheckedFirst) {
  const std::string message = message_after([](auto& record) {
    record.Clear();
    record.set_format_version(3);
  });
  EXPECT_TRUE(mentions(message, "this store has format 3"));
}

TEST(Manifest, InvalidValueNamesField) {
  using Record = stored::ManifestRecord;
  const auto field = [](const std::string& name, const auto& change) {
    EXPECT_EQ(message_after(change), "manifest is corrupt: " + name);
  };
  field("format version", [](Record& r) { r.set_format_version(0); });
  field("session id", [](Record& r) { r.set_session_id("short"); });
  field("party", [](Record& r) { r.set_party(stored::PARTY_UNKNOWN); });
  field("party", [](Record& r) { r.set_party(static_cast<stored::PartyName>(9)); });
  field("peer", [](Record& r) { r.set_peer("\x1b[2J"); });
  field("peer", [](Record& r) { r.set_peer("\xff\xfe"); });
  field("peer", [](Record& r) { r.set_peer(std::string(100000, 'x')); });
  field("profile", [](Record& r) { r.set_profile(""); });
  field("profile", [](Record& r) { r.set_profile("NNOB 12"); });
  field("material", [](Record& r) { r.set_material(""); });
  field("kappa", [](Record& r) { r.set_kappa(64); });
  field("sigma", [](Record& r) { r.set_sigma(0); });
  field("sigma", [](Record& r) { r.set_sigma(129); });
  const auto own = [&](const std::string& name, const std::string& value) {
    field("parameters of the profile", [&](Record& r) {
      stored::OwnParameter& added = *r.add_own();
      added.set_name(name);
      added.set_value(value);
    });
  };
  own("", "2");
  own("softspoken-k", "");
  own("softspoken-k", "\x1b[2J");
  own(std::string(33, 'x'), "2");
  own("softspoken-k", std::string(33, '1'));
  own("columns", "experiment");  // a second time
  field("parameters of the profile", [](Record& r) {
    for (int i = 0; i < 16; ++i) {
      stored::OwnParameter& added = *r.add_own();
      added.set_name("n" + std::to_string(i));
      added.set_value("1");
    }
  });
  field("bucket", [](Record& r) { r.clear_bucket(); });
  field("bucket", [](Record& r) { r.set_bucket(0, 0); });
  field("bucket", [](Record& r) { r.set_bucket(0, 4097); });
  field("bucket", [](Record& r) { r.add_bucket(0); });
  field("bucket", [](Record& r) {
    r.add_bucket(4);
    r.add_bucket(4);
  });
  field("unit", [](Record& r) { r.set_unit(0); });
  field("unit", [](Record& r) { r.set_unit((std::uint64_t{1} << 24) + 1); });
  field("shard", [](Record& r) { r.set_shard(0); });
  field("shard", [](Record& r) { r.set_shard(2); });
  field("shard", [](Record& r) { r.set_shards(0); });
  field("shard", [](Record& r) { r.set_shards((1u << 16) + 1); });
  field("state", [](Record& r) { r.set_state(stored::STATE_UNKNOWN); });
  field("revocation reason", [](Record& r) { r.set_state(stored::STATE_REVOKED); });
  field("revocation reason",
        [](Record& r) { r.set_revocation_reason("a reason without revocation"); });
  field("units made",
        [](Record& r) { r.set_units_made(std::numeric_limits<std::uint64_t>::max()); });
  field("ANDs requested",
        [](Record& r) { r.set_ands_requested(std::numeric_limits<std::uint64_t>::max()); });
  const auto revoked = [](Record& r, const std::string& reason) {
    r.set_state(stored::STATE_REVOKED);
    r.set_revocation_reason(reason);
  };
  field("revocation reason", [&](Record& r) { revoked(r, "the peer\x1b[2J"); });
  field("revocation reason", [&](Record& r) { revoked(r, std::string(1025, 'x')); });
  field("units requested", [](Record& r) { r.set_units_requested((std::uint64_t{1} << 56) + 1); });
  field("inputs requested",
        [](Record& r) { r.set_inputs_requested((std::uint64_t{1} << 56) + 1); });
  // The last job has what is left of the whole.
  field("units before the last job", [](Record& r) { r.set_units_before(1); });
  field("ANDs before the last job", [](Record& r) { r.set_ands_before(r.ands_requested() + 1); });
  field("sigma by the paper's bound", [](Record& r) { r.set_sigma_paper_bound(2e6); });
  field("exact sigma",
        [](Record& r) { r.set_sigma_exact(std::numeric_limits<double>::infinity()); });
  field("sigma by the paper's bound",
        [](Record& r) { r.set_sigma_paper_bound(std::numeric_limits<double>::quiet_NaN()); });
  field("exact sigma", [](Record& r) { r.set_sigma_exact(-1); });
}

TEST(Manifest, PrefixesAndFlippedBitsParseOrAreRejected) {
  const std::string coded = serialize_manifest(test_manifest(Party::B));
  for (std::size_t size = 0; size < coded.size(); ++size) parsed_message(coded.substr(0, size));
  for (std::size_t bit = 0; bit < coded.size() * 8; ++bit) {
    std::string flipped = coded;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    parsed_message(flipped);
  }
  EXPECT_EQ(parsed_message(""), "manifest is corrupt: format version");
}

TEST(Manifest, ConvertsTextToPrintableAscii) {
  EXPECT_EQ(printable("EQ of LaBit"), "EQ of LaBit");
  EXPECT_EQ(printable("a\nb\x1b\xc3"), "a?b??");
  EXPECT_EQ(printable(""), "no reason given");
  EXPECT_EQ(printable(std::string(5000, 'x')).size(), 1024u);
}

TEST(Manifest, DoesNotWriteInvalidManifest) {
  Manifest manifest = test_manifest(Party::A);
  manifest.profile = "";
  EXPECT_TRUE(mentions(message_of([&] { serialize_manifest(manifest); }), "profile"));
}

}  // namespace
}  // namespace tinyot
