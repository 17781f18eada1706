"""`tf.test`: test cases, gradient checks and benchmarks."""

from unittest import mock

from penstock.testing.benchmark import TensorFlowBenchmark as Benchmark
from penstock.testing.benchmark import benchmark_config
from penstock.testing.googletest import main, test_src_dir_path
from penstock.testing.gradient_checker import compute_gradient, compute_gradient_error
from penstock.testing.graph_compare import assert_equal_graph_def
from penstock.testing.local_cluster import create_local_cluster
from penstock.testing.local_devices import (
    gpu_device_name,
    is_built_with_cuda,
    is_built_with_gpu_support,
    is_built_with_rocm,
    is_gpu_available,
)
from penstock.testing.stub_out import StubOutForTesting
from penstock.testing.temp_dir import get_temp_dir
from penstock.testing.test_case import TensorFlowTestCase as TestCase

__all__ = [
    "Benchmark",
    "StubOutForTesting",
    "TestCase",
    "assert_equal_graph_def",
    "benchmark_config",
    "compute_gradient",
    "compute_gradient_error",
    "create_local_cluster",
    "get_temp_dir",
    "gpu_device_name",
    "is_built_with_cuda",
    "is_built_with_gpu_support",
    "is_built_with_rocm",
    "is_gpu_available",
    "main",
    "mock",
    "test_src_dir_path",
]
