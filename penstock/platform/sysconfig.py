"""`tf.sysconfig`: where the package is, for programs that compile ops of their own.

Penstock's ops are written in Python: there are no headers to include and no library to link with.
"""

from __future__ import annotations

import os

from penstock.platform.versions import CXX11_ABI_FLAG, MONOLITHIC_BUILD

__all__ = [
    "CXX11_ABI_FLAG",
    "MONOLITHIC_BUILD",
    "get_compile_flags",
    "get_include",
    "get_lib",
    "get_link_flags",
]


def get_lib() -> str:
    """The directory of the package."""
    return os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def get_include() -> str:
    """The directory where header files would be."""
    return os.path.join(get_lib(), "include")


def get_compile_flags() -> list[str]:
    """Flags for compiling against the headers."""
    return [f"-I{get_include()}", f"-D_GLIBCXX_USE_CXX11_ABI={CXX11_ABI_FLAG}"]


def get_link_flags() -> list[str]:
    """Flags for linking with the package: none."""
    return []
