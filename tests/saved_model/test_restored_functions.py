"""Functions that are saved and loaded: how they are called, what they know, their gradients."""

import numpy as np
import pytest

import penstock as tf
from penstock.eager.context import eager_mode
from penstock.train.tracking import AutoTrackable

FLOATS = [tf.TensorSpec(None, tf.float32)]


@pytest.fixture
def reloaded(tmp_path):
    with eager_mode():
        yield lambda obj: _reloaded(obj, str(tmp_path / "model"))


def _reloaded(obj, folder):
    tf.saved_model.save(obj, folder)
    return tf.saved_model.load_v2(folder)


def _object(**attributes):
    made = AutoTrackable()
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def test_gradients_through_three_calls(reloaded):
    weight, bias = tf.Variable(1.0), tf.Variable(0.0)  # eager, as the fixture is
    inner = tf.function(lambda x: weight * x, input_signature=FLOATS)
    middle = tf.function(lambda x: inner(x) + bias, input_signature=FLOATS)
    outer = tf.function(lambda x: middle(x) + bias, input_signature=FLOATS)
    loaded = reloaded(_object(weight=weight, bias=bias, f=outer))
    with tf.GradientTape() as tape:
        loss = loaded.f(tf.constant(3.5))
    slopes = tape.gradient(loss, [loaded.weight, loaded.bias])
    assert [slope.numpy() for slope in slopes] == [3.5, 2.0]


def test_arguments_are_made_tensors_of_a_signature(reloaded):
    double = tf.function(lambda x: 2 * x, input_signature=[tf.TensorSpec([None], tf.int32)])
    loaded = reloaded(_object(f=double))
    np.testing.assert_array_equal(loaded.f([1, 2]).numpy(), [2, 4])
    with pytest.raises(ValueError, match="Python inputs incompatible with input_signature"):
        loaded.f(tf.constant(2))


def test_a_trace_for_the_very_value_comes_first(reloaded):
    @tf.function(autograph=False)
    def f(a):
        return a if isinstance(a, int) else a + 1

    f(tf.constant(2)), f(2)
    loaded = reloaded(_object(f=f))
    assert [loaded.f(2).numpy(), loaded.f(3).numpy()] == [2, 4]


def test_shapes_and_effects_of_a_body(reloaded):
    count = tf.Variable(0)

    def joined(x, y):
        count.assign_add(1, name="counting")
        return tf.concat([x, y], 1)

    specs = [tf.TensorSpec([None, 3], tf.int32), tf.TensorSpec([None, 2], tf.int32)]
    made = tf.function(joined, input_signature=specs)
    loaded = reloaded(_object(count=count, f=made))
    for each in (made, loaded.f):
        graph = each.get_concrete_function().graph
        assert [tensor.shape.as_list() for tensor in graph.inputs[:2]] == [[None, 3], [None, 2]]
        assert graph.outputs[0].shape.as_list() == [None, 5]
        assert graph.get_operation_by_name("counting") in graph.control_outputs
    signature = loaded.signatures["serving_default"]
    assert [each.shape.as_list() for each in signature.inputs[:2]] == [[None, 3], [None, 2]]
    assert signature.outputs[0].shape.as_list() == [None, 5]
    assert loaded.f._list_all_concrete_functions_for_serialization() == [
        loaded.f.get_concrete_function()
    ]


def test_ragged_results(reloaded):
    f = tf.function(lambda x: x + 1)
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    with eager_mode():
        f(ragged)
    assert reloaded(_object(f=f)).f(ragged).to_list() == [[2.0, 3.0], [4.0]]


def test_functions_that_properties_give_are_asked_for_once(reloaded):
    class Counting(AutoTrackable):
        def __init__(self):
            self.count = 0

        @property
        def made(self):
            f = tf.function(lambda: tf.constant(self.count))
            f.get_concrete_function()
            self.count += 1
            return f

        @property
        def broken(self):
            raise RuntimeError

    counting = Counting()
    assert reloaded(counting).made().numpy() == 0
    assert counting.count == 1


def test_functions_of_a_class_are_those_that_it_has_now():
    class Changing(AutoTrackable):
        @tf.function
        def first(self):
            return tf.constant(1)

    def names(obj):
        return list(obj._list_functions_for_serialization({}))

    changing = Changing()
    assert names(changing) == ["first"]
    Changing.second = tf.function(lambda self: tf.constant(2))
    assert names(changing) == ["first", "second"]
    changing.first = None
    assert names(changing) == ["second"]


def test_a_dataset_that_a_function_iterates_over(reloaded):
    class Summing(tf.Module):
        def __init__(self):
            super().__init__()
            self.dataset = tf.data.Dataset.range(5).map(lambda x: x**2)

        @tf.function
        def __call__(self, x):
            total = tf.zeros([], tf.int64)
            for element in self.dataset:
                total += x * element
            return total

    with eager_mode():
        three = tf.constant(3, tf.int64)
        summing = Summing()
        assert summing(three).numpy() == 90
        assert reloaded(summing)(three).numpy() == 90


def test_two_tables_of_one_kind_in_a_graph(tmp_path):
    folder = str(tmp_path / "model")
    with eager_mode():
        tables = [
            tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [value]), -1)
            for value in (1, 2)
        ]
        words = [tf.TensorSpec(None, tf.string)]
        finds = [tf.function(table.lookup, input_signature=words) for table in tables]
        made = _object(tables=tables, first=finds[0], second=finds[1])
        tf.saved_model.save(made, folder, signatures={})
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = [tf.saved_model.load_v2(folder) for _ in range(2)]
        found = [each(tf.constant("a")) for one in loaded for each in (one.first, one.second)]
        session.run(tf.tables_initializer())
        assert session.run(found) == [1, 2, 1, 2]


def test_who_loads_a_model_says_what_is_trained(tmp_path):
    folder = str(tmp_path / "model")
    with eager_mode():
        tf.saved_model.save(_object(v=tf.Variable(1.0)), folder)
    with tf.Graph().as_default():
        loaded = tf.saved_model.load_v2(folder)
        assert loaded.v.trainable
        assert tf.global_variables() == [loaded.v]
        assert tf.trainable_variables() == []


def test_a_function_may_say_that_it_can_not_be_saved(reloaded):
    @tf.function(input_signature=[])
    def inner():
        tf.get_default_graph().mark_as_unsaveable("it knows this machine alone")
        return 1

    outer = tf.function(lambda: inner(), input_signature=[])
    with pytest.raises(ValueError, match="it knows this machine alone"):
        reloaded(_object(f=outer))


def test_a_variable_that_nobody_owns(reloaded):
    v = tf.Variable(1.0)
    with eager_mode():
        f = tf.function(lambda x: v * x)
        f(tf.constant(1.0))
    with pytest.raises(KeyError, match="not reachable from root"):
        reloaded(_object(f=f))


def test_defaults_of_keywords(reloaded):
    class Scaling(tf.Module):
        @tf.function
        def f(self, x, *, scale=2.0):
            return x * scale

    with eager_mode():
        model = Scaling()
        for keywords in ({}, {"scale": 3.0}):
            model.f(tf.constant(1.0), **keywords)
        loaded = reloaded(model)
        assert loaded.f(tf.constant(1.0)).numpy() == 2.0
        assert loaded.f(tf.constant(1.0), scale=3.0).numpy() == 3.0


def test_objects_say_what_they_have_in_a_saved_model_alone(reloaded):
    class Extra(AutoTrackable):
        def _list_extra_dependencies_for_serialization(self, serialization_cache):
            made = super()._list_extra_dependencies_for_serialization(serialization_cache)
            return {**made, "a": tf.Variable(5.0)}

        def _list_functions_for_serialization(self, serialization_cache):
            functions = super()._list_functions_for_serialization(serialization_cache)
            return {**functions, "g": functions["f"]}

    with eager_mode():
        extra = Extra()
        extra.f = tf.function(lambda x: x + 1, input_signature=FLOATS)
        loaded = reloaded(extra)
        assert (loaded.a.numpy(), loaded.g(tf.constant(1.0)).numpy()) == (5.0, 2.0)
        extra.a = tf.Variable(3.0)
        with pytest.raises(ValueError, match="object has an attribute named a, which is reserved"):
            reloaded(extra)
