"""For tests of single steps of a conversion: functions after some of them."""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import types
from collections.abc import Iterator
from typing import Any

from penstock import test
from penstock.autograph.conversion import operators
from penstock.autograph.options import ConversionOptions, ProgramContext
from penstock.autograph.rewriting.naming import Namer
from penstock.autograph.rewriting.preparation import prepare
from penstock.autograph.rewriting.rewriter import EntityContext
from penstock.autograph.rewriting.source import tree_of
from penstock.internal_paths.conversion_steps import ast_to_object


class TestCase(test.TestCase):
    """Converts functions by the steps that a test names, and keeps account of their calls."""

    dynamic_calls: list[tuple[Any, Any]]

    @contextlib.contextmanager
    def assertPrints(self, expected_result: str) -> Iterator[None]:
        """A block that must print a text."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            yield
        self.assertEqual(printed.getvalue(), expected_result)  # noqa: PT009 - its message tells more

    @contextlib.contextmanager
    def converted(
        self, entity: Any, converter_module: Any, namespace: dict[str, Any], tf_symbols: Any = ()
    ) -> Iterator[types.ModuleType]:
        """A module with a function after some steps, and with the names that it is to find."""
        node, ctx = self.prepare(entity, namespace)
        steps = converter_module if isinstance(converter_module, (list, tuple)) else []
        for step in steps or [converter_module]:
            node = step.transform(node, ctx)
        with self.compiled(node, namespace, tf_symbols) as result:
            yield result

    @contextlib.contextmanager
    def compiled(
        self, node: Any, namespace: dict[str, Any], symbols: Any = ()
    ) -> Iterator[types.ModuleType]:
        """A module of a tree."""
        self.dynamic_calls = []

        def converted_call(f: Any, opts: Any, args: Any, kwargs: Any, scope: Any = None) -> Any:
            self.dynamic_calls.append((args, kwargs))
            return f(*args, **(kwargs or {}))

        result, source, source_map = ast_to_object(node, include_source_map=True)
        fake: Any = self.make_fake_mod("fake_ag", ConversionOptions)
        fake.__dict__.update(vars(operators()), converted_call=converted_call)
        names = {"tf": self.make_fake_mod("fake_tf", *symbols), "ag__": fake}
        vars(result).update(names, ag_source_map__=source_map, **namespace)
        try:
            yield result
        except Exception:
            sys.stdout.write(f"Offending compiled code:\n{source}\n")
            raise

    def make_fake_mod(self, name: str, *symbols: Any) -> types.ModuleType:
        """A module of some values, under their own names."""
        module = types.ModuleType(name)
        for each in symbols:
            own = getattr(each, "__name__", None) or getattr(each, "name", None)
            if own is None:
                raise ValueError(f"can not attach {each} - what should be its name?")
            setattr(module, own, each)
        return module

    def attach_namespace(self, module: types.ModuleType, **ns: Any) -> None:
        """Gives a module further names."""
        vars(module).update(ns)

    def prepare(
        self, test_fn: Any, namespace: dict[str, Any], recursive: bool = True
    ) -> tuple[ast.AST, EntityContext]:
        """The tree of a function, ready for the first step."""
        namespace["ConversionOptions"] = ConversionOptions
        node = tree_of(test_fn)
        prepare(node, test_fn.__qualname__)
        program = ProgramContext(ConversionOptions(recursive=recursive))
        return node, EntityContext(Namer(namespace), namespace, program, "test_fn")
