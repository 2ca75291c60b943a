// The file of a job: what its client has submitted, or how the job has ended. Sealed under one key,
// its values under another one while they are the inputs. storage/FORMAT.md has the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/aead.h"
#include "job_record.pb.h"
#include "tinyot/values.h"

namespace tinyot::service {

// The bundles of the record are those of the values.
void add_bundles(const Values& values, record::Job& job);

// The bytes of a file. `number`: of its keys. Secret: the values, which are in no other memory.
std::vector<std::byte> seal_job(std::uint64_t number, const record::Job& job,
                                std::string_view circuit_file, const Values& values,
                                const crypto::SealKey& key, const crypto::SealKey& values_key);
// A file as it was read.
class SealedJob {
 public:
  // Fails: StoreError if it cannot be read, or is no whole file of a job.
  explicit SealedJob(const std::filesystem::path& file);

  std::uint64_t number() const { return header_.number; }
  struct Text {
    record::Job job;
    std::string circuit_file;
  };
  // Fail: StoreError unless this key has sealed it.
  Text open(const crypto::SealKey& key) const;
  Values open_values(const record::Job& job, const crypto::SealKey& values_key) const;

 private:
  friend std::vector<std::byte> seal_job(std::uint64_t number, const record::Job& job,
                                         std::string_view circuit_file, const Values& values,
                                         const crypto::SealKey& key,
                                         const crypto::SealKey& values_key);
  struct Header {
    char magic[8];
    std::uint32_t version;
    std::uint32_t zero;
    std::uint64_t number;
    std::uint64_t record_bytes, circuit_bytes, value_bytes;
    crypto::SealNonce text_nonce, values_nonce;
  };
  static_assert(sizeof(Header) == 72 && std::is_trivially_copyable_v<Header>);
  void open_part(std::size_t at, const crypto::SealNonce& nonce, const crypto::SealKey& key,
                 std::span<std::byte> plain) const;
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path path_;
  Header header_{};
  std::vector<std::byte> sealed_;  // all that follows the header
};

}  // namespace tinyot::service
