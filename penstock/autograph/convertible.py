"""What is converted when converted code calls it, and what runs as it is."""

from __future__ import annotations

import dis
import functools
import inspect
import os
import sys
import weakref
from types import CodeType, MethodType
from typing import Any

from penstock.autograph import ag_logging
from penstock.autograph.options import ConversionOptions

#: Packages whose functions know what to do with tensors, or have nothing to do with them.
LIBRARIES = frozenset(
    {
        "h5py",
        "ipdb",
        "matplotlib",
        "mock",
        "numpy",
        "pandas",
        "penstock",
        "PIL",
        "scipy",
        "six",
        "sklearn",
        "tensorflow",
        "tensorflow_datasets",
        "tensorflow_probability",
        "torch",
        "tqdm",
    }
)

_STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep

#: What of them is converted all the same: programs written on the public API.
PROGRAMS = ("penstock.examples",)

_unconverted: weakref.WeakKeyDictionary[Any, set[ConversionOptions]] = weakref.WeakKeyDictionary()


def is_of_library(module: str | None) -> bool:
    """Whether a module is one that is not converted."""
    if not module or module.startswith(PROGRAMS):
        return False
    package = module.partition(".")[0]
    return package in LIBRARIES or _is_standard(package)


@functools.cache
def _is_standard(package: str) -> bool:
    """Whether a module is Python's own: a program may have one of the same name."""
    if package not in sys.stdlib_module_names:
        return False
    path = getattr(sys.modules.get(package), "__file__", None)
    return path is None or os.path.abspath(path).startswith(_STANDARD_LIBRARY)


def runs_as_it_is(f: Any) -> bool:
    """Whether something that is called is not to be converted."""
    if isinstance(f, functools.partial):
        return False
    if is_of_library(_module_of(f)):
        return True
    if inspect.isgeneratorfunction(f):
        ag_logging.warn(
            "Entity %s appears to be a generator function. It will not be converted by AutoGraph.",
            f,
        )
        return True
    if not inspect.isclass(f) and not inspect.isroutine(f) and callable(f):
        return runs_as_it_is(f.__call__)
    if inspect.ismethod(f) and _belongs_to_library(f):
        return True
    return _is_named_tuple(f)


def _module_of(f: Any) -> str | None:
    """The module of a function's code: a wrapper says that it is of the module it wraps."""
    function = f.__func__ if isinstance(f, MethodType) else f
    namespace = getattr(function, "__globals__", None)
    name: Any = (
        namespace.get("__name__") if namespace is not None else getattr(f, "__module__", None)
    )
    return name if isinstance(name, str) else None


def _belongs_to_library(method: MethodType) -> bool:
    """Whether a method is of a class that is not converted, by whichever subclass it is called."""
    owner = method.__self__
    cls = owner if inspect.isclass(owner) else type(owner)
    if "unittest" in sys.modules and issubclass(cls, sys.modules["unittest"].TestCase):
        return True
    for each in cls.__mro__:
        if method.__func__ in vars(each).values():
            return is_of_library(each.__module__) or _is_named_tuple(each)
    return False


def _is_named_tuple(f: Any) -> bool:
    return inspect.isclass(f) and issubclass(f, tuple) and hasattr(f, "_fields")


def known_unconverted(f: Any, options: ConversionOptions) -> bool:
    """Whether something was found not to be converted."""
    try:
        return options in _unconverted.get(f, ())
    except TypeError:  # it has no hash, or can't be referred to weakly
        return False


def keep_unconverted(f: Any, options: ConversionOptions) -> None:
    """Remembers that something is not converted."""
    try:
        _unconverted.setdefault(f, set()).add(options)
    except TypeError:
        return


_PLAIN_OPERATIONS = frozenset(
    code
    for code, name in enumerate(dis.opname)
    if name.startswith(("LOAD_", "STORE_", "BINARY_", "RETURN_", "BUILD_", "COPY_FREE_VARS"))
    or name
    in {
        "CACHE",
        "COMPARE_OP",
        "COPY",
        "DUP_TOP",
        "EXTENDED_ARG",
        "IS_OP",
        "MAKE_CELL",
        "NOP",
        "POP_TOP",
        "RESUME",
        "ROT_TWO",
        "SWAP",
        "UNARY_INVERT",
        "UNARY_NEGATIVE",
        "UNPACK_SEQUENCE",
    }
)


@functools.lru_cache(maxsize=4096)
def has_nothing_to_convert(code: CodeType) -> bool:
    """Whether code calls nothing, and decides nothing by a value."""
    return all(each in _PLAIN_OPERATIONS for each in code.co_code[::2])
