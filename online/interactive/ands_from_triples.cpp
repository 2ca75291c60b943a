#include "online/interactive/ands_from_triples.h"

#include "base/block_sums.h"
#include "base/declassify.h"
#include "base/error.h"
#include "checks/opening.h"
#include "online/windowed_exchange.h"

namespace tinyot::online {
namespace {

constexpr net::MessageTag kMasked = net::message_tag("and.de");
// Entries whose blocks are computed at a time.
constexpr std::size_t kTripleStep = 256;

class TripleLayer final : public AndLayer {
 public:
  TripleLayer(checks::Session& session, MaterialReader& material, const BitVector& x,
              const BitVector& y)
      : session_(session), n_(x.size()), triples_(material.take(MaterialKind::Triples, n_)),
        at_(triples_), a_(bits_of(triples_, shared_bits, 0)), b_(bits_of(triples_, shared_bits, 1)),
        d_(x), e_(y), of_d_(std::min(n_, kTripleStep)), of_e_(of_d_.size()) {
    d_ ^= a_;
    e_ ^= b_;
    exchange_.fill_window([&](std::size_t first, std::size_t count) { send(first, count); });
  }

  BitVector open() override {
    BitVector peers_d(n_), peers_e(n_);
    const auto receive = [&](std::size_t first, std::size_t count) {
      const BitVector message = checks::receive_revealed_bits(session_, kMasked, 2 * count);
      peers_d.copy_from(message, 0, first, count);
      peers_e.copy_from(message, count, first, count);
    };
    exchange_.run([&](std::size_t first, std::size_t count) { send(first, count); }, receive);
    d_ ^= peers_d;
    e_ ^= peers_e;
    declassify(d_.words());
    declassify(e_.words());
    BitVector z = bits_of(triples_, shared_bits, 2);
    const bool adds_constant = session_.me() == Party::A;
    for (std::size_t w = 0; w < z.words().size(); ++w) {
      const std::uint64_t d = d_.words()[w], e = e_.words()[w];
      z.words()[w] ^= (e & a_.words()[w]) ^ (d & b_.words()[w]) ^ (adds_constant ? d & e : 0);
    }
    return z;
  }

  void combine(std::size_t count, const ShareBlocks& x, const ShareBlocks& y,
               const ShareBlocks& z) override {
    for (std::size_t done = 0; done < count; done += kTripleStep) {
      const std::size_t part = std::min(count - done, kTripleStep);
      for (std::size_t i = 0; i < part;)
        i += combine_some(part - i, {x, y, z, done + i}, &of_d_[i], &of_e_[i]);
      checks::absorb_opened(session_, std::span(of_d_).first(part));
      checks::absorb_opened(session_, std::span(of_e_).first(part));
    }
  }

 private:
  void send(std::size_t first, std::size_t count) {
    BitVector message(2 * count);
    message.copy_from(d_, first, 0, count);
    message.copy_from(e_, first, count, count);
    checks::reveal_bits(session_, kMasked, message);
  }

  struct Operands {
    const ShareBlocks &x, &y, &z;
    std::size_t at;
  };

  // Processes the next entries that are contiguous in the material. Returns their number.
  std::size_t combine_some(std::size_t most, const Operands& operands, MacShare* of_d,
                           MacShare* of_e) {
    const std::size_t count = std::min(most, at_.left()), at = operands.at;
    const auto column = [&](std::size_t index) {
      return &at_.batch().shares[index].macs[at_.at()].value;
    };
    std::uint64_t d[kTripleStep / 64], e[kTripleStep / 64];
    copy_bits(d_.words(), combined_, d, 0, count);
    copy_bits(e_.words(), combined_, e, 0, count);
    combine_triples({operands.x.plane[0] + at, operands.y.plane[0] + at, column(0), column(1),
                     column(2), d, e, &of_d->value, &of_e->value, operands.z.plane[0] + at},
                    count, session_.global_key().value);
    at_.advance(count);
    combined_ += count;
    return count;
  }

  checks::Session& session_;
  std::size_t n_;
  WindowedExchange exchange_{n_, 2};  // d, e
  material::Slices triples_;
  SliceCursor at_;
  BitVector a_, b_;
  BitVector d_, e_;  // my shares; after the opening, the opened bits
  std::size_t combined_ = 0;
  SecretVector<MacShare> of_d_, of_e_;  // of the opened bits of a step
};

}  // namespace

std::unique_ptr<AndLayer> begin_triple_layer(checks::Session& session, MaterialReader& material,
                                             const BitVector& x, const BitVector& y) {
  return std::make_unique<TripleLayer>(session, material, x, y);
}

}  // namespace tinyot::online
