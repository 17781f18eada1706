"""What every bijector checks and remembers, and what authors of bijectors test theirs with."""

import numpy as np
import pytest

import penstock as tf
from penstock.distributions.argument_checks import embed_check_integer_casting_closed
from penstock.distributions.bijector import Bijector
from penstock.distributions.special_math import ndtri
from penstock.internal_paths.bijector_checks import (
    assert_bijective_and_finite,
    assert_scalar_congruency,
)
from penstock.internal_paths.distribution_functions import AppendDocstring, parent_frame_arguments


class _OneWay(Bijector):
    """Doubles; a direction can be closed."""

    def __init__(self, closed=(), slope=2.0, **options):
        super().__init__(forward_min_event_ndims=0, **options)
        self._closed, self._slope = closed, slope

    def _open(self, direction):
        if direction in self._closed:
            raise LookupError(direction)

    def _forward(self, x):
        self._open("forward")
        return 2 * x

    def _inverse(self, y):
        self._open("inverse")
        return y / 2

    def _forward_log_det_jacobian(self, x):
        self._open("forward")
        return tf.fill(tf.shape(x), np.log(np.float32(self._slope)))

    def _inverse_log_det_jacobian(self, y):
        self._open("inverse")
        return -tf.fill(tf.shape(y), np.log(np.float32(self._slope)))


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_only_subclasses_are_made():
    with pytest.raises(TypeError, match="abstract class Bijector"):
        Bijector(forward_min_event_ndims=0)
    assert _OneWay().name == "one_way"


@pytest.mark.parametrize("direction", ["forward", "inverse"])
def test_what_a_subclass_leaves_out(direction):
    class Nothing(Bijector):
        def __init__(self):
            super().__init__(forward_min_event_ndims=0)

    with pytest.raises(NotImplementedError, match=f"^{direction} not implemented"):
        getattr(Nothing(), direction)(0)
    with pytest.raises(NotImplementedError, match=f"^{direction}_log_det_jacobian not implemented"):
        getattr(Nothing(), f"{direction}_log_det_jacobian")(0, event_ndims=0)


@pytest.mark.parametrize("there", ["forward", "inverse"])
def test_a_log_determinant_is_computed_once_for_both_directions(there):
    back = {"forward": "inverse", "inverse": "forward"}[there]
    bijector = _OneWay(closed=(back,))
    x = tf.constant(1.0)
    y = getattr(bijector, there)(x)
    log_det = getattr(bijector, f"{there}_log_det_jacobian")(x, event_ndims=0)
    undone = getattr(bijector, f"{back}_log_det_jacobian")(y, event_ndims=0)
    found = tf.get_default_session().run([log_det, undone])
    assert found[0] == -found[1] != 0
    with pytest.raises(LookupError):
        getattr(bijector, f"{back}_log_det_jacobian")(y, event_ndims=1)


@pytest.mark.parametrize(
    ("event_ndims", "message"), [(1.5, "Expected integer"), ([1, 2], "Expected scalar")]
)
def test_a_wrong_number_of_dimensions(event_ndims, message):
    with pytest.raises(ValueError, match=message):
        _OneWay().forward_log_det_jacobian(1.0, event_ndims=event_ndims)


def test_a_wrong_number_of_dimensions_in_the_step():
    event_ndims = tf.placeholder(tf.int32)
    log_det = _OneWay(validate_args=True).inverse_log_det_jacobian(1.0, event_ndims=event_ndims)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected scalar"):
        log_det.eval({event_ndims: [1, 2]})


def test_checks_for_tests_of_bijectors():
    assert_scalar_congruency(_OneWay(), lower_x=-2.0, upper_x=2.0)
    points = np.array([1.0, 5.0], np.float32)
    assert_bijective_and_finite(_OneWay(), points, points, event_ndims=0)
    with pytest.raises(AssertionError):
        assert_scalar_congruency(_OneWay(slope=3.0), lower_x=-2.0, upper_x=2.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quantiles_have_finite_slopes_at_the_ends(dtype):
    p = tf.constant([0.0, 0.5, 1.0], dtype)
    x = ndtri(p)
    values, slopes = tf.get_default_session().run([x, tf.gradients(x, p)[0]])
    np.testing.assert_array_equal(values, [-np.inf, 0, np.inf])
    assert np.isfinite(slopes).all() and slopes[1] > 2.5


def test_integers_below_a_type():
    x = tf.placeholder(tf.int32)
    checked = embed_check_integer_casting_closed(x, tf.uint16, assert_nonnegative=False)
    assert checked.eval({x: [1, 2]}).tolist() == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be smaller than 0"):
        checked.eval({x: [1, -1]})


def test_helpers_of_authors():
    def function(a, b=2, *rest, **others):
        local = a
        return parent_frame_arguments() if local else None

    assert function(1, 3, 4, c=5) == {"a": 1, "b": 3, "c": 5}

    @AppendDocstring("More.", {"size": "how large"})
    def documented(size):
        """Less."""
        return size

    assert documented(3) == 3
    assert documented.__doc__ == "Less.\nMore.\n\n##### `kwargs`:\n\n*  `size`: how large"
    with pytest.raises(ValueError, match="whitespace"):
        AppendDocstring(kwargs_dict={"a b": ""})
