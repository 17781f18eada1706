"""`tf.Module`: names, variables, modules inside modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


class Inner(tf.Module):
    def __init__(self, name: str | None = None):
        super().__init__(name=name)
        with self.name_scope:
            self.w = tf.Variable(1.0, name="w")
            self.b = tf.Variable(2.0, name="b", trainable=False)

    @tf.Module.with_name_scope
    def __call__(self, x: Any) -> Any:
        """Adds."""
        return tf.add(x, self.w, name="sum")


class OuterHTTPModule(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        with self.name_scope:
            self.parts = [Inner(), Inner(name="other")]
            self.table = {"a": self.parts[0], "v": tf.Variable(3.0, name="v")}


def test_names() -> None:
    outer = OuterHTTPModule()
    assert outer.name == "outer_http_module"
    assert [part.name for part in outer.parts] == ["inner", "other"]
    assert outer.parts[1].w.name == "outer_http_module/other/w:0"
    assert outer.parts[0](1.0).name == "outer_http_module/inner/sum:0"
    assert Inner.__call__.__doc__ == "Adds."
    with pytest.raises(ValueError, match="not a valid module name"):
        Inner(name="a/b")


def test_variables_and_submodules_in_order() -> None:
    outer = OuterHTTPModule()
    first, second = outer.parts
    assert outer.submodules == (first, second)
    assert outer.variables == (outer.table["v"], first.b, first.w, second.b, second.w)
    assert outer.trainable_variables == (outer.table["v"], first.w, second.w)
    paths = [path for path, _ in outer._flatten(predicate=_is_inner, with_path=True)]
    assert paths == [("parts", 0), ("parts", 1), ("table", "a")]
    assert tuple(outer._flatten(recursive=False, predicate=_is_variable)) == (outer.table["v"],)


def _is_inner(value: Any) -> bool:
    return isinstance(value, Inner)


def _is_variable(value: Any) -> bool:
    return isinstance(value, tf.Variable)


def test_a_module_finds_the_variables_of_layers() -> None:
    module: Any = tf.Module(name="m")
    module.layer = tf.layers.Dense(2)
    module.layer(tf.ones([1, 3]))
    assert set(module.variables) == set(module.layer.weights)


def test_a_module_is_saved_by_its_attributes(tmp_path: Any) -> None:
    outer = OuterHTTPModule()
    with tf.Session() as session:
        session.run([variable.initializer for variable in outer.variables])
        path = tf.train.Checkpoint(m=outer).write(str(tmp_path / "c"))
    assert "m/parts/1/w/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))


def test_what_a_property_gives_can_be_assigned_to_it() -> None:
    class Holder(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.value = tf.ones([2])

        @property
        def shape(self) -> tf.TensorShape:
            return self.value.shape

    holder = Holder()
    holder.shape = holder.value.shape
    with pytest.raises(AttributeError):
        holder.shape = tf.TensorShape([3])
