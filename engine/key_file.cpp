#include "engine/key_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "system/descriptor.h"
#include "system/errno_text.h"
#include "system/input_file.h"

namespace tinyot::engine {
namespace {

constexpr std::size_t kFileBytesMax = 64 << 10;

std::string_view view(const SecretVector<char>& text) { return {text.data(), text.size()}; }

std::string_view trimmed(std::string_view text) {
  constexpr const char* kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// A new file, which is removed on destruction unless keep() was called.
class NewKeyFile {
 public:
  NewKeyFile(const std::filesystem::path& path, mode_t mode)
      : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)) {
    if (!file_.is_open() && errno == EEXIST)
      throw UsageError(path_.string() +
                       " already exists; keys are never overwritten, choose another file");
    if (!file_.is_open()) fail();
  }
  ~NewKeyFile() {
    if (!kept_) ::unlink(path_.c_str());
  }
  NewKeyFile(const NewKeyFile&) = delete;
  NewKeyFile& operator=(const NewKeyFile&) = delete;

  void write(std::string_view text) const {
    if (!system::write_all(file_.get(), text) || ::fsync(file_.get()) != 0) fail();
  }
  // As the owner and the mode of `file`, if it exists.
  void be_as(const std::filesystem::path& file) const {
    struct stat of {};
    if (::stat(file.c_str(), &of) != 0) return;
    if (::fchown(file_.get(), of.st_uid, of.st_gid) != 0 ||
        ::fchmod(file_.get(), of.st_mode & 0777) != 0)
      throw UsageError("cannot give " + path_.string() + " the owner and the mode of " +
                       file.string() + ": " + system::errno_text());
  }
  void keep() { kept_ = true; }
  void replace(const std::filesystem::path& file) {
    if (::rename(path_.c_str(), file.c_str()) != 0)
      throw UsageError("cannot replace " + file.string() + ": " + system::errno_text());
    keep();
  }

 private:
  [[noreturn]] void fail() const {
    throw UsageError("cannot write " + path_.string() + ": " + system::errno_text());
  }

  std::filesystem::path path_;
  system::Descriptor file_;
  bool kept_ = false;
};

// What a renewal writes, beside the file that it replaces. One that was broken off leaves it.
std::filesystem::path next_of(const std::filesystem::path& file) {
  std::filesystem::path next = file.string() + ".new";
  ::unlink(next.c_str());
  return next;
}

}  // namespace

net::Identity read_identity(const std::string& file) {
  return net::Identity::parse(view(read_private_file(file)), file);
}

SecretVector<char> read_private_file(const std::string& file) {
  return system::read_secret(system::InputFile(file, system::InputFile::Kind::Private),
                             kFileBytesMax);
}

net::Fingerprint peer_key_from(const std::string& text) {
  if (!text.starts_with("@")) {
    if (const auto fingerprint = net::parse_fingerprint(text)) return *fingerprint;
    throw UsageError(
        "the peer's key must be a fingerprint (sha256: and 64 hex digits) or @FILE, not '" + text +
        "'");
  }
  const std::string file = text.substr(1);
  const SecretVector<char> contents = system::read_secret(system::InputFile(file), kFileBytesMax);
  if (const auto fingerprint = net::parse_fingerprint(trimmed(view(contents)))) return *fingerprint;
  if (const auto fingerprint = net::certificate_fingerprint(view(contents))) return *fingerprint;
  throw UsageError(file + " holds neither a fingerprint nor a certificate");
}

void write_private_file(std::string_view content, const std::filesystem::path& file) {
  NewKeyFile secret(file, 0600);
  secret.write(content);
  secret.keep();
}

void write_identity(const net::Identity& identity, const std::filesystem::path& file) {
  NewKeyFile secret(file, 0600), certificate(certificate_of(file), 0644);
  secret.write(view(identity.private_pem()));
  certificate.write(identity.certificate_pem());
  secret.keep();
  certificate.keep();
}

net::Identity renew_identity(const std::filesystem::path& file) {
  std::error_code error;
  std::filesystem::path key_file = std::filesystem::canonical(file, error);  // not a link to it
  if (error) key_file = file;
  const std::filesystem::path certificate_file = certificate_of(key_file);
  net::Identity identity =
      net::Identity::renew(view(read_private_file(key_file.string())), key_file.string());
  NewKeyFile secret(next_of(key_file), 0600), certificate(next_of(certificate_file), 0644);
  secret.write(view(identity.private_pem()));
  secret.be_as(key_file);
  certificate.write(identity.certificate_pem());
  certificate.be_as(certificate_file);
  secret.replace(key_file);
  certificate.replace(certificate_file);
  return identity;
}

std::filesystem::path certificate_of(const std::filesystem::path& file) {
  return file.string() + ".crt";
}

}  // namespace tinyot::engine
