#include "circuitgen/generators/aes.h"

#include "base/error.h"

namespace tinyot::circuit {
namespace {

using Column = std::array<ByteWord, 4>;

// The schedule of FIPS-197 section 5.2, a column at a time. Only the last Nk columns are stored.
class KeySchedule {
 public:
  KeySchedule(ByteWords key, AesSbox sbox) : columns_(key.size() / 4), sbox_(sbox) {
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

AesState sub_bytes(const AesState& state, AesSbox sbox) {
  AesState next;
  for (std::size_t k = 0; k < 16; ++k) next[k] = aes_sbox(state[k], sbox);
  return next;
}

// The byte that ShiftRows moves to `row` of `column`.
std::size_t origin_of(std::size_t column, std::size_t row) {
  return 4 * ((column + row) % 4) + row;
}

AesState shift_rows(const AesState& state) {
  AesState next;
  for (std::size_t k = 0; k < 16; ++k) next[k] = state[origin_of(k / 4, k % 4)];
  return next;
}

// 2.x in GF(2^8) = GF(2)[X] / (X^8 + X^4 + X^3 + X + 1).
ByteWord doubled(const ByteWord& x) {
  ByteWord z = rotated_left(x, 1);
  for (const std::size_t i : {1, 3, 4}) z[i] ^= x[7];
  return z;
}

Column mixed(const Column& a) {
  const ByteWord sum = a[0] ^ a[1] ^ a[2] ^ a[3];
  Column b;
  for (std::size_t row = 0; row < 4; ++row) {
    const ByteWord twice = doubled(a[row] ^ a[(row + 1) % 4]);
    b[row] = a[row] ^ sum ^ twice;
  }
  return b;
}

void mix_columns(AesState& state) {
  for (std::size_t first = 0; first < 16; first += 4) {
    Column column = mixed({state[first], state[first + 1], state[first + 2], state[first + 3]});
    std::move(column.begin(), column.end(), state.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

// Round `round` after SubBytes; the last one, `rounds`, has no MixColumns.
void finish_round(AesState& state, std::size_t round, std::size_t rounds, const AesState& key) {
  state = shift_rows(state);
  if (round < rounds) mix_columns(state);
  add_round_key(state, key);
}

std::size_t rounds_of(const ByteWords& key) {
  ENSURE(key.size() == 16 || key.size() == 24 || key.size() == 32);
  return key.size() / 4 + 6;
}

// Byte k of the block `nonce` || `counter`.
ByteWord counter_byte(const ByteWords& nonce, std::uint32_t counter, std::size_t k) {
  return k < 12 ? nonce[k] : ByteWord::constant(counter >> (8 * (15 - k)) & 0xff);
}

void encrypt(Builder& builder, std::uint32_t key_bits, AesSbox sbox) {
  ByteWords key = shared_bytes(builder, 0, 1, key_bits / 8);
  AesState state;
  for (std::uint32_t k = 0; k < 16; ++k) state[k] = input_byte(builder, 2, k);
  state = aes_encrypt(std::move(key), std::move(state), sbox);
  output_bytes(builder, 0, 0, state);
}

}  // namespace

AesState aes_encrypt(ByteWords key, AesState state, AesSbox sbox) {
  const std::size_t rounds = rounds_of(key);
  KeySchedule schedule(std::move(key), sbox);
  add_round_key(state, schedule.next_round_key());
  for (std::size_t round = 1; round <= rounds; ++round) {
    const AesState round_key = schedule.next_round_key();
    state = sub_bytes(state, sbox);
    finish_round(state, round, rounds, round_key);
  }
  return state;
}

AesCipher::AesCipher(ByteWords key, AesSbox sbox) : sbox_(sbox) {
  const std::size_t rounds = rounds_of(key);
  KeySchedule schedule(std::move(key), sbox);
  for (std::size_t round = 0; round <= rounds; ++round)
    round_keys_.push_back(schedule.next_round_key());
}

AesState AesCipher::encrypt(AesState state) const {
  const std::size_t rounds = round_keys_.size() - 1;
  add_round_key(state, round_keys_[0]);
  for (std::size_t round = 1; round <= rounds; ++round) {
    state = sub_bytes(state, sbox_);
    finish_round(state, round, rounds, round_keys_[round]);
  }
  return state;
}

AesCounter::AesCounter(const AesCipher& cipher, ByteWords nonce)
    : cipher_(cipher), nonce_(std::move(nonce)) {
  ENSURE(nonce_.size() == 12);
}

AesState AesCounter::block(std::uint32_t counter) {
  const std::vector<AesState>& keys = cipher_.round_keys_;
  const AesSbox sbox = cipher_.sbox_;
  const std::uint32_t changes = last_ ? counter ^ *last_ : 0;
  std::array<bool, 16> changed{};
  for (std::size_t k = 0; k < 16; ++k) {
    changed[k] = !last_ || (k >= 12 && (changes >> (8 * (15 - k)) & 0xff) != 0);
    if (changed[k]) first_[k] = aes_sbox(counter_byte(nonce_, counter, k) ^ keys[0][k], sbox);
  }
  for (std::size_t c = 0; c < 4; ++c) {
    Column column;
    bool column_changed = false;
    for (std::size_t row = 0; row < 4; ++row) {
      column[row] = first_[origin_of(c, row)];
      column_changed = column_changed || changed[origin_of(c, row)];
    }
    if (!column_changed) continue;
    column = mixed(column);
    for (std::size_t row = 0; row < 4; ++row)
      second_[4 * c + row] = aes_sbox(column[row] ^ keys[1][4 * c + row], sbox);
  }
  last_ = counter;

  const std::size_t rounds = keys.size() - 1;
  AesState state = second_;
  finish_round(state, 2, rounds, keys[2]);
  for (std::size_t round = 3; round <= rounds; ++round) {
    state = sub_bytes(state, sbox);
    finish_round(state, round, rounds, keys[round]);
  }
  return state;
}

CircuitParameter sbox_parameter() {
  return CircuitParameter::choice("sbox", {"small", "shallow", "gf16"},
                                  "fewest ANDs, least AND-depth, or fewest rounds of a masked run");
}

AesSbox sbox_of(const CircuitArguments& arguments) {
  const std::string& form = arguments.choice("sbox");
  return form == "small" ? AesSbox::Small : form == "gf16" ? AesSbox::Gf16 : AesSbox::Shallow;
}

CircuitFamily aes_family(std::uint32_t key_bits) {
  ENSURE(key_bits == 128 || key_bits == 192 || key_bits == 256);
  CircuitFamily family;
  family.name = "aes" + std::to_string(key_bits);
  family.description =
      "AES-" + std::to_string(key_bits) +
      " of A's message, one block per lane, under key_a ^ key_b; B learns the ciphertext";
  family.parameters = {sbox_parameter()};
  family.make = [key_bits](const CircuitArguments& arguments) {
    const AesSbox sbox = sbox_of(arguments);
    CircuitInfo info;
    info.name = arguments.spec();
    info.inputs = {key_input("key_a", key_bits / 8, Party::A),
                   key_input("key_b", key_bits / 8, Party::B),
                   bytes_input("message", 16, Party::A)};
    info.outputs = {bytes_output("ciphertext", 16, Receiver::B)};
    return std::make_unique<GeneratedCircuit>(
        std::move(info), [=](Builder& builder) { encrypt(builder, key_bits, sbox); });
  };
  return family;
}

}  // namespace tinyot::circuit
