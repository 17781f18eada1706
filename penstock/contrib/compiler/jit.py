"""`tf.contrib.compiler.jit`: the scope whose nodes are compiled together."""

from penstock.xla.experimental import jit_scope as experimental_jit_scope

__all__ = ["experimental_jit_scope"]
