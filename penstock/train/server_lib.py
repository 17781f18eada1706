"""`tf.train.ClusterSpec` and `tf.train.Server`, under the name that programs import."""

from penstock.distributed.cluster_spec import ClusterSpec
from penstock.distributed.server import Server, _make_server_def
from penstock.proto import ClusterDef, ServerDef

__all__ = ["ClusterDef", "ClusterSpec", "Server", "ServerDef", "_make_server_def"]
