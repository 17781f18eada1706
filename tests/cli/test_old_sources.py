"""What programs of TensorFlow 1.x's time bring: message modules, names that are keywords now."""

import ast
import importlib
import sys

import pytest
from google.protobuf import descriptor_pb2

from penstock.cli import old_keywords, old_packages, old_protobuf

# A message module as protoc wrote it before 3.20: descriptors around the serialized file.
_MODULE = """
import sys
_b=sys.version_info[0]<3 and (lambda x:x) or (lambda x:x.encode('latin1'))
from google.protobuf import descriptor as _descriptor
{imports}
DESCRIPTOR = _descriptor.FileDescriptor(
  name='{name}', package='', syntax='proto3',
  serialized_pb={serialized}
)
_FIRST = _descriptor.Descriptor(name='X', full_name='X', filename=None, file=DESCRIPTOR,
  containing_type=None, fields=[_descriptor.FieldDescriptor(name='y', full_name='X.y', index=0,
    number=1, type=5, cpp_type=1, label=1, has_default_value=False, default_value=0,
    message_type=None, enum_type=None, containing_type=None, is_extension=False,
    extension_scope=None)], extensions=[], nested_types=[], enum_types=[])
"""


def _file(name, message, *, inner=None, dependency=None):
    file = descriptor_pb2.FileDescriptorProto(name=name, syntax="proto3")
    described = file.message_type.add(name=message)
    if inner is None:
        described.field.add(name="steps", number=1, type=5, label=1)
    else:
        described.field.add(name="inner", number=1, type=11, label=1, type_name=f".{inner}")
    enum = file.enum_type.add(name=f"{message}Kind")
    enum.value.add(name=f"{message.upper()}_NONE", number=0)
    if dependency:
        file.dependency.append(dependency)
    return file.SerializeToString()


@pytest.fixture
def import_from(tmp_path, monkeypatch):
    """Imports modules of a folder as a program that `penstock run` has started."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    old_protobuf.restore()
    old_packages.restore()

    def import_from(name, source):
        (tmp_path / f"{name}.py").write_text(source)
        monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    return import_from


def test_message_modules_with_spelled_out_descriptors(import_from):
    inner = _file("old_inner.proto", "OldInner")
    import_from(
        "old_inner_pb2",
        _MODULE.format(name="old_inner.proto", imports="", serialized=repr(inner)),
    )
    outer = _file("old_outer.proto", "OldOuter", inner="OldInner", dependency="old_inner.proto")
    module = import_from(
        "old_outer_pb2",
        _MODULE.format(
            name="old_outer.proto",
            imports="import old_inner_pb2 as old__inner__pb2",
            serialized=f"_b({outer.decode('latin1')!r})",
        ),
    )
    message = module.OldOuter()
    message.inner.steps = 3
    assert module.OldOuter.FromString(message.SerializeToString()).inner.steps == 3
    assert module.OLDOUTER_NONE == 0
    assert module.OldOuterKind.Name(0) == "OLDOUTER_NONE"
    assert module.DESCRIPTOR.name == "old_outer.proto"
    assert module.OldOuter.__module__ == "old_outer_pb2"


def test_a_message_module_of_services_alone(import_from):
    file = descriptor_pb2.FileDescriptorProto(name="old_service.proto", syntax="proto3")
    file.service.add(name="OldService")
    module = import_from(
        "old_service_pb2",
        "from google.protobuf import descriptor as _descriptor\n"
        "DESCRIPTOR = _descriptor.FileDescriptor(name='old_service.proto', package='',\n"
        f"  syntax='proto3', serialized_pb={file.SerializeToString()!r})\n"
        "DESCRIPTOR.has_options = True\n",
    )
    assert module.DESCRIPTOR.services_by_name["OldService"].full_name == "OldService"


def test_yaml_is_loaded_without_a_loader(import_from):
    yaml = import_from(
        "yaml",
        "class FullLoader: pass\n"
        "def load(stream, Loader): return stream, Loader\n"
        "def load_all(stream, Loader): return [stream], Loader\n",
    )
    assert yaml.load("a: 1") == ("a: 1", yaml.FullLoader)
    assert yaml.load("a: 1", Loader=dict) == ("a: 1", dict)
    assert yaml.load_all("a: 1") == (["a: 1"], yaml.FullLoader)


def test_other_modules_are_left_alone(import_from):
    module = import_from("settings_pb2", "VALUE = 5\n")
    assert module.VALUE == 5


def test_a_module_without_a_serialized_file():
    assert old_protobuf.serialized_file(ast.parse("x = f(serialized_options=b'')")) is None


def test_async_as_a_name():
    source = (
        b"# -*- coding: latin-1 -*-\n"
        b"def train(async=True, note='async \xe9'):\n"
        b"    return async, note\n"
        b"async def step():\n"
        b"    async with lock: pass\n"
        b"    async for x in xs: pass\n"
    )
    renamed = old_keywords.renamed(source)
    assert b"def train(async_=True, note='async \xe9'):\n    return async_, note\n" in renamed
    assert b"\nasync def step():\n    async with lock: pass\n    async for x in xs" in renamed
    assert old_keywords.compiled(b"f(async=1)\n", "f.py") is not None
    assert old_keywords.compiled(b"async = (\n", "f.py") is None
    assert old_keywords.compiled(b"print 1\n", "f.py") is None


def test_tensorboards_summaries_are_those_of_1x(tmp_path, import_from, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "tensorboard"]:
        monkeypatch.delitem(sys.modules, name)
    folder = tmp_path / "tensorboard" / "summary"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "__init__.py").write_text("def scalar(): return 2\n")
    (folder / "v1.py").write_text("def scalar(): return 1\ndef custom_scalar_pb(): return 3\n")
    summary = importlib.import_module("tensorboard.summary")
    assert (summary.scalar(), summary.custom_scalar_pb()) == (1, 3)
    for name in ("tensorboard", "tensorboard.summary", "tensorboard.summary.v1"):
        monkeypatch.delitem(sys.modules, name)
