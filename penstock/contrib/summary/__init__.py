"""`tf.contrib.summary`: summaries that are written by the operations of a graph.

writer = tf.contrib.summary.create_file_writer(logdir)
with writer.as_default(), tf.contrib.summary.always_record_summaries():
    tf.contrib.summary.scalar("loss", loss)
    tf.contrib.summary.initialize(session=session)
...
session.run([train_op, tf.contrib.summary.all_summary_ops()])
"""

from penstock.contrib import lazy_paths
from penstock.summary.op_summaries import (
    all_v2_summary_ops,
    always_record_summaries,
    audio,
    generic,
    get_step,
    graph,
    histogram,
    image,
    import_event,
    never_record_summaries,
    record_if,
    record_summaries_every_n_global_steps,
    scalar,
    set_step,
    should_record_summaries,
    summary_scope,
    write,
    write_raw_pb,
)
from penstock.summary.op_writers import (
    NoopSummaryWriter,
    ResourceSummaryWriter,
    SummaryWriter,
    create_file_writer,
    create_file_writer_v2,
    create_noop_writer,
    create_summary_file_writer,
    eval_dir,
    flush,
    initialize,
    summary_writer_initializer_op,
)

all_summary_ops = all_v2_summary_ops

__all__ = [
    "NoopSummaryWriter",
    "ResourceSummaryWriter",
    "SummaryWriter",
    "all_summary_ops",
    "all_v2_summary_ops",
    "always_record_summaries",
    "audio",
    "create_file_writer",
    "create_file_writer_v2",
    "create_noop_writer",
    "create_summary_file_writer",
    "eval_dir",
    "flush",
    "generic",
    "get_step",
    "graph",
    "histogram",
    "image",
    "import_event",
    "initialize",
    "never_record_summaries",
    "record_if",
    "record_summaries_every_n_global_steps",
    "scalar",
    "set_step",
    "should_record_summaries",
    "summary_scope",
    "summary_writer_initializer_op",
    "write",
    "write_raw_pb",
]

__getattr__ = lazy_paths.resolver(__name__)
