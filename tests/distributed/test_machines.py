"""What masters and workers decide, event by event: no sockets, threads or clocks."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from penstock import errors
from penstock.distributed.departures import Departures
from penstock.distributed.master_machine import MasterMachine, RollCall
from penstock.distributed.step_run import Answered, Broken, KnownStep, StepRun, Stop, Tick
from penstock.distributed.worker_machine import (
    PATIENCE_SECONDS,
    Answer,
    Compile,
    Compiled,
    Deliver,
    End,
    Execute,
    Executed,
    Introduce,
    Lost,
    Message,
    Refuse,
    Tell,
    WorkerMachine,
    deliver,
    parted,
)
from penstock.distributed.worker_machine import Tick as Look

CHIEF, OTHER, PS = (
    f"/job:{job}/replica:0/task:{i}" for job, i in [("worker", 0), ("worker", 1), ("ps", 0)]
)


@dataclass(eq=False)
class Link:
    task: str


@dataclass
class Part:
    tasks: tuple[str, ...] = (CHIEF, OTHER, PS)
    feeds: list[int] = field(default_factory=list)
    fetches: list[int] = field(default_factory=list)


class Ps:
    """A worker machine, and shorthands for what is said to it."""

    def __init__(self):
        self.machine = WorkerMachine(PS, "ps#1", Departures([CHIEF, OTHER], CHIEF), lambda n: n)
        self.chief, self.other = Link(CHIEF), Link(OTHER)

    def say(self, do, link=None, values=(), now=0.0, **fields):
        return self.machine.handle(Message(link or self.chief, {"do": do, **fields}, values), now)

    def register(self, key="s/0", master="chief#1", link=None):
        (action,) = self.say("register", link, step_key=key, master=master, spec="")
        assert isinstance(action, Compile)
        return self.machine.handle(Compiled(action.message, Part()), 0.0)

    def run(self, number, key="s/0", link=None):
        (action,) = self.say("run", link, step_key=key, step=number)
        return action

    def take(self, number, now=0.0):
        return self.machine.meeting(number, now)


@pytest.fixture
def ps():
    return Ps()


# A worker: steps ------------------------------------------------------------------------------


def test_values_meet_a_step_whether_they_come_before_the_order_or_after(ps):
    ps.register()
    early = ps.take(7)
    order = ps.run(7)
    late = ps.take(7)
    assert isinstance(order, Execute)
    assert early is order.meeting is late
    assert early is not None


def test_an_order_brings_values_that_are_there_before_the_part_runs(ps):
    ps.register()
    keys = [["x", PS, []], ["y", PS, [3]]]
    there, order = ps.say("run", None, ["fed", "value", "other"], step_key="s/0", step=7, keys=keys)
    assert there == Deliver(order.meeting, keys, ["value", "other"])
    assert isinstance(order, Execute) and list(order.message.values) == ["fed"]


def test_what_has_come_is_left_where_its_step_meets():
    class Meeting:
        def __init__(self):
            self.values = {}

        def deliver(self, key, value):
            self.values[key] = value

    meeting = Meeting()
    given, sent = parted([["x", PS, []], ["y", PS, [3]]], ["given", 1, 2])
    assert list(given) == ["given"]
    deliver(meeting, [["x", PS, []], ["y", PS, [3]]], sent)
    assert meeting.values == {("x", PS, ()): 1, ("y", PS, (3,)): 2}
    with pytest.raises(ValueError):
        deliver(meeting, [["x", PS, []]], [1, 2])


def test_what_comes_for_a_step_that_is_over_is_dropped(ps):
    ps.register()
    order = ps.run(7)
    assert ps.machine.handle(Executed(order.message, [1]), 0.0) == [Answer(order.message, {}, [1])]
    assert ps.take(7) is None
    assert ps.machine.steps == []


def test_an_end_that_overtakes_the_order_ends_the_step_before_it_begins(ps):
    ps.register()
    assert ps.say("abort", step=7, message="over") == []
    refusal = ps.run(7)
    assert isinstance(refusal, Refuse) and isinstance(refusal.error, errors.AbortedError)
    assert ps.machine.steps == []


def test_a_step_is_not_run_twice(ps):
    ps.register()
    assert isinstance(ps.run(7), Execute)
    assert isinstance(ps.run(7), Refuse)


@pytest.mark.parametrize("lost", [CHIEF, OTHER], ids=["its master", "a task of it"])
def test_a_step_ends_with_a_task_that_it_needs_and_says_so(ps, lost):
    ps.register()
    order = ps.run(7)
    link = {CHIEF: ps.chief, OTHER: ps.other}[lost]
    end = ps.machine.handle(Lost(link), 0.0)[0]
    assert isinstance(end, End) and end.meeting == order.meeting
    echo = errors.CancelledError(None, None, "cancelled")
    (refusal,) = ps.machine.handle(Executed(order.message, [], echo), 0.0)
    assert f"{PS} has lost its connection to {lost}" in refusal.error.message


def test_masters_are_told_which_task_was_lost(ps):
    ps.register()
    tell = ps.machine.handle(Lost(ps.other), 0.0)
    assert tell == [Tell(ps.chief, {"do": "lost", "task": OTHER, "losses": 1})]
    order = ps.run(7)
    (answer,) = ps.machine.handle(Executed(order.message, []), 0.0)
    assert answer.fields == {"losses": 1}  # this step ran after it


def test_a_master_is_told_though_a_late_word_came_over_a_connection_that_is_lost(ps):
    """It has given the former one up and made another; what it had said there comes last."""
    former = Link(CHIEF)
    ps.register(link=former)
    ps.register("s/1")
    ps.run(6, link=former)
    ps.machine.handle(Lost(former), 0.0)
    (tell,) = ps.machine.handle(Lost(ps.other), 0.0)[-1:]
    assert tell == Tell(ps.chief, {"do": "lost", "task": OTHER, "losses": 2})
    ps.machine.handle(Look(), PATIENCE_SECONDS + 1)
    assert "s/1" in ps.machine.keys  # it was never away


def test_values_that_nobody_claims_are_forgotten(ps):
    ps.take(7, now=0.0)
    ps.machine.handle(Look(), PATIENCE_SECONDS)
    assert ps.machine.steps == [7]
    ps.machine.handle(Look(), PATIENCE_SECONDS + 1)
    assert ps.machine.steps == []
    assert ps.take(7) is None


# A worker: parts and sessions -----------------------------------------------------------------


def test_an_unknown_step_says_that_the_task_may_be_a_new_one(ps):
    refusal = ps.run(7)
    assert "may have been restarted" in refusal.error.message
    (refusal,) = ps.say("register", step_key="s/0", spec="", incarnation="ps#0")
    assert "may have been restarted" in refusal.error.message


def test_a_session_that_is_closed_while_a_part_is_compiled_leaves_nothing(ps):
    (compiling,) = ps.say("register", step_key="s/0", master="chief#1", spec="")
    ps.say("forget", prefix="s/")
    (refusal,) = ps.machine.handle(Compiled(compiling.message, Part()), 0.0)
    assert isinstance(refusal, Refuse)
    assert ps.machine.keys == []


def test_the_parts_of_a_master_go_when_it_was_started_again(ps):
    ps.register("old/0", "chief#1")
    ps.register("others/0", "other#1", ps.other)
    (introduction,) = ps.say("status", Link(CHIEF), master="chief#2")
    assert isinstance(introduction, Introduce)
    assert introduction.fields == {"incarnation": "ps#1"}
    assert ps.machine.keys == ["others/0"]


def test_the_parts_of_a_master_go_with_it(ps):
    ps.register()
    ps.say("leave", used=[])
    assert ps.machine.keys == []


def test_the_parts_of_a_master_that_is_away_are_kept_for_a_while(ps):
    ps.register()
    ps.machine.handle(Lost(ps.chief), 0.0)
    ps.machine.handle(Look(), PATIENCE_SECONDS)
    assert ps.machine.keys == ["s/0"]
    ps.run(7, link=Link(CHIEF))  # it is back
    ps.machine.handle(Look(), 3 * PATIENCE_SECONDS)
    assert ps.machine.keys == ["s/0"]


def test_the_parts_of_a_master_that_stays_away_are_forgotten(ps):
    ps.register()
    ps.machine.handle(Lost(ps.chief), 0.0)
    ps.machine.handle(Look(), PATIENCE_SECONDS + 1)
    assert ps.machine.keys == []


# A master: one step ---------------------------------------------------------------------------


def step_run(deadline=None):
    taken = {PS: ([0], [0]), OTHER: ([], [1])}
    return StepRun(KnownStep("s/0", taken), 7, count=2, deadline=deadline)


def notes(run, event, now=0.0):
    return [note.task for note in run.handle(event, now)]


def test_a_step_is_over_when_all_tasks_have_answered():
    run = step_run()
    orders = run.begin(["fed"])
    assert [(order.task, order.values) for order in orders] == [(PS, ["fed"]), (OTHER, [])]
    assert notes(run, Answered(OTHER, {}, ["b"])) == []
    assert not run.is_over
    assert notes(run, Answered(PS, {}, ["a"])) == []
    assert run.is_over and run.error is None and run.values == ["a", "b"]


def test_the_first_error_that_is_no_echo_is_told_and_the_others_are_stopped_once():
    run = step_run()
    echo, cause = errors.AbortedError(None, None, "e"), errors.InternalError(None, None, "c")
    assert notes(run, Answered(PS, {}, [], echo)) == [OTHER]
    assert notes(run, Stop(errors.CancelledError(None, None, "late"), "cancelled")) == []
    assert notes(run, Answered(OTHER, {}, [], cause)) == []
    assert run.is_over and run.error is cause


def test_the_time_of_a_step():
    run = step_run(deadline=10.0)
    assert notes(run, Tick(), 9.9) == []
    assert notes(run, Tick(), 10.0) == [PS, OTHER]
    assert notes(run, Tick(), 11.0) == []
    assert isinstance(run.error, errors.DeadlineExceededError)


def test_a_task_that_is_lost_after_it_answered_may_have_sent_in_vain():
    run = step_run()
    run.handle(Answered(PS, {}, ["a"]), 0.0)
    assert notes(run, Broken(CHIEF)) == []  # it has no part in the step
    assert notes(run, Broken(PS)) == [OTHER]
    assert isinstance(run.error, errors.UnavailableError)


@pytest.mark.parametrize("overtaken", [False, True])
def test_a_connection_that_was_lost_after_a_task_used_it(overtaken):
    run = step_run()
    events = [Answered(PS, {}, ["a"]), Broken(PS, OTHER, losses=1)]
    if overtaken:  # a large answer
        events.reverse()
    stopped = [task for event in events for task in notes(run, event)]
    assert stopped == [OTHER]
    assert f"{PS} has lost its connection to {OTHER}" in str(run.error)


def test_a_connection_that_was_lost_before_the_step_does_not_end_it():
    run = step_run()
    assert notes(run, Broken(PS, OTHER, losses=1)) == []
    assert notes(run, Answered(PS, {"losses": 1}, ["a"])) == []
    assert run.error is None


# A master: sessions ---------------------------------------------------------------------------


def test_all_missing_tasks_are_named_when_the_time_is_over():
    roll = RollCall([PS, OTHER], 0.0, {"do": "status"}, patience=30.0)
    assert [call.task for call in roll.handle(Tick(), 0.0)] == [PS, OTHER]
    gone = {task: errors.UnavailableError(None, None, f"{task}?") for task in (PS, OTHER)}
    for task in (PS, OTHER):
        assert roll.handle(Answered(task, {}, [], gone[task]), 1.0) == []
    assert roll.next_time == pytest.approx(1.1)
    assert [call.task for call in roll.handle(Tick(), 1.2)] == [PS, OTHER]
    for task in (PS, OTHER):
        roll.handle(Answered(task, {}, [], gone[task]), 30.0)
    assert roll.is_over
    assert roll.error is not None and roll.error.message == f"{PS}?\n{OTHER}?"


def test_a_task_that_comes_late_is_found():
    roll = RollCall([PS], 0.0, {"do": "status"}, patience=30.0)
    roll.handle(Tick(), 0.0)
    roll.handle(Answered(PS, {}, [], errors.UnavailableError(None, None, "not yet")), 0.0)
    roll.handle(Tick(), 5.0)
    assert not roll.is_over
    roll.handle(Answered(PS, {"incarnation": "ps#1"}, []), 5.0)
    assert roll.is_over and roll.error is None
    assert roll.found[PS].fields == {"incarnation": "ps#1"}


def test_a_task_that_could_not_be_told_of_the_end_of_a_session_is_told_later():
    master = MasterMachine("chief#1")
    session = master.session("s/", {PS: "ps#1"})
    registration, (call,) = session.register([PS], {"spec": ""})
    assert call.fields["incarnation"] == "ps#1" and call.fields["master"] == "chief#1"
    assert registration.handle(Answered(PS, {"feeds": [], "fetches": []}, []), 0.0) == []
    (forget,) = session.close()
    master.released(PS, "s/", errors.UnavailableError(None, None, "gone"))
    assert master.tick() == [forget]
    master.released(PS, "s/", None)
    assert master.tick() == []


def test_a_part_that_is_registered_when_its_session_is_closed_already_is_forgotten_again():
    master = MasterMachine("chief#1")
    session = master.session("s/", {PS: "ps#1"})
    registration, _ = session.register([PS], {"spec": ""})
    session.close()
    master.released(PS, "s/", None)
    (forget,) = registration.handle(Answered(PS, {"feeds": [], "fetches": []}, []), 0.0)
    assert forget.fields == {"do": "forget", "prefix": "s/"}
