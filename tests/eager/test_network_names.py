"""Names and checkpoints of `tf.contrib.eager.Network`, as TensorFlow 1.15 gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock as tf
import penstock.contrib.eager as tfe


def dense(**kwargs: Any) -> Any:
    return tf.layers.Dense(1, use_bias=False, **kwargs)


class Single(tfe.Network):
    def __init__(self, name: str | None = None):
        super().__init__(name=name)
        self.only = self.track_layer(dense())

    def call(self, x: Any) -> Any:
        return self.only(x)


class Double(tfe.Network):
    def __init__(self, first: Any, second: Any):
        super().__init__()
        self.first = self.track_layer(first)
        self.second = self.track_layer(second)

    def call(self, x: Any) -> Any:
        return self.second(self.first(x))


def one() -> Any:
    return tf.constant([[1.0]])


def names(network: Any) -> list[str]:
    return [weight.op.name for weight in network.trainable_weights]


def test_names_are_those_inside_of_the_owner() -> None:
    with tf.Graph().as_default():
        dense()  # layers elsewhere do not count
        first = Double(Single(), Single())
        first(one())
        assert (first.name, first.first.name, first.second.name) == ("double", "single", "single_1")
        assert names(first) == ["double/single/dense/kernel", "double/single_1/dense/kernel"]
        sharing = Double(first.second, Single())
        sharing(one())
        assert names(sharing) == ["double/single_1/dense/kernel", "double_1/single/dense/kernel"]
        layers = Double(dense(), dense(name="mine"))
        layers(one())
        assert names(layers) == ["double_2/dense/kernel", "double_2/mine/kernel"]
        # The layer is in the scope of the first one it was added to, whichever is called first.
        shared = dense()
        owner, user = Double(shared, dense()), Double(shared, dense())
        user(one())
        assert names(user) == ["double_4/dense/kernel", "double_3/dense/kernel"]
        owner(one())
        assert names(owner)[0] == "double_4/dense/kernel"


def test_names_that_are_refused() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="does not yet have a final name"):
            _ = Single().name
        Single(name="taken")(one())
        with pytest.raises(ValueError, match="A Network named 'taken' already exists"):
            Single(name="taken")(one())
        with pytest.raises(ValueError, match="two Layers with the name 'same'"):
            Double(dense(name="same"), dense(name="same"))
        with (
            tf.variable_scope("scope") as scope,
            pytest.raises(ValueError, match="VariableScopes are not valid Network names"),
        ):
            Single(name=scope)  # type: ignore[arg-type]
        with pytest.raises(AttributeError, match="cannot mark Network"):
            Single().trainable = False


def test_a_network_is_restored_before_and_after_it_is_built(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        saved = Single()
        with pytest.raises(ValueError, match="before it was first called"):
            tfe.save_network_checkpoint(saved, str(tmp_path))
        saved(one())
        session.run(saved.variables[0].assign([[17.0]]))
        path = tfe.save_network_checkpoint(saved, str(tmp_path), global_step=3)
        assert path == str(tmp_path / "single-3")
        later = Single()
        tfe.restore_network_checkpoint(later, path)
        assert session.run(later(one())) == 17.0
        session.run(later.variables[0].assign([[1.0]]))
        tfe.restore_network_checkpoint(later, path)
        assert session.run(later(one())) == 17.0


def test_what_is_restored_last_counts(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        whole, part = Double(Single(), Single()), Single()
        whole(one())
        part(one())
        for variable, value in zip([*whole.variables, *part.variables], (15, 16, 5), strict=True):
            session.run(variable.assign([[float(value)]]))
        of_whole = tfe.save_network_checkpoint(whole, str(tmp_path))
        of_part = tfe.save_network_checkpoint(part, str(tmp_path))
        for order, expected in (("whole part", 5.0), ("part whole", 15.0)):
            made = Double(Single(), Single())
            for step in order.split():
                target, path = (made, of_whole) if step == "whole" else (made.first, of_part)
                tfe.restore_network_checkpoint(target, path)
            made(one())
            assert [session.run(v).item() for v in made.variables] == [expected, 16.0]


def test_two_variables_of_one_name_in_a_checkpoint(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        network = Double(Single(), Single())
        network(one())
        session.run(tf.global_variables_initializer())
        function = "The map_func passed to save_network_checkpoint for the Network 'double'"
        with pytest.raises(ValueError, match=f"{function} resulted in two variables named 'x'"):
            tfe.save_network_checkpoint(network, str(tmp_path), map_func=lambda name: "x")
        built = tf.layers.Dense(1, name="dense", use_bias=False)
        built(one())
        clashing = Double(built, dense())
        clashing(one())
        session.run(tf.global_variables_initializer())
        with pytest.raises(ValueError, match="'double_1' resulted in a naming conflict"):
            tfe.save_network_checkpoint(clashing, str(tmp_path))
