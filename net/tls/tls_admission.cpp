#include "net/tls/tls_admission.h"

#include <openssl/err.h>

#include "base/error.h"
#include "net/tls/certificate.h"
#include "net/tls/tls_stream.h"

namespace tinyot::net {
namespace {

constexpr const char* kSuites = "TLS_AES_128_GCM_SHA256";
// Shares for both are sent, so that a peer without the first group takes no further round trip.
constexpr const char* kGroups = "*X25519MLKEM768/*X25519";
constexpr const char* kGroupsBefore35 = "X25519";  // of OpenSSL without ML-KEM
constexpr const char* kSignatures = "ed25519:ECDSA+SHA256";
constexpr long kCertificateBytesMax = 4 << 10;

// Replaces OpenSSL's verification of authorities and names by the check of the key.
int verify(X509_STORE_CTX* store, void*) noexcept {
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto* stream = static_cast<TlsStream*>(SSL_get_app_data(ssl));
  const X509* certificate = X509_STORE_CTX_get0_cert(store);
  const int error = certificate ? stream->check(*certificate) : X509_V_ERR_CERT_UNTRUSTED;
  X509_STORE_CTX_set_error(store, error);
  return error == X509_V_OK ? 1 : 0;
}

SslContextPtr make_context(const Identity::Parts& mine) {
  SslContextPtr context(SSL_CTX_new(TLS_method()));
  SSL_CTX* ctx = context.get();
  openssl_ensure(ctx && SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) == 1 &&
                     SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) == 1 &&
                     SSL_CTX_set_ciphersuites(ctx, kSuites) == 1 &&
                     (SSL_CTX_set1_groups_list(ctx, kGroups) == 1 ||
                      SSL_CTX_set1_groups_list(ctx, kGroupsBefore35) == 1) &&
                     SSL_CTX_set1_sigalgs_list(ctx, kSignatures) == 1 &&
                     SSL_CTX_set_num_tickets(ctx, 0) == 1 &&
                     SSL_CTX_use_certificate(ctx, mine.certificate.get()) == 1 &&
                     SSL_CTX_use_PrivateKey(ctx, mine.key.get()) == 1,
                 "set up TLS 1.3");
  ERR_clear_error();
  SSL_CTX_set_max_cert_list(ctx, kCertificateBytesMax);
  SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(ctx, verify, nullptr);
  SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_CLEANSE_PLAINTEXT);
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  // SSL_read returns after each record, even one without application data.
  SSL_CTX_clear_mode(ctx, SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_read_ahead(ctx, 0);
  return context;
}

class TlsHandshake final : public PendingStream {
 public:
  explicit TlsHandshake(std::unique_ptr<TlsStream> stream) : stream_(std::move(stream)) {}

  std::unique_ptr<ByteStream> advance() override {
    if (!stream_->shake_hands()) return nullptr;
    return std::move(stream_);
  }

 private:
  std::unique_ptr<TlsStream> stream_;
};

}  // namespace

struct TlsAdmission::State {
  SslContextPtr context;
  TlsSettings settings;
  std::string certificate;
  Identity::Clock::time_point valid_until;
};

TlsAdmission::TlsAdmission(const Identity& mine, const Fingerprint& peers,
                           std::uint64_t records_per_key)
    : state_(new State{make_context(mine.parts()),
                       {mine.fingerprint(), peers, records_per_key,
                        std::make_shared<std::atomic<std::int64_t>>(0)},
                       mine.certificate_pem(),
                       mine.valid_until()}) {}

TlsAdmission::TlsAdmission(const Identity& mine, const TlsAdmission& before)
    : state_(new State{make_context(mine.parts()), before.state_->settings, mine.certificate_pem(),
                       mine.valid_until()}) {
  ENSURE(mine.fingerprint() == before.mine());
}

TlsAdmission::~TlsAdmission() = default;

std::unique_ptr<PendingStream> TlsAdmission::begin(std::unique_ptr<TcpStream> stream,
                                                   Side side) const {
  return std::make_unique<TlsHandshake>(
      std::make_unique<TlsStream>(*state_->context, state_->settings, std::move(stream), side));
}

const Fingerprint& TlsAdmission::mine() const { return state_->settings.mine; }
const Fingerprint& TlsAdmission::peer() const { return state_->settings.peers; }

const std::string& TlsAdmission::certificate() const { return state_->certificate; }

Identity::Clock::time_point TlsAdmission::valid_until() const { return state_->valid_until; }

std::optional<Identity::Clock::time_point> TlsAdmission::peer_valid_until() const {
  const std::int64_t end = *state_->settings.peers_end;
  if (end == 0) return std::nullopt;
  return Identity::Clock::from_time_t(end);
}

}  // namespace tinyot::net
