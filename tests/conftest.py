"""Settings of the whole test run."""

import os

# Before anything imports torch: tests run in several processes, and a pool of threads in each
# would fight over the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A GPU would multiply float32 numbers with ten bits of their mantissa.
os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import settings

from penstock.ops import seeds

# No deadline: how long an example takes says more about a busy machine than about the code. In CI
# the examples are always the same, so that a failure there is the change's own.
settings.register_profile("penstock", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("penstock")


@pytest.fixture(scope="module")
def seeds_by_draws() -> Iterator[None]:
    """Seeds as TensorFlow 2.21 gives them, for tests against what was recorded with it.

    It counts the random operations of a seeded graph, where TensorFlow 1.x counts all nodes.
    """
    drawn: Counter[object] = Counter()

    def position(graph: object) -> int:
        drawn[graph] += 1
        return drawn[graph] - 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(seeds, "position", position)
        yield
