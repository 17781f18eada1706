"""Message modules (`*_pb2.py`) that a protoc before 3.20 wrote, which today's protobuf refuses.

Such a module spells out each descriptor. All of them are in the serialized file that it holds, too:
that and the modules that it imports are what is run of it, as of a module that is written today.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import re
import sys
import types
from collections.abc import Sequence
from typing import Any

from penstock.cli import stand_in

_SUFFIX = "_pb2"
_SPELLED_OUT = re.compile(rb"\b_descriptor\.(Field|Enum|File)?Descriptor\(")


def serialized_file(tree: ast.Module) -> bytes | None:
    """The serialized FileDescriptorProto in the text of a message module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "serialized_pb":
            value = node.value
            if isinstance(value, ast.Call) and len(value.args) == 1:  # _b('...'), of both Pythons
                value = value.args[0]
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                return value.value.encode("latin1")
            if isinstance(value, ast.Constant) and isinstance(value.value, bytes):
                return value.value
    return None


def build_messages(serialized: bytes, name: str, namespace: dict[str, Any]) -> None:
    """Defines the messages and enums of a file in the namespace of its module."""
    from google.protobuf import descriptor_pool
    from google.protobuf.internal import builder

    file = descriptor_pool.Default().AddSerializedFile(serialized)
    namespace["DESCRIPTOR"] = file
    builder.BuildMessageAndEnumDescriptors(file, namespace)
    builder.BuildTopDescriptorsAndMessages(file, name, namespace)


def _imports_messages(statement: ast.stmt) -> bool:
    """Whether a statement imports modules of messages, as the file's dependencies are."""
    if isinstance(statement, ast.Try):  # where a dependency's own imports are public
        return any(_imports_messages(each) for each in statement.body)
    if isinstance(statement, ast.ImportFrom):
        names = [statement.module or "", *(alias.name for alias in statement.names)]
    elif isinstance(statement, ast.Import):
        names = [alias.name for alias in statement.names]
    else:
        return False
    return any(name.endswith(_SUFFIX) for name in names)


class _Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module: types.ModuleType) -> None:
        tree = ast.parse(self.get_data(self.path), self.path)
        serialized = serialized_file(tree)
        if serialized is None:
            super().exec_module(module)
            return
        tree.body = [each for each in tree.body if _imports_messages(each)]
        exec(compile(tree, self.path, "exec", dont_inherit=True), module.__dict__)
        build_messages(serialized, module.__name__, module.__dict__)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of messages whose descriptors are spelled out."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.endswith(_SUFFIX) or fullname.split(".")[0] in stand_in.NAMES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is None or not spec.origin or not spec.origin.endswith(".py"):
            return None
        with open(spec.origin, "rb") as file:
            if not _SPELLED_OUT.search(file.read()):
                return None
        spec.loader = _Loader(fullname, spec.origin)
        return spec


def restore() -> None:
    """Lets programs import the message modules of their time."""
    sys.meta_path.insert(0, _Finder())
