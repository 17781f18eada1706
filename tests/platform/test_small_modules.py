"""Compatibility functions, versions, resources and switches between execution modes."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

import penstock as tf


def test_text_and_bytes() -> None:
    assert tf.compat.as_bytes("é") == tf.compat.as_bytes(bytearray("é".encode())) == "é".encode()
    assert tf.compat.as_text("é".encode()) == tf.compat.as_str("é") == "é"
    assert tf.compat.as_bytes("é", "latin-1") == b"\xe9"
    assert tf.compat.as_str_any(3) == "3" and tf.compat.as_str_any(b"x") == "x"
    assert tf.compat.path_to_str(Path("./a")) == "a" and tf.compat.path_to_str("./a") == "./a"
    for convert in (tf.compat.as_bytes, tf.compat.as_text):
        with pytest.raises(TypeError, match="Expected binary or unicode string, got 1"):
            convert(1)


def test_types_of_numbers() -> None:
    assert isinstance(np.int8(1), tf.compat.integral_types)
    assert isinstance(np.float16(1), tf.compat.real_types)
    assert not isinstance(1j, tf.compat.real_types)
    assert isinstance(np.complex64(1), tf.compat.complex_types)
    assert isinstance(b"", tf.compat.bytes_or_text_types)


def test_forward_compatibility() -> None:
    assert tf.compat.forward_compatible(2019, 1, 1)
    assert not tf.compat.forward_compatible(2050, 1, 1)
    with tf.compat.forward_compatibility_horizon(2050, 1, 2):
        assert tf.compat.forward_compatible(2050, 1, 1)
    assert not tf.compat.forward_compatible(2050, 1, 1)


def test_the_api_under_its_versions_names() -> None:
    assert tf.compat.v1 is tf
    assert importlib.import_module("penstock.compat.v1") is tf
    assert tf.compat.v2.matmul is tf.matmul
    with pytest.raises(AttributeError, match=r"tf\.compat\.v2\.placeholder.*use tf\.placeholder"):
        tf.compat.v2.placeholder  # noqa: B018


def test_versions() -> None:
    assert tf.VERSION == tf.version.VERSION == "1.15.5"
    versions = tf.Graph().as_graph_def().versions
    assert versions.producer == tf.version.GRAPH_DEF_VERSION
    assert isinstance(tf.COMPILER_VERSION, str) and isinstance(tf.GIT_VERSION, str)


def test_a_graph_without_functions_asks_nothing_of_its_reader() -> None:
    assert tf.Graph().as_graph_def().versions.min_consumer == 0


def test_resources() -> None:
    here = str(Path(__file__).parent)
    assert tf.resource_loader.get_data_files_path() == here
    assert tf.resource_loader.get_path_to_datafile("x") == f"{here}/x"
    assert tf.resource_loader.get_root_dir_with_all_resources() == here
    assert b"tf.resource_loader" in tf.resource_loader.load_resource("resource_loader.py")
    assert tf.resource_loader.readahead_file_path("p") == "p"


def test_sysconfig() -> None:
    package = str(Path(tf.__file__).parent)
    assert tf.sysconfig.get_lib() == package
    assert tf.sysconfig.get_compile_flags()[0] == f"-I{package}/include"
    assert tf.sysconfig.get_link_flags() == []


def test_what_version_1_does_anyway_can_be_asked_for() -> None:
    tf.enable_resource_variables()
    try:
        tf.disable_v2_behavior()
        assert not tf.resource_variables_enabled()
    finally:
        tf.disable_resource_variables()
    tf.disable_eager_execution()
    tf.disable_control_flow_v2()
    assert not tf.control_flow_v2_enabled()


def test_modules_below_the_versions_name_are_the_same() -> None:
    for name in ("keras", "keras.layers", "nn", "dtypes", "python.ops.array_ops"):
        found = importlib.import_module(f"penstock.compat.v1.{name}")
        assert found is importlib.import_module(f"penstock.{name}")
        assert found.__spec__.name == f"penstock.{name}"
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("penstock.compat.v1.no_such_module")


def test_versions_under_the_names_of_the_internal_module() -> None:
    versions = importlib.import_module("penstock.python.framework.versions")
    assert versions.__version__ == tf.VERSION
    assert versions.__git_version__ == tf.GIT_VERSION
    with pytest.raises(AttributeError):
        versions.__no_such_name__  # noqa: B018


def test_settings_of_zlib_with_their_defaults() -> None:
    options = tf.python_io.TFRecordOptions("GZIP", compression_level=3)
    settings = options._as_record_writer_options().zlib_options
    assert (settings.window_bits, settings.compression_level, settings.mem_level) == (31, 3, 9)
    plain = tf.python_io.TFRecordOptions()._as_record_writer_options().zlib_options
    assert (plain.window_bits, plain.compression_level) == (15, -1)
