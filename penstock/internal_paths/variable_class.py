"""`Variable` as the module inside TensorFlow has it: a resource variable, whatever the defaults."""

from __future__ import annotations

from typing import Any

from penstock.ops import variables
from penstock.ops.variables import VariableAggregation, VariableSynchronization

__all__ = ["Variable"]


class _ResourceVariableMeta(type):
    """A call makes a resource variable; every variable is an instance.

    Before release 1.13 the class was that of `tf.Variable`: with an argument that only that one has
    (`collections`), it makes what that one does.
    """

    def __call__(
        cls,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
        **of_tf_variable: Any,
    ) -> Any:
        return variables.Variable(
            initial_value,
            trainable=trainable,
            validate_shape=validate_shape,
            caching_device=caching_device,
            name=name,
            variable_def=variable_def,
            dtype=dtype,
            import_scope=import_scope,
            constraint=constraint,
            synchronization=synchronization,
            aggregation=aggregation,
            shape=shape,
            **(of_tf_variable or {"use_resource": True}),
        )

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, variables.Variable)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, variables.Variable)

    def __getattr__(cls, name: str) -> Any:
        return getattr(variables.Variable, name)


class Variable(metaclass=_ResourceVariableMeta):
    """`tf.Variable` with `use_resource=True`."""
