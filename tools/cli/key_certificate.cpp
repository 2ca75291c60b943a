// `tinyot key certificate|verify-certificate`: what both parties have signed of a key.
#include "service/key_certificate.h"

#include "engine/key_file.h"
#include "system/input_file.h"
#include "tools/cli/key_files.h"
#include "tools/cli/key_options.h"
#include "tools/cli/render/key.h"

namespace tinyot::tools {
namespace {

// `parties`: as somebody trusts them; otherwise those that the certificate itself names.
ShownCertificate shown(std::span<const std::byte> file, const std::string& name,
                       const std::optional<service::KeyParties>& parties) {
  try {
    const service::KeyCertificate certificate = service::certificate_from(file);
    const service::KeyParties of = parties.value_or(certificate.parties);
    return {of, service::verify_certificate(certificate, of), {}};
  } catch (const service::BadKeyMessage& bad) {
    throw StoreError(name + ": " + bad.why);
  }
}

}  // namespace

int key_certificate(const Arguments& arguments) {
  CommandLine line = key_line("certificate", "KEY [--output FILE] [--peer NAME]",
                              "payments/card --output card.certificate");
  take_key(line);
  line.options().value("output", "FILE for the certificate");
  add_key_wait(line.options());
  if (!line.parse(arguments)) return 0;
  const std::vector<std::byte> file = keys_from(line).certificate(key_name_from(line));
  ShownCertificate certificate = shown(file, "the certificate of the daemon", {});
  if (line.has("output")) write_output(certificate.output = line.text("output"), file);
  print(line.common().format, "key certificate", certificate);
  return 0;
}

int key_verify_certificate(const Arguments& arguments) {
  CommandLine line("key verify-certificate",
                   "FILE --key FINGERPRINT|@FILE --peer-key FINGERPRINT|@FILE",
                   "tinyot key verify-certificate card.certificate --key @party-a.pem.crt "
                   "--peer-key @party-b.pem.crt");
  line.options()
      .value("file", "FILE of the certificate of a key")
      .value("key", "fingerprint of the TLS key of one party, or @FILE with it or a certificate")
      .value("peer-key", "that of the other one, or @FILE");
  line.positional("file", 1);
  for (const char* name : {"file", "key", "peer-key"}) line.require(name);
  if (!line.parse(arguments)) return 0;
  const std::string file =
      system::read_text(system::InputFile(line.text("file")), service::kCertificateBytesMax);
  print(line.common().format, "key verify-certificate",
        shown(std::as_bytes(std::span(file)), line.text("file"),
              service::KeyParties{engine::peer_key_from(line.text("key")),
                                  engine::peer_key_from(line.text("peer-key"))}));
  return 0;
}

}  // namespace tinyot::tools
