"""`tf.sysconfig`: where the package is, for programs that compile ops of their own."""

from penstock.platform.sysconfig import (
    CXX11_ABI_FLAG,
    MONOLITHIC_BUILD,
    get_compile_flags,
    get_include,
    get_lib,
    get_link_flags,
)

__all__ = [
    "CXX11_ABI_FLAG",
    "MONOLITHIC_BUILD",
    "get_compile_flags",
    "get_include",
    "get_lib",
    "get_link_flags",
]
