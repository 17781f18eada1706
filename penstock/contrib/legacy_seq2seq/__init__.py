"""`tf.contrib.legacy_seq2seq`: models whose time steps are unrolled in the graph."""

from penstock.contrib.lazy_paths import resolver
from penstock.contrib.legacy_seq2seq.attention import (
    attention_decoder,
    embedding_attention_decoder,
    embedding_attention_seq2seq,
)
from penstock.contrib.legacy_seq2seq.buckets import model_with_buckets
from penstock.contrib.legacy_seq2seq.embeddings import (
    embedding_rnn_decoder,
    embedding_rnn_seq2seq,
    embedding_tied_rnn_seq2seq,
    one2many_rnn_seq2seq,
)
from penstock.contrib.legacy_seq2seq.losses import sequence_loss, sequence_loss_by_example
from penstock.contrib.legacy_seq2seq.unrolled import (
    _extract_argmax_and_embed,
    basic_rnn_seq2seq,
    rnn_decoder,
    tied_rnn_seq2seq,
)

__getattr__ = resolver(__name__)

__all__ = [
    "_extract_argmax_and_embed",
    "attention_decoder",
    "basic_rnn_seq2seq",
    "embedding_attention_decoder",
    "embedding_attention_seq2seq",
    "embedding_rnn_decoder",
    "embedding_rnn_seq2seq",
    "embedding_tied_rnn_seq2seq",
    "model_with_buckets",
    "one2many_rnn_seq2seq",
    "rnn_decoder",
    "sequence_loss",
    "sequence_loss_by_example",
    "tied_rnn_seq2seq",
]
