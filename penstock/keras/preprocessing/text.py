"""`tf.keras.preprocessing.text`."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, OrderedDict, defaultdict
from typing import Any

import numpy as np

__all__ = [
    "Tokenizer",
    "hashing_trick",
    "one_hot",
    "text_to_word_sequence",
    "tokenizer_from_json",
]

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(
    text: str, filters: str = _FILTERS, lower: bool = True, split: str = " "
) -> list[str]:
    """The words of a text.

    Args:
      filters: characters that count as separators.
    """
    if lower:
        text = text.lower()
    text = text.translate({ord(character): split for character in filters})
    return [word for word in text.split(split) if word]


def one_hot(
    text: str, n: int, filters: str = _FILTERS, lower: bool = True, split: str = " "
) -> list[int]:
    """A number from 1 to n - 1 for each word, from Python's hash: it differs between runs."""
    return hashing_trick(text, n, hash, filters=filters, lower=lower, split=split)


def hashing_trick(
    text: str,
    n: int,
    hash_function: Any = None,
    filters: str = _FILTERS,
    lower: bool = True,
    split: str = " ",
) -> list[int]:
    """A number from 1 to n - 1 for each word; "md5" gives the same ones in each run."""
    if hash_function is None:
        hash_function = hash
    elif hash_function == "md5":

        def hash_function(word: str) -> int:
            return int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16)

    words = text_to_word_sequence(text, filters=filters, lower=lower, split=split)
    return [hash_function(word) % (n - 1) + 1 for word in words]


class Tokenizer:
    """Numbers for the words of texts, by how often they occur.

    Args:
      num_words: uses the `num_words - 1` most frequent words only.
      char_level: takes characters as words.
      oov_token: word that stands for those left out.
    """

    def __init__(
        self,
        num_words: int | None = None,
        filters: str = _FILTERS,
        lower: bool = True,
        split: str = " ",
        char_level: bool = False,
        oov_token: str | None = None,
        document_count: int = 0,
        **kwargs: Any,
    ):
        kwargs.pop("nb_words", None)
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self.word_counts: OrderedDict[str, int] = OrderedDict()
        self.word_docs: defaultdict[str, int] = defaultdict(int)
        self.index_docs: defaultdict[int, int] = defaultdict(int)
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}
        self.filters = filters
        self.split = split
        self.lower = lower
        self.num_words = num_words
        self.document_count = document_count
        self.char_level = char_level
        self.oov_token = oov_token

    def _words(self, text: Any) -> list[str]:
        if isinstance(text, list):
            return [word.lower() for word in text] if self.lower else text
        if self.char_level:
            return list(text.lower() if self.lower else text)
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Any) -> None:
        """Counts the words of texts and numbers them, the most frequent first, from 1."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        by_count = sorted(self.word_counts.items(), key=lambda item: item[1], reverse=True)
        ordered = [word for word, _ in by_count]
        if self.oov_token is not None:
            ordered.insert(0, self.oov_token)
        self.word_index = {word: number for number, word in enumerate(ordered, start=1)}
        self.index_word = {number: word for word, number in self.word_index.items()}
        self.index_docs = defaultdict(
            int, {self.word_index[word]: count for word, count in self.word_docs.items()}
        )

    def fit_on_sequences(self, sequences: Any) -> None:
        """Counts the numbers of sequences, for `sequences_to_matrix`."""
        self.document_count += len(sequences)
        for sequence in sequences:
            for number in set(sequence):
                self.index_docs[number] += 1

    def texts_to_sequences(self, texts: Any) -> list[list[int]]:
        """The numbers of the words of texts."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Any) -> Any:
        """The numbers of the words of texts, text by text."""
        unknown = self.word_index.get(self.oov_token) if self.oov_token is not None else None
        for text in texts:
            numbers = []
            for word in self._words(text):
                number = self.word_index.get(word)
                is_rare = number is not None and self.num_words and number >= self.num_words
                if number is None or is_rare:
                    number = unknown
                if number is not None:
                    numbers.append(number)
            yield numbers

    def sequences_to_texts(self, sequences: Any) -> list[str]:
        """The words of numbers, joined by spaces."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Any) -> Any:
        """The words of numbers, sequence by sequence."""
        for sequence in sequences:
            words = []
            for number in sequence:
                word = self.index_word.get(number)
                if word is None or (self.num_words and number >= self.num_words):
                    word = self.oov_token
                if word is not None:
                    words.append(word)
            yield " ".join(words)

    def texts_to_matrix(self, texts: Any, mode: str = "binary") -> Any:
        """A row per text with a column per word: "binary", "count", "freq" or "tfidf"."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences: Any, mode: str = "binary") -> Any:
        """A row per sequence with a column per number: "binary", "count", "freq" or "tfidf"."""
        if not self.num_words and not self.word_index:
            raise ValueError(
                "Specify a dimension (`num_words` argument), or fit on some text data first."
            )
        columns = self.num_words or len(self.word_index) + 1
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise ValueError("Unknown vectorization mode:", mode)
        matrix = np.zeros((len(sequences), columns))
        for row, sequence in zip(matrix, sequences, strict=True):
            for number, count in Counter(n for n in sequence if n < columns).items():
                if mode == "count":
                    row[number] = count
                elif mode == "freq":
                    row[number] = count / len(sequence)
                elif mode == "binary":
                    row[number] = 1
                else:
                    documents = self.index_docs.get(number, 0)
                    inverse = np.log(1 + self.document_count / (1 + documents))
                    row[number] = (1 + np.log(count)) * inverse
        return matrix

    def get_config(self) -> dict[str, Any]:
        """The arguments, and the counts as JSON."""
        return {
            "num_words": self.num_words,
            "filters": self.filters,
            "lower": self.lower,
            "split": self.split,
            "char_level": self.char_level,
            "oov_token": self.oov_token,
            "document_count": self.document_count,
            "word_counts": json.dumps(self.word_counts),
            "word_docs": json.dumps(self.word_docs),
            "index_docs": json.dumps(self.index_docs),
            "index_word": json.dumps(self.index_word),
            "word_index": json.dumps(self.word_index),
        }

    def to_json(self, **kwargs: Any) -> str:
        """The tokenizer as JSON; `json.dumps` takes the further arguments."""
        described = {"class_name": type(self).__name__, "config": self.get_config()}
        return json.dumps(described, **kwargs)


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """The tokenizer that `to_json` described."""
    config = json.loads(json_string)["config"]
    counts = {
        key: json.loads(config.pop(key))
        for key in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
    }
    tokenizer = Tokenizer(**config)
    tokenizer.word_counts = OrderedDict(counts["word_counts"])
    tokenizer.word_docs = defaultdict(int, counts["word_docs"])
    tokenizer.index_docs = defaultdict(
        int, {int(key): value for key, value in counts["index_docs"].items()}
    )
    tokenizer.index_word = {int(key): value for key, value in counts["index_word"].items()}
    tokenizer.word_index = counts["word_index"]
    return tokenizer
