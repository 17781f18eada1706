"""Variables of a worker's own, with centers that all workers share."""

from __future__ import annotations

from typing import Any

import penstock as tf

GLOBAL_VARIABLE_NAME = "global_center_variable"


class CenterGetter:
    """A custom getter: trained variables are local, with companions under other names.

    Args:
      worker_device: The device of local variables.
    """

    #: The name that the local companion of a variable begins with.
    local_companion: str

    def __init__(self, worker_device: str):
        self._worker_device = worker_device
        self._global_map: dict[Any, Any] = {}
        self._companions: dict[Any, Any] = {}

    def __call__(
        self, getter: Any, name: str, trainable: bool, collections: Any, *args: Any, **kwargs: Any
    ) -> Any:
        local = [tf.GraphKeys.LOCAL_VARIABLES]
        if not trainable:
            return self._untrained(getter, name, collections, *args, **kwargs)
        with tf.device(self._worker_device):
            variable = getter(name, *args, trainable=True, collections=local, **kwargs)
        if kwargs["reuse"] is True:
            return variable
        center = getter(
            f"{GLOBAL_VARIABLE_NAME}/{name}",
            *args,
            trainable=False,
            collections=[tf.GraphKeys.GLOBAL_VARIABLES],
            **kwargs,
        )
        with tf.device(self._worker_device):
            companion = getter(
                f"{self.local_companion}/{name}",
                *args,
                trainable=False,
                collections=local,
                **kwargs,
            )
        whole = kwargs["partitioner"] is None
        parts = ([each] if whole else list(each) for each in (variable, center, companion))
        for own, shared, beside in zip(*parts, strict=True):
            self._global_map[own], self._companions[own] = shared, beside
        return variable

    def _untrained(
        self, getter: Any, name: str, collections: Any, *args: Any, **kwargs: Any
    ) -> Any:
        on_worker = tf.GraphKeys.LOCAL_VARIABLES in (collections or ())
        with tf.device(self._worker_device if on_worker else None):
            return getter(name, *args, trainable=False, collections=collections, **kwargs)


class InitialCentersHook(tf.train.SessionRunHook):
    """Gives a worker's variables the values of the centers when its session is made."""

    def __init__(self, optimizer: Any, is_chief: bool, task_index: int):
        self._optimizer = optimizer
        self._is_chief = is_chief
        self._task_index = task_index

    def begin(self) -> None:
        self._local_init_op = tf.local_variables_initializer()
        self._global_init_op = tf.global_variables_initializer() if self._is_chief else None
        self._variable_init_op = self._optimizer.get_init_op(self._task_index)

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._variable_init_op)


def local_step() -> Any:
    """The counter of a worker's own steps."""
    return tf.get_variable(
        initializer=0,
        trainable=False,
        collections=[tf.GraphKeys.LOCAL_VARIABLES],
        name="local_step",
    )
