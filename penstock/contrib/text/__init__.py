"""`tf.contrib.text`: words paired with those around them."""

from penstock.contrib.text.skip_grams import skip_gram_sample, skip_gram_sample_with_text_vocab

__all__ = ["skip_gram_sample", "skip_gram_sample_with_text_vocab"]
