"""Iterators that functions make, take and give back."""

import pytest

import penstock as tf
from penstock.data.eager_iterator import IteratorSpec, IteratorV2
from penstock.internal_paths.graph_mode import eager_mode


def test_a_function_of_a_graph_makes_an_iterator_in_each_call():
    dataset = tf.data.Dataset.range(5)

    @tf.function(autograph=False)
    def first_two():
        iterator = iter(dataset)
        return next(iterator) + iterator.get_next()

    total = first_two()
    with tf.Session() as session:
        assert [session.run(total) for _ in range(2)] == [1, 1]
    types = [op.type for op in first_two.get_concrete_function().graph.get_operations()]
    assert types.count("AnonymousIteratorV2") == types.count("DeleteIterator") == 1


def test_a_plain_graph_has_no_python_iterators():
    with pytest.raises(RuntimeError, match="only supported inside of tf.function"):
        iter(tf.data.Dataset.range(5))


def test_iterators_of_one_type_share_a_body():
    traced = []

    @tf.function
    def following(iterator):
        traced.append(iterator)
        return next(iterator)

    with eager_mode():
        dataset = tf.data.Dataset.range(3)
        one, other = iter(dataset), iter(dataset)
        assert [following(each).numpy() for each in (one, other, one, one)] == [0, 0, 1, 2]
        with pytest.raises(tf.errors.OutOfRangeError):
            following(one)
    assert len(traced) == 1


def test_a_loop_goes_to_the_end_of_an_iterator():
    @tf.function
    def total(iterator):
        found = tf.constant(0, tf.int64)
        for element in iterator:
            found += element
        return found

    with eager_mode():
        iterator = iter(tf.data.Dataset.range(5))
        next(iterator)
        assert total(iterator).numpy() == 10
        assert list(iterator) == []


def test_what_an_iterator_is_made_of():
    with eager_mode():
        iterator = iter(tf.data.Dataset.range(2))
        spec = iterator._type_spec
        assert spec == IteratorSpec(tf.TensorSpec([], tf.int64))
        assert spec.value_type is IteratorV2
        again = spec._from_components(spec._to_components(iterator))
        assert [next(iterator).numpy(), next(again).numpy()] == [0, 1]
        with pytest.raises(ValueError, match="Either `dataset` or both"):
            IteratorV2()
        with pytest.raises(ValueError, match="Either `dataset` or both"):
            IteratorV2(tf.data.Dataset.range(2), element_spec=spec)


def test_only_what_can_be_called_is_a_function():
    with pytest.raises(TypeError, match="not a callable"):
        tf.function(3)
