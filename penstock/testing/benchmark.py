"""`tf.test.Benchmark`: methods that measure, and the report of what they measured."""

from __future__ import annotations

import importlib
import inspect
import numbers
import os
import re
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock import errors, proto
from penstock.ir.defaults import get_default_session
from penstock.platform import app, gfile, logging

GLOBAL_BENCHMARK_REGISTRY: set[type[Benchmark]] = set()

#: The environment variable with the start of the names of report files; without it, reports are
#: printed.
TEST_REPORTER_TEST_ENV = "TEST_REPORT_FILE_PREFIX"


class Benchmark:
    """A class whose methods named `benchmark…` measure something.

    Every subclass is found by `--benchmarks=REGEX` on the command line of `tf.test.main`.
    """

    #: Whether this class itself is one that others build on.
    _abstract = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.is_abstract():
            GLOBAL_BENCHMARK_REGISTRY.add(cls)

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether this class has nothing to run."""
        return bool(vars(cls).get("_abstract", False))

    def _get_name(self, overwrite_name: str | None = None) -> str:
        """The benchmark that is running: class and method."""
        for frame in reversed(inspect.stack(context=0)):
            caller = frame.frame.f_locals.get("self")
            if isinstance(caller, Benchmark):
                return f"{type(caller).__name__}.{overwrite_name or frame.function}"
        raise ValueError("Unable to determine calling Benchmark class.")

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: Mapping[str, Any] | None = None,
        name: str | None = None,
        metrics: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Prints a measurement, or writes it to the file that the environment asks for.

        Args:
          iters: How often the measured code ran.
          cpu_time, wall_time: Seconds.
          throughput: MB/s.
          extras: Other numbers and texts.
          name: Instead of the method's name.
          metrics: Dicts with name, value and perhaps min_value and max_value.
        """
        measured = {
            "iters": iters,
            "wall_time": wall_time,
            "cpu_time": cpu_time,
            "throughput": throughput,
        }
        _report(self._get_name(name), measured, extras, metrics)


def _report(name: str, measured: dict[str, Any], extras: Any, metrics: Any) -> None:
    logging.info(
        "Benchmark [%s] iters: %d, wall_time: %g, cpu_time: %g,throughput: %g, extras: %s, "
        "metrics: %s",
        name,
        *(-1 if value is None else value for value in measured.values()),
        extras or None,
        metrics or None,
    )
    entries = proto.BenchmarkEntries()
    entry = entries.entry.add(name=name)
    for field, value in measured.items():
        if value is not None:
            setattr(entry, field, value)
    _fill_extras(entry, extras)
    _fill_metrics(entry, metrics)
    prefix = os.environ.get(TEST_REPORTER_TEST_ENV)
    if prefix is None:
        sys.stdout.write(f"{entries}\n")
        return
    path = prefix + name.replace("/", "__")
    if gfile.Exists(path):
        raise OSError(f"File already exists: {path}")
    with gfile.GFile(path, "wb") as file:
        file.write(entries.SerializeToString())


def _fill_extras(entry: Any, extras: Any) -> None:
    if extras is None:
        return
    if not isinstance(extras, dict):
        raise TypeError("extras must be a dict")
    for key, value in extras.items():
        if isinstance(value, numbers.Real):
            entry.extras[key].double_value = float(value)
        else:
            entry.extras[key].string_value = str(value)


def _fill_metrics(entry: Any, metrics: Any) -> None:
    if metrics is None:
        return
    if not isinstance(metrics, list):
        raise TypeError("metrics must be a list")
    for metric in metrics:
        for key in ("name", "value"):
            if key not in metric:
                raise TypeError(f"metric must has a '{key}' field")
        made = entry.metrics.add(name=metric["name"], value=metric["value"])
        for key in ("min_value", "max_value"):
            if key in metric:
                getattr(made, key).value = metric[key]


class TensorFlowBenchmark(Benchmark):
    """A benchmark that runs nodes of a graph."""

    _abstract = True

    def run_op_benchmark(
        self,
        sess: Any,
        op_or_tensor: Any,
        feed_dict: dict[Any, Any] | None = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Runs a node many times in a session and reports how long a run takes.

        Args:
          sess: The session.
          op_or_tensor: What to run.
          feed_dict: Values for its runs.
          burn_iters: Runs before measuring.
          min_iters: Runs that are measured.
          store_trace: Whether to return the trace of one more run.
          store_memory_usage: Whether to report the most memory that one more run takes.
          name: Instead of the method's name.
          extras: Other numbers and texts to report.
          mbs: Megabytes that a run moves, for the throughput.
        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict=feed_dict)
        times = []
        for _ in range(min_iters):
            start = time.perf_counter()
            sess.run(op_or_tensor, feed_dict=feed_dict)
            times.append(time.perf_counter() - start)
        reported = dict(extras or {})
        unreported = {}
        if store_trace or store_memory_usage:
            stats = _step_stats(sess, op_or_tensor, feed_dict)
            if store_trace:
                unreported["full_trace_chrome_format"] = _chrome_trace(stats)
            if store_memory_usage:
                reported.update(_allocator_maximums(stats))
        median = statistics.median(times) if times else -1
        values: dict[str, Any] = {
            "iters": min_iters,
            "wall_time": median,
            "extras": reported,
            "name": name,
            "throughput": mbs / median,
        }
        self.report_benchmark(**values)
        values["extras"] = {**reported, **unreported}
        return values

    def evaluate(self, tensors: Any) -> Any:
        """The values of a nest of tensors in the default session."""
        session = get_default_session()
        if session is None:
            raise ValueError("evaluate needs a default session: use `with tf.Session():`")
        return session.run(tensors)


def _step_stats(sess: Any, op_or_tensor: Any, feed_dict: Any) -> Any:
    options = proto.RunOptions(trace_level=proto.RunOptions.FULL_TRACE)
    metadata = proto.RunMetadata()
    sess.run(op_or_tensor, feed_dict=feed_dict, options=options, run_metadata=metadata)
    return metadata.step_stats


def _allocator_maximums(stats: Any) -> dict[str, int]:
    """The peak of each allocator that a step's statistics tell of."""
    peaks: dict[str, int] = {}
    for device in stats.dev_stats:
        for node in device.node_stats:
            for memory in node.memory:
                key = f"allocator_maximum_num_bytes_{memory.allocator_name}"
                peaks[key] = max(peaks.get(key, 0), memory.peak_bytes)
    return peaks


def _chrome_trace(stats: Any) -> str:
    try:
        timeline = importlib.import_module("penstock.tracing.timeline")
    except ModuleNotFoundError:
        raise errors.UnimplementedError(
            None, None, "store_trace=True: steps are not traced yet"
        ) from None
    return str(timeline.Timeline(stats).generate_chrome_trace_format())


def benchmark_config() -> Any:
    """A session's config that keeps nodes which only control edges ask for."""
    config = proto.ConfigProto()
    rewrites = config.graph_options.rewrite_options
    rewrites.dependency_optimization = proto.RewriterConfig.OFF
    return config


def _run_benchmarks(regex: str) -> None:
    """Runs the benchmarks whose module, class and method match."""
    for cls in sorted(GLOBAL_BENCHMARK_REGISTRY, key=lambda cls: (cls.__module__, cls.__name__)):
        methods = [name for name in dir(cls) if name.startswith("benchmark")]
        chosen = [
            name
            for name in methods
            if callable(getattr(cls, name))
            and (regex == "all" or re.search(regex, f"{cls.__module__}.{cls.__name__}.{name}"))
        ]
        instance = cls() if chosen else None
        for name in chosen:
            getattr(instance, name)()


def benchmarks_main(true_main: Callable[[], Any], argv: list[str] | None = None) -> None:
    """Runs the benchmarks that `--benchmarks=REGEX` in `argv` names, else `true_main`."""
    if argv is None:
        argv = sys.argv
    argument = next((each for each in argv if re.match("--?benchmarks=", each)), None)
    if argument is None:
        true_main()
        return
    argv.remove(argument)
    app.run(lambda _: _run_benchmarks(argument.split("=", 1)[1]), argv=argv)
