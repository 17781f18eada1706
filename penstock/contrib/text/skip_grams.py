"""Words paired with those around them."""

from __future__ import annotations

import csv
from typing import Any

import penstock as tf
from penstock import gfile
from penstock.lookup import TextFileInitializer
from penstock.lookup.tables import HashTable, InitializableLookupTableBase
from penstock.ops.seeds import get_seed
from penstock.ops.skip_grams import SkipGramGenerateCandidates

__all__ = ["skip_gram_sample", "skip_gram_sample_with_text_vocab"]


def skip_gram_sample(
    input_tensor: Any,
    min_skips: Any = 1,
    max_skips: Any = 5,
    start: Any = 0,
    limit: Any = -1,
    emit_self_as_target: Any = False,
    vocab_freq_table: Any = None,
    vocab_min_count: Any = None,
    vocab_subsampling: float | None = None,
    corpus_size: Any = None,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Pairs (tokens, labels) of each word with those in a window of random size around it.

    Args:
      input_tensor: The words, a vector of strings or numbers.
      min_skips: The least number of words to either side.
      max_skips: The greatest.
      start: The first word that counts.
      limit: How many do; -1 for all the rest.
      emit_self_as_target: Whether a word is paired with itself, too.
      vocab_freq_table: How often words occur; words that it lacks are left out.
      vocab_min_count: Words that occur less often are left out.
      vocab_subsampling: Words that are a greater part of the corpus are left out at random.
      corpus_size: The number of all words, in the unit of the table.
      batch_size: The number of pairs in a batch; by default all that the words give.
      batch_capacity: How many pairs wait for a batch; 100 batches by default.
      seed: Of the random choices.
    """
    settings = (vocab_min_count, vocab_subsampling, corpus_size)
    if vocab_freq_table is None and any(each is not None for each in settings):
        raise ValueError(
            f"vocab_freq_table is not provided, but vocab_min_count={vocab_min_count}, "
            f"vocab_subsampling={vocab_subsampling}, or corpus_size={corpus_size} is not None. "
            "These settings are useless without a vocab_freq_table."
        )
    if (vocab_subsampling is None) != (corpus_size is None):
        raise ValueError(
            f"vocab_subsampling is {vocab_subsampling} while corpus_size is {corpus_size} - both "
            "must be provided in order for subsampling to work."
        )
    values = [input_tensor, min_skips, max_skips, start, limit]
    with tf.name_scope(name, "skip_gram_sample", values=values):
        words = input_tensor
        if vocab_freq_table is not None:
            words, counts = _known(words, vocab_freq_table, vocab_min_count)
            if vocab_subsampling:
                words = _subsampled(words, counts, vocab_subsampling, corpus_size, seed)
        seed1, seed2 = get_seed(seed)
        tokens, labels = SkipGramGenerateCandidates(
            words,
            min_skips,
            max_skips,
            start,
            limit,
            emit_self_as_target,
            seed=seed1 or 0,
            seed2=seed2 or 0,
        )
        if not batch_size or batch_size < 0:
            return tokens, labels
        room = batch_capacity if batch_capacity and batch_capacity > 0 else 100 * batch_size
        return tf.train.batch([tokens, labels], batch_size, capacity=room, enqueue_many=True)


def _known(words: Any, table: Any, min_count: Any) -> tuple[Any, Any]:
    """The words that the table has, often enough, and how often."""
    if not isinstance(table, InitializableLookupTableBase):
        raise ValueError(
            "vocab_freq_table must be a subclass of InitializableLookupTableBase (such as "
            f"HashTable) instead of type {type(table)}."
        )
    with tf.name_scope("filter_vocab", values=[words, min_count]):
        counts = table.lookup(words)
        kept = tf.not_equal(counts, table.default_value)
        if min_count is not None:
            kept = tf.logical_and(kept, counts >= tf.cast(min_count, counts.dtype))
        return tf.boolean_mask(words, kept), tf.boolean_mask(counts, kept)


def _subsampled(words: Any, counts: Any, threshold: float, corpus_size: Any, seed: Any) -> Any:
    """The words, of which frequent ones are left out at random (Mikolov et al., 2013, eq. 5)."""
    if not 0 <= threshold <= 1:
        raise ValueError(
            f"Invalid vocab_subsampling={threshold} - it should be within range [0, 1]."
        )
    with tf.name_scope("subsample_vocab", values=[words, counts, threshold]):
        rare = tf.cast(threshold, tf.float64) * tf.cast(corpus_size, tf.float64)
        counts = tf.cast(counts, tf.float64)
        keep = (tf.sqrt(counts / rare) + 1.0) * (rare / counts)
        drawn = tf.random_uniform(tf.shape(counts), dtype=tf.float64, seed=seed)
        return tf.boolean_mask(words, drawn <= keep)


def skip_gram_sample_with_text_vocab(
    input_tensor: Any,
    vocab_freq_file: str,
    vocab_token_index: int = 0,
    vocab_token_dtype: Any = tf.string,
    vocab_freq_index: int = 1,
    vocab_freq_dtype: Any = tf.float64,
    vocab_delimiter: str = ",",
    vocab_min_count: Any = 0,
    vocab_subsampling: float | None = None,
    corpus_size: Any = None,
    min_skips: Any = 1,
    max_skips: Any = 5,
    start: Any = 0,
    limit: Any = -1,
    emit_self_as_target: Any = False,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """`skip_gram_sample` with a file of words and how often they occur, a line for each.

    Args:
      vocab_token_index: The column of the words.
      vocab_freq_index: The column of the counts.
      corpus_size: The number of all words; the sum of the counts if None.
    """
    if vocab_token_index < 0 or vocab_freq_index < 0:
        raise ValueError(
            f"vocab_token_index={vocab_token_index} and vocab_freq_index={vocab_freq_index} must "
            "both be >= 0."
        )
    if vocab_token_index == vocab_freq_index:
        raise ValueError(
            "vocab_token_index and vocab_freq_index should be different, but are both "
            f"{vocab_token_index}."
        )
    columns = vocab_token_index, vocab_freq_index
    counts = _counts(vocab_freq_file, vocab_delimiter, columns, vocab_freq_dtype)
    total = sum(counts)
    if corpus_size and total - corpus_size > 1e-6:
        raise ValueError(
            f"`corpus_size`={corpus_size} must be greater than or equal to the sum of all the "
            f"frequency counts ({total}) of `vocab_freq_file` ({vocab_freq_file})."
        )
    initializer = TextFileInitializer(
        vocab_freq_file,
        vocab_token_dtype,
        vocab_token_index,
        vocab_freq_dtype,
        vocab_freq_index,
        vocab_size=len(counts),
        delimiter=vocab_delimiter,
    )
    return skip_gram_sample(
        input_tensor,
        min_skips=min_skips,
        max_skips=max_skips,
        start=start,
        limit=limit,
        emit_self_as_target=emit_self_as_target,
        vocab_freq_table=HashTable(initializer, default_value=-1),
        vocab_min_count=vocab_min_count,
        vocab_subsampling=vocab_subsampling,
        corpus_size=None if vocab_subsampling is None else corpus_size or total,
        batch_size=batch_size,
        batch_capacity=batch_capacity,
        seed=seed,
        name=name,
    )


def _counts(path: str, delimiter: str, columns: tuple[int, int], dtype: Any) -> list[Any]:
    counts = []
    with gfile.GFile(path, mode="r") as file:
        for row in csv.reader(file, delimiter=delimiter):
            if max(columns) >= len(row):
                raise ValueError(
                    f"Row in vocab file only has {len(row)} columns, so "
                    f"vocab_token_index={columns[0]} or vocab_freq_index={columns[1]} is out of "
                    f"bounds. Row content: {row}"
                )
            count = dtype.as_numpy_dtype(row[columns[1]])
            if count < 0:
                raise ValueError(
                    f"Row in vocab file has negative frequency of {count}. Row content: {row}"
                )
            counts.append(count)
    return counts
