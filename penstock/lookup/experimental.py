"""`tf.lookup.experimental`: tables whose interface may change."""

from penstock.lookup.mutable import DenseHashTable, MutableHashTable

__all__ = ["DenseHashTable", "MutableHashTable"]
