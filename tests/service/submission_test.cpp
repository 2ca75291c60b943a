#include "service/submission.h"

#include <grpcpp/support/byte_buffer.h>
#include <gtest/gtest.h>

#include <list>
#include <optional>

#include "base/lane_bits.h"
#include "service/offer.h"
#include "service/peer_link.h"
#include "system/memory_use.h"
#include "tests/support/layers.h"
#include "tests/support/peak_memory.h"

namespace tinyot::test {
namespace {

using service::MemoryBudget;
using service::Submission;

v1::SubmitRequest job(const std::string& circuit, std::uint64_t lanes = 1) {
  v1::SubmitRequest request;
  request.mutable_job()->set_id("id");
  request.mutable_job()->set_circuit(circuit);
  request.mutable_job()->set_lanes(lanes);
  return request;
}

v1::SubmitRequest bits(const std::string& name, const std::string& value) {
  v1::SubmitRequest request;
  request.add_inputs()->set_name(name);
  request.mutable_inputs(0)->set_bits(value);
  return request;
}

std::string error_of(const std::vector<v1::SubmitRequest>& parts, Party me = Party::A,
                     std::uint64_t bytes_max = 1000) {
  try {
    MemoryBudget budget(1 << 24);
    Submission submission(bytes_max, budget);
    for (v1::SubmitRequest part : parts) submission.add(std::move(part));
    const auto circuit = submission.circuit();
    submission.inputs(circuit, me);
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

TEST(SubmissionTest, PartsOfAnInputAreJoined) {
  MemoryBudget budget(1 << 24);
  Submission submission(1000, budget);
  submission.add(job("millionaires", 2));
  submission.add(bits("a", std::string("\x01\x02\x03\x04\x05", 5)));
  submission.add(bits("a", std::string("\x06\x07\x08", 3)));
  const auto circuit = submission.circuit();
  const auto values = submission.inputs(circuit, Party::A);
  ASSERT_EQ(values.lanes("a"), 2u);
  EXPECT_EQ(values.integer("a", 0), 0x04030201u);
  EXPECT_EQ(values.integer("a", 1), 0x08070605u);
  EXPECT_EQ(values.names(), std::vector<std::string>{"a"});
}

v1::SubmitRequest numbers(const std::string& name, const std::vector<std::string>& values) {
  v1::SubmitRequest request;
  request.add_inputs()->set_name(name);
  for (const std::string& value : values) request.mutable_inputs(0)->add_numbers(value);
  return request;
}

TEST(SubmissionTest, NumbersAreWhatTheCircuitReads) {
  const auto error = [](const std::string& circuit, const std::vector<std::string>& values) {
    const std::string input = circuit.starts_with("millionaires") ? "a" : "values_a";
    return error_of({job(circuit), numbers(input, values)});
  };
  EXPECT_EQ(error("millionaires:signed=1", {"-1"}), "");
  EXPECT_EQ(error("millionaires:signed=1,fraction=16", {"-2.5"}), "");
  EXPECT_EQ(error("millionaires:text=1", {"abcd"}), "");
  EXPECT_NE(error("millionaires", {"-1"}), "");
  EXPECT_NE(error("millionaires", {"2.5"}), "");
  EXPECT_NE(error("millionaires", {"abcd"}), "");
  EXPECT_NE(error("millionaires:signed=1,bits=8", {"128"}), "");
  EXPECT_EQ(error("millionaires:signed=1,bits=8", {"0xff"}), "");
  EXPECT_EQ(error("sort:count=4,bits=8,signed=1", {"-1", "127"}), "");
  EXPECT_EQ(error("sort:count=4,bits=8", {"0x7fff"}), "") << "all bits of the list";
  EXPECT_NE(error("sort:count=4,bits=8", {"1", "2", "3"}).find("3 values given, 2 expected"),
            std::string::npos);
  EXPECT_EQ(error("sorted_set_intersection:count=2,bits=8", {"1", "2"}), "");
  EXPECT_EQ(error("sorted_set_intersection:count=2,bits=8", {"2", "1"}),
            "input values_a: value 2 is less than the one before: the list has to be in ascending "
            "order");
  EXPECT_EQ(error_of({job("sorted_set_intersection:count=2,bits=8"), bits("values_a", "\2\1")}),
            error("sorted_set_intersection:count=2,bits=8", {"2", "1"}));
}

TEST(SubmissionTest, RefusesWhatDoesNotFit) {
  const std::string four(4, '\0');
  EXPECT_EQ(error_of({job("millionaires"), bits("a", four)}), "");
  EXPECT_NE(error_of({bits("a", four)}).find("first message"), std::string::npos);
  EXPECT_NE(error_of({job("millionaires"), job("millionaires")}).find("first message"),
            std::string::npos);
  EXPECT_NE(error_of({job("millionaires"), bits("a", "\1")}).find("1 bytes given, 4 expected"),
            std::string::npos);
  EXPECT_NE(error_of({job("millionaires"), bits("a", four + four)}).find("8 bytes given, 4 expect"),
            std::string::npos);
  for (const std::string& id : {std::string(), std::string("../1"), std::string(65, '1')}) {
    v1::SubmitRequest named = job("millionaires");
    named.mutable_job()->set_id(id);
    EXPECT_NE(error_of({named, bits("a", four)}).find("the id of a job"), std::string::npos) << id;
  }
  EXPECT_NE(error_of({job("millionaires"), bits("a", four), bits("x", four)}).find("no input 'x'"),
            std::string::npos);
  EXPECT_NE(error_of({job("millionaires"), bits("a", four)}, Party::B).find("does not belong"),
            std::string::npos);
  EXPECT_NE(error_of({job("millionaires")}).find("missing"), std::string::npos);
  EXPECT_NE(error_of({job("millionaires", std::uint64_t{1} << 40), bits("a", four)}).find("lanes"),
            std::string::npos);
  EXPECT_NE(error_of({job("millionaires"), bits("a", std::string(2000, '\0'))}).find("larger"),
            std::string::npos);
  EXPECT_NE(error_of({job("millionaires:bits=3"), bits("a", "\x08")}).find("beyond"),
            std::string::npos);
  v1::SubmitRequest both = bits("a", four);
  both.mutable_inputs(0)->add_numbers("1");
  EXPECT_NE(error_of({job("millionaires"), both}).find("as bits and as numbers"),
            std::string::npos);
  v1::SubmitRequest file = job("name");
  file.mutable_job()->set_is_file(true);
  file.set_circuit_part("not a circuit");
  EXPECT_NE(error_of({file}), "");
  v1::SubmitRequest roles = job("millionaires");
  (*roles.mutable_job()->mutable_roles()->mutable_owners())[0] = "B";
  EXPECT_NE(error_of({roles, bits("a", four)}).find("its own"), std::string::npos);
}

TEST(SubmissionTest, RolesOfAFileAreThoseThatItNames) {
  using circuit::Receiver;
  v1::FileRoles roles;
  EXPECT_TRUE(service::options_of(roles).sources.empty());
  EXPECT_FALSE(service::options_of(roles).other_receivers.has_value());
  (*roles.mutable_owners())[0] = "B";
  (*roles.mutable_owners())[3] = "public";
  roles.add_bundles(7);
  const auto options = service::options_of(roles);
  EXPECT_EQ(options.sources.size(), 2u);
  EXPECT_EQ(options.sources.at(0), circuit::InputSource::B);
  EXPECT_EQ(options.sources.at(3), circuit::InputSource::Public);
  EXPECT_EQ(options.bundles, std::vector<std::uint32_t>{7});
  for (const auto& [name, receiver] :
       {std::pair("A", Receiver::A), {"B", Receiver::B}, {"both", Receiver::Both}}) {
    roles.set_receiver(name);
    EXPECT_EQ(service::options_of(roles).other_receivers, receiver);
  }
  roles.set_receiver("nobody");
  EXPECT_THROW((void)service::options_of(roles), UsageError);
  roles.clear_receiver();
  (*roles.mutable_owners())[1] = "C";
  EXPECT_THROW((void)service::options_of(roles), UsageError);
}

TEST(SubmissionTest, CircuitByNameHasNoFile) {
  v1::SubmitRequest with_file = job("millionaires");
  with_file.set_circuit_part("1 3");
  EXPECT_NE(error_of({with_file, bits("a", std::string(4, '\0'))}).find("its own gates"),
            std::string::npos);
  const std::string unknown = error_of({job("milionaires"), bits("a", std::string(4, '\0'))});
  EXPECT_NE(unknown.find("there is no circuit 'milionaires'"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("did you mean millionaires?"), std::string::npos) << unknown;
}

TEST(SubmissionTest, ErrorOfAValueNamesItsInput) {
  for (const char* const wrong : {"", "seven", "4294967296"}) {
    v1::SubmitRequest numbers;
    numbers.add_inputs()->set_name("a");
    numbers.mutable_inputs(0)->add_numbers(wrong);
    EXPECT_TRUE(error_of({job("millionaires"), numbers}).starts_with("input a: ")) << wrong;
  }
}

TEST(SubmissionTest, NumbersAreAsManyAsLanes) {
  constexpr std::uint64_t kLanes = 2;
  for (std::uint64_t count = 1; count <= 4; ++count) {
    v1::SubmitRequest numbers;
    numbers.add_inputs()->set_name("a");
    for (std::uint64_t i = 0; i < count; ++i) numbers.mutable_inputs(0)->add_numbers("7");
    EXPECT_EQ(
        error_of({job("millionaires", kLanes), numbers}),
        count == kLanes ? "" : "input a: " + std::to_string(count) + " values given, 2 expected");
  }
}

// Of a message of N bytes, empty values take many times N in memory.
TEST(SubmissionTest, EmptyValuesCountWhatTheyTake) {
  v1::SubmitRequest empty = job("millionaires");
  empty.add_inputs()->set_name("a");
  for (int i = 0; i < 100; ++i) empty.mutable_inputs(0)->add_numbers("");
  EXPECT_NE(error_of({empty}).find("larger than job_bytes_max"), std::string::npos);
  v1::SubmitRequest names = job("millionaires");
  for (int i = 0; i < 100; ++i) names.add_inputs()->set_name(std::to_string(i));
  EXPECT_NE(error_of({names}).find("larger than job_bytes_max"), std::string::npos);
}

TEST(SubmissionTest, ValuesOfAnyBasesAreParsedFromOnePlace) {
  MemoryBudget budget(1 << 24);
  Submission submission(1000, budget);
  submission.add(job("millionaires", 4));
  v1::SubmitRequest numbers;
  numbers.add_inputs()->set_name("a");
  for (const char* number : {"17", "0x1f", "0b101", "0"})
    numbers.mutable_inputs(0)->add_numbers(number);
  submission.add(std::move(numbers));
  const Values values = submission.inputs(submission.circuit(), Party::A);
  const std::uint64_t expected[] = {17, 0x1f, 5, 0};
  for (std::size_t lane = 0; lane < 4; ++lane) EXPECT_EQ(values.integer("a", lane), expected[lane]);
}

// The job keeps the circuit of a file, in whatever parts it has come.
TEST(SubmissionTest, BytesOfACircuitFileAreCounted) {
  MemoryBudget budget(1 << 24);
  Submission of_file(1000, budget);
  EXPECT_EQ(of_file.circuit_bytes(), 0u);
  for (const std::size_t bytes : {100, 1, 50}) {
    v1::SubmitRequest part = bytes == 100 ? job("") : v1::SubmitRequest();
    part.set_circuit_part(std::string(bytes, 'x'));
    of_file.add(std::move(part));
  }
  EXPECT_EQ(of_file.circuit_bytes(), 151u);
  EXPECT_EQ(of_file.circuit_file().size(), 151u);
  Submission by_name(1000, budget);
  by_name.add(job("millionaires"));
  by_name.add(bits("a", "1234"));
  EXPECT_EQ(by_name.circuit_bytes(), 0u) << "inputs are not the circuit's";
}

// What a message held is wiped where it was, whether the message is accepted or not.
TEST(SubmissionTest, WipesInputsOfMessages) {
  for (const bool is_first : {true, false}) {
    MemoryBudget budget(1 << 24);
    Submission submission(1000, budget);
    v1::SubmitRequest request = is_first ? job("millionaires") : v1::SubmitRequest();
    v1::Input& by_bits = *request.add_inputs();
    by_bits.set_name("a");
    by_bits.set_bits("secret that is longer than a short string");
    v1::Input& by_numbers = *request.add_inputs();
    by_numbers.set_name("b");
    by_numbers.add_numbers("1234567890123456789012345678901234567890");
    by_numbers.add_numbers("7");
    if (is_first)
      submission.add(std::move(request));
    else
      EXPECT_THROW(submission.add(std::move(request)), UsageError);
    EXPECT_EQ(by_bits.bits().find_first_not_of('\0'), std::string::npos);
    for (const std::string& number : by_numbers.numbers())
      EXPECT_EQ(number.find_first_not_of('\0'), std::string::npos);
  }
}

// As it is received.
grpc::ByteBuffer received(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}
grpc::ByteBuffer received(const v1::SubmitRequest& part) {
  return received(part.SerializeAsString());
}

class BudgetTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kBytesMax = 2 << 20, kOfCall = Submission::kCallBytes;
  using Exhausted = MemoryBudget::Exhausted;
  MemoryBudget budget_{3 * kOfCall};
};

TEST_F(BudgetTest, CallsTakeMemoryBeforeTheySendAnything) {
  std::list<Submission> calls;
  for (int i = 0; i < 3; ++i) calls.emplace_back(kBytesMax, budget_);
  EXPECT_THROW(calls.emplace_back(kBytesMax, budget_), Exhausted);
  calls.pop_front();
  EXPECT_NO_THROW(calls.emplace_back(kBytesMax, budget_));
}

TEST_F(BudgetTest, CallsInProgressShareIt) {
  const std::string most(kOfCall / 2, '\1');
  std::optional<Submission> first(std::in_place, kBytesMax, budget_);
  first->add(received(job("hamming:bits=12582912")));
  first->add(received(bits("a", most)));
  Submission second(kBytesMax, budget_);
  second.add(received(job("hamming:bits=12582912")));
  EXPECT_THROW(second.add(received(bits("a", most))), Exhausted) << "the message counts too";
  first.reset();
  Submission third(kBytesMax, budget_);
  third.add(received(job("hamming:bits=12582912")));
  EXPECT_THROW(third.add(received(bits("a", most))), Exhausted) << "the second call has not ended";
}

// What is in the message decides how much it takes, not its length.
TEST_F(BudgetTest, MessagesTakeMemoryBeforeTheyAreParsed) {
  std::string empty_inputs;
  while (empty_inputs.size() < kBytesMax) empty_inputs += std::string("\x12\0", 2);
  Submission submission(kBytesMax, budget_);
  const grpc::ByteBuffer message = received(empty_inputs);
  const bool is_measured = reset_peak_memory();
  const std::uint64_t before = system::peak_resident_bytes();
  EXPECT_THROW(submission.add(message), Exhausted);
  if (is_measured) {
    EXPECT_LT(system::peak_resident_bytes(), before + kSanitizersMemory + (16 << 20));
  }
}

// Packed, a number has one byte, and four once it is parsed.
TEST_F(BudgetTest, PackedNumbersTakeMemoryBeforeTheyAreParsed) {
  constexpr int kNumbers = 8 << 20;
  v1::SubmitRequest widths;
  widths.mutable_job()->mutable_roles()->mutable_bundles()->Resize(kNumbers, 1);
  const grpc::ByteBuffer message = received(widths);
  MemoryBudget budget(kOfCall + 3 * message.Length());
  Submission submission(kBytesMax, budget);
  const bool is_measured = reset_peak_memory();
  const std::uint64_t before = system::peak_resident_bytes();
  EXPECT_THROW(submission.add(message), Exhausted);
  if (is_measured) {
    EXPECT_LT(system::peak_resident_bytes(), before + kSanitizersMemory + (16 << 20));
  }
}

// Whatever fields it has.
TEST_F(BudgetTest, MessagesTakeNoMoreThanTheyAreExpectedTo) {
  v1::SubmitRequest inputs, numbers, owners, widths, unknown, groups, nested;
  v1::FileRoles& roles = *widths.mutable_job()->mutable_roles();
  const google::protobuf::Reflection* const messages = v1::SubmitRequest::GetReflection();
  for (std::uint32_t i = 0; i < 1000; ++i) {
    inputs.add_inputs();
    (i == 0 ? numbers.add_inputs() : numbers.mutable_inputs(0))->add_numbers("");
    (*owners.mutable_job()->mutable_roles()->mutable_owners())[i] = "";
    roles.add_bundles(1);
    messages->MutableUnknownFields(&unknown)->AddVarint(15, 1);
    messages->MutableUnknownFields(&unknown)->AddLengthDelimited(15, "");
    messages->MutableUnknownFields(&groups)->AddGroup(15)->AddFixed32(14, 1);
    v1::NewJob& job = *nested.mutable_job();
    v1::NewJob::GetReflection()->MutableUnknownFields(&job)->AddFixed64(15, 1);
  }
  for (const v1::SubmitRequest& part :
       {inputs, numbers, owners, widths, unknown, groups, nested, bits("a", "\1")}) {
    v1::SubmitRequest parsed;
    ASSERT_TRUE(parsed.ParseFromString(part.SerializeAsString()));
    MemoryBudget budget(kOfCall + parsed.SpaceUsedLong() - 1);
    Submission submission(kBytesMax, budget);
    EXPECT_THROW(submission.add(received(part)), Exhausted) << parsed.ShortDebugString();
  }
  // And not much more.
  MemoryBudget budget(kOfCall + 2 * kBytesMax + 4096);
  Submission submission(kBytesMax, budget);
  submission.add(received(job("millionaires")));
  EXPECT_NO_THROW(submission.add(received(bits("a", std::string(kBytesMax - 4096, '\1')))));
  EXPECT_THROW(submission.add(received("\x12")), UsageError);
}

// Where the parser ends, the count of the fields does, too.
TEST_F(BudgetTest, MalformedMessagesAreRefused) {
  const std::string owner = "\x0a\x06\x1a\x04\x0a\x02\x08\x01";  // a map within a message
  for (const std::string& bytes :
       {std::string("\x08\xff"), std::string("\x09\x01"), std::string("\x0d\x01"),
        std::string("\x12\x05x"), std::string("\x12\xff"), std::string("\x7a\x05x"),
        std::string("\x0b"), std::string("\xff"), owner.substr(0, owner.size() - 1)}) {
    Submission submission(kBytesMax, budget_);
    EXPECT_THROW(submission.add(received(bytes)), UsageError);
  }
}

// The circuit keeps it once more.
TEST_F(BudgetTest, CircuitFileCountsBeforeItIsCopied) {
  constexpr std::uint64_t kBytes = 100'000, kRest = 10'000;
  MemoryBudget budget(kOfCall + kBytes + kRest);
  Submission submission(kBytesMax, budget);
  v1::SubmitRequest file = job("");
  file.mutable_job()->set_is_file(true);
  file.set_circuit_part("1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n" + std::string(kBytes, '\n'));
  submission.add(std::move(file));
  EXPECT_THROW((void)submission.circuit(), Exhausted);
}

// As many bytes once more as values.
TEST_F(BudgetTest, ValuesCountBeforeTheyAreMade) {
  constexpr std::uint64_t kParts = 3, kBytesOfPart = kBytesMax / 4;
  MemoryBudget::Share other(budget_);
  other.take(kOfCall * 11 / 8);
  Submission submission(kBytesMax, budget_);
  submission.add(job("millionaires:bits=1", kParts * kBytesOfPart));
  for (std::uint64_t i = 0; i < kParts; ++i)
    submission.add(bits("a", std::string(kBytesOfPart, '\1')));
  const auto circuit = submission.circuit();
  EXPECT_THROW(submission.inputs(circuit, Party::A), Exhausted);
}

// The limit holds for the whole message.
TEST(OfferTest, HasTheSizeOfAMessage) {
  service::wire::Terms terms;
  const std::string job(64, 'j');
  std::size_t length = service::PeerLink::kMessageBytesMax - 1000;
  do {
    terms.set_circuit(std::string(++length, 'c'));
  } while (service::offer_of(job, terms).ByteSizeLong() < service::PeerLink::kMessageBytesMax);
  EXPECT_NO_THROW(service::require_offerable(job, terms));
  EXPECT_THROW(service::require_offerable(job + "j", terms), UsageError);
  terms.set_circuit(std::string(length + 1, 'c'));
  EXPECT_THROW(service::require_offerable(job, terms), UsageError);
}

}  // namespace
}  // namespace tinyot::test
