"""Whole files. What is read back after it was written, tests/ops/test_files.py tells."""

from __future__ import annotations

from tests.ops.case import Case, string, strings

NOWHERE = string("/no/such/file")
NULL = string("/dev/null")

CASES = [
    Case("ReadFile", (NULL,)),
    Case("ReadFile", (NOWHERE,), label="missing", fails=True),
    Case("ReadFile", (string("/"),), label="directory", fails=True),
    Case("ReadFile", (strings("/dev/null"),), label="vector", fails=True),
    Case("WriteFile", (NULL, string("contents"))),
    Case("WriteFile", (NULL, strings("contents")), label="vector", fails=True),
    Case("MatchingFiles", (string("/dev/nul?"),)),
    Case("MatchingFiles", (strings("/dev/nul[kl]", "/no/such/*", "/dev/nul*"),), label="several"),
    Case("MatchingFiles", (string("/no/such/*"),), label="none"),
    Case("MatchingFiles", (strings(["/dev/null"]),), label="matrix", fails=True),
]
