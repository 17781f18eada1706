"""Candidate samplers: a few classes drawn at random, for losses over very many classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.ir.registry import STATEFUL, attr, not_differentiable, op
from penstock.ops.seeds import get_seed
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

__all__ = [
    "all_candidate_sampler",
    "compute_accidental_hits",
    "fixed_unigram_candidate_sampler",
    "learned_unigram_candidate_sampler",
    "log_uniform_candidate_sampler",
    "uniform_candidate_sampler",
]

_RESULTS = (
    "(true_classes: int64) -> sampled_candidates: int64, true_expected_count: float32, "
    "sampled_expected_count: float32"
)
_DRAWS: dict[str, Any] = {
    "num_true": attr("int", minimum=1),
    "num_sampled": attr("int", minimum=1),
    "unique": attr("bool"),
}
_SEEDS: dict[str, Any] = {"seed": 0, "seed2": 0}
_RANGE: dict[str, Any] = {"range_max": attr("int", minimum=1)}

LogUniformCandidateSampler = op(
    f"LogUniformCandidateSampler{_RESULTS}", STATEFUL, **_DRAWS, **_RANGE, **_SEEDS
)
UniformCandidateSampler = op(
    f"UniformCandidateSampler{_RESULTS}", STATEFUL, **_DRAWS, **_RANGE, **_SEEDS
)
LearnedUnigramCandidateSampler = op(
    f"LearnedUnigramCandidateSampler{_RESULTS}", STATEFUL, **_DRAWS, **_RANGE, **_SEEDS
)
ThreadUnsafeUnigramCandidateSampler = op(
    f"ThreadUnsafeUnigramCandidateSampler{_RESULTS}", STATEFUL, **_DRAWS, **_RANGE, **_SEEDS
)
FixedUnigramCandidateSampler = op(
    f"FixedUnigramCandidateSampler{_RESULTS}",
    STATEFUL,
    **_DRAWS,
    **_RANGE,
    vocab_file="",
    distortion=1.0,
    num_reserved_ids=0,
    num_shards=attr("int", 1, minimum=1),
    shard=attr("int", 0, minimum=0),
    unigrams=attr("list(float)", []),
    **_SEEDS,
)
AllCandidateSampler = op(f"AllCandidateSampler{_RESULTS}", STATEFUL, **_DRAWS, **_SEEDS)
ComputeAccidentalHits = op(
    "ComputeAccidentalHits(true_classes: int64, sampled_candidates: int64) -> indices: int32, "
    "ids: int64, weights: float32",
    num_true=attr("int"),
    **_SEEDS,
)
not_differentiable(
    LogUniformCandidateSampler,
    UniformCandidateSampler,
    LearnedUnigramCandidateSampler,
    ThreadUnsafeUnigramCandidateSampler,
    FixedUnigramCandidateSampler,
    AllCandidateSampler,
    ComputeAccidentalHits,
)


@LogUniformCandidateSampler.shape
@UniformCandidateSampler.shape
@LearnedUnigramCandidateSampler.shape
@ThreadUnsafeUnigramCandidateSampler.shape
@FixedUnigramCandidateSampler.shape
@AllCandidateSampler.shape
def _(op: Any, true_classes: Shape) -> Any:
    rows, _ = with_rank(true_classes, 2)
    sampled = (op.attrs["num_sampled"],)
    return [sampled, (rows, op.attrs["num_true"]), sampled]


@ComputeAccidentalHits.shape
def _(op: Any, true_classes: Shape, sampled_candidates: Shape) -> Any:
    _, columns = with_rank(true_classes, 2)
    if columns not in (None, op.attrs["num_true"]):
        raise ValueError(f"Dimension must be {op.attrs['num_true']} but is {columns}")
    with_rank(sampled_candidates, 1)
    return [(None,)] * 3


def _seeds(seed: int | None) -> dict[str, Any]:
    """The two seed attrs of an op, from the graph's seed and the op's."""
    graph_seed, op_seed = get_seed(seed)
    return {"seed": graph_seed, "seed2": op_seed}


def uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Draws classes from 0 to range_max - 1, all with the same probability.

    Args:
      true_classes: [batch, num_true], int64.
      unique: Whether a class is drawn once at most.

    Returns:
      The drawn classes, and how often each true and each drawn class was to be expected.
    """
    return UniformCandidateSampler(
        true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        name=name,
        **_seeds(seed),
    )


def log_uniform_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Draws classes by Zipf's law: class k with probability about 1 / (k + 1).

    It suits classes sorted by falling frequency. Arguments and results are those of
    `uniform_candidate_sampler`.
    """
    return LogUniformCandidateSampler(
        true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        name=name,
        **_seeds(seed),
    )


def learned_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Draws classes in proportion to how often they were true classes before, plus one.

    Arguments and results are those of `uniform_candidate_sampler`.
    """
    return LearnedUnigramCandidateSampler(
        true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        name=name,
        **_seeds(seed),
    )


def fixed_unigram_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    range_max: int,
    vocab_file: str = "",
    distortion: float = 1.0,
    num_reserved_ids: int = 0,
    num_shards: int = 1,
    shard: int = 0,
    unigrams: Sequence[float] = (),
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Draws classes in proportion to given counts.

    Args:
      vocab_file: A file of lines that end in `,count`, one per class.
      distortion: Counts are raised to this power.
      num_reserved_ids: Classes before the first counted one, which are never drawn.
      num_shards, shard: Only every num_shards-th count is used, from number `shard` on.
      unigrams: The counts, in place of a file.
    """
    return FixedUnigramCandidateSampler(
        true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        range_max=range_max,
        vocab_file=vocab_file,
        distortion=distortion,
        num_reserved_ids=num_reserved_ids,
        num_shards=num_shards,
        shard=shard,
        unigrams=list(unigrams),
        name=name,
        **_seeds(seed),
    )


def all_candidate_sampler(
    true_classes: Any,
    num_true: int,
    num_sampled: int,
    unique: bool,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Takes all classes from 0 to num_sampled - 1, to compare a sampled loss with the full one."""
    return AllCandidateSampler(
        true_classes,
        num_true=num_true,
        num_sampled=num_sampled,
        unique=unique,
        name=name,
        **_seeds(seed),
    )


def compute_accidental_hits(
    true_classes: Any,
    sampled_candidates: Any,
    num_true: int,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Where drawn classes are true ones: rows, positions among the drawn, and weights.

    The weights are the lowest number, which takes a hit out of a softmax when added to its logit.
    """
    return ComputeAccidentalHits(
        true_classes, sampled_candidates, num_true=num_true, name=name, **_seeds(seed)
    )
