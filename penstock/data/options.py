"""`tf.data.Options`: settings of pipelines. What only tunes TensorFlow's runtime is accepted."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

__all__ = [
    "AutotuneAlgorithm",
    "DistributeOptions",
    "MapVectorizationOptions",
    "OptimizationOptions",
    "Options",
    "StatsOptions",
    "ThreadingOptions",
    "merge_options",
]


class OptionsBase:
    """Named settings with types; others can't be set."""

    def __init__(self) -> None:
        object.__setattr__(self, "_options", {})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        names = set(self._options) | set(other._options)
        return all(getattr(self, name) == getattr(other, name) for name in names)

    __hash__ = None  # type: ignore[assignment]

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(self, name):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    _options: dict[str, Any]


def create_option(
    name: str, ty: Any, docstring: str = "", default_factory: Callable[[], Any] = lambda: None
) -> Any:
    """A setting of an options class: its name, its type, how its default is made."""

    def get(options: OptionsBase) -> Any:
        if name not in options._options:
            options._options[name] = default_factory()
        return options._options[name]

    def set_value(options: OptionsBase, value: Any) -> None:
        if not isinstance(value, ty):
            raise TypeError(
                f'Property "{name}" must be of type {ty}, got: {value!r} (type: {type(value)!r})'
            )
        options._options[name] = value

    return property(get, set_value, None, docstring)


def merge_options(*options_list: Any) -> Any:
    """One object with the settings of several, which must not contradict each other."""
    if not options_list:
        raise ValueError("At least one options should be provided")
    kind = type(options_list[0])
    for options in options_list:
        if not isinstance(options, kind):
            raise TypeError(f"Incompatible options type: {type(options)!r} vs {kind!r}")
    if not issubclass(kind, OptionsBase):
        raise TypeError("The inputs should inherit from `OptionsBase`")
    default, result = kind(), kind()
    for options in options_list:
        for name in options._options:
            this, that = getattr(result, name), getattr(options, name)
            if that == getattr(default, name):
                continue
            if this == getattr(default, name):
                setattr(result, name, that)
            elif isinstance(this, OptionsBase):
                setattr(result, name, merge_options(this, that))
            elif this != that:
                raise ValueError(
                    f"Cannot merge incompatible values ({this!r} and {that!r}) of option: {name}"
                )
    return result


class MapVectorizationOptions(OptionsBase):
    """Whether maps are vectorized."""

    enabled = create_option("enabled", bool)
    use_choose_fastest = create_option("use_choose_fastest", bool)

    def _static_optimizations(self) -> list[str]:
        return ["map_vectorization"] if self.enabled else []

    def _static_optimization_configs(self) -> list[str]:
        return [
            f"map_vectorization:use_choose_fastest:{str(bool(self.use_choose_fastest)).lower()}"
        ]


class AutotuneAlgorithm(Enum):
    """How TensorFlow finds the sizes of buffers and the numbers of threads."""

    HILL_CLIMB = 0
    GRADIENT_DESCENT = 1


_REWRITINGS = (
    "filter_fusion",
    "filter_with_random_uniform_fusion",
    "hoist_random_uniform",
    "map_and_batch_fusion",
    "map_and_filter_fusion",
    "map_fusion",
    "map_parallelization",
    "noop_elimination",
    "parallel_batch",
    "shuffle_and_repeat_fusion",
)
_DEFAULT_REWRITINGS = ("map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion")


class OptimizationOptions(OptionsBase):
    """Which rewritings of a pipeline TensorFlow does."""

    apply_default_optimizations = create_option("apply_default_optimizations", bool)
    autotune = create_option("autotune", bool)
    autotune_algorithm = create_option("autotune_algorithm", int)
    autotune_buffers = create_option("autotune_buffers", bool)
    autotune_cpu_budget = create_option("autotune_cpu_budget", int)
    filter_fusion = create_option("filter_fusion", bool)
    filter_with_random_uniform_fusion = create_option("filter_with_random_uniform_fusion", bool)
    hoist_random_uniform = create_option("hoist_random_uniform", bool)
    map_and_batch_fusion = create_option("map_and_batch_fusion", bool)
    map_and_filter_fusion = create_option("map_and_filter_fusion", bool)
    map_fusion = create_option("map_fusion", bool)
    map_parallelization = create_option("map_parallelization", bool)
    map_vectorization = create_option(
        "map_vectorization", MapVectorizationOptions, default_factory=MapVectorizationOptions
    )
    noop_elimination = create_option("noop_elimination", bool)
    parallel_batch = create_option("parallel_batch", bool)
    shuffle_and_repeat_fusion = create_option("shuffle_and_repeat_fusion", bool)

    def _static_optimizations(self) -> list[str]:
        """The names of the rewritings that are on."""
        names = {name for name in _REWRITINGS if getattr(self, name)}
        if self.apply_default_optimizations is not False:
            names |= {name for name in _DEFAULT_REWRITINGS if getattr(self, name) is not False}
        names.update(self.map_vectorization._static_optimizations())
        if self.autotune is not False and self.autotune_buffers:
            names.add("inject_prefetch")
        return sorted(names)

    def _static_optimization_configs(self) -> list[str]:
        configs: list[str] = self.map_vectorization._static_optimization_configs()
        return configs


class ThreadingOptions(OptionsBase):
    """How many threads a pipeline has."""

    max_intra_op_parallelism = create_option("max_intra_op_parallelism", int)
    private_threadpool_size = create_option("private_threadpool_size", int)


class DistributeOptions(OptionsBase):
    """How a pipeline is split among workers."""

    auto_shard = create_option("auto_shard", bool, default_factory=lambda: True)
    auto_shard_policy = create_option("auto_shard_policy", object)
    _make_stateless = create_option("_make_stateless", bool)
    num_devices = create_option("num_devices", int)


class StatsOptions(OptionsBase):
    """Where statistics of a pipeline go."""

    aggregator = create_option("aggregator", object)
    prefix = create_option("prefix", str, default_factory=lambda: "")
    counter_prefix = create_option("counter_prefix", str, default_factory=lambda: "")
    latency_all_edges = create_option("latency_all_edges", bool)


class Options(OptionsBase):
    """Settings of a whole pipeline, given by `Dataset.with_options`."""

    experimental_deterministic = create_option("experimental_deterministic", bool)
    experimental_distribute = create_option(
        "experimental_distribute", DistributeOptions, default_factory=DistributeOptions
    )
    experimental_optimization = create_option(
        "experimental_optimization", OptimizationOptions, default_factory=OptimizationOptions
    )
    experimental_slack = create_option("experimental_slack", bool)
    experimental_stats = create_option(
        "experimental_stats", StatsOptions, default_factory=StatsOptions
    )
    experimental_threading = create_option(
        "experimental_threading", ThreadingOptions, default_factory=ThreadingOptions
    )
    experimental_stateful_whitelist = create_option("experimental_stateful_whitelist", list)
    # Options that early versions had at the top.
    experimental_autotune = create_option("experimental_autotune", bool)
    experimental_map_and_batch_fusion = create_option("experimental_map_and_batch_fusion", bool)
    experimental_numa_aware = create_option("experimental_numa_aware", bool)

    def merge(self, options: Any) -> Options:
        """These options with those of another object."""
        merged: Options = merge_options(self, options)
        return merged

    def _static_optimizations(self) -> list[str]:
        """The names of the rewritings of the pipeline that TensorFlow does with these options."""
        names: list[str] = self.experimental_optimization._static_optimizations()
        if self.experimental_deterministic is False:
            names.append("make_sloppy")
        if self.experimental_stats.latency_all_edges:
            names.append("latency_all_edges")
        if self.experimental_slack:
            names.append("slack")
        if self.experimental_distribute._make_stateless:
            names.append("make_stateless")
        return names

    def _static_optimization_configs(self) -> list[str]:
        configs: list[str] = self.experimental_optimization._static_optimization_configs()
        if self.experimental_slack:
            configs.append(f"slack:slack_period:{self.experimental_distribute.num_devices or 1}")
        return configs
