"""Where the host's memory is kept."""

import subprocess
import sys

import pytest

_TAKES_MEMORY = """
import torch
from penstock.runtime.allocator import keep_freed_memory, use_huge_pages

def huge():
    with open("/proc/self/smaps_rollup") as facts:
        return next(int(line.split()[1]) for line in facts if line.startswith("AnonHugePages"))

kept = keep_freed_memory()
value = torch.arange(2**23, dtype=torch.int64)
before = huge()
moved = use_huge_pages()
assert int(value.sum()) == 2**22 * (2**23 - 1)
print(kept, moved >= 2**25, huge() - before >= 2**15)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel")
@pytest.mark.parametrize(
    ("malloc", "expected"), [("", "True True True"), ("default", "False False")]
)
def test_memory_is_kept_and_moved_to_huge_pages(malloc, expected, monkeypatch):
    monkeypatch.setenv("PENSTOCK_MALLOC", malloc)
    ran = subprocess.run(
        [sys.executable, "-c", _TAKES_MEMORY], capture_output=True, text=True, check=True
    )
    told = ran.stdout.strip()
    if told == "True False False":
        pytest.skip("this kernel moves nothing to huge pages when asked")
    assert told.startswith(expected)
