// Is not to compile: the operands have different types.
#include "tinyot/circuit/operators.h"

tinyot::circuit::Number sum(const tinyot::circuit::Number& x,
                            const tinyot::circuit::SignedNumber& y) {
  return x + y;
}
