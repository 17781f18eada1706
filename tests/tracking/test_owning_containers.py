"""Lists, dictionaries and Python state in object-based checkpoints."""

from __future__ import annotations

import copy
import json
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.train import tracking

checkpoint_tools = tf.contrib.checkpoint


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def _names(owner: Any) -> list[str]:
    return [name for name, _ in owner._checkpoint_dependencies]


def _root() -> Any:
    return checkpoint_tools.Checkpointable()


def test_a_list_attribute_is_a_list_that_owns() -> None:
    root = _root()
    plain = [tf.Variable(1.0), 3, [tf.Variable(2.0)]]
    root.items = plain
    assert isinstance(root.items, list)
    assert root.items[1] == 3 and len(root.items) == 3
    assert json.dumps([[]] + list(root.items[1:2])) == "[[], 3]"
    assert _names(root) == ["items"] and _names(root.items) == ["0", "2"]
    root.items.append(tf.Variable(3.0))
    root.items += [tf.Variable(4.0)]
    assert _names(root.items) == ["0", "2", "3", "4"]
    assert len(plain) == 5  # the list that was assigned is the same list
    assert copy.copy(root.items) == root.items


@pytest.mark.parametrize(
    "change",
    [
        lambda items: items.__setitem__(0, tf.Variable(9.0)),
        lambda items: items.pop(),
        lambda items: items.insert(0, 1),
        lambda items: items.reverse(),
        lambda items: items.clear(),
        lambda items: items.remove(items[0]),
        lambda items: items.__delitem__(slice(0, 1)),
    ],
)
def test_a_list_that_lost_or_moved_elements_is_not_saved(change: Any) -> None:
    root = _root()
    root.items = [tf.Variable(1.0), tf.Variable(2.0)]
    change(root.items)
    with pytest.raises(ValueError, match=r"A list element was"):
        tracking.list_objects(root)
    root.items = tracking.NoDependency(list(root.items))
    root.items[:] = []
    assert isinstance(root.items, list)


def test_plain_elements_may_be_replaced() -> None:
    root = _root()
    root.items = [1, tf.Variable(2.0)]
    root.items[0] = 5
    root.items[0] = tf.Variable(1.0)
    assert _names(root.items) == ["1", "0"]


def test_a_list_that_changed_behind_its_back_is_not_saved() -> None:
    root = _root()
    plain = [tf.Variable(1.0)]
    root.items = plain
    plain.append(tf.Variable(2.0))
    with pytest.raises(ValueError, match="modified outside the wrapper"):
        tracking.list_objects(root)


def test_what_was_done_to_an_assigned_list_is_seen() -> None:
    root, other = _root(), _root()
    plain, plain_other = [1], [1]
    root.items, other.items = plain, plain_other
    plain.append(2)
    plain_other.append(3)
    assert root.items[-1] == 2 and root.items.index(2) == 1 and 2 in root.items
    assert root.items != other.items and root.items < other.items
    assert root.items + other.items == [1, 2, 1, 3] and [0] + root.items == [0, 1, 2]
    root.items.append(4)
    assert plain == [1, 2, 4] and list.copy(root.items) == plain


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_changes_of_a_dictionary_are_seen_in_all_ways(kind: Any) -> None:
    root = _root()
    plain = kind(a=1, b=2)
    root.table = plain
    table = root.table
    assert table.pop("a") == 1
    assert table == {"b": 2} and table != {"a": 1, "b": 2}
    assert table | {"c": 3} == {"b": 2, "c": 3} == {"c": 3} | table
    table |= {"c": 3}
    assert table is root.table and table == plain == {"b": 2, "c": 3}
    if kind is OrderedDict:
        table.move_to_end("b")
        assert list(table) == ["c", "b"] == list(plain)


def test_looking_at_a_large_container_copies_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    root = _root()
    root.table, root.items = {"a": 1}, [1]
    for each in (root.table, root.items):
        monkeypatch.setattr(type(each), "_is_up_to_date", None)
    assert root.table["a"] == root.items[0] == len(root.table) == len(list(root.items))


@pytest.mark.parametrize("kind", [dict, OrderedDict])
def test_a_dictionary_attribute_owns(kind: Any) -> None:
    root = _root()
    root.table = kind(a=tf.Variable(1.0), b=3)
    assert isinstance(root.table, kind)
    assert root.table["b"] == 3 and set(root.table) == {"a", "b"}
    root.table["c"] = tf.Variable(2.0)
    root.table.update(d=tf.Variable(3.0))
    assert _names(root.table) == ["a", "c", "d"]
    root.table["b"] = 4
    del root.table["b"]
    assert _names(root.table) == ["a", "c", "d"]
    root.table["a"] = tf.Variable(0.0)
    assert root.table in tracking.list_objects(root)
    assert root.table._lookup_dependency("a") is root.table["a"]


def test_a_key_that_is_no_string_has_no_name() -> None:
    root = _root()
    root.table = {1: 2}
    tracking.list_objects(root)
    root.table[3] = tf.Variable(1.0)
    with pytest.raises(ValueError, match="non-string key"):
        tracking.list_objects(root)


def test_lists_and_mappings_only_grow() -> None:
    items = checkpoint_tools.List([tf.Variable(1.0)])
    items.append(tf.layers.Dense(1))
    assert len(items + [tf.Variable(2.0)]) == 3
    assert len(items.layers) == 1
    with pytest.raises(ValueError, match="Only trackable objects"):
        items.append(3)
    with pytest.raises(ValueError, match="List only supports append"):
        items *= 0
    table = checkpoint_tools.Mapping(a=tf.Variable(1.0))
    with pytest.raises(ValueError, match="append-only"):
        table["a"] = tf.Variable(1.0)
    with pytest.raises(TypeError, match="only string keys"):
        table[1] = tf.Variable(1.0)
    assert len(table.trainable_variables) == 1


def test_names_are_made_unique() -> None:
    tracker = checkpoint_tools.UniqueNameTracker()
    for _ in range(3):
        tracker.track(tf.Variable(1.0), "x")
    assert _names(tracker) == ["x", "x_1", "x_2"]
    with pytest.raises(ValueError, match="Expected a trackable"):
        tracker.track(3, "y")


def test_arrays_come_back_at_once_under_their_names(tmp_path: Path) -> None:
    arrays = checkpoint_tools.NumpyState()
    arrays.x = np.arange(6.0).reshape(2, 3)
    with tf.Session():
        path = tf.train.Checkpoint(arrays=arrays).save(str(tmp_path / "c"))
    arrays.x[:] = 0
    fresh: Any = tf.train.Checkpoint(arrays=checkpoint_tools.NumpyState())
    fresh.restore(path).assert_consumed()
    np.testing.assert_array_equal(fresh.arrays.x, np.arange(6.0).reshape(2, 3))
    with pytest.raises(NotImplementedError, match="not a NumPy array"):
        arrays.y = tf.Variable(1.0)


def test_values_that_one_function_makes(tmp_path: Path) -> None:
    both = tf.Variable([1.0, 2.0])

    def fill(buffer: dict[str, Any]) -> None:
        buffer["first"], buffer["second"] = tf.unstack(both)

    def consume(buffer: dict[str, Any]) -> Any:
        return both.assign(tf.stack([buffer["first"], buffer["second"]]))

    parts = checkpoint_tools.split_dependency(
        ["first", "second"], [tf.float32] * 2, fill, consume, device=both.device
    )
    checkpoint = tf.train.Checkpoint(**parts)
    with tf.Session() as session:
        session.run(both.initializer)
        path = checkpoint.save(str(tmp_path / "c"))
        assert dict(tf.train.list_variables(path))["first/.ATTRIBUTES/VARIABLE_VALUE"] == []
        session.run(both.assign([0.0, 0.0]))
        checkpoint.restore(path).assert_consumed().run_restore_ops()
        assert session.run(both).tolist() == [1.0, 2.0]


def test_a_checkpoint_can_be_drawn(tmp_path: Path) -> None:
    variable = tf.Variable(1.0, name="v")
    optimizer = tf.train.MomentumOptimizer(1.0, 1.0)
    optimizer.minimize(variable * 2.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(o=optimizer, v=variable).save(str(tmp_path / "c"))
    drawn = checkpoint_tools.dot_graph_from_checkpoint(path)
    assert drawn.startswith("digraph {\n") and "Slot variable v/Momentum shape=[]" in drawn


def test_attributes_may_be_set_without_owning_them() -> None:
    class Holder(tracking.AutoTrackable):
        @tracking.no_automatic_dependency_tracking
        def __init__(self) -> None:
            self.hidden = tf.Variable(1.0)
            self.items: list[Any] = []

    holder = Holder()
    assert _names(holder) == [] and type(holder.items) is list
    holder.shown = tf.Variable(2.0)  # type: ignore[attr-defined]
    assert _names(holder) == ["shown"]
    del holder.shown  # type: ignore[attr-defined]
    assert _names(holder) == []


def test_layers_in_a_growing_list_are_parts_of_a_model() -> None:
    model = tf.keras.Model()
    model.parts = checkpoint_tools.List([tf.keras.layers.Dense(2)])
    model.parts.append(tf.keras.layers.Dense(3))
    assert [layer.units for layer in model.layers] == [2, 3]


def test_what_is_done_to_the_wrapped_one_is_seen() -> None:
    root = _root()
    plain_list: Any = [1]
    plain_dict = {"a": 1}
    root.items, root.table = plain_list, plain_dict
    plain_list.append(2)
    plain_dict["b"] = 2
    assert root.items == [1, 2] and len(root.items) == 2 and 2 in root.items
    assert root.table["b"] == 2 and list(root.table) == ["a", "b"]
    for copied in (copy.copy(root.items), copy.deepcopy(root.items), copy.copy(root.table)):
        with pytest.raises(ValueError, match="was modified outside the wrapper"):
            tracking.list_objects(copied)


def test_all_that_a_list_does_is_done_with_the_wrapped_one_in_view() -> None:
    skipped = {"__new__", "__init__", "__subclasshook__", "__getattribute__"}
    methods = [
        name
        for name in set(dir(list)) - skipped
        if callable(getattr(list, name)) and getattr(object, name, None) != getattr(list, name)
    ]
    assert [m for m in methods if getattr(list, m) == getattr(tracking.ListWrapper, m)] == []


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.pop("a"),
        lambda table: table.popitem(),
        lambda table: table.clear(),
        lambda table: table.setdefault("z", tf.Variable(2.0)),
    ],
)
def test_a_dictionary_that_changed_otherwise_than_by_keys_is_not_saved(change: Any) -> None:
    root = _root()
    root.table = {"a": tf.Variable(1.0), "b": 3}
    change(root.table)
    with pytest.raises(ValueError, match="modified outside the wrapper"):
        tracking.list_objects(root)
