#include "circuitgen/generators/aes_sbox.h"

#include <array>

namespace tinyot::circuit {
namespace {

// The names t, y, z and s are those of the paper's straight-line program; s[0] is the highest bit
// there.
using TopLayer = std::array<Bit, 22>;     // y1..y21
using MiddleLayer = std::array<Bit, 18>;  // z0..z17

TopLayer sbox_top(const std::array<Bit, 8>& x) {
  TopLayer y;
  y[14] = x[3] ^ x[5];
  y[13] = x[0] ^ x[6];
  y[9] = x[0] ^ x[3];
  y[8] = x[0] ^ x[5];
  const Bit t0 = x[1] ^ x[2];
  y[1] = t0 ^ x[7];
  y[4] = y[1] ^ x[3];
  y[12] = y[13] ^ y[14];
  y[2] = y[1] ^ x[0];
  y[5] = y[1] ^ x[6];
  y[3] = y[5] ^ y[8];
  const Bit t1 = x[4] ^ y[12];
  y[15] = t1 ^ x[5];
  y[20] = t1 ^ x[1];
  y[6] = y[15] ^ x[7];
  y[10] = y[15] ^ t0;
  y[11] = y[20] ^ y[9];
  y[7] = x[7] ^ y[11];
  y[17] = y[10] ^ y[11];
  y[19] = y[10] ^ y[8];
  y[16] = t0 ^ y[11];
  y[21] = y[13] ^ y[16];
  y[18] = x[0] ^ y[16];
  return y;
}

// The inverse in GF(2^4) in the tower field: t29, t33, t37, t40 from t21..t24. 5 ANDs at AND-depth
// 4.
using Inverse = std::array<Bit, 4>(const Bit& t21, const Bit& t22, const Bit& t23, const Bit& t24);

std::array<Bit, 4> small_inverse(const Bit& t21, const Bit& t22, const Bit& t23, const Bit& t24) {
  const Bit t25 = t21 ^ t22;
  const Bit t26 = t21 & t23;
  const Bit t27 = t24 ^ t26;
  const Bit t29 = (t25 & t27) ^ t22;
  const Bit t30 = t23 ^ t24;
  const Bit t31 = t22 ^ t26;
  const Bit t33 = (t31 & t30) ^ t24;
  const Bit t36 = t24 & (t27 ^ t33);
  const Bit t37 = t36 ^ (t23 ^ t33);
  const Bit t38 = t27 ^ t36;
  const Bit t40 = t25 ^ (t29 & t38);
  return {t29, t33, t37, t40};
}

// The same function by 7 ANDs at AND-depth 2.
std::array<Bit, 4> shallow_inverse(const Bit& t21, const Bit& t22, const Bit& t23, const Bit& t24) {
  const Bit t25 = t21 ^ t22;
  const Bit t30 = t23 ^ t24;
  const Bit t26 = t21 & t23;
  const Bit t29 = (t25 & (t24 ^ t26)) ^ t22;
  const Bit t33 = (t30 & (t22 ^ t26)) ^ t24;
  const Bit t37 = (t30 & (t22 & t23)) ^ t30 ^ t26;
  const Bit t40 = (t25 & (t21 & t24)) ^ t25 ^ t26;
  return {t29, t33, t37, t40};
}

std::array<Bit, 4> grouped_inverse(const Bit& t21, const Bit& t22, const Bit& t23, const Bit& t24) {
  return group_of(std::array{t21, t22, t23, t24},
                  [&] { return shallow_inverse(t21, t22, t23, t24); });
}

MiddleLayer sbox_middle(const TopLayer& y, const Bit& x7, Inverse inverse) {
  const Bit t2 = y[12] & y[15];
  const Bit t4 = (y[3] & y[6]) ^ t2;
  const Bit t6 = (y[4] & x7) ^ t2;
  const Bit t7 = y[13] & y[16];
  const Bit t9 = (y[5] & y[1]) ^ t7;
  const Bit t11 = (y[2] & y[7]) ^ t7;
  const Bit t12 = y[9] & y[11];
  const Bit t14 = (y[14] & y[17]) ^ t12;
  const Bit t16 = (y[8] & y[10]) ^ t12;
  const Bit t21 = t4 ^ y[20] ^ t14;
  const Bit t22 = t6 ^ t16 ^ y[19];
  const Bit t23 = t9 ^ t14 ^ y[21];
  const Bit t24 = t11 ^ t16 ^ y[18];

  const auto [t29, t33, t37, t40] = inverse(t21, t22, t23, t24);
  const Bit t41 = t40 ^ t37;
  const Bit t42 = t29 ^ t33;
  const Bit t43 = t29 ^ t40;
  const Bit t44 = t33 ^ t37;
  const Bit t45 = t42 ^ t41;

  return {t44 & y[15], t37 & y[6],  t33 & x7,    t43 & y[16], t40 & y[1],  t29 & y[7],
          t42 & y[11], t45 & y[17], t41 & y[10], t44 & y[12], t37 & y[3],  t33 & y[4],
          t43 & y[13], t40 & y[5],  t29 & y[2],  t42 & y[9],  t45 & y[14], t41 & y[8]};
}

std::array<Bit, 8> sbox_bottom(const MiddleLayer& z) {
  const Bit t1 = z[15] ^ z[16];
  const Bit t2 = z[10] ^ t1;
  const Bit t3 = z[9] ^ t2;
  const Bit t4 = z[0] ^ z[2];
  const Bit t5 = z[1] ^ z[0];
  const Bit t6 = z[3] ^ z[4];
  const Bit t7 = z[12] ^ t4;
  const Bit t8 = z[7] ^ t6;
  const Bit t9 = z[8] ^ t7;
  const Bit t10 = t8 ^ t9;
  const Bit t11 = t6 ^ t5;
  const Bit t12 = z[3] ^ z[5];
  const Bit t13 = z[13] ^ t1;
  const Bit t14 = t4 ^ t12;
  const Bit t16 = z[6] ^ t8;
  const Bit t17 = z[14] ^ t10;
  const Bit t18 = t13 ^ t14;
  const Bit t20 = z[15] ^ t16;
  const Bit t21 = t2 ^ z[11];
  const Bit t26 = t17 ^ t20;

  std::array<Bit, 8> s;
  s[3] = t3 ^ t11;
  s[7] = ~(z[12] ^ t18);
  s[6] = ~(t10 ^ t18);
  s[0] = t3 ^ t16;
  s[1] = ~(s[3] ^ t16);
  s[2] = ~(t26 ^ z[17]);
  s[4] = t14 ^ s[3];
  s[5] = t21 ^ t17;
  return s;
}

}  // namespace

ByteWord aes_sbox(const ByteWord& x, AesSbox form) {
  std::array<Bit, 8> highest_first;
  for (std::size_t i = 0; i < 8; ++i) highest_first[i] = x[7 - i];
  constexpr std::array kInverses = {small_inverse, shallow_inverse, grouped_inverse};
  Inverse* const inverse = kInverses[static_cast<std::size_t>(form)];
  const std::array<Bit, 8> s =
      sbox_bottom(sbox_middle(sbox_top(highest_first), highest_first[7], inverse));
  ByteWord result;
  for (std::size_t i = 0; i < 8; ++i) result[i] = s[7 - i];
  return result;
}

}  // namespace tinyot::circuit
