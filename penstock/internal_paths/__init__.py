"""The module paths inside TensorFlow that programs import: `tensorflow.python.ops.array_ops` & co.

TensorFlow never promised these paths, yet a quarter of the programs of its time use them. Here each
is a module without a file: `table` says for a path where its names are in Penstock, `modules` makes
the module when it is imported, `generated_ops` gives the functions of `gen_*_ops`.
"""

from penstock.internal_paths.modules import install

__all__ = ["install"]
