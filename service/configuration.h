// Reads the files that an operator writes (config.proto), in the text format of Protocol Buffers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config.pb.h"

namespace tinyot::service {

// Fails: UsageError naming the file, line and column, or the field whose value does not fit.
config::Daemon read_configuration(const std::filesystem::path& file);
config::Policy read_policy(const std::filesystem::path& file);
config::KeyPolicy read_key_policy(const std::filesystem::path& file);

// A file of at most 1 MiB. Fails: UsageError.
std::string read_text(const std::filesystem::path& file);

// The same from a text; `name` stands for the file in errors.
config::Daemon parse_configuration(const std::string& text, const std::string& name);
config::Policy parse_policy(const std::string& text, const std::string& name);
config::KeyPolicy parse_key_policy(const std::string& text, const std::string& name);

// The Unix sockets of clients, each with its field.
struct SocketField {
  std::string field, path;
};
std::vector<SocketField> sockets_of(const config::Daemon& daemon);

// Names of peers and jobs: 1 to 64 letters, digits and . _ -, and not "." or "..".
bool is_name(const std::string& text);

}  // namespace tinyot::service
