"""From a function to its converted one: rewritten, compiled, and bound to the same variables."""

from __future__ import annotations
import __future__

import ast
import copy
import inspect
import threading
import weakref
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple, cast

from penstock.autograph import ag_logging
from penstock.autograph.options import ProgramContext
from penstock.autograph.rewriting import source
from penstock.autograph.rewriting.naming import Namer
from penstock.autograph.rewriting.pipeline import rewrite
from penstock.autograph.rewriting.preparation import prepare
from penstock.autograph.rewriting.rewriter import EntityContext, place
from penstock.autograph.rewriting.templates import replace

_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag

_lock = threading.RLock()
_kept: weakref.WeakKeyDictionary[CodeType, dict[Any, _Factory]] = weakref.WeakKeyDictionary()


class _Factory(NamedTuple):
    """Makes converted functions: its code takes the operators, its free variables are theirs."""

    code: CodeType
    text: str
    module: ModuleType


def convert(entity: Any, program: ProgramContext) -> Any:
    """The converted function, method or class.

    A method becomes a function whose first argument is `self`.
    """
    if inspect.isclass(entity):
        return _converted_class(entity, program)
    if not inspect.isfunction(entity) and not inspect.ismethod(entity):
        raise NotImplementedError(
            f'cannot convert entity "{entity}": object conversion is not yet supported.'
        )
    return _converted_function(entity, program)


def _converted_function(entity: Any, program: ProgramContext) -> Any:
    factory = _factory(entity, program)
    cells = dict(zip(entity.__code__.co_freevars, entity.__closure__ or (), strict=True))
    if "ag__" in cells and cells["ag__"].cell_contents is not operators():
        raise ValueError(f'entity {entity} uses the reserved symbol "ag__"')
    bound = FunctionType(
        factory.code,
        entity.__globals__,
        closure=tuple(cells[name] for name in factory.code.co_freevars),
    )
    made = bound(operators())
    made.__code__ = made.__code__.replace(co_name=entity.__code__.co_name)  # for tracebacks
    made.__defaults__ = entity.__defaults__
    made.__kwdefaults__ = entity.__kwdefaults__
    made.__doc__ = entity.__doc__
    made.__module__ = entity.__module__
    made.ag_source__ = factory.text
    made.ag_source_map = {}  # the converted code is at the lines of the program
    made.ag_module = factory.module
    made.autograph_info__ = {}
    return made


def _converted_class(cls: type, program: ProgramContext) -> type:
    """A subclass with the methods of the class, converted."""
    methods = {name: each for name, each in vars(cls).items() if inspect.isfunction(each)}
    if not methods:
        raise ValueError(f"cannot convert {cls}: no member methods")
    converted = {name: convert(each, program) for name, each in methods.items()}
    made: Any = type(cls)(f"Tf{cls.__name__}", (cls,), {**converted, "__module__": cls.__module__})
    made.ag_source__ = "\n".join(each.ag_source__ for each in converted.values())
    return cast("type", made)


_operators: SimpleNamespace | None = None


def operators() -> Any:
    """What converted code knows as `ag__`."""
    global _operators
    if _operators is None:
        from penstock.autograph import calls, function_scopes, operators, options
        from penstock.autograph import special_functions as special

        _operators = SimpleNamespace(
            **{name: getattr(operators, name) for name in operators.__all__},
            ConversionOptions=options.ConversionOptions,
            Feature=options.Feature,
            FunctionScope=function_scopes.FunctionScope,
            STD=options.STANDARD_OPTIONS,
            converted_call=calls.converted_call,
            do_not_convert_internal=calls.do_not_convert_internal,
            match_staging_level=special.match_staging_level,
            stack=special.stack,
            tensor_list=special.tensor_list,
            with_function_scope=function_scopes.with_function_scope,
        )
    return _operators


def _factory(function: Any, program: ProgramContext) -> _Factory:
    """Functions that share their code share what it was converted to."""
    code: CodeType = function.__code__
    with _lock:
        made = _kept.setdefault(code, {})
        if program.options not in made:
            ag_logging.log(1, "Converting %s", function)
            made[program.options] = _built(function, program)
        return made[program.options]


def _built(function: Any, program: ProgramContext) -> _Factory:
    tree: Any = copy.deepcopy(source.tree_of(function))
    prepare(tree, function.__qualname__)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    namer = Namer(names | {"ag__"})
    name = "tf__lambda" if isinstance(tree, ast.Lambda) else f"tf__{tree.name}"
    name = namer.new_symbol(name, ())
    ctx = EntityContext(namer, function.__globals__, program, name)
    (definition,) = _definition(rewrite(tree, ctx), name)
    text = ast.unparse(definition)
    ag_logging.log(2, "Compiled output of %s:\n\n%s\n", function, text)
    code = _compiled(definition, name, function.__code__)
    return _Factory(code, text, ModuleType(f"converted_{name}"))


def _definition(tree: Any, name: str) -> Sequence[ast.stmt]:
    """A statement that gives the function a name."""
    if isinstance(tree, ast.Lambda):
        statements = replace("name = function", name=name, function=tree)
        place(statements, tree)
        return statements
    tree.name = name
    return [tree]


def _compiled(definition: ast.stmt, name: str, original: CodeType) -> CodeType:
    """The code of a function that makes the converted one, from the operators.

    It lies in another function, whose variables stand for the free ones until it gets those of the
    original.
    """
    free = [replace("variable = None", variable=each)[0] for each in original.co_freevars]
    module = ast.Module(
        replace(
            """
            def outer():
                free
                def factory(ag__):
                    definition
                    return name
                return factory
            """,
            free=free or [ast.Pass()],
            definition=[definition],
            name=name,
        ),
        [],
    )
    for statement in module.body:
        ast.copy_location(statement, definition)
    compiled = compile(
        ast.fix_missing_locations(module),
        original.co_filename,
        "exec",
        flags=original.co_flags & _FUTURES,
        dont_inherit=True,
    )
    namespace: dict[str, Callable[[], FunctionType]] = {}
    exec(compiled, namespace)
    return namespace["outer"]().__code__
