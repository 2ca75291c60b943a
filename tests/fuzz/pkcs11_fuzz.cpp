// The module of PKCS#11: what a daemon answers, and templates of programs. The text is one byte for
// the call, then the daemon's reply or the template: for each attribute a byte for its type, one
// for the length of its value, and the value. No call may end otherwise than with a result of the
// right size or with a code.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

#include "pkcs11/attributes.h"
#include "pkcs11/daemon.h"
#include "tests/fuzz/fuzz_circuit.h"
#include "tests/support/files.h"

namespace {

using namespace tinyot::pkcs11;

// Answers each call with the same bytes.
class Answering {
 public:
  Answering() : path_((directory_ / "socket").string()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 8) != 0)
      std::abort();
    std::thread([this] { serve(); }).detach();
  }

  const std::string& path() const { return path_; }
  void answer_with(std::string_view reply) {
    const std::lock_guard lock(mutex_);
    reply_.clear();
    for (int shift = 24; shift >= 0; shift -= 8)
      reply_.push_back(static_cast<char>(reply.size() >> shift));
    reply_ += reply;
  }

 private:
  void serve() {
    for (;;) {
      const int connection = ::accept(listener_, nullptr, nullptr);
      char request[1024];
      (void)::recv(connection, request, sizeof request, 0);
      {
        const std::lock_guard lock(mutex_);
        (void)::send(connection, reply_.data(), reply_.size(), MSG_NOSIGNAL);
      }
      ::close(connection);
    }
  }

  const tinyot::test::TestDirectory directory_;
  const std::string path_;
  const int listener_ = ::socket(AF_UNIX, SOCK_STREAM, 0);
  std::mutex mutex_;
  std::string reply_;
};

void require_true(bool condition) {
  if (!condition) std::abort();
}

void answer(unsigned call, std::string_view reply) {
  static Answering& daemon = *new Answering;  // its thread goes on until the end of the process
  static Daemon& client = *new Daemon(daemon.path());
  daemon.answer_with(reply);
  Key key;
  switch (call) {
    case 0:
      for (const Key& listed : client.list().keys) {
        for (CK_ATTRIBUTE_TYPE type = 0; type < 0x180; ++type) (void)value_of(listed, type);
        require_true(value_of(listed, CKA_CLASS).has_value());
      }
      return;
    case 1:
      require_true(client.encrypt(key, "text", "", {}).text.size() == 4 + kTagBytes);
      return;
    case 2:
      if (const auto text = client.decrypt(key, std::string(20, 's'), "", {}))
        require_true(text->size() == 4);
      return;
    case 3:
      (void)client.sign(key, "text");
      return;
    case 4:
      (void)client.verify(key, "text", "tag");
      return;
    default:
      (void)client.create({});
  }
}

void use_template(CK_MECHANISM_TYPE generation, std::string_view text) {
  constexpr CK_ATTRIBUTE_TYPE kTypes[] = {
      CKA_CLASS,  CKA_TOKEN,     CKA_PRIVATE,     CKA_LABEL,     CKA_VALUE,   CKA_KEY_TYPE,
      CKA_ID,     CKA_SENSITIVE, CKA_ENCRYPT,     CKA_DECRYPT,   CKA_WRAP,    CKA_SIGN,
      CKA_VERIFY, CKA_DERIVE,    CKA_EXTRACTABLE, CKA_VALUE_LEN, CKA_MODULUS, CKA_START_DATE};
  std::vector<std::string> values;
  std::vector<CK_ATTRIBUTE> attributes;
  while (text.size() >= 2) {
    const auto type = static_cast<unsigned char>(text[0]);
    const std::string_view value = text.substr(2, static_cast<unsigned char>(text[1]) % 16);
    values.emplace_back(value);
    attributes.push_back({kTypes[type % std::size(kTypes)], nullptr, value.size()});
    text.remove_prefix(2 + value.size());
  }
  // Copies of exactly their size, so that a sanitizer sees what is read and written beyond.
  for (std::size_t i = 0; i < values.size(); ++i)
    attributes[i].pValue = values[i].empty() ? nullptr : values[i].data();
  Key key;
  key.id = std::string(32, '0');
  key.label = "files";
  (void)KeyPattern(attributes).fits(key);
  try {
    const NewKey made = new_key_from(generation, attributes);
    require_true(!made.label.empty());
  } catch (const Failed&) {
  }
  (void)fill(key, attributes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (const unsigned call = data[0] % 8; call) {
      case 6:
        use_template(CKM_AES_KEY_GEN, text);
        break;
      case 7:
        use_template(CKM_GENERIC_SECRET_KEY_GEN, text);
        break;
      default:
        answer(call, text);
    }
  } catch (const Failed&) {
  }
  return 0;
}
