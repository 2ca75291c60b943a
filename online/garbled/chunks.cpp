#include "online/garbled/chunks.h"

#include <utility>

namespace tinyot::online {

void Chunker::round(circuit::Round& given) {
  if (spare_.empty()) spare_.push_back(std::make_shared<circuit::Round>());
  const auto round = std::move(spare_.back());
  spare_.pop_back();
  std::swap(*round, given);
  const std::size_t of_tiles = lanes_.tiles() * round->ands.size(),
                    ands = of_tiles + round->invariant_ands.size();
  Piece piece{round, 0, 0, true, 0, 0};
  piece.load = round->inputs.size() * lanes_.count() +
               (round->local.size() + round->invariant_local.size()) / kGatesOfAnEntry;
  const std::size_t entries = round->and_count(lanes_.count());
  if (chunk_.entries + entries <= max_) {
    piece.end = ands;
    piece.entries = entries;
    piece.load += entries;
  }
  for (std::size_t at = piece.end; at < ands; ++at) {
    const std::size_t width = at < of_tiles ? lanes_.width(at / round->ands.size()) : 1;
    if (chunk_.entries + piece.entries + width > max_ && chunk_.entries + piece.entries > 0) {
      add(std::exchange(piece, Piece{round, at, at, false, 0, 0}));
      pass_on();
    }
    piece.end = at + 1;
    piece.entries += width;
    piece.load += width;
  }
  add(std::move(piece));
  if (chunk_.load >= min_) pass_on();
}

void Chunker::add(Piece piece) {
  chunk_.entries += piece.entries;
  chunk_.load += piece.load;
  chunk_.pieces.push_back(std::move(piece));
}

void Chunker::recycle(Chunk chunk) {
  for (Piece& piece : chunk.pieces)
    if (piece.round.use_count() == 1 && piece.round->is_reusable())
      spare_.push_back(std::move(piece.round));
}

void Chunker::finish() {
  if (!chunk_.pieces.empty()) pass_on();
}

void Chunker::pass_on() {
  const std::uint64_t next = chunk_.first + chunk_.entries;
  receiver_(std::exchange(chunk_, Chunk{}));
  chunk_.first = next;
}

}  // namespace tinyot::online
