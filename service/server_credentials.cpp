#include "service/server_credentials.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/grpc_security_constants.h>

#include <list>

#include "base/error.h"
#include "base/secret.h"

namespace tinyot::service {
namespace {

std::string text_of(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)), GRPC_SLICE_LENGTH(slice)};
}

std::string method_in(const grpc_metadata* metadata, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (text_of(metadata[i].key) == ":path") return text_of(metadata[i].value);
  return {};
}

std::string property_in(const grpc_auth_context* context, const char* name) {
  grpc_auth_property_iterator properties =
      ::grpc_auth_context_find_properties_by_name(context, name);
  const grpc_auth_property* const property = ::grpc_auth_property_iterator_next(&properties);
  return property == nullptr ? std::string() : std::string(property->value, property->value_length);
}

ClientCertificate certificate_in(const grpc_auth_context* context) {
  std::string chain = property_in(context, GRPC_X509_PEM_CERT_CHAIN_PROPERTY_NAME);
  if (chain.empty()) chain = property_in(context, GRPC_X509_PEM_CERT_PROPERTY_NAME);
  return {property_in(context, GRPC_X509_CN_PROPERTY_NAME), std::move(chain)};
}

// The number of the local caller, among the properties of a connection. A client chooses values of
// properties, as names in its certificate, and no property.
constexpr char kCallerProperty[] = "tinyot_local_caller";

// The calls of a connection have its properties in common, and gRPC has no lock for them.
std::mutex& properties_mutex() {
  static std::mutex mutex;
  return mutex;
}

// What a port asks of each call, and notes of each connection.
struct Port {
  CallCheck check;
  std::string local_caller;  // empty with TLS
};

void note_caller(grpc_auth_context* context, const std::string& caller) {
  if (!caller.empty() && property_in(context, kCallerProperty).empty())
    ::grpc_auth_context_add_property(context, kCallerProperty, caller.data(), caller.size());
}

// Before the call reaches its handler; `state` is a Port.
void check_call(void* state, grpc_auth_context* context, const grpc_metadata* metadata,
                std::size_t count, grpc_process_auth_metadata_done_cb done, void* call) {
  std::optional<std::string> refusal = "the daemon is out of memory";
  try {
    const auto& port = *static_cast<const Port*>(state);
    std::unique_lock lock(properties_mutex());
    note_caller(context, port.local_caller);
    const ClientCertificate certificate = certificate_in(context);
    lock.unlock();
    refusal = port.check(method_in(metadata, count), certificate);
  } catch (const std::exception&) {
    // There is no memory: the call is refused.
  }
  done(call, nullptr, 0, nullptr, 0, refusal ? GRPC_STATUS_PERMISSION_DENIED : GRPC_STATUS_OK,
       refusal ? refusal->c_str() : nullptr);
}

// Credentials that gRPC has in C alone. Each port has its own object.
class CheckedCredentials : public grpc::ServerCredentials {
 public:
  explicit CheckedCredentials(Port port) : port_(std::move(port)) {}

  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) override {
    ENSURE(false);
  }

 private:
  virtual grpc_server_credentials* make() = 0;

  int AddPortToServer(const std::string& address, grpc_server* server) final {
    grpc_server_credentials* const credentials = make();
    ::grpc_server_credentials_set_auth_metadata_processor(credentials,
                                                          {check_call, [](void*) {}, &port_});
    const int number = ::grpc_server_add_http2_port(server, address.c_str(), credentials);
    ::grpc_server_credentials_release(credentials);
    return number;
  }

  Port port_;
};

class LocalCredentials final : public CheckedCredentials {
 public:
  using CheckedCredentials::CheckedCredentials;

 private:
  grpc_server_credentials* make() override { return ::grpc_local_server_credentials_create(UDS); }
};

// What a port of a server has taken of the files. gRPC uses it under a lock of the port.
struct PortTls {
  std::shared_ptr<const ServerTls> tls;
  std::uint64_t taken = 0;
};

grpc_ssl_server_certificate_config* config_of(const TlsFiles& files) {
  std::string key(view_of(files.key));
  const grpc_ssl_pem_key_cert_pair pair{key.c_str(), files.certificate.c_str()};
  grpc_ssl_server_certificate_config* const config =
      ::grpc_ssl_server_certificate_config_create(files.clients.c_str(), &pair, 1);
  wipe(key.data(), key.size());
  return config;
}

// At the beginning of each connection.
grpc_ssl_certificate_config_reload_status fetch(void* port,
                                                grpc_ssl_server_certificate_config** config) {
  auto& own = *static_cast<PortTls*>(port);
  try {
    if (own.tls->version() == own.taken) return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    own.taken = own.tls->with_files([&](const TlsFiles& files) { *config = config_of(files); });
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
  } catch (const std::exception&) {
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_FAIL;  // there is no memory
  }
}

std::shared_ptr<const net::ClientAuthorities> authorities_of(const TlsFiles& files) {
  return std::make_shared<const net::ClientAuthorities>(net::PemFile{"tls.clients", files.clients});
}

class TlsCredentials final : public CheckedCredentials {
 public:
  TlsCredentials(std::shared_ptr<const ServerTls> tls, CallCheck check)
      : CheckedCredentials({std::move(check), {}}), tls_(std::move(tls)) {}

 private:
  grpc_server_credentials* make() override {
    return ::grpc_ssl_server_credentials_create_with_options(
        ::grpc_ssl_server_credentials_create_options_using_config_fetcher(
            GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY, fetch,
            &ports_.emplace_back(PortTls{tls_})));
  }

  const std::shared_ptr<const ServerTls> tls_;
  std::list<PortTls> ports_;
};

}  // namespace

ServerTls::ServerTls(TlsFiles files)
    : files_(std::move(files)), authorities_(authorities_of(files_)) {}

void ServerTls::replace(TlsFiles files) {
  auto authorities = authorities_of(files);
  const std::lock_guard lock(mutex_);
  std::swap(files_, files);
  std::swap(authorities_, authorities);
  ++version_;
}

bool ServerTls::admits(const std::string& chain) const {
  std::unique_lock lock(mutex_);
  const auto authorities = authorities_;
  lock.unlock();
  return authorities->admit(chain);
}

std::uint64_t ServerTls::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::shared_ptr<grpc::ServerCredentials> tls_credentials(std::shared_ptr<const ServerTls> tls,
                                                         CallCheck check) {
  return std::make_shared<TlsCredentials>(std::move(tls), std::move(check));
}

std::shared_ptr<grpc::ServerCredentials> local_credentials(CallCheck check, std::size_t caller) {
  return std::make_shared<LocalCredentials>(Port{std::move(check), std::to_string(caller)});
}

Caller caller_in(const grpc::ServerContextBase& call, const LocalCallers& local) {
  const auto context = call.auth_context();
  const std::lock_guard lock(properties_mutex());
  const auto property = [&](const char* name) {
    const auto values = context->FindPropertyValues(name);
    return values.empty() ? std::string() : std::string(values[0].data(), values[0].size());
  };
  const std::string type = property(GRPC_TRANSPORT_SECURITY_TYPE_PROPERTY_NAME);
  if (type == GRPC_SSL_TRANSPORT_SECURITY_TYPE)
    return {{}, {}, property(GRPC_X509_CN_PROPERTY_NAME)};
  const std::string number = property(kCallerProperty);
  return number.empty() ? Caller{} : local.caller(std::stoul(number));
}

}  // namespace tinyot::service
