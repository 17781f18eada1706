"""Random numbers one after the other, as TensorFlow's SimplePhilox gives them."""

import numpy as np


class Draws:
    """Numbers from a stream of words."""

    _BLOCKS = 64

    def __init__(self, stream):
        self._stream = stream
        self._words = iter(())

    def _word(self):
        for word in self._words:
            return word
        self._words = iter(self._stream.words(self._BLOCKS).ravel().tolist())
        self._stream = self._stream.skipped(self._BLOCKS)
        return next(self._words)

    def _two_words(self):
        return self._word() | self._word() << 32

    def below_one(self):
        """A float32 in [0, 1) of 23 bits."""
        return np.float32((self._word() & 0x7FFFFF) / 2**23)

    def below(self, n, words=1):
        """An integer in [0, n), each as likely, out of one random word or two."""
        draw = self._word if words == 1 else self._two_words
        if n & (n - 1) == 0:
            return draw() & (n - 1)
        rejected = (2 ** (32 * words) - 1) % n + 1
        while (drawn := draw()) < rejected:
            pass
        return drawn % n
