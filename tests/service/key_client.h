// A program of one of the parties' organisations that uses keys of custody.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "tinyot/v1/keys.grpc.pb.h"

namespace tinyot::test {

class KeyClient {
 public:
  explicit KeyClient(const std::filesystem::path& socket)
      : stub_(v1::Keys::NewStub(
            grpc::CreateChannel("unix:" + socket.string(), grpc::InsecureChannelCredentials()))) {}

  explicit KeyClient(const std::shared_ptr<grpc::Channel>& channel)
      : stub_(v1::Keys::NewStub(channel)) {}

  // A call by its member function of the stub.
  template <class Request, class Reply>
  grpc::Status call(grpc::Status (v1::Keys::Stub::*method)(grpc::ClientContext*, const Request&,
                                                           Reply*),
                    const Request& request, Reply& reply,
                    std::chrono::milliseconds time = std::chrono::seconds(60)) const {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + time);
    return ((*stub_).*method)(&context, request, &reply);
  }

  struct Made {
    grpc::Status status;
    v1::Key key;
  };
  Made create(const std::string& label, const std::string& key_class = "aead",
              const std::string& algorithm = "aes128", const std::string& nonces = {},
              const std::string& making = {}) const {
    v1::CreateKeyRequest request;
    request.set_request(making);
    request.set_label(label);
    request.set_key_class(key_class);
    request.set_algorithm(algorithm);
    request.set_nonces(nonces);
    Made made;
    made.status = call(&v1::Keys::Stub::Create, request, made.key);
    return made;
  }
  Made import(const std::string& label, const std::string& key_class, const std::string& algorithm,
              const std::string& bytes, const std::string& making = {}) const {
    v1::ImportKeyRequest request;
    request.mutable_key()->set_request(making);
    request.mutable_key()->set_label(label);
    request.mutable_key()->set_key_class(key_class);
    request.mutable_key()->set_algorithm(algorithm);
    request.set_bytes(bytes);
    Made made;
    made.status = call(&v1::Keys::Stub::Import, request, made.key);
    return made;
  }
  // A key of class mac.
  Made derive(const std::string& label, const std::string& parent) const {
    v1::DeriveKeyRequest request;
    request.mutable_key()->set_label(label);
    request.mutable_key()->set_key_class("mac");
    request.mutable_key()->set_algorithm("aes128");
    request.set_parent(parent);
    request.set_context("tenant 1");
    Made made;
    made.status = call(&v1::Keys::Stub::Derive, request, made.key);
    return made;
  }
  // A call that takes a name.
  template <class Method>
  Made named(Method method, const std::string& key) const {
    v1::KeyName request;
    request.set_key(key);
    Made made;
    made.status = call(method, request, made.key);
    return made;
  }
  Made show(const std::string& key) const { return named(&v1::Keys::Stub::Show, key); }
  // How many requests and operations wait for officers.
  int waiting() const {
    v1::ApprovalsReply reply;
    EXPECT_TRUE(call(&v1::Keys::Stub::Approvals, v1::ApprovalsRequest(), reply).ok());
    return reply.approvals_size();
  }

  struct Sealed {
    grpc::Status status;
    v1::EncryptReply reply;
  };
  Sealed encrypt(const std::string& key, const std::string& text, const std::string& aad = {},
                 bool shown = false, const std::string& nonce = {}) const {
    v1::EncryptRequest request;
    request.set_key(key);
    request.set_plaintext(text);
    request.set_associated_data(aad);
    request.set_shown(shown);
    request.set_nonce(nonce);
    Sealed sealed;
    sealed.status = call(&v1::Keys::Stub::Encrypt, request, sealed.reply);
    return sealed;
  }
  struct Opened {
    grpc::Status status;
    v1::DecryptReply reply;
  };
  Opened decrypt(const std::string& key, const v1::EncryptReply& sealed,
                 const std::string& aad = {}, bool shown = false) const {
    v1::DecryptRequest request;
    request.set_key(key);
    request.set_nonce(sealed.nonce());
    request.set_ciphertext(sealed.ciphertext());
    request.set_tag(sealed.tag());
    request.set_associated_data(aad);
    request.set_shown(shown);
    Opened opened;
    opened.status = call(&v1::Keys::Stub::Decrypt, request, opened.reply);
    return opened;
  }
  struct Signed {
    grpc::Status status;
    v1::SignReply reply;
  };
  Signed sign(const std::string& key, const std::string& message,
              std::chrono::milliseconds time = std::chrono::seconds(60)) const {
    v1::SignRequest request;
    request.set_key(key);
    request.set_message(message);
    Signed made;
    made.status = call(&v1::Keys::Stub::Sign, request, made.reply, time);
    return made;
  }
  struct Verified {
    grpc::Status status;
    v1::VerifyReply reply;
  };
  Verified verify(const std::string& key, const std::string& message,
                  const std::string& tag) const {
    v1::VerifyRequest request;
    request.set_key(key);
    request.set_message(message);
    request.set_tag(tag);
    Verified verified;
    verified.status = call(&v1::Keys::Stub::Verify, request, verified.reply);
    return verified;
  }

 private:
  std::unique_ptr<v1::Keys::Stub> stub_;
};

}  // namespace tinyot::test
