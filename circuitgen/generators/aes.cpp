#include "circuitgen/generators/aes.h"

#include "base/error.h"

namespace tinyot::circuit {
namespace {

using Column = std::array<ByteWord, 4>;

// The schedule of FIPS-197 section 5.2, a column at a time. Only the last Nk columns are stored.
class KeySchedule {
 public:
  KeySchedule(std::vector<ByteWord> key, AesSbox sbox) : columns_(key.size() / 4), sbox_(sbox) {
    for (std::size_t k = 0; k < key.size(); ++k) columns_[k / 4][k % 4] = std::move(key[k]);
  }

  AesState next_round_key() {
    AesState key;
    for (std::size_t c = 0; c < 4; ++c) {
      const Column& column = next_column();
      std::copy(column.begin(), column.end(), key.begin() + static_cast<std::ptrdiff_t>(4 * c));
    }
    return key;
  }

 private:
  const Column& next_column() {
    const std::size_t nk = columns_.size(), i = next_++;
    Column& column = columns_[i % nk];
    if (i < nk) return column;
    Column last = columns_[(i - 1) % nk];
    if (i % nk == 0) {
      last = {aes_sbox(last[1], sbox_), aes_sbox(last[2], sbox_), aes_sbox(last[3], sbox_),
              aes_sbox(last[0], sbox_)};
      last[0] ^= ByteWord::constant(round_constant_);
      round_constant_ =
          static_cast<std::uint8_t>((round_constant_ << 1) ^ ((round_constant_ >> 7) * 0x1b));
    } else if (nk > 6 && i % nk == 4) {
      for (ByteWord& byte : last) byte = aes_sbox(byte, sbox_);
    }
    for (std::size_t row = 0; row < 4; ++row) column[row] ^= last[row];
    return column;
  }

  std::vector<Column> columns_;  // column i at i % Nk
  std::size_t next_ = 0;
  std::uint8_t round_constant_ = 1;
  AesSbox sbox_;
};

void add_round_key(AesState& state, const AesState& key) {
  for (std::size_t k = 0; k < 16; ++k) state[k] ^= key[k];
}

AesState sub_bytes_and_shift_rows(const AesState& state, AesSbox sbox) {
  AesState next;
  for (std::size_t column = 0; column < 4; ++column) {
    for (std::size_t row = 0; row < 4; ++row)
      next[4 * column + row] = aes_sbox(state[4 * ((column + row) % 4) + row], sbox);
  }
  return next;
}

// 2.x in GF(2^8) = GF(2)[X] / (X^8 + X^4 + X^3 + X + 1).
ByteWord doubled(const ByteWord& x) {
  ByteWord z = rotated_left(x, 1);
  for (const std::size_t i : {1, 3, 4}) z[i] ^= x[7];
  return z;
}

void mix_columns(AesState& state) {
  for (std::size_t first = 0; first < 16; first += 4) {
    const Column a = {state[first], state[first + 1], state[first + 2], state[first + 3]};
    const ByteWord sum = a[0] ^ a[1] ^ a[2] ^ a[3];
    for (std::size_t row = 0; row < 4; ++row)
      state[first + row] = a[row] ^ sum ^ doubled(a[row] ^ a[(row + 1) % 4]);
  }
}

void encrypt(Builder& builder, std::uint32_t key_bits, AesSbox sbox) {
  std::vector<ByteWord> key;
  for (std::uint32_t k = 0; k < key_bits / 8; ++k) {
    key.push_back(ByteWord(builder.input_bits(0, 8 * k, 8)) ^
                  ByteWord(builder.input_bits(1, 8 * k, 8)));
  }
  AesState state;
  for (std::uint32_t k = 0; k < 16; ++k) state[k] = ByteWord(builder.input_bits(2, 8 * k, 8));
  state = aes_encrypt(std::move(key), std::move(state), sbox);
  for (std::uint32_t k = 0; k < 16; ++k) builder.output_bits(0, 8 * k, state[k]);
}

}  // namespace

AesState aes_encrypt(std::vector<ByteWord> key, AesState state, AesSbox sbox) {
  ENSURE(key.size() == 16 || key.size() == 24 || key.size() == 32);
  const std::size_t rounds = key.size() / 4 + 6;
  KeySchedule schedule(std::move(key), sbox);
  add_round_key(state, schedule.next_round_key());
  for (std::size_t round = 1; round <= rounds; ++round) {
    const AesState round_key = schedule.next_round_key();
    state = sub_bytes_and_shift_rows(state, sbox);
    if (round < rounds) mix_columns(state);
    add_round_key(state, round_key);
  }
  return state;
}

CircuitFamily aes_family(std::uint32_t key_bits) {
  ENSURE(key_bits == 128 || key_bits == 192 || key_bits == 256);
  CircuitFamily family;
  family.name = "aes" + std::to_string(key_bits);
  family.description =
      "AES-" + std::to_string(key_bits) +
      " of A's message, one block per lane, under key_a ^ key_b; B learns the ciphertext";
  family.parameters = {
      CircuitParameter::choice("sbox", {"small", "shallow"}, "fewest ANDs, or least AND-depth")};
  family.make = [key_bits](const CircuitArguments& arguments) {
    const AesSbox sbox = arguments.choice("sbox") == "small" ? AesSbox::Small : AesSbox::Shallow;
    CircuitInfo info;
    info.name = arguments.spec();
    info.inputs = {{"key_a", key_bits, Party::A, ValueFormat::Bytes, true},
                   {"key_b", key_bits, Party::B, ValueFormat::Bytes, true},
                   {"message", 128, Party::A, ValueFormat::Bytes, false}};
    info.outputs = {{"ciphertext", 128, Receiver::B, ValueFormat::Bytes}};
    return std::make_unique<GeneratedCircuit>(
        std::move(info), [=](Builder& builder) { encrypt(builder, key_bits, sbox); });
  };
  return family;
}

}  // namespace tinyot::circuit
