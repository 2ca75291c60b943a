#include "online/garbled/rows.h"

#include <algorithm>
#include <cstring>

#include "base/bit_stream.h"
#include "crypto/hash_uses.h"
#include "online/garbled/mask_pass.h"

namespace tinyot::online {
namespace {

using crypto::HashUse;

constexpr net::MessageTag kRows = net::message_tag("garbled.rows"),
                          kColours = net::message_tag("garbled.colours"),
                          kMacRows = net::message_tag("garbled.mac_rows"),
                          kLabels = net::message_tag("garbled.labels");
constexpr std::size_t kRowStep = 128;  // entries that are hashed at a time
constexpr std::array<Block, 1> kNoFlip{};

// Sets the labels of the wires of a round but those of its ANDs; the labels of a chunk's inputs are
// taken in their order, of each source from `next` on.
void begin_labels(const circuit::CircuitInfo& info, const Lanes& lanes,
                  const BundleValues& constants, const circuit::Round& round, const Chunk& chunk,
                  std::array<std::size_t, kLabelSources>& next, WireBlocks& labels) {
  labels.grow(round);
  for (const circuit::RoundInput& input : round.inputs) {
    if (const auto& constant = constants[input.bundle]) {
      set_public_blocks(input, *constant, lanes, labels);
      continue;
    }
    const auto source = label_source(info, constants, input.bundle);
    for_each_part(info.inputs[input.bundle], lanes, [&](std::size_t tile, std::size_t width) {
      Block* const out = labels.plane(tile, input.out, 0);
      for (std::size_t i = 0; i < width; ++i)
        out[i] = source ? chunk.inputs[*source].labels[next[*source]++] : Block{0, 0};
    });
  }
  labels.evaluate_invariant(round.invariant_local);
  for (std::size_t tile = 0; tile < lanes.tiles(); ++tile) labels.evaluate_tile(round.local, tile);
}

std::size_t labels_of(const Chunk& chunk) {
  std::size_t count = 0;
  for (const MaskedInputs& inputs : chunk.inputs) count += inputs.count;
  return count;
}

// The upper bits of a block, in memory order, are its last bytes.
void write_cut(const Block& block, std::size_t bytes, std::byte* to) {
  std::memcpy(to, reinterpret_cast<const std::byte*>(&block) + sizeof(Block) - bytes, bytes);
}
Block read_cut(const std::byte* from, std::size_t bytes) {
  Block block{0, 0};
  std::memcpy(reinterpret_cast<std::byte*>(&block) + sizeof(Block) - bytes, from, bytes);
  return block;
}
Block cut(const Block& block, std::size_t bytes) {
  Block upper{0, 0};
  std::memcpy(reinterpret_cast<std::byte*>(&upper) + sizeof(Block) - bytes,
              reinterpret_cast<const std::byte*>(&block) + sizeof(Block) - bytes, bytes);
  return upper;
}

}  // namespace

void send_rows(checks::Session& session, const GarbledRows& rows) {
  if (rows.halves.empty()) return;
  net::send_words(session.channel(), kRows, std::span<const Block>(rows.halves));
  net::send_bits(session.channel(), kColours, rows.colours);
  if (!rows.macs.empty())
    net::send_words(session.channel(), kMacRows, std::span<const std::byte>(rows.macs));
}

void receive_rows(checks::Session& session, std::size_t entries, RowMacs macs, GarbledRows& rows) {
  rows.halves.resize(2 * entries);
  rows.macs.resize(RowMacs::kStrings * macs.bytes * entries);
  if (entries == 0) return;
  net::recv_words(session.channel(), kRows, std::span(rows.halves));
  rows.colours = net::recv_bits(session.channel(), kColours, entries);
  if (!rows.macs.empty()) net::recv_words(session.channel(), kMacRows, std::span(rows.macs));
}

void send_labels(checks::Session& session, const Chunk& chunk) {
  const Block& delta = session.global_key().value;
  SecretVector<Block> labels;
  labels.reserve(labels_of(chunk));
  for (const MaskedInputs& inputs : chunk.inputs)
    for (std::size_t i = 0; i < inputs.count; ++i)
      labels.push_back(inputs.labels[i] ^ times(delta, inputs.masked[i]));
  if (!labels.empty()) net::send_words(session.channel(), kLabels, std::span<const Block>(labels));
}

void receive_labels(checks::Session& session, Chunk& chunk) {
  SecretVector<Block> labels(labels_of(chunk));
  if (labels.empty()) return;
  net::recv_words(session.channel(), kLabels, std::span(labels));
  auto next = labels.begin();
  for (MaskedInputs& inputs : chunk.inputs) {
    inputs.labels.assign(next, next + static_cast<std::ptrdiff_t>(inputs.count));
    next += static_cast<std::ptrdiff_t>(inputs.count);
  }
}

void PieceLabels::read_operands(const Piece& piece, const Lanes& lanes, WireBlocks& labels) {
  for (SecretVector<Block>* blocks : {&alpha, &beta, &gamma})
    if (blocks->size() < piece.entries) blocks->resize(piece.entries);
  std::size_t at = 0;
  for_each_and(piece, lanes,
               [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
                 labels.read(tile, gate.in0, 0, width, &alpha[at]);
                 labels.read(tile, gate.in1, 0, width, &beta[at]);
                 at += width;
               });
}

void PieceLabels::write_results(const Piece& piece, const Lanes& lanes, WireBlocks& labels) const {
  std::size_t at = 0;
  for_each_and(piece, lanes,
               [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
                 copy_blocks(&gamma[at], width, labels.plane(tile, gate.out, 0));
                 at += width;
               });
}

Garbler::Garbler(checks::Session& session, const circuit::CircuitInfo& info, const Lanes& lanes,
                 const BundleValues& constants, RowMacs macs, OutputMasks& outputs,
                 std::uint64_t run)
    : session_(session), info_(info), lanes_(lanes), constants_(constants), macs_(macs),
      outputs_(outputs), hash_(session.id(), run),
      labels_(std::array{session.global_key().value}, lanes) {
  // The offset of the labels: its lowest bit tells the two labels of a wire apart.
  ENSURE(session.me() == Party::B && (session.global_key().value.lo & 1) == 1);
}

void Garbler::garble(std::uint64_t first, const MaskedAnds& ands, std::size_t from,
                     std::size_t count, GarbledRows& rows) {
  const Block& delta = session_.global_key().value;
  Block left[2][kRowStep], right[2][kRowStep];
  for (std::size_t done = 0; done < count; done += kRowStep) {
    const std::size_t n = std::min(kRowStep, count - done);
    const Block *alpha = &piece_.alpha[done], *beta = &piece_.beta[done];
    for (std::size_t i = 0; i < n; ++i) {
      left[1][i] = alpha[i] ^ delta;
      right[1][i] = beta[i] ^ delta;
    }
    hash_(HashUse::GarbledLeft, first + done, {alpha, n}, left[0]);
    hash_(HashUse::GarbledLeft, first + done, std::span(left[1]).first(n), left[1]);
    hash_(HashUse::GarbledRight, first + done, {beta, n}, right[0]);
    hash_(HashUse::GarbledRight, first + done, std::span(right[1]).first(n), right[1]);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t j = from + done + i;
      rows.halves[2 * j] = left[0][i] ^ left[1][i] ^ ands.beta_g[j];
      rows.halves[2 * j + 1] = right[0][i] ^ right[1][i] ^ ands.alpha_g[j] ^ alpha[i];
      const Block gamma = left[0][i] ^ right[0][i] ^ ands.s_g[j];
      piece_.gamma[done + i] = gamma;
      rows.colours.put(j, (gamma.lo & 1) != 0);
    }
    if (macs_.bytes > 0)
      make_macs(first + done, ands, from + done, n, done,
                &rows.macs[RowMacs::kStrings * macs_.bytes * (from + done)]);
  }
  wipe_object(left);
  wipe_object(right);
}

void Garbler::make_macs(std::uint64_t first, const MaskedAnds& ands, std::size_t from,
                        std::size_t count, std::size_t in_piece, std::byte* macs) {
  const Block& delta = session_.global_key().value;
  const Block *alpha = &piece_.alpha[in_piece], *beta = &piece_.beta[in_piece];
  Block left[2][kRowStep], right[2][kRowStep];
  for (std::size_t i = 0; i < count; ++i) {
    left[1][i] = alpha[i] ^ delta;
    right[1][i] = beta[i] ^ delta;
  }
  hash_(HashUse::GarbledLeftMac, first, {alpha, count}, left[0]);
  hash_(HashUse::GarbledLeftMac, first, std::span(left[1]).first(count), left[1]);
  hash_(HashUse::GarbledRightMac, first, {beta, count}, right[0]);
  hash_(HashUse::GarbledRightMac, first, std::span(right[1]).first(count), right[1]);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t j = from + i;
    const Block strings[RowMacs::kStrings] = {
        left[0][i] ^ left[1][i] ^ ands.beta_g[j] ^ ands.macs.beta[j],
        right[0][i] ^ right[1][i] ^ ands.alpha_g[j] ^ ands.macs.alpha[j],
        left[0][i] ^ right[0][i] ^ ands.s_g[j] ^ ands.macs.s[j]};
    for (const Block& string : strings) {
      write_cut(string, macs_.bytes, macs);
      macs += macs_.bytes;
    }
  }
  wipe_object(left);
  wipe_object(right);
}

void Garbler::garble(Chunk& chunk, const MaskedAnds& ands, GarbledRows& rows) {
  for (MaskedInputs& inputs : chunk.inputs) {
    inputs.labels.resize(inputs.count);
    session_.rng().fill_blocks(std::span(inputs.labels));
  }
  rows.halves.resize(2 * chunk.entries);
  rows.colours = BitVector(chunk.entries);
  rows.macs.resize(RowMacs::kStrings * macs_.bytes * chunk.entries);
  std::array<std::size_t, kLabelSources> next{};
  std::size_t done = 0;
  for (const Piece& piece : chunk.pieces) {
    if (piece.begins) {
      begin_labels(info_, lanes_, constants_, *piece.round, chunk, next, labels_);
      if (macs_.bytes > 0) outputs_.take_labels(session_, *piece.round, labels_);
    }
    if (piece.entries == 0) continue;
    piece_.read_operands(piece, lanes_, labels_);
    garble(chunk.first + done, ands, done, piece.entries, rows);
    piece_.write_results(piece, lanes_, labels_);
    done += piece.entries;
  }
}

RowEvaluator::RowEvaluator(checks::Session& session, const circuit::CircuitInfo& info,
                           const Lanes& lanes, const BundleValues& unlabelled,
                           const BundleValues& constants, RowMacs macs, OutputMasks& outputs,
                           std::uint64_t run)
    : session_(session), info_(info), lanes_(lanes), unlabelled_(unlabelled), macs_(macs),
      outputs_(outputs), hash_(session.id(), run), values_(info, lanes, constants),
      labels_(kNoFlip, lanes) {
  ENSURE(session.me() == Party::A);
}

GateValues RowEvaluator::evaluate(const Chunk& chunk, const MaskedAnds& ands,
                                  const GarbledRows& rows) {
  GateValues values(chunk.entries);
  BitWriter of_alpha(values.alpha.words()), of_beta(values.beta.words());
  BitReader gamma(values.gamma.words());
  std::array inputs = masked_inputs(chunk);
  std::array<std::size_t, kLabelSources> next{};
  std::size_t done = 0;
  for (const Piece& piece : chunk.pieces) {
    if (piece.begins) {
      values_.begin(piece, inputs, outputs_);
      begin_labels(info_, lanes_, unlabelled_, *piece.round, chunk, next, labels_);
      if (macs_.bytes > 0) outputs_.take_labels(session_, *piece.round, labels_);
    }
    if (piece.entries == 0) continue;
    piece_.read_operands(piece, lanes_, labels_);
    for_each_and(piece, lanes_,
                 [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
                   of_alpha.write(values_.get(tile, gate.in0), width);
                   of_beta.write(values_.get(tile, gate.in1), width);
                 });
    of_alpha.finish();
    of_beta.finish();
    evaluate(chunk, ands, rows, done, piece.entries, values);
    piece_.write_results(piece, lanes_, labels_);
    for_each_and(piece, lanes_,
                 [&](std::size_t tile, const circuit::RoundAnd& gate, std::size_t width) {
                   values_.set_and(tile, gate, gamma, width);
                 });
    done += piece.entries;
  }
  return values;
}

void RowEvaluator::evaluate(const Chunk& chunk, const MaskedAnds& ands, const GarbledRows& rows,
                            std::size_t from, std::size_t count, GateValues& values) {
  Block left[kRowStep], right[kRowStep];
  for (std::size_t done = 0; done < count; done += kRowStep) {
    const std::size_t n = std::min(kRowStep, count - done);
    const std::uint64_t first = chunk.first + from + done;
    hash_(HashUse::GarbledLeft, first, {&piece_.alpha[done], n}, left);
    hash_(HashUse::GarbledRight, first, {&piece_.beta[done], n}, right);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t j = from + done + i;
      const Block gamma =
          left[i] ^ right[i] ^ ands.s_g[j] ^
          times(rows.halves[2 * j] ^ ands.beta_g[j], values.alpha[j]) ^
          times(rows.halves[2 * j + 1] ^ ands.alpha_g[j] ^ piece_.alpha[done + i], values.beta[j]);
      piece_.gamma[done + i] = gamma;
      values.gamma.put(j, ((gamma.lo & 1) != 0) != rows.colours[j]);
    }
    if (macs_.bytes > 0)
      check_macs(first, ands, &rows.macs[RowMacs::kStrings * macs_.bytes * (from + done)],
                 from + done, n, done, values);
  }
  wipe_object(left);
  wipe_object(right);
}

void RowEvaluator::check_macs(std::uint64_t first, const MaskedAnds& ands, const std::byte* macs,
                              std::size_t from, std::size_t count, std::size_t in_piece,
                              const GateValues& values) {
  const Block& delta = session_.global_key().value;
  const std::size_t bytes = macs_.bytes;
  Block left[kRowStep], right[kRowStep];
  hash_(HashUse::GarbledLeftMac, first, {&piece_.alpha[in_piece], count}, left);
  hash_(HashUse::GarbledRightMac, first, {&piece_.beta[in_piece], count}, right);
  for (std::size_t i = 0; i < count; ++i, macs += RowMacs::kStrings * bytes) {
    const std::size_t j = from + i;
    const bool a = values.alpha[j], b = values.beta[j], c = values.gamma[j];
    const Block mine = left[i] ^ right[i] ^ times(ands.beta_g[j] ^ ands.macs.beta[j], a) ^
                       times(ands.alpha_g[j] ^ ands.macs.alpha[j], b) ^ ands.s_g[j] ^
                       ands.macs.s[j] ^ times(delta, (a & b) != c);
    const Block difference = cut(mine, bytes) ^ times(read_cut(macs, bytes), a) ^
                             times(read_cut(macs + bytes, bytes), b) ^
                             read_cut(macs + 2 * bytes, bytes);
    bad_ |= difference.lo | difference.hi;
  }
  wipe_object(left);
  wipe_object(right);
}

}  // namespace tinyot::online
