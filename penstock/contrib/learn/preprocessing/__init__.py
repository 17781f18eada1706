"""`tf.contrib.learn.preprocessing`: texts as numbers."""

from penstock.contrib.learn.preprocessing.categorical import CategoricalProcessor
from penstock.contrib.learn.preprocessing.text import (
    ByteProcessor,
    VocabularyProcessor,
    tokenizer,
)
from penstock.contrib.learn.preprocessing.vocabulary import CategoricalVocabulary

__all__ = [
    "ByteProcessor",
    "CategoricalProcessor",
    "CategoricalVocabulary",
    "VocabularyProcessor",
    "tokenizer",
]
