"""Which of two parties is richer, without telling each other by how much."""

import tinyot
from tinyot import A, B, Bit, UInt


@tinyot.circuit
def richer(a: UInt = A.uint(32), b: UInt = B.uint(32)) -> Bit:
    return a > b


with tinyot.local() as parties:  # both parties in this process; tinyot.Party is one of them
    result = parties.run(richer, {"a": 4100, "b": 3900})
print("A is richer:", result.outputs["result"])
print("of", richer.cost())
