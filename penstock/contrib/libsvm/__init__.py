"""`tf.contrib.libsvm`: examples in LIBSVM's format."""

from penstock.ops.libsvm_lines import decode_libsvm

__all__ = ["decode_libsvm"]
