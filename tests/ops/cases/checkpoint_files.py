"""Names of the files of sharded checkpoints."""

from tests.ops.case import Case, array, string, strings

CASES: list[Case] = [
    Case("ShardedFilename", (string("/a/b"), array(1, "int32"), array(12, "int32"))),
    Case(
        "ShardedFilename",
        (strings("a", "b"), array(1, "int32"), array(2, "int32")),
        label="two",
        fails=True,
    ),
    Case("ShardedFilespec", (string("/a/b"), array(123456, "int32"))),
]
