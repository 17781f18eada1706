"""The namespaces that are loaded when they are first used."""

import importlib

import pytest

import penstock as tf
from penstock import namespaces


@pytest.mark.parametrize("name", namespaces.LAZY)
def test_lazy_namespaces_are_there(name):
    assert getattr(tf, name) is importlib.import_module(f"penstock.{name}")


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module, names in namespaces.BORROWED.items() for name in names],
)
def test_borrowed_names_are_there(module, name):
    assert callable(getattr(getattr(tf, module), name))


@pytest.mark.parametrize("name", ["load_op_library", "load_library"])
def test_libraries_of_ops_are_not_found(name):
    with pytest.raises(tf.errors.NotFoundError, match="penstock has no tf.load_"):
        getattr(tf, name)("./batcher.so")
    assert not hasattr(tf, name)
