// What the daemon says of keys, their uses and requests, and what an audit log says, as reports of
// `tinyot key`. No report has a payload.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crypto/sealed_box.h"
#include "service/key_audit.h"
#include "service/key_certificate.h"
#include "service/keys_client.h"
#include "tools/cli/command_line.h"

namespace tinyot::tools {

// `command` as in "key create".
void print(Format format, const std::string& command, const service::RemoteKey& key);
void print(Format format, const std::vector<service::RemoteKey>& keys);
void print(Format format, const service::DestroyedKey& destroyed);
// A key that was bound to another TLS key, and why it has not been refreshed since; empty: it has.
struct ReboundKey {
  service::RemoteKey key;
  std::string not_refreshed;
};
void print(Format format, const std::vector<ReboundKey>& rebound);
void print_backups(Format format, const std::vector<std::string>& files);
void print_resumed_keys(Format format, const std::string& peer);

void print(Format format, const std::vector<service::WaitingRequest>& waiting);
// "approved" or "denied".
void print_decided(Format format, const std::string& command, const std::string& request,
                   const std::string& decision);

// A text that has been encrypted or decrypted into a file.
void print_written(Format format, const std::string& command, const std::string& key,
                   std::uint64_t bytes, const std::string& file);
void print_tag(Format format, const std::vector<std::byte>& tag);
void print_valid(Format format, const std::string& key);

// `output`: the file that it was written to; may be empty.
struct ShownCertificate {
  service::KeyParties parties;
  service::CertifiedKey key;
  std::string output;
};
void print(Format format, const std::string& command, const ShownCertificate& certificate);

void print_backup_key(Format format, const crypto::BoxPublicKey& key, const std::string& file);
void print(Format format, const std::string& log, const service::AuditReport& report);

}  // namespace tinyot::tools
