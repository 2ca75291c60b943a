#include "circuitgen/generators/field_product.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tinyot::circuit {
namespace {

constexpr std::size_t kFieldBits = 128;
constexpr std::size_t kProductBits = 2 * kFieldBits - 1;  // of polynomials, and of all residues

using BitRow = std::bitset<256>;

// Residues modulo a polynomial. A form is a sum of coefficients: bit i for that of z^i. The product
// of two residues is linear in the products of their forms.
struct Residues {
  std::size_t degree;
  unsigned modulus;
  std::vector<unsigned> forms;
};

const Residues kModuloCube = {3, 0b1000, {1, 2, 4, 3, 5}};
const Residues kModuloLinear = {1, 0b10, {1}};
const std::pair<Residues, std::size_t> kModuloIrreducible[] = {
    // and how many of their degree are used
    {{2, 0b111, {1, 2, 3}}, 1},
    {{3, 0b1011, {1, 2, 4, 3, 5, 6}}, 2},
    {{4, 0b10011, {1, 2, 4, 8, 3, 12, 5, 10, 15}}, 3},
    {{5, 0b100101, {1, 16, 2, 3, 4, 5, 8, 13, 20, 22, 24, 27, 31}}, 6},
    {{6, 0b1000011, {16, 27, 11, 40, 58, 18, 4, 38, 34, 12, 43, 39, 6, 21, 19}}, 9},
    {{8, 0x11b, {211, 70,  149, 64, 102, 38,  161, 228, 69,  25, 98, 123,
                 43,  166, 141, 1,  154, 155, 20,  132, 144, 21, 30, 11}},
     18}};

unsigned times(unsigned x, unsigned y, const Residues& residues) {
  unsigned product = 0;
  for (std::size_t i = residues.degree; i-- > 0;) {
    product <<= 1;
    if (((product >> residues.degree) & 1) != 0) product ^= residues.modulus;
    if (((y >> i) & 1) != 0) product ^= x;
  }
  return product;
}

// left . unknowns = right, for a vector of unknowns in each column of the right side.
struct Equation {
  BitRow left, right;
};

// Row u is unknown u. An unknown that the equations leave open is 0.
std::vector<BitRow> solve(std::vector<Equation> equations, std::size_t unknowns) {
  std::vector<BitRow> solution(unknowns);
  std::vector<std::size_t> solved;
  for (std::size_t u = 0; u < unknowns; ++u) {
    const std::size_t rank = solved.size();
    std::size_t pivot = rank;
    while (pivot < equations.size() && !equations[pivot].left[u]) ++pivot;
    if (pivot == equations.size()) continue;
    std::swap(equations[pivot], equations[rank]);
    for (std::size_t e = 0; e < equations.size(); ++e) {
      if (e == rank || !equations[e].left[u]) continue;
      equations[e].left ^= equations[rank].left;
      equations[e].right ^= equations[rank].right;
    }
    solved.push_back(u);
  }
  for (std::size_t e = 0; e < equations.size(); ++e) {
    if (e < solved.size()) {
      solution[solved[e]] = equations[e].right;
    } else {
      ENSURE(equations[e].right.none());
    }
  }
  return solution;
}

// For each product of forms, the coefficients of the product of residues in which it occurs.
std::vector<BitRow> recombination_of(const Residues& residues) {
  std::vector<unsigned> powers = {1};  // of z
  while (powers.size() < 2 * residues.degree - 1)
    powers.push_back(times(2, powers.back(), residues));
  std::vector<Equation> equations;
  for (std::size_t i = 0; i < residues.degree; ++i) {
    for (std::size_t j = i; j < residues.degree; ++j) {
      Equation equation{{}, powers[i + j]};
      for (std::size_t r = 0; r < residues.forms.size(); ++r)
        equation.left[r] = ((residues.forms[r] >> i & residues.forms[r] >> j) & 1) != 0;
      equations.push_back(equation);
    }
  }
  return solve(std::move(equations), residues.forms.size());
}

enum class Order { Ascending, Descending };

// Polynomials are evaluated at an element: X is mapped to it. Descending: those with the reversed
// coefficients.
struct Place {
  Residues residues;
  std::vector<BitRow> recombination;
  unsigned element;
  Order order;

  std::vector<unsigned> powers(std::size_t count) const {
    std::vector<unsigned> result = {1};
    while (result.size() < count) result.push_back(times(element, result.back(), residues));
    if (order == Order::Descending) std::reverse(result.begin(), result.end());
    return result;
  }
};

// Elements of the field, one of each class of conjugates: they are in no smaller field.
std::vector<unsigned> elements_of(const Residues& residues, std::size_t count) {
  std::vector<unsigned> elements;
  for (unsigned x = 2; elements.size() < count; ++x) {
    ENSURE(x >> residues.degree == 0);
    bool first = true;
    unsigned conjugate = times(x, x, residues);
    for (std::size_t i = 1; i < residues.degree; ++i) {
      first = first && conjugate > x;
      conjugate = times(conjugate, conjugate, residues);
    }
    if (first) elements.push_back(x);
  }
  return elements;
}

std::vector<Place> all_places() {
  const std::vector<BitRow> cube = recombination_of(kModuloCube);
  std::vector<Place> places = {
      {kModuloCube, cube, 2, Order::Ascending},
      {kModuloCube, cube, 2, Order::Descending},
      {kModuloLinear, recombination_of(kModuloLinear), 1, Order::Ascending}};
  for (const auto& [residues, count] : kModuloIrreducible) {
    const std::vector<BitRow> recombination = recombination_of(residues);
    for (const unsigned element : elements_of(residues, count))
      places.push_back({residues, recombination, element, Order::Ascending});
  }
  return places;
}

// For each coefficient of a polynomial of `count` coefficients, the bits of residues in which it
// occurs.
std::vector<BitRow> evaluation_of(const std::vector<Place>& places, std::size_t count) {
  std::vector<BitRow> rows(count);
  std::size_t at = 0;
  for (const Place& place : places) {
    const std::vector<unsigned> powers = place.powers(count);
    for (std::size_t j = 0; j < count; ++j) rows[j] |= BitRow(powers[j]) << at;
    at += place.residues.degree;
  }
  ENSURE(at == kProductBits);
  return rows;
}

// For each bit of residues of a polynomial of 255 coefficients, the coefficients of the polynomial
// modulo that of the field in which it occurs.
std::vector<BitRow> interpolation_of(const std::vector<Place>& places) {
  std::vector<Equation> equations;
  BitRow power = 1;
  for (const BitRow& row : evaluation_of(places, kProductBits)) {
    equations.push_back({row, power});
    power <<= 1;
    if (power[kFieldBits]) power ^= (BitRow(1) << kFieldBits) ^ BitRow(0b10000111);
  }
  return solve(std::move(equations), kProductBits);
}

struct FieldTables {
  std::vector<Place> places = all_places();
  std::vector<BitRow> evaluation = evaluation_of(places, kFieldBits);
  std::vector<BitRow> interpolation = interpolation_of(places);
};

const FieldTables& field_tables() {
  static const FieldTables kTables;
  return kTables;
}

// Output o is the sum of all x[i] with rows[i][o]. All sums of kGroup inputs are computed first, so
// that each of them takes one XOR per output (the method of the four Russians).
Bits linear_map(const std::vector<BitRow>& rows, BitSpan x, std::size_t outputs) {
  constexpr std::size_t kGroup = 6;
  Bits result(outputs);
  for (std::size_t first = 0; first < x.size(); first += kGroup) {
    const std::size_t inputs = std::min(kGroup, x.size() - first);
    Bits sums(std::size_t{1} << inputs);
    for (std::size_t s = 1; s < sums.size(); ++s)
      sums[s] = sums[s & (s - 1)] ^ x[first + static_cast<std::size_t>(std::countr_zero(s))];
    for (std::size_t o = 0; o < outputs; ++o) {
      std::size_t s = 0;
      for (std::size_t i = 0; i < inputs; ++i) s |= std::size_t{rows[first + i][o]} << i;
      result[o] ^= sums[s];
    }
  }
  return result;
}

}  // namespace

Bits field_factors(const FieldElement& x) {
  const FieldTables& tables = field_tables();
  const Bits values = linear_map(tables.evaluation, x, kProductBits);
  Bits factors;
  std::size_t at = 0;
  for (const Place& place : tables.places) {
    for (const unsigned form : place.residues.forms) {
      Bit sum;
      for (std::size_t i = 0; i < place.residues.degree; ++i) {
        if (((form >> i) & 1) != 0) sum ^= values[at + i];
      }
      factors.push_back(std::move(sum));
    }
    at += place.residues.degree;
  }
  return factors;
}

FieldElement field_element(BitSpan products) {
  const FieldTables& tables = field_tables();
  Bits values;
  for (const Place& place : tables.places) {
    Bits value(place.residues.degree);
    for (const BitRow& occurs : place.recombination) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        if (occurs[i]) value[i] ^= products.front();
      }
      products = products.subspan(1);
    }
    std::move(value.begin(), value.end(), std::back_inserter(values));
  }
  ENSURE(products.empty());
  return FieldElement(linear_map(tables.interpolation, values, kFieldBits));
}

FieldElement field_square(const FieldElement& x) {
  Bits square(kProductBits);
  for (std::size_t i = 0; i < kFieldBits; ++i) square[2 * i] = x[i];
  for (std::size_t i = kProductBits; i-- > kFieldBits;) {
    for (const std::size_t place : {0, 1, 2, 7}) square[i - kFieldBits + place] ^= square[i];
  }
  return FieldElement(BitSpan(square).first(kFieldBits));
}

}  // namespace tinyot::circuit
