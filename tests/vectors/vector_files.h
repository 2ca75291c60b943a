// The two files of a recorded session: all of its bytes, which are written on demand, and the
// digests of its messages, which are in the repository.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/vectors/session_vectors.h"

namespace tinyot::test {

// JSON lines: the description, a line for each message, the results.
std::string json_lines(const SessionVector& vector);

// Of a message: sender, connection and number, name, bytes, SHA-256.
std::string digest_line(const RecordedMessage& message);

// A line each: wire version, description, messages in order, results of each party. Nothing of it
// names a release.
std::vector<std::string> digest_lines(const SessionVector& vector);

// The file of these lines, with a beginning for people.
std::string digests_file(const std::string& name, const std::vector<std::string>& lines);

// What is wrong with `file`, the text of such a file, if a session makes `lines`, and what to do
// about it; empty if nothing is.
std::string difference(const std::string& name, const std::string& file,
                       const std::vector<std::string>& lines);

// Writes the files of digests. Fails: std::runtime_error if one would change and is of the same
// wire version: then nothing is written.
void write_digests(const std::filesystem::path& directory);
// Writes the whole bytes.
void write_sessions(const std::filesystem::path& directory);

std::filesystem::path digests_path(const std::filesystem::path& directory, const std::string& name);

}  // namespace tinyot::test
