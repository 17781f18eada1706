"""`tf.distribute.experimental`: strategies of several workers, and of variables in one place."""

from penstock.distribute.collective_reduce import CollectiveCommunication
from penstock.distribute.multi_worker import MultiWorkerMirroredStrategy
from penstock.distribute.parameter_server import CentralStorageStrategy, ParameterServerStrategy

__all__ = [
    "CentralStorageStrategy",
    "CollectiveCommunication",
    "MultiWorkerMirroredStrategy",
    "ParameterServerStrategy",
]
