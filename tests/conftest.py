"""Settings of the whole test run."""

import os
import signal
import sys

import pytest

# A run that a shell has started in the background ignores Ctrl-C, which some tests send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# Before anything imports torch: tests run in several processes, and a pool of threads in each
# would fight over the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Steps that happen to run for long are not compiled behind a test's back.
os.environ.setdefault("PENSTOCK_FUSION", "0")
# A GPU would multiply float32 numbers with ten bits of their mantissa.
os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")


from hypothesis import settings

# No deadline: how long an example takes says more about a busy machine than about the code. In CI
# the examples are always the same, so that a failure there is the change's own.
settings.register_profile("penstock", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("penstock")


@pytest.fixture(autouse=True)
def a_graph_of_its_own():
    """What a test leaves in the default graph is not there for the next one.

    Which tests share a process is decided anew in each run: a graph that they shared would make
    one fail that depends on nothing of its own.
    """
    if "penstock" in sys.modules:
        sys.modules["penstock"].reset_default_graph()


@pytest.fixture
def cpus_alone(monkeypatch):
    """Sessions and servers of this process have no GPUs: for tests that count or name devices.

    All others run on a GPU where there is one, and should do so.
    """
    from penstock.runtime import configured

    monkeypatch.setattr(configured, "visible_gpus", lambda *_: [])
