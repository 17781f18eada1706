"""The version of the TensorFlow API that Penstock follows, under all its names."""

from __future__ import annotations

import platform

__all__ = [
    "COMPILER_VERSION",
    "CXX11_ABI_FLAG",
    "GIT_VERSION",
    "GRAPH_DEF_VERSION",
    "GRAPH_DEF_VERSION_MIN_CONSUMER",
    "GRAPH_DEF_VERSION_MIN_PRODUCER",
    "MONOLITHIC_BUILD",
    "VERSION",
    "__compiler_version__",
    "__cxx11_abi_flag__",
    "__git_version__",
    "__monolithic_build__",
    "__version__",
]

VERSION = "1.15.5"  # the last release of the API
GIT_VERSION = "unknown"  # what TensorFlow says of a build outside its repository
COMPILER_VERSION = platform.python_compiler()
CXX11_ABI_FLAG = 1
MONOLITHIC_BUILD = 0

__version__ = VERSION
__git_version__ = GIT_VERSION
__compiler_version__ = COMPILER_VERSION
__cxx11_abi_flag__ = CXX11_ABI_FLAG
__monolithic_build__ = MONOLITHIC_BUILD

# Of GraphDefs: what is written, and what a reader or writer must have at least.
GRAPH_DEF_VERSION = 134
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
