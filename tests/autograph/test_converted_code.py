"""Converted functions: with Python values they do what Python does, with tensors the graph does."""

import collections
import functools

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode


def absolute(x):
    if x > 0:
        y = x
    else:
        y = -x
    return y


def sum_below(n):
    i = total = 0
    while i < n:
        total += i
        i += 1
    return total


def sum_of(numbers):
    total = 0
    for number in numbers:
        total += number
    return total


def sum_of_range(n):
    total = 0
    for number in range(n):
        total += number * 2
    return total


def first_odd_sum(n):
    total = 0
    while n > 0:
        n -= 1
        if n % 2 < 1:
            continue
        total += n
        if total > 10:
            break
    else:
        total = -total
    return total, n


def early_return(x):
    if x > 10:
        return x
    x = x * 2
    if x > 10:
        return x - 100
    return x


def nested_loops(n):
    total = 0
    for i in range(n):
        for j in range(i):
            if j % 2 > 0:
                continue
            total += i * j
    return total


def logic(x):
    return x > 0 and x < 10, x < 0 or x > 5, not x > 3


def choice(x):
    return x + 1 if x > 0 else x - 1


def in_a_block(x):
    with tf.name_scope("block"):
        doubled = x * 2
        if doubled > 5:
            return doubled
        return x


def in_containers(x):
    counts = {"a": x}
    Point = collections.namedtuple("Point", "x y")
    point = Point(x, x)
    while x > 0:
        counts["a"] += x
        point = Point(point.x + 1, point.y - 1)
        x -= 1
    return counts["a"], point.x, point.y


def calls(x):
    def inner(y):
        return helper(y, k=2) if y > 3 else helper(y)

    return inner(x) + functools.partial(helper, k=5)(x)


def helper(x, k=1, *rest):
    if x > 2:
        return x * k
    return x


def local_values(x):
    while x > 0:
        step = [x, 1]
        x -= step[1]
    return x


def unpacked(x):
    total = 0
    for a, (b, *c) in [(1, (2, 3)), (4, (5, 6, 7))]:
        if x > a:
            total += a * b + sum(c)
    return total


def branch_reads_what_the_other_writes(x):
    y = 1
    if x > 0:
        y = y + 10
        z = y
    else:
        z = y
    return z


EVERYWHERE = [
    *((absolute, value) for value in (3, -3, 0)),
    *((sum_below, value) for value in (0, 5)),
    (sum_of, [3, 4, 5]),
    (sum_of_range, 4),
    (sum_of_range, -2),
    *((first_odd_sum, value) for value in (0, 3, 9)),
    *((early_return, value) for value in (3, 7, 20)),
    (nested_loops, 6),
    *((logic, value) for value in (-2, 4, 7)),
    *((choice, value) for value in (-2, 2)),
    *((in_a_block, value) for value in (1, 4)),
    (in_containers, 3),
    *((calls, value) for value in (1, 3, 4)),
    (local_values, 3),
    *((unpacked, value) for value in (0, 2, 9)),
    *((branch_reads_what_the_other_writes, value) for value in (-1, 1)),
]


@pytest.mark.parametrize(
    ("function", "argument"), EVERYWHERE, ids=[f"{f.__name__}-{a}" for f, a in EVERYWHERE]
)
def test_python_and_the_graph_agree(function, argument):
    converted = tf.autograph.to_graph(function)
    expected = function(argument)
    assert converted(argument) == expected
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(converted(tf.constant(argument))), expected)
        in_function = tf.function(function)(tf.constant(argument))
        np.testing.assert_array_equal(session.run(in_function), expected)


def test_a_python_variable_without_a_value_is_pythons_error():
    def f(x):
        while x > 0:
            y = x
            x -= 1
        return y

    assert tf.autograph.to_graph(f)(2) == 1
    with pytest.raises(NameError, match="y"):
        tf.autograph.to_graph(f)(0)


def test_closures_see_what_branches_change():
    def f(x):
        seen = []

        def look():
            seen.append(x)

        look()
        if x > 0:
            x = 10
        look()
        for _ in range(2):
            x += 1
        look()
        return seen

    assert tf.autograph.to_graph(f)(1) == f(1) == [1, 10, 12]


counted = 0


def test_variables_of_others():
    def f(n):
        global counted
        kept = 0

        def add():
            nonlocal kept
            if n > 0:
                kept += n

        for _ in range(n):
            add()
            counted = counted + 1
        return kept

    assert tf.autograph.to_graph(f)(3) == 9
    assert counted == 3


def test_exceptions_and_context_managers_stay_pythons():
    def f(x):
        log = []
        for i in range(x):
            try:
                if i == 1:
                    raise ValueError(str(i))
                if i == 3:
                    return log
                log.append(i)
            except ValueError as error:
                log.append(str(error))
                continue
            finally:
                log.append("end")
        return log

    for x in range(5):
        assert tf.autograph.to_graph(f)(x) == f(x)


def test_a_jump_out_of_a_try_does_not_come_to_its_else():
    def f(values):
        log = []
        for value in values:
            try:
                if value == 2:
                    continue
                if value == 5:
                    return log
                int(value)
            except ValueError:
                log.append("error")
            else:
                log.append(value)
        return log

    def first_number(*texts):
        for text in texts:
            try:
                return int(text)
            except ValueError:
                pass
        return None

    for values in ([1, 2, "x", 3], [1, 5, 1], []):
        assert tf.autograph.to_graph(f)(values) == f(values)
    assert tf.autograph.to_graph(first_number)("a", "7", "8") == 7
    assert tf.autograph.to_graph(first_number)("a") is None


def test_methods():
    class Base:
        def scaled(self, x):
            return x * 2 if x > 0 else x

    class Derived(Base):
        def __init__(self, private):
            self.__private = private

        def scaled(self, x):
            if x > 100:
                return x
            return super().scaled(x) + self.__private

        def __call__(self, x):
            return self.scaled(x)

    owner = Derived(5)
    with tf.Session() as session:
        for call in (owner.scaled, owner, functools.partial(owner)):
            assert session.run(tf.function(lambda x, f=call: f(x))(tf.constant(3))) == 11
        assert session.run(tf.autograph.to_graph(Derived.scaled)(owner, tf.constant(-3))) == 2
        assert session.run(tf.autograph.to_graph(Derived)(1).scaled(tf.constant(3))) == 7


def test_attributes_are_state():
    class Counter:
        def __init__(self):
            self.total = 0

    def f(counter, x):
        while x > 0:
            counter.total += x
            x -= 1
        if counter.total > 5:
            counter.last = counter.total
        else:
            counter.last = 0
        return counter.last

    with tf.Session() as session:
        assert session.run(tf.autograph.to_graph(f)(Counter(), tf.constant(3))) == 6
        assert session.run(tf.autograph.to_graph(f)(Counter(), tf.constant(2))) == 0


def test_gradients_go_through_converted_code():
    def f(x):
        while x < 100.0:
            x = x * x
        return x * 2.0 if x > 1000.0 else x

    x = tf.constant(3.0)
    with tf.Session() as session:
        (gradient,) = session.run(tf.gradients(tf.autograph.to_graph(f)(x), x))
    assert gradient == 2.0 * 8 * 3.0**7


def test_eager_values_decide_at_once():
    with eager_mode():
        converted = tf.autograph.to_graph(first_odd_sum)
        assert [int(each) for each in converted(tf.constant(9))] == list(first_odd_sum(9))
        assert int(tf.function(sum_below)(tf.constant(5))) == 10


def test_loops_over_datasets_and_iterators():
    def total_of(elements):
        total = tf.constant(0, tf.int64)
        for element in elements:
            if element > 3:
                break
            total += element
        return total

    def indexed(elements):
        total = tf.constant(0, tf.int64)
        for place, element in enumerate(elements):
            total += place * element
        return total

    dataset = tf.data.Dataset.range(6)
    convert = tf.autograph.to_graph
    with tf.Session() as session:
        assert session.run(convert(total_of)(dataset)) == 6
        assert session.run(convert(indexed)(dataset)) == 55
        iterator = tf.data.make_one_shot_iterator(dataset)
        assert session.run(convert(total_of)(iterator)) == 6


def test_optional_features():
    feature = tf.autograph.experimental.Feature

    def compared(x):
        return x == 3, x != 3, 1 < x < 5

    def listed(n):
        found = []
        for i in tf.range(n):
            found.append(i * 2)
        tf.contrib.autograph.set_element_type(found, tf.int32)
        return tf.stack(found)

    def checked(x):
        assert x > 3, "too small"
        return tf.identity(x)

    convert = tf.autograph.to_graph
    with tf.Session() as session:
        equal = convert(compared, experimental_optional_features=feature.EQUALITY_OPERATORS)
        assert session.run(equal(tf.constant(3))) == (True, False, True)
        stacked = convert(listed, experimental_optional_features=feature.LISTS)(tf.constant(3))
        assert session.run(stacked).tolist() == [0, 2, 4]
        features = (feature.ASSERT_STATEMENTS, feature.AUTO_CONTROL_DEPS)
        with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
            session.run(convert(checked, experimental_optional_features=features)(tf.constant(1)))
    assert feature.ALL not in feature.all_but(feature.LISTS)
