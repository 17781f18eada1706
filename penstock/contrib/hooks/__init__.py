"""`tf.contrib.hooks`: the profiler's hook."""

from penstock.train import ProfilerHook

__all__ = ["ProfilerHook"]
