"""The plugins of TensorBoard that programs write files for."""

from penstock.contrib import lazy_paths

__getattr__ = lazy_paths.resolver(__name__)
