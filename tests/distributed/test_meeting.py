"""What a part of a step sends to other tasks: which values go together."""

import pytest
import torch

from penstock import errors
from penstock.distributed.meeting import Meeting
from penstock.runtime.step import Step
from penstock.state.waiting import end_of_hold, hold_wakes

WORKER, PS, OTHER = (f"/job:{name}/replica:0/task:0" for name in ("worker", "ps", "other"))


class Link:
    """Notes down what is sent."""

    def __init__(self, task):
        self.task = task
        self.sent = []

    def note(self, fields, values):
        assert fields["do"] == "take" and fields["step"] == 7
        assert len(fields["keys"]) == len(values)
        self.sent.append([name for name, _, _ in fields["keys"]])
        self.values = values


@pytest.fixture
def links():
    return {task: Link(task) for task in (PS, OTHER)}


@pytest.fixture
def meeting(links):
    return Meeting(WORKER, links.__getitem__, lambda task: (), 7)


def key(name, task):
    return name, f"{task}/device:CPU:0", ()


def test_values_that_may_wait_go_with_the_next_one_that_may_not(meeting, links):
    """After it comes work that takes time, or even waits for what becomes of those values."""
    meeting.send(key("a", PS), torch.ones(3), soon=True)
    meeting.send(key("b", OTHER), torch.ones(3), soon=True)
    meeting.send(key("c", PS), torch.ones(3), soon=True)
    assert not links[PS].sent and not links[OTHER].sent
    meeting.send(key("d", PS), torch.ones(3))
    assert links[PS].sent == [["a", "c", "d"]]
    assert links[OTHER].sent == [["b"]]


def test_a_part_that_waits_sends_what_has_waited(meeting, links):
    meeting.send(key("a", PS), torch.ones(3), soon=True)
    meeting.deliver(key("x", WORKER), 1)
    assert meeting.recv(key("x", WORKER), Step(None, meeting.cancellation)) == 1
    assert links[PS].sent == [["a"]]


def test_what_waits_for_the_master_at_the_end_goes_with_the_answer(meeting, links):
    meeting.send(key("a", PS), torch.ones(3), soon=True)
    meeting.send(key("b", OTHER), torch.ones(3), soon=True)
    meeting.flush(but=PS)
    assert links[OTHER].sent == [["b"]] and not links[PS].sent
    keys, values = meeting.taken_back(PS)
    assert keys == [["a", f"{PS}/device:CPU:0", []]] and len(values) == 1
    meeting.flush()
    assert not links[PS].sent


def test_a_value_is_sent_as_it_was_when_it_had_to_wait(meeting, links):
    value = torch.ones(2)
    meeting.send(key("a", PS), value, soon=True)
    value.add_(1)
    meeting.flush()
    assert links[PS].values[0].content == torch.ones(2).numpy().tobytes()


def test_a_large_value_does_not_wait_and_takes_along_what_did(meeting, links):
    meeting.send(key("small", PS), torch.ones(3), soon=True)
    meeting.send(key("large", PS), torch.ones(100_000), soon=True)
    assert links[PS].sent == [["small", "large"]]


def test_a_large_value_that_lasts_waits_without_a_copy(meeting, links):
    large = torch.ones(100_000)
    meeting.send(key("large", PS), large, soon=True, lasts=True)
    meeting.send(key("small", PS), torch.ones(3), soon=True)
    assert not links[PS].sent
    meeting.flush()
    assert links[PS].sent == [["large", "small"]] and links[PS].values[0] is large


@pytest.mark.parametrize("lasts", [False, True])
def test_a_value_that_cannot_travel_is_an_error_where_it_is_sent(meeting, lasts):
    with pytest.raises(errors.UnimplementedError, match="can't be sent to another task"):
        meeting.send(key("a", PS), object(), soon=True, lasts=lasts)


def test_what_is_for_the_own_task_stays_there(meeting):
    meeting.send(key("a", WORKER), 5, soon=True)
    assert meeting.recv(key("a", WORKER), Step(None, meeting.cancellation)) == 5


def test_an_order_goes_with_what_is_sent_to_its_task_before_a_wait(meeting, links):
    given = []
    meeting.orders = {PS: lambda keys, values: given.append(([name for name, *_ in keys], values))}
    meeting.send(key("a", PS), torch.ones(3), soon=True)
    assert not given
    meeting.deliver(key("x", WORKER), 1)
    meeting.recv(key("x", WORKER), Step(None, meeting.cancellation))
    ((names, values),) = given
    assert names == ["a"] and len(values) == 1
    assert not links[PS].sent and not meeting.orders


def test_an_order_without_values_is_given_before_a_wait(meeting, links):
    given = []
    meeting.orders = {PS: lambda keys, values: given.append(keys)}
    meeting.deliver(key("x", WORKER), 1)
    meeting.recv(key("x", WORKER), Step(None, meeting.cancellation))
    assert given == [[]] and not links[PS].sent


def test_what_follows_an_order_goes_as_a_message_of_its_own(meeting, links):
    given = []
    meeting.orders = {PS: lambda keys, values: given.append(len(keys))}
    meeting.send(key("a", PS), torch.ones(3))  # can't wait
    meeting.send(key("b", PS), torch.ones(3))
    assert given == [1] and links[PS].sent == [["b"]]


class _Reads:
    """A thread that leads: it reads the value that it waits for, and whatever comes before."""

    def __init__(self, meeting):
        self._meeting = meeting
        self.holds = None

    def wait(self, came):
        self.holds = end_of_hold()
        self._meeting.deliver(key("x", WORKER), 1)
        return came()

    def wake(self):
        pass


def test_a_thread_wakes_others_at_once_while_it_reads_for_them(meeting):
    meeting.leading = _Reads(meeting)
    hold_wakes()
    try:
        assert meeting.recv(key("x", WORKER), Step(None, meeting.cancellation)) == 1
        assert meeting.leading.holds is False
    finally:
        assert end_of_hold()  # again, since it goes on with its part
