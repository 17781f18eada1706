"""What `tensorflow.python.util` has for Python code: decorators, deprecations, exports …"""

from __future__ import annotations

import functools
import gc
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths import python_inspect, python_util
from penstock.internal_paths.python import (
    decorators,
    deprecations,
    docstring_notices,
    documented_names,
    exports,
    function_facts,
    group_lock,
    identity,
    json_types,
    parser_configurations,
    stack_frames,
    unused_results,
)
from penstock.platform import logging

DATE, INSTEAD = "2016-07-04", "Use the other one."


@pytest.fixture
def warning() -> Iterator[mock.Mock]:
    with mock.patch.object(logging, "warning") as found:
        yield found


# Decorators ---------------------------------------------------------------------------------------


def _adding(target: Any) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return wrapper.__wrapped__(*args, **kwargs) + 1  # type: ignore[attr-defined]

    return decorators.make_decorator(target, wrapper)


def _three(scale: int = 1) -> int:
    """Says three."""
    return 3 * scale


def test_decorators_tell_what_they_decorate() -> None:
    once, twice = _adding(_three), _adding(_adding(_three))
    assert (once(), twice(scale=2)) == (4, 8)
    assert (once.__name__, once.__doc__) == ("_three", "Says three.")
    found, target = decorators.unwrap(twice)
    assert target is _three
    assert [each.decorator_name for each in found] == ["_adding", "_adding"]
    assert decorators.unwrap(_three) == ([], _three)
    decorators.rewrap(twice, _three, lambda: 10)
    assert twice() == 12
    assert decorators.rewrap(_three, _three, len) is len


def test_decorators_as_objects() -> None:
    class Counting(decorators.TFDecorator):
        calls = 0

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            self.calls += 1
            return super().__call__(*args, **kwargs)

    counted = Counting("counting", _three)
    assert counted(scale=2) == 6 and counted.calls == 1
    assert (vars(counted)["__name__"], counted.decorator_doc) == ("_three", "")
    assert decorators.unwrap(_adding(counted))[1] is _three


def test_arguments_behind_decorators() -> None:
    assert python_inspect.getargspec(_adding(_three)).args == ["scale"]
    spec = python_inspect.ArgSpec(["a", "b"], None, None, (2,))
    other = decorators.make_decorator(_three, lambda *args: 0, "other", decorator_argspec=spec)
    assert python_inspect.getargspec(other) == spec
    assert python_inspect.getfullargspec(other).args == ["a", "b"]
    assert python_inspect.getcallargs(other, 1) == {"a": 1, "b": 2}
    assert python_inspect.isfunction(other)
    assert "3 * scale" in python_inspect.getsource(_adding(_three))


def test_arguments_that_a_partial_leaves() -> None:
    def both(m: int, n: int = 1) -> None: ...

    assert python_inspect.getargspec(functools.partial(both, 1)) == (["n"], None, None, (1,))
    assert python_inspect.getargspec(functools.partial(both, m=1)).defaults == (1, 1)
    with pytest.raises(ValueError, match=r"Some arguments \['n'\] do not have default value"):
        python_inspect.getargspec(functools.partial(lambda m, n: 0, m=1))
    with pytest.raises(ValueError, match="unknown partial keyword"):
        python_inspect.getargspec(functools.partial(both, other=1))  # type: ignore[call-arg]


def test_context_managers_and_keywords() -> None:
    @python_util.contextmanager
    def twice(value: int) -> Iterator[int]:
        yield 2 * value

    with twice(4) as value:
        assert value == 8
    assert decorators.unwrap(twice)[0][0].decorator_name == "contextmanager"
    with pytest.raises(ValueError, match="Must use keyword args to call _three"):
        python_util.keyword_args_only(_three)(2)


# Deprecations -------------------------------------------------------------------------------------


def test_a_deprecated_function_warns(warning: mock.Mock) -> None:
    old = deprecations.deprecated(DATE, INSTEAD, warn_once=False)(_three)
    assert old() == 3 and old() == 3 and warning.call_count == 2
    text, place, name, module, when, instead = warning.call_args.args
    assert "is deprecated and will be removed" in text
    assert place.startswith(f"{__file__}:")
    assert (name, module, when, instead) == ("_three", __name__, f"after {DATE}", INSTEAD)
    assert old.__doc__ == (
        "Says three. (deprecated)\n\nWarning: THIS FUNCTION IS DEPRECATED. It will be removed "
        f"after {DATE}.\nInstructions for updating:\n{INSTEAD}"
    )
    with deprecations.silence():
        old()
    assert warning.call_count == 2
    deprecations.deprecated(None, INSTEAD)(_three)()
    assert warning.call_args.args[4] == "in a future version"


def test_deprecated_arguments_warn(warning: mock.Mock) -> None:
    @deprecations.deprecated_args(DATE, INSTEAD, "a", ("b", None), "rest", warn_once=False)
    def function(a: int = 0, b: Any = None, *rest: int) -> int:
        return a

    function()
    function(b=None)
    assert warning.call_count == 0
    function(1)
    function(a=1)
    function(b=2)
    assert [call.args[4] for call in warning.call_args_list] == ["a", "a", "b"]
    warning.reset_mock()
    function(1, None, 3)
    assert [call.args[4] for call in warning.call_args_list] == ["a", "rest"]
    with pytest.raises(ValueError, match=r"not present.*\['missing'\]"):
        deprecations.deprecated_args(DATE, INSTEAD, "missing")(_three)


def test_deprecated_values_warn_once(warning: mock.Mock) -> None:
    @deprecations.deprecated_arg_values(DATE, INSTEAD, scale=2)
    def function(scale: int = 1) -> int:
        return scale

    for scale in (1, 2, 2):
        function(scale)
    assert warning.call_count == 1 and warning.call_args.args[4:6] == ("scale", 2)


def test_deprecated_names(warning: mock.Mock) -> None:
    class Named:
        def __init__(self, value: int):
            self.value = value

    old_function = deprecations.deprecated_alias("old.three", "new.three", _three)
    old_class = deprecations.deprecated_alias("old.Named", "new.Named", Named)
    assert old_function() == 3 and old_class(4).value == 4 and old_class(5).value == 5
    assert issubclass(old_class, Named) and "THIS CLASS IS DEPRECATED" in old_class.__doc__
    assert [call.args[2:] for call in warning.call_args_list] == [
        ("old.three", "new.three"),
        ("old.Named", "new.Named"),
    ]

    @deprecations.deprecated_endpoints("a", "b")
    def function() -> None: ...

    assert function._tf_deprecated_api_names == ("a", "b")
    with pytest.raises(deprecations.DeprecatedNamesAlreadySet):
        deprecations.deprecated_endpoints("c")(function)


def test_what_a_deprecation_needs() -> None:
    with pytest.raises(ValueError, match="YYYY-MM-DD"):
        deprecations.deprecated("04-07-2016", INSTEAD)
    with pytest.raises(ValueError, match="instructions"):
        deprecations.deprecated(DATE, "")
    with pytest.raises(ValueError, match="argument"):
        deprecations.deprecated_args(DATE, INSTEAD)
    with pytest.raises(ValueError, match="Illegal argument"):
        deprecations.deprecated_args(DATE, INSTEAD, "a", other=1)
    with pytest.raises(ValueError, match="not a function"):
        deprecations.deprecated(DATE, INSTEAD)(property(_three))
    hidden = type("Hiding", (), {"old": deprecations.hide_attribute_from_api("it is gone")})()
    with pytest.raises(AttributeError, match="it is gone"):
        _ = hidden.old


def test_notices_keep_their_distance() -> None:
    add = docstring_notices.add_notice_to_docstring
    assert add(None, "I", "none", "(s)", ["N"]) == "none\n\nWarning: N\nI"
    assert add("a\n\n  b", "I", "none", "(s)", ["N"]) == "a (s)\n\nWarning: N\nI\n\nb"
    with pytest.raises(ValueError, match="must not be empty"):
        add("a", "I", "none", "(s)", [])


# The rest -----------------------------------------------------------------------------------------


def test_exports() -> None:
    def first() -> None: ...
    def second() -> None: ...

    exports.tf_export("a.first", "b.first", v1=["old.first"])(first)
    assert exports.get_v2_names(first) == ["a.first", "b.first"]
    assert exports.get_v1_names(first) == ["old.first"]
    assert exports.get_canonical_name_for_symbol(first) == "a.first"
    with pytest.raises(exports.SymbolAlreadyExposedError, match="already exposed"):
        exports.tf_export("c")(first)
    exports.tf_export("c", overrides=[first])(second)
    assert exports.get_v2_names(first) == [] and exports.get_canonical_name_for_symbol(5) is None
    with pytest.raises(exports.InvalidSymbolNameError):
        exports.tf_export("estimator.x")
    with pytest.raises(exports.InvalidSymbolNameError):
        exports.keras_export("layers.x")
    module = types.ModuleType("exporting")
    with mock.patch.dict(sys.modules, exporting=module):
        exports.tf_export("consts.k").export_constant("exporting", "k")
    assert exports.get_v1_constants(module) == [(("consts.k",), "k")]
    with pytest.raises(TypeError, match="only takes keyword args"):
        exports.kwarg_only(_three)(1)


def test_results_that_nobody_uses() -> None:
    with tf.Graph().as_default(), mock.patch.object(logging, "error") as error:
        make = unused_results.should_use_result(lambda: tf.constant(1.0, name="forgotten"))
        used = make()
        assert used.name == "forgotten:0" and isinstance(used, tf.Tensor)
        make().mark_used()
        assert (make() + 1.0).shape == ()
        del used
        assert error.call_count == 0
        make()
        (message,) = error.call_args.args
        assert "never used" in message and "forgotten_3:0" in message and __file__ in message


def test_collections_by_identity() -> None:
    first, second = [1], [1]
    mapping = identity.ObjectIdentityDictionary()
    mapping[first], mapping[second] = "a", "b"
    assert len(mapping) == 2 and mapping[first] == "a"
    del mapping[first]
    assert list(mapping) == [second]
    found = identity.ObjectIdentitySet([first])
    assert first in found and second not in found
    assert len(identity.ObjectIdentitySet([first, second]).difference(found)) == 1
    assert identity.Reference(first) == identity.Reference(first) != identity.Reference(second)
    assert identity.Reference(first).deref() is first
    with pytest.raises(TypeError):
        _ = identity.Reference(first) == first
    thing = types.ModuleType("thing")
    weak, keys = identity.ObjectIdentityWeakSet([thing]), identity.ObjectIdentityWeakKeyDictionary()
    keys[thing] = 1
    assert thing in weak and len(weak) == len(keys) == 1
    del thing
    gc.collect()
    assert len(weak) == len(keys) == 0


def test_a_lock_of_groups() -> None:
    lock = group_lock.GroupLock(2)
    order: list[int] = []

    def other() -> None:
        with lock.group(1):
            order.append(1)

    with lock.group(0), lock.group(0):
        thread = threading.Thread(target=other)
        thread.start()
        order.append(0)
    thread.join()
    assert order == [0, 1]
    with pytest.raises(ValueError, match="group_id=2 should be between"):
        lock.acquire(2)
    with pytest.raises(ValueError, match="num_groups must be"):
        group_lock.GroupLock(0)


def test_stacks() -> None:
    frame = stack_frames.extract_stack(limit=1)[-1]
    assert (frame.filename, frame.name) == (__file__, "test_stacks")
    assert stack_frames.convert_stack([frame], True)[0][3:] == (
        "frame = stack_frames.extract_stack(limit=1)[-1]",
        test_stacks.__code__.co_firstlineno,
    )
    with stack_frames.CurrentModuleFilter():
        assert all(each.filename != __file__ for each in stack_frames.extract_stack())


def test_facts_of_functions() -> None:
    class Callable:
        def __call__(self, a: int, **kwargs: int) -> None: ...

    assert function_facts.fn_args(Callable()) == ("a",) and function_facts.has_kwargs(Callable())
    assert function_facts.fn_args(functools.partial(_three, scale=1)) == ()
    assert function_facts.get_func_name(_adding(_three)) == "_three"
    assert function_facts.get_func_name(Callable().__call__) == "Callable.__call__"
    assert function_facts.get_func_code(_three) is _three.__code__
    assert function_facts.get_func_code(functools.partial(_three)) is None
    with pytest.raises(TypeError, match="function-like"):
        function_facts.has_kwargs(3)


def test_documented_names() -> None:
    module = types.ModuleType("documenting", "Has\n\n@@kept\n")
    module.kept, module.dropped, module._own = 1, 2, 3  # type: ignore[attr-defined]
    with mock.patch.dict(sys.modules, documenting=module):
        assert documented_names.make_all("documenting") == ["kept"]
        documented_names.remove_undocumented("documenting")
        assert not hasattr(module, "dropped") and hasattr(module, "_own")
        documented_names.reveal_undocumented("documenting.dropped")
        assert module.dropped == 2
    with pytest.raises(LookupError):
        documented_names.reveal_undocumented("documenting.other")


def test_json_types() -> None:
    assert json_types.get_json_type(tf.TensorShape([1, None])) == [1, None]
    assert json_types.get_json_type(np.float32(1.5)) == 1.5
    assert json_types.get_json_type(_three) == "_three"
    with pytest.raises(TypeError, match="Not JSON"):
        json_types.get_json_type(object())


def test_what_a_parsing_node_reads() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        parsed = tf.parse_example(
            tf.placeholder(tf.string, [None]),
            {"x": tf.FixedLenFeature([2], tf.float32, [1.0, 2.0]), "y": tf.VarLenFeature(tf.int64)},
        )
        op = parsed["x"].op
        config = parser_configurations.extract_example_parser_configuration(op, session)
    fixed, varying = config.feature_map["x"].fixed_len_feature, config.feature_map["y"]
    assert fixed.values_output_tensor_name == parsed["x"].name and fixed.shape.dim[0].size == 2
    assert tf.make_ndarray(fixed.default_value).tolist() == [1.0, 2.0]
    assert varying.var_len_feature.values_output_tensor_name == parsed["y"].values.name
