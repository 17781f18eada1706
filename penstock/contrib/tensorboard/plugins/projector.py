"""TensorBoard's projector of embeddings."""

from __future__ import annotations

import os
from typing import Any

from google.protobuf import text_format

from penstock import gfile
from penstock.proto import EmbeddingInfo, ProjectorConfig, SpriteMetadata

__all__ = ["EmbeddingInfo", "ProjectorConfig", "SpriteMetadata", "visualize_embeddings"]


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes a `ProjectorConfig` where TensorBoard looks for it: the folder of a writer."""
    logdir = summary_writer.get_logdir()
    if logdir is None:
        raise ValueError("Summary writer must have a logdir")
    with gfile.GFile(os.path.join(logdir, "projector_config.pbtxt"), "w") as file:
        file.write(text_format.MessageToString(config))
