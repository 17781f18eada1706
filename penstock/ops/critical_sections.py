"""Critical sections: parts of a graph of which one runs at a time, across all steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from penstock.ir.convert import to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.nest import flatten, map_structure, pack_as
from penstock.ir.operation import Operation
from penstock.ir.registry import LOCKS, STATEFUL, WAITS, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ops.control import group
from penstock.ops.control import tuple as tuple_
from penstock.ops.identity import identity
from penstock.ops.tensor_array import TensorArray
from penstock.shapes import Shape

__all__ = ["CriticalSection"]

MutexV2 = op("MutexV2() -> resource: resource", STATEFUL, container="", shared_name="")
MutexLock = op("MutexLock(mutex: resource) -> mutex_lock: variant", STATEFUL, WAITS, LOCKS)
ConsumeMutexLock = op("ConsumeMutexLock(mutex_lock: variant)", STATEFUL)
not_differentiable(MutexV2, MutexLock, ConsumeMutexLock)

CRITICAL_SECTIONS = "critical_sections"
CRITICAL_SECTION_EXECUTIONS = "critical_section_executions"


@MutexV2.shape
@MutexLock.shape
def _(op: Operation, *mutex: Shape) -> Shape:
    return ()


@ConsumeMutexLock.shape
def _(op: Operation, lock: Shape) -> list[Shape]:
    return []


class _Execution(NamedTuple):
    """What a graph's collection remembers of a call of `execute`."""

    op: Operation
    handle: Tensor
    resources: list[Tensor]
    exclusive_resource_access: bool


class CriticalSection:
    """Functions that run one at a time, however many steps run them.

    >>> section = tf.CriticalSection()
    >>> count = section.execute(lambda: counter.assign_add(1))

    Args:
      name: of the mutex.
      shared_name: sections with the same shared name exclude each other, in all sessions of a
        server.
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Any = None,
        import_scope: str | None = None,
    ):
        if critical_section_def is not None:
            raise NotImplementedError("a CriticalSection can't be made of a message")
        self._is_inside = False  # in eager mode, of this thread's calls
        graph = get_default_graph()
        with name_scope(name, "CriticalSection", []) as scope:
            self._handle: Tensor = MutexV2(
                shared_name=scope if shared_name is None else shared_name,
                container=graph._container or "",
                name=scope,
            )
        graph.add_to_collections(CRITICAL_SECTIONS, self)

    @property
    def name(self) -> str:
        return self._handle._op.name

    def execute(
        self,
        fn: Callable[[], Any],
        exclusive_resource_access: bool = True,
        name: str | None = None,
    ) -> Any:
        """What `fn()` returns, whose nodes run while no other execution of the section does.

        Args:
          exclusive_resource_access: whether to refuse a variable (or other resource) that another
            section uses as well.
        """
        graph = get_default_graph()
        if graph.is_eager:
            return self._execute_now(fn)
        with name_scope(name, "critical_section_execute", []):
            lock = MutexLock(self._handle)
            before = set(graph.get_operations())
            with graph.control_dependencies([lock]):
                result = map_structure(_as_value, fn())
            made = [each for each in graph.get_operations() if each not in before]
            _run_after_arguments(lock._op, made)
            resources = _resources_of(made)
            self._refuse_own_handle(resources)
            self._refuse_shared(resources, exclusive_resource_access)
            with graph.control_dependencies([_same(part) for part in flatten(result)]):
                with graph.colocate_with(self._handle):
                    is_released = ConsumeMutexLock(lock)
                result = pack_as(result, tuple_(flatten(result)))
            with graph.control_dependencies([is_released]):
                outputs = map_structure(_same, result)
            execution = _Execution(lock._op, self._handle, resources, exclusive_resource_access)
            graph.add_to_collections(CRITICAL_SECTION_EXECUTIONS, execution)
        return outputs

    def _execute_now(self, fn: Callable[[], Any]) -> Any:
        """What `fn()` returns, in eager mode: the section is locked while it is called."""
        if self._is_inside:
            raise ValueError(
                f"Attempting to lock a CriticalSection ('{self.name}') in which we are: it would "
                "wait for itself."
            )
        lock = MutexLock(self._handle)
        self._is_inside = True
        try:
            return map_structure(_as_value, fn())
        finally:
            self._is_inside = False
            ConsumeMutexLock(lock)

    def _is_own(self, handle: Tensor) -> bool:
        mutex, own = handle._op, self._handle._op
        if mutex.type != "MutexV2" or mutex.get_attr("shared_name") != own.get_attr("shared_name"):
            return False
        return mutex.device == own.device or mutex.colocation_groups() == own.colocation_groups()

    def _refuse_own_handle(self, resources: Iterable[Tensor]) -> None:
        if any(self._is_own(handle) for handle in resources):
            raise ValueError(
                f"Attempting to lock a CriticalSection ('{self.name}') in which we are: the "
                "function fn attempts to directly access the CriticalSection in which it would be "
                "running. It would wait for itself."
            )

    def _refuse_shared(self, resources: list[Tensor], exclusive: bool) -> None:
        for other in get_default_graph().get_collection(CRITICAL_SECTION_EXECUTIONS):
            if self._is_own(other.handle):
                continue
            shared = [each for each in resources if any(each is used for used in other.resources)]
            if shared and (exclusive or other.exclusive_resource_access):
                raise ValueError(
                    f"This execution would access resources: {shared}. Either this section "
                    f"('{self.name}') or '{other.handle._op.name}' requested exclusive resource "
                    "access of it; execute both with exclusive_resource_access=False to share it."
                )


def _as_value(value: Any) -> Any:
    # In eager mode there is no operation to return: `tf.no_op()` is None.
    kept = value is None or isinstance(value, (Operation, TensorArray))
    return value if kept else to_tensor(value)


def _same(value: Any) -> Any:
    """The value under a node of its own, after what the node has to wait for."""
    if isinstance(value, Operation):
        return group(value)
    return value.identity() if isinstance(value, TensorArray) else identity(value)


def _resources_of(made: Iterable[Operation]) -> list[Tensor]:
    handles = (each for op in made for each in op.inputs if each.dtype.name == "resource")
    return list(dict.fromkeys(handles))


def _run_after_arguments(lock: Operation, made: list[Operation]) -> None:
    """Has everything that the function takes from outside computed before the lock is taken.

    Otherwise an argument that needs the section itself would be computed inside of it.
    """
    needed = dict.fromkeys(each.op for op in made for each in op.inputs)
    needed.update(dict.fromkeys(each for op in made for each in op.control_inputs))
    known = {*made, lock, *lock.control_inputs, *(each.op for each in lock.inputs)}
    arguments = [each for each in needed if each not in known]
    if arguments:
        lock._add_control_input(group(*arguments))
