"""The kernel of skip-grams: a window of random size around each word."""

import numpy as np
import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.random import generator_of
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.single_draws import Draws


@kernel("SkipGramGenerateCandidates", devices=HOST, fresh=True)
def _(node, env):
    generator = generator_of(node, env)

    def run(words, min_skips, max_skips, start, limit, emit_self):
        least, most, start = int(min_skips), int(max_skips), int(start)
        if least < 0 or most < 0:
            message = "Both min_skips and max_skips must be >= 0."
            raise InvalidArgumentError(None, None, message)
        if least > most:
            raise InvalidArgumentError(None, None, "min_skips must be <= max_skips.")
        end = len(words) if int(limit) < 0 else min(start + int(limit), len(words))
        draws = Draws(generator.reserve((max(end - start, 0) + 4) // 4))
        skips = [least + draws.below(most - least + 1) for _ in range(start, end)]
        pairs = [
            (i, j)
            for i, skip in zip(range(start, end), skips, strict=True)
            for j in range(max(i - skip, start), min(i + skip + 1, end))
            if j != i or emit_self
        ]
        tokens, labels = np.array(pairs, np.int64).reshape(-1, 2).T.copy()
        return _rows(words, tokens), _rows(words, labels)

    return run


def _rows(words, indices):
    if isinstance(words, np.ndarray):
        return words[indices]
    return words[torch.from_numpy(indices)]
