"""`tf.random`: random numbers, seeds, and numbers that a seed tensor determines."""

from importlib import import_module
from types import ModuleType

from penstock.ops.candidate_sampling import (
    all_candidate_sampler,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from penstock.ops.random import categorical, multinomial, truncated_normal
from penstock.ops.random import random_gamma as gamma
from penstock.ops.random import random_normal as normal
from penstock.ops.random import random_poisson as poisson
from penstock.ops.random import random_shuffle as shuffle
from penstock.ops.random import random_uniform as uniform
from penstock.ops.seeds import get_seed, set_random_seed
from penstock.ops.stateless_random import (
    stateless_categorical,
    stateless_multinomial,
    stateless_normal,
    stateless_truncated_normal,
    stateless_uniform,
)

__all__ = [
    "all_candidate_sampler",
    "categorical",
    "fixed_unigram_candidate_sampler",
    "gamma",
    "get_seed",
    "learned_unigram_candidate_sampler",
    "log_uniform_candidate_sampler",
    "multinomial",
    "normal",
    "poisson",
    "set_random_seed",
    "shuffle",
    "stateless_categorical",
    "stateless_multinomial",
    "stateless_normal",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
    "uniform_candidate_sampler",
]


def __getattr__(name: str) -> ModuleType:
    if name == "experimental":  # its generators are objects of a kind that checkpoints track
        return import_module(f"{__name__}.experimental")
    raise AttributeError(name)
