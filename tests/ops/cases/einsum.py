"""Products and sums named by an equation."""

from tests.ops.case import Case, c128, f32, f64, i32

ONE = {
    "ij->ji": (2, 3),
    "ii->i": (3, 3),
    "ii->": (3, 3),
    "ij->j": (2, 3),
    "ijk->ki": (2, 3, 4),
    "iij->j": (3, 3, 2),
    "i->ii": (3,),
    "...ij->...ji": (2, 3, 4),
    "...i->...": (2, 3, 4),
    "i...->...": (2, 3, 4),
    "...ii->...": (2, 3, 3),
    "i...ij->...": (3, 2, 3, 4),
}
TWO = {
    "ij,jk->ik": ((2, 3), (3, 4)),
    "bij,bjk->bik": ((2, 2, 3), (2, 3, 4)),
    "bij,bjk->ik": ((2, 2, 3), (2, 3, 4)),
    "i,j->ij": ((2,), (3,)),
    "i,i->": ((3,), (3,)),
    "ij,k->k": ((2, 3), (4,)),
    "ij,jk->k": ((2, 3), (3, 4)),
    "iij,jk->ik": ((2, 2, 3), (3, 4)),
    "abc,cd->bad": ((2, 3, 4), (4, 5)),
    ",ij->ij": ((), (2, 3)),
    "...ij,...jk->...ik": ((5, 2, 3), (3, 4)),
    "...ij,jk...->ik...": ((2, 2, 3), (3, 4, 2)),
    "b...ij,b...jk->b...ik": ((2, 1, 2, 3), (2, 5, 3, 4)),
}

CASES: list[Case] = []
for equation, shape in ONE.items():
    CASES.append(Case("Einsum", ([f64(*shape)],), {"equation": equation}, label=f"{equation}"))
for equation, (x, y) in TWO.items():
    pair = [f64(*x), f64(*y)]
    CASES.append(Case("Einsum", (pair,), {"equation": equation}, label=f"{equation}"))
CASES += [
    Case("Einsum", ([c128(2, 3), c128(3, 4)],), {"equation": "ij,jk->ik"}, label="complex"),
    Case("Einsum", ([i32(0, 9, 2, 3), i32(0, 9, 3, 4)],), {"equation": "ij,jk->ik"}, label="int32"),
    Case("Einsum", ([f32(2, 3), f32(2, 4)],), {"equation": "ij,jk->ik"}, label="sizes", fails=True),
    Case("Einsum", ([f32(2, 3)],), {"equation": "ijk->i"}, label="rank", fails=True),
    Case("Einsum", ([f32(2, 3)],), {"equation": "ij->k"}, label="unknown label", fails=True),
]
