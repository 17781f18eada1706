"""Memory that tasks of one host share: what fits where, when it is free again, who may have it."""

import gc
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from penstock.distributed import arena
from penstock.distributed.arena import Inbox, Outbox, Place, usage

MIB = 1 << 20


@pytest.fixture
def outbox():
    made = Outbox(8 * MIB)
    yield made
    made.close()


def content(size, seed=0):
    return np.random.default_rng(seed).integers(0, 255, size, dtype=np.uint8)


def put(outbox, data):
    return outbox.put([memoryview(data)], len(data))


def test_what_is_put_in_is_seen_at_the_other_end(outbox):
    inbox = Inbox(outbox.offer())
    first, second = content(3 * MIB, 1), content(MIB + 5, 2)
    places = (
        put(outbox, first),
        outbox.put([memoryview(second[:7]), memoryview(second[7:])], MIB + 5),
    )
    np.testing.assert_array_equal(inbox.view(places[0], len(first)), first)
    np.testing.assert_array_equal(inbox.view(places[1], len(second)), second)


def test_a_place_is_free_when_the_last_view_of_it_is_gone(outbox):
    inbox = Inbox(outbox.offer())
    data = content(5 * MIB)
    view = inbox.view(put(outbox, data), len(data))
    part = view[10:20].view(np.int16)
    del view
    gc.collect()
    assert put(outbox, data) is None  # there is room for one
    np.testing.assert_array_equal(part.view(np.uint8), data[10:20])
    del part
    gc.collect()
    assert put(outbox, data) is not None


def test_blocks_never_overlap_and_gaps_are_filled():
    outbox = Outbox(MIB)
    inbox = Inbox(outbox.offer())
    random = np.random.default_rng(3)
    kept = {}
    refused = 0
    for number in range(300):
        data = content(int(random.integers(1, 70_000)), number)
        place = put(outbox, data)
        if place is None:
            refused += 1
            for key in list(kept)[:: int(random.integers(2, 4))]:
                del kept[key]
            continue
        kept[number] = inbox.view(place, len(data))
    assert refused > 10  # it was full, and found room again
    for number, view in kept.items():
        np.testing.assert_array_equal(view, content(len(view), number))
    outbox.close()


def test_a_value_that_is_not_sent_gives_its_place_back(outbox):
    data = content(5 * MIB)
    outbox.take_back(put(outbox, data))
    assert put(outbox, data) is not None


def test_there_are_not_more_values_than_slots(outbox):
    data = content(16)
    places = [put(outbox, data) for _ in range(300)]
    assert None not in places[:256]
    assert places[256:] == [None] * 44


def test_memory_that_is_not_used_goes_back_to_the_system(outbox):
    before = usage.bytes
    outbox.take_back(put(outbox, content(4 * MIB)))
    assert usage.bytes - before == 4 * MIB
    outbox.trim(time.monotonic())
    assert usage.bytes - before == 4 * MIB  # it may be needed again soon
    outbox.trim(time.monotonic() + 3600)
    assert usage.bytes == before
    inbox = Inbox(outbox.offer())
    data = content(2 * MIB)
    np.testing.assert_array_equal(inbox.view(put(outbox, data), len(data)), data)


def test_all_outboxes_together_keep_to_the_allowance(monkeypatch):
    monkeypatch.setenv(arena.VARIABLE, str(usage.bytes + 3 * MIB))
    boxes = [Outbox(8 * MIB), Outbox(8 * MIB)]
    assert put(boxes[0], content(2 * MIB)) is not None
    assert put(boxes[1], content(2 * MIB)) is None
    assert put(boxes[1], content(MIB)) is not None
    boxes[0].close()
    assert put(boxes[1], content(2 * MIB)) is not None
    boxes[1].close()


@pytest.mark.parametrize("setting", ["0", "100"])
def test_it_can_be_switched_off(monkeypatch, setting):
    monkeypatch.setenv(arena.VARIABLE, setting)
    assert arena.host_identity() == ""


def test_an_offer_of_something_else_is_refused(outbox, tmp_path):
    offer = outbox.offer()
    with pytest.raises(ValueError, match="another task's"):
        Inbox({**offer, "secret": "00" * 32})
    with pytest.raises(OSError, match="No such file"):
        Inbox({**offer, "pid": 2**22 + 1})
    with (tmp_path / "file").open("wb+") as file, pytest.raises(ValueError, match="no memory"):
        Inbox({**offer, "file": file.fileno()})
    unsealed = os.memfd_create("penstock", os.MFD_ALLOW_SEALING)
    try:
        with pytest.raises(ValueError, match="taken away"):
            Inbox({**offer, "file": unsealed})
    finally:
        os.close(unsealed)


def test_a_place_outside_of_the_memory_is_refused(outbox):
    inbox = Inbox(outbox.offer())
    for place in (Place(300, 4096), Place(-1, 4096), Place(0, 0), Place(0, 8 * MIB - 10)):
        with pytest.raises(ValueError, match=r"outside|buffer|offset"):
            inbox.view(place, 100)


_SENDER = """
import json
import sys
import numpy as np
from penstock.distributed.arena import Outbox
box = Outbox(1 << 22)
data = np.arange(1 << 20, dtype=np.uint8)
place = box.put([memoryview(data)], len(data))
print(json.dumps([box.offer(), place.slot, place.begin]), flush=True)
sys.stdin.read()
"""


def test_values_outlive_a_sender_that_is_killed_and_leave_nothing_behind():
    before = set(Path("/dev/shm").iterdir())
    sender = subprocess.Popen(
        [sys.executable, "-c", _SENDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with sender:
        offer, slot, begin = json.loads(sender.stdout.readline())
        view = Inbox(offer).view(Place(slot, begin), 1 << 20)
        sender.kill()
        sender.wait()
        np.testing.assert_array_equal(view, np.arange(1 << 20, dtype=np.uint8))
    assert set(Path("/dev/shm").iterdir()) == before
    with pytest.raises(OSError, match="No such file"):
        Inbox(offer)
