"""Questions about a program's functions and classes."""

import collections
import functools
import textwrap
import types

from penstock.autograph import inspection
from penstock.testing import plain_definitions, wrapping_functions


def _wrapped(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)

    return wrapper


class Base:
    def inherited(self):
        pass

    @staticmethod
    def alone():
        pass

    @classmethod
    def of_class(cls):
        pass


class Derived(Base):
    @_wrapped
    def wrapped(self):
        pass

    def __call__(self):
        pass


def test_kinds_of_callables():
    assert inspection.islambda(lambda: 0) and not inspection.islambda(_wrapped)
    pair = collections.namedtuple("pair", "a b")
    assert inspection.isnamedtuple(pair) and not inspection.isnamedtuple(tuple)
    assert all(inspection.isbuiltin(each) for each in (eval, float, len, range, zip))
    assert not inspection.isbuiltin(_wrapped)


def test_names_of_a_function():
    outer = []

    def uses():
        return outer, later

    names = inspection.getnamespace(uses)
    assert names["outer"] is outer and names["Base"] is Base and "later" not in names
    later = 1
    assert inspection.getnamespace(uses)["later"] == later


def test_dotted_names():
    inner, middle = types.ModuleType("inner"), types.ModuleType("middle")
    inner.value, inner.back, middle.below = object(), middle, inner
    names = {"top": middle, "other": 1}
    assert inspection.getqualifiedname(names, middle) == "top"
    assert inspection.getqualifiedname(names, inner.value) == "top.below.value"
    assert inspection.getqualifiedname(names, inner.value, max_depth=1) is None
    assert inspection.getqualifiedname(names, object()) is None
    nested = {"inspection": inspection}
    assert inspection.getqualifiedname(nested, inspection.islambda) == "inspection.islambda"


def test_classes_of_methods():
    thing = Derived()
    assert inspection.getmethodclass(Derived.wrapped) is Derived
    assert inspection.getmethodclass(thing.inherited) is Derived
    assert inspection.getmethodclass(Base.alone) is Base
    assert inspection.getmethodclass(Derived.of_class) is Derived
    assert inspection.getmethodclass(thing) is Derived
    assert inspection.getmethodclass(_wrapped) is None
    assert inspection.getdefiningclass(Derived.inherited, Derived) is Base
    assert inspection.getdefiningclass(Derived.of_class, Derived) is Base
    assert inspection.getdefiningclass(Derived.wrapped, Derived) is Derived
    assert inspection.getmethodself(thing.inherited) is thing


def test_the_source_is_that_of_the_wrapper():
    wrapped = wrapping_functions.functional_decorator()(_wrapped)
    text = textwrap.dedent(inspection.getimmediatesource(wrapped))
    assert text.startswith("def functional_wrapper(") and text.endswith("f(*args, **kwargs)\n")
    assert inspection.getimmediatesource(Derived.wrapped).lstrip().startswith("@functools.wraps")


def test_features_of_a_module():
    for function in (
        plain_definitions.simple_lambda,
        plain_definitions.SimpleClass().method_with_print,
    ):
        found = inspection.getfutureimports(function)
        assert {"division", "with_statement"} <= set(found) and "generators" not in found
    assert inspection.getfutureimports(Base) == ()
