"""`tf.lookup`: tables from keys to values."""

from penstock.lookup import experimental
from penstock.lookup.buckets import StaticVocabularyTable
from penstock.lookup.initializers import (
    KeyValueTensorInitializer,
    TextFileIndex,
    TextFileInitializer,
)
from penstock.lookup.tables import StaticHashTable

__all__ = [
    "KeyValueTensorInitializer",
    "StaticHashTable",
    "StaticVocabularyTable",
    "TextFileIndex",
    "TextFileInitializer",
    "experimental",
]
