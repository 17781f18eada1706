"""Nearest centers, and the choice of the first centers."""

from tests.ops.case import Case, array, f32

CASES: list[Case] = []
for k in (0, 1, 3, 9):
    operands = f32(7, 4), f32(5, 4), array(k, "int64")
    CASES.append(Case("NearestNeighbors", operands, label=f"{k} centers"))
CASES += [
    Case("NearestNeighbors", (f32(3, 2), f32(0, 2), array(1, "int64")), label="no centers"),
    Case("NearestNeighbors", (f32(0, 2), f32(3, 2), array(1, "int64")), label="none", fails=True),
    Case("NearestNeighbors", (f32(3, 2), f32(3, 4), array(1, "int64")), label="size", fails=True),
    Case("NearestNeighbors", (f32(3), f32(3, 4), array(1, "int64")), label="vector", fails=True),
]
for seed in range(4):
    operands = f32(300) ** 2, array(seed, "int64")
    CASES.append(Case("KMC2ChainInitialization", operands, label=f"seed {seed}"))
CASES += [
    Case("KMC2ChainInitialization", (f32(2, 2), array(1, "int64")), label="matrix", fails=True),
    Case("KMC2ChainInitialization", (f32(0), array(1, "int64")), label="empty", fails=True),
]
for seed, retries in ((0, -1), (1, 0), (2, 3)):
    numbers = (array(number, "int64") for number in (4, seed, retries))
    operands = f32(20, 3), *numbers
    CASES.append(Case("KmeansPlusPlusInitialization", operands, label=f"{retries} retries"))
    few = f32(2, 3), array(3, "int64"), array(seed, "int64"), array(retries, "int64")
    CASES.append(
        Case("KmeansPlusPlusInitialization", few, label=f"few {retries} retries", fails=True)
    )
