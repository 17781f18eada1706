"""Names that libraries of TensorFlow 1.x's time ask for while they are imported."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def test_the_estimator_for_tpus_is_that_of_contrib() -> None:
    assert tf.estimator.tpu.TPUEstimator is tf.contrib.tpu.TPUEstimator
    assert tf.estimator.tpu.RunConfig is tf.contrib.tpu.RunConfig
    assert tf.tpu.CrossShardOptimizer is tf.contrib.tpu.CrossShardOptimizer


def test_a_namespace_explains_what_it_lacks_whoever_has_imported_it() -> None:
    program = "import penstock.tpu, penstock.xla; penstock.tpu.rewrite"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "tf.tpu.rewrite. There are no TPUs here." in done.stderr


def test_what_needs_a_tpu_is_not_there() -> None:
    with pytest.raises(AttributeError, match=r"tf\.tpu\.rewrite.*no TPUs"):
        tf.tpu.rewrite  # noqa: B018


def test_the_operators_of_tensors_are_a_set_of_the_programs_own() -> None:
    operators = tf.Tensor.OVERLOADABLE_OPERATORS
    assert {"__add__", "__getitem__", "__eq__"} <= operators
    operators.update(operators)  # libraries change it in place
    with pytest.raises(TypeError, match="bool"):
        tf.constant(True).__nonzero__()


def test_names_of_the_compiler_of_python_code_can_be_imported() -> None:
    from penstock.python.autograph.pyct import transformer

    class Rewriter(transformer.Base):
        pass

    with pytest.raises(NotImplementedError, match="not converted"):
        Rewriter()
