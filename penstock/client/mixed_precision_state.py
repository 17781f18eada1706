"""Whether new sessions compute in mixed precision: `tf.train.experimental` changes it."""

from __future__ import annotations

from typing import Any

from penstock import proto

mixed_precision_graph_rewrite_is_enabled = False

#: Whether a session was made that the rewrite will not change, whatever comes.
non_mixed_precision_session_created = False

#: Whether no Keras policy asks for mixed precision in another way.
using_default_mixed_precision_policy = True


def with_mixed_precision(config: Any) -> Any:
    """The ConfigProto of a new session, with the rewrite if that is on and nobody forbids it."""
    global non_mixed_precision_session_created
    states = proto.RewriterConfig
    asked = config.graph_options.rewrite_options.auto_mixed_precision
    if mixed_precision_graph_rewrite_is_enabled and asked != states.OFF:
        made = proto.ConfigProto()
        made.CopyFrom(config)
        made.graph_options.rewrite_options.auto_mixed_precision = states.ON
        return made
    if asked != states.ON:
        non_mixed_precision_session_created = True
    return config
