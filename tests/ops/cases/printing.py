"""Printing, and the time."""

from tests.ops.case import Case, string, strings

CASES = [
    Case("PrintV2", (string("a line"),)),
    Case("PrintV2", (string("a line"),), {"output_stream": "stdout", "end": ""}),
    Case("PrintV2", (strings("a", "b"),), label="vector", fails=True),
    Case("Timestamp", (), shape_only=True),
]
