"""Local response normalization."""

from tests.ops.case import Case, f16, f32

WIDE = {"depth_radius": 2, "bias": 1.5, "alpha": 0.3, "beta": 0.75}

CASES = [
    Case("LRN", (f32(2, 3, 3, 7),)),
    Case("LRN", (f32(1, 2, 3, 6),), WIDE, label="beta of three quarters"),
    Case("LRN", (f32(1, 2, 3, 6),), {**WIDE, "beta": 1.0}, label="beta of one"),
    Case("LRN", (f32(1, 2, 3, 6),), {**WIDE, "beta": 0.6}, label="other beta"),
    Case("LRN", (f32(1, 2, 2, 3),), {"depth_radius": 5}, label="radius beyond the channels"),
    Case("LRN", (f32(1, 2, 2, 5),), {"depth_radius": 0}, label="radius zero"),
    Case("LRN", (f32(1, 1, 2, 150),), {**WIDE, "depth_radius": 4}, label="many channels"),
    Case("LRN", (f16(1, 2, 2, 5),), WIDE, label="half", grad=False),
    Case("LRN", (f32(0, 2, 2, 5),), label="empty", grad=False),
    Case("LRN", (f32(2, 3),), label="of a matrix", fails=True),
    Case("LRNGrad", (f32(1, 2, 2, 6), f32(1, 2, 2, 6), f32(1, 2, 2, 6)), WIDE, grad=False),
    Case(
        "LRNGrad",
        (f32(1, 1, 2, 150), f32(1, 1, 2, 150), f32(1, 1, 2, 150)),
        WIDE,
        label="many channels",
        grad=False,
    ),
    Case("LRNGrad", (f32(1, 2, 2, 6), f32(1, 2, 2, 6), f32(1, 2, 3, 6)), fails=True),
]
