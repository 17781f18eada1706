"""Texts as arrays of numbers: by word, or by byte."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from penstock.contrib.learn.preprocessing.vocabulary import CategoricalVocabulary
from penstock.platform import gfile

TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text."""
    for text in iterator:
        yield TOKENIZER_RE.findall(text)


class VocabularyProcessor:
    """Texts as arrays of the numbers of their words.

    Args:
      max_document_length: how many words of a text count; shorter ones are filled up with 0.
      min_frequency: words that are not more frequent are unknown.
      vocabulary: a `CategoricalVocabulary`; a new one by default.
      tokenizer_fn: from texts to lists of words; `tokenizer` by default.
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[str]], Iterable[Any]] | None = None,
    ):
        self.max_document_length = max_document_length
        self.min_frequency = min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> VocabularyProcessor:
        """Learns the words of texts."""
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(
        self, raw_documents: Iterable[str], unused_y: Any = None
    ) -> Iterator[np.ndarray[Any, Any]]:
        """Learns the words of texts, and gives their numbers."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[np.ndarray[Any, Any]]:
        """The numbers of the words of each text."""
        for words in self._tokenizer(raw_documents):
            ids = np.zeros(self.max_document_length, np.int64)
            for i, word in enumerate(words[: self.max_document_length]):
                ids[i] = self.vocabulary_.get(word)
            yield ids

    def reverse(self, documents: Iterable[Any]) -> Iterator[str]:
        """The words of numbers, as texts."""
        for ids in documents:
            yield " ".join(self.vocabulary_.reverse(i) for i in ids)

    def save(self, filename: str) -> None:
        """Writes the vocabulary to a file, as JSON; a tokenizer of your own is not written."""
        plain = {
            "max_document_length": self.max_document_length,
            "min_frequency": self.min_frequency,
            "vocabulary": self.vocabulary_.as_plain(),
        }
        with gfile.Open(filename, "w") as file:
            file.write(json.dumps(plain))

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        """The processor that `save` wrote."""
        with gfile.Open(filename, "rb") as file:
            content = file.read()
        try:
            plain = json.loads(content)
        except ValueError:
            raise ValueError(
                f"{filename} is not a file that VocabularyProcessor.save of Penstock wrote. Files "
                "of TensorFlow's are pickled Python objects, which can run code: write the "
                "vocabulary anew."
            ) from None
        vocabulary = CategoricalVocabulary.from_plain(plain["vocabulary"])
        return cls(plain["max_document_length"], plain["min_frequency"], vocabulary)


class ByteProcessor:
    """Texts as arrays of their bytes.

    Args:
      max_document_length: how many bytes of a text count; shorter ones are filled up with 0.
    """

    def __init__(self, max_document_length: int):
        self.max_document_length = max_document_length

    def fit(self, x: Any) -> None:
        """Nothing is to be learned."""

    def fit_transform(self, x: Iterable[Any]) -> Iterator[np.ndarray[Any, Any]]:
        """The bytes of each text."""
        return self.transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[np.ndarray[Any, Any]]:
        """The bytes of each text."""
        for text in x:
            content = text.encode() if isinstance(text, str) else text
            found = np.frombuffer(content[: self.max_document_length], dtype=np.uint8)
            yield np.pad(found, (0, self.max_document_length - len(found)), "constant")

    def reverse(self, x: Iterable[Any]) -> Iterator[str]:
        """The texts of bytes; empty where they are no text."""
        for data in x:
            content = np.trim_zeros(data.astype(np.int8), trim="b").tobytes()
            try:
                yield content.decode("utf-8")
            except UnicodeDecodeError:
                yield ""
