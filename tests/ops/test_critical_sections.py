"""Critical sections: the ops MutexV2, MutexLock and ConsumeMutexLock under `tf.CriticalSection`."""

from __future__ import annotations

import threading

import pytest

import penstock as tf
from penstock.eager.context import eager_mode


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as opened:
        yield opened


def _old_value(counter, step):
    """Reads, then adds: two executions at once would read the same value."""
    value = counter.read_value()
    with tf.control_dependencies([value]), tf.control_dependencies([counter.assign_add(step)]):
        return tf.identity(value)


def test_executions_of_one_step_exclude_each_other(session):
    section, counter = tf.CriticalSection(), tf.Variable(0.0, use_resource=True)
    old = [section.execute(lambda: _old_value(counter, 2.0)) for _ in range(8)]
    session.run(counter.initializer)
    assert sorted(session.run(old)) == [2.0 * i for i in range(8)]


def test_executions_of_steps_in_threads_exclude_each_other(session):
    section, counter = tf.CriticalSection(), tf.Variable(0, use_resource=True)
    old = section.execute(lambda: _old_value(counter, 1))
    session.run(counter.initializer)
    seen = []
    threads = [
        threading.Thread(target=lambda: [seen.append(session.run(old)) for _ in range(10)])
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(30))


def test_section_in_a_loop_and_in_a_branch(session):
    section = tf.CriticalSection()
    total = tf.while_loop(
        lambda i, j: i < 50, lambda i, j: (i + 1, section.execute(lambda: j + 2)), [0, 0]
    )
    chosen = tf.cond(tf.constant(True), lambda: section.execute(lambda: 7), lambda: tf.constant(3))
    assert session.run((*total, chosen)) == (50, 100, 7)


def test_a_failed_execution_gives_the_lock_back(session):
    section, is_fine = tf.CriticalSection(), tf.placeholder(tf.bool, [])

    def guarded():
        with tf.control_dependencies([tf.Assert(is_fine, ["refused"])]):
            return tf.constant(5)

    results = [section.execute(guarded) for _ in range(2)]
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError, match="refused"):
            session.run(results, {is_fine: False})
    assert session.run(results, {is_fine: True}) == [5, 5]


def test_an_execution_that_fails_in_a_function_gives_the_lock_back(session):
    section = tf.CriticalSection()

    def refuse():
        with tf.control_dependencies([tf.Assert(False, ["refused"])]):
            return tf.constant(1.0)

    call = tf.function(lambda: section.execute(refuse), autograph=False)()
    kept = []  # an error that is kept has the frames of the step
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="refused") as raised:
            session.run(call)
        kept.append(raised.value)


def test_what_an_execution_takes_is_computed_before_the_lock(session):
    section = tf.CriticalSection()
    first = section.execute(lambda: tf.identity(1.0))
    second = section.execute(lambda: first + 1.0)
    assert session.run(second) == 2.0


def test_an_operation_and_a_structure_are_returned_as_such(session):
    section, counter = tf.CriticalSection(name="guard"), tf.Variable(0, use_resource=True)
    session.run(counter.initializer)
    added = section.execute(lambda: counter.assign_add(3).op)
    session.run(added)
    pair = section.execute(lambda: {"a": counter.read_value(), "b": 1}, name="read")
    assert session.run(pair) == {"a": 3, "b": 1}
    assert section.name == "guard"
    assert section in tf.get_collection("critical_sections")
    locks = [execution.op for execution in tf.get_collection("critical_section_executions")]
    assert [lock.type for lock in locks] == ["MutexLock", "MutexLock"]
    assert locks[1].name == "read/MutexLock"


def test_a_section_inside_itself_is_refused():
    section, same = (tf.CriticalSection(shared_name="one") for _ in range(2))
    for inner in (section, same):
        with pytest.raises(ValueError, match="attempts to directly access the CriticalSection"):
            section.execute(lambda inner=inner: inner.execute(lambda: tf.identity(1.0)))


def test_a_resource_belongs_to_one_section_unless_shared():
    one, other = tf.CriticalSection(), tf.CriticalSection()
    alone, shared = (tf.Variable(0.0, use_resource=True) for _ in range(2))
    one.execute(lambda: alone + 1.0)
    one.execute(lambda: alone - 1.0)
    with pytest.raises(ValueError, match="requested exclusive resource access"):
        other.execute(lambda: alone + 1.0, exclusive_resource_access=False)
    one.execute(lambda: shared + 1.0, exclusive_resource_access=False)
    other.execute(lambda: shared + 1.0, exclusive_resource_access=False)
    with pytest.raises(ValueError, match="requested exclusive resource access"):
        other.execute(lambda: shared + 1.0)


def test_in_eager_mode_and_in_functions_of_it():
    with eager_mode():
        section, counter = tf.CriticalSection(), tf.Variable(1.0, use_resource=True)
        assert section.execute(lambda: counter.assign_add(1.0) and tf.no_op()) is None
        numbers = tf.data.Dataset.range(2).map(lambda _: section.execute(counter.read_value))
        assert [number.numpy() for number in numbers] == [2.0, 2.0]
