"""`tf.Graph`: the dataflow graph that a program builds and a session runs."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from penstock import errors, proto
from penstock.dtypes import DType, as_dtype
from penstock.ir import auto_casts, defaults, naming, scopes, source
from penstock.ir.operation import Operation, infer_shapes
from penstock.ir.registry import OpSpec
from penstock.ir.tensor import Tensor

PRODUCER_VERSION = 134  # of GraphDefs: what TensorFlow 1.15 wrote, and later ones accept


class _PlacedProbe:
    """Stands for a node whose device is asked for."""

    type = op = name = _device = ""

    @property
    def node_def(self) -> Any:
        return proto.NodeDef()

    @property
    def device(self) -> str:
        return self._device


class Graph:
    """A set of operations and the tensors between them, built by many threads if need be.

    1. Nodes are only added, never removed; `version` grows with each.
    2. Node names are unique. Names handed out by scopes are never handed out again.
    3. `mutations` counts changes to existing nodes; a session compiles its steps anew after one.
    """

    #: Whether operations run as they are made and nothing is kept of them: `penstock/eager`.
    is_eager = False

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._nodes: list[Operation] = []
        self._nodes_by_name: dict[str, Operation] = {}
        self._names = naming.UniqueNames()
        self._scopes = scopes.Scopes()
        self._last_loss_reduction: str | None = None  # of what the last loss was made
        self._is_loss_scaled_by_optimizer = False  # the last, for one of several replicas
        self._collections: dict[Any, list[Any]] = {}
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Operation | Tensor] = set()
        self._finalized = False
        self._building_function = False
        self._seed: int | None = None
        self._functions: dict[str, Any] = {}
        self._py_functions: dict[str, Any] = {}
        self._gradient_functions: dict[str, Any] = {}  # of tf.custom_gradient: they hold tensors
        self._versions = (PRODUCER_VERSION, 0)  # that wrote its nodes, that a reader needs
        self.mutations = 0
        self._rewired: set[Operation] = set()  # whose inputs were replaced after they were made

    # Building ---------------------------------------------------------------------------------

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Tensor],
        dtypes: Sequence[DType] | None = None,
        input_types: Sequence[DType] | None = None,
        name: str | None = None,
        attrs: dict[str, Any] | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Adds a node of a registered op type; attrs are AttrValue messages or Python values."""
        from penstock.ir.apply import infer_attrs, output_types
        from penstock.ir.attr_codec import python_value
        from penstock.ir.function import find_spec

        spec = find_spec(op_type, self._functions)
        if spec is None:
            raise errors.NotFoundError(None, None, f"Op type not registered '{op_type}'")
        for number, tensor in enumerate(inputs):
            if not isinstance(tensor, Tensor):
                raise TypeError(f"Input #{number} is not a tensor: {tensor}")
        values = {key: python_value(value) for key, value in (attrs or {}).items()}
        infer_attrs(spec, inputs, values)
        for key, declared in spec.attrs.items():
            if key not in values and declared.has_default:
                values[key] = declared.default
        if dtypes is None:
            dtypes = output_types(spec, values)
        return self._add(spec, self._op_name(name, op_type), tuple(inputs), values, dtypes)

    def _op_name(self, name: str | bytes | None, op_type: str) -> str:
        if name is None or (self.is_eager and not name):
            return self.unique_name(op_type)
        if isinstance(name, bytes):
            name = name.decode()
        if not name:
            naming.check_op_name(name)
        return name[:-1] if name[-1] == "/" else self.unique_name(name)

    def _add(
        self,
        spec: OpSpec,
        name: str,
        inputs: tuple[Tensor, ...],
        attrs: dict[str, Any],
        output_types: Iterable[DType],
        control_inputs: Iterable[Operation] = (),
    ) -> Operation:
        """Adds a node with its final name; every way of making a node ends here."""
        scope = self._scopes
        with self._lock:
            self._check_open()
            if name in self._nodes_by_name:
                raise ValueError(f"Duplicate node name in graph: '{name}'")
            naming.check_op_name(name)
            controls = list(control_inputs)
            if scope.controllers:
                input_ops = [tensor._op for tensor in inputs]
                controls += scopes.control_inputs_for(scope.controllers, input_ops)
            op = Operation(
                self, spec, name, inputs, controls, attrs, output_types, len(self._nodes)
            )
            op._control_flow_context = scope.control_flow
            self._check_inputs(op)
            infer_shapes(op)  # first: device functions may ask for the sizes of variables
            self._apply_scopes(op)
            self._nodes.append(op)
            self._nodes_by_name[name] = op
            for tensor in inputs:
                tensor._consumers.append(op)
        for controller in scope.controllers:
            controller.made_inside.add(op)
        context = scope.control_flow
        if context is not None:
            context.AddOp(op)
        return op

    def _check_inputs(self, op: Operation) -> None:
        for tensor in op._inputs:
            if tensor._op.graph is not self:
                raise ValueError(
                    f"{op.type} '{op.name}': input {tensor.name!r} must be from the same graph"
                )
            context = tensor._op._control_flow_context
            if context is not None and context is not op._control_flow_context:
                context.check_use(op, tensor._op)

    def _apply_scopes(self, op: Operation) -> None:
        scope = self._scopes
        if scope.attrs:
            self._apply_attr_scope(op, scope.attrs)
        if scope.gradient_names and op.spec.name in scope.gradient_names:
            op.attrs["_gradient_op_type"] = scope.gradient_names[op.spec.name]
        if scope.kernel_labels and scope.kernel_labels.get(op.spec.name):
            op.attrs["_kernel"] = scope.kernel_labels[op.spec.name]
        if scope.devices:
            scopes.apply_devices(scope.devices, op)
            op._device_scopes = scope.devices  # type: ignore[attr-defined]
        if scope.colocations:
            scopes.apply_colocation(scope.colocations, op)
            op._colocation_scopes = scope.colocations  # type: ignore[attr-defined]
        if scope.container and op.spec.is_stateful and op.attrs.get("container") == "":
            op.attrs["container"] = scope.container
        if scope.original_op is not None:
            op._original_op = scope.original_op  # type: ignore[attr-defined]

    def _apply_device_functions(self, op: Any) -> None:
        """Tells an object, as Keras' backend has one, the device of the current scopes."""
        probe = _PlacedProbe()
        scopes.apply_devices(self._scopes.devices, probe)  # type: ignore[arg-type]
        if probe._device:
            op._set_device(probe._device)

    @staticmethod
    def _apply_attr_scope(op: Operation, attrs: dict[str, Any]) -> None:
        from penstock.ir.attr_codec import python_value

        for key, value in attrs.items():
            if key not in op.attrs:
                given = value(op.node_def) if callable(value) else value
                if given is not None:
                    op.attrs[key] = python_value(given)

    def _check_open(self) -> None:
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")

    def _changed(self) -> None:
        with self._lock:
            self.mutations += 1

    def finalize(self) -> None:
        """Makes the graph read-only: adding a node from now on is an error."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        self._finalized = False

    @property
    def finalized(self) -> bool:
        return self._finalized

    @property
    def version(self) -> int:
        return len(self._nodes)

    @property
    def _last_id(self) -> int:
        """TensorFlow's name for the number of the last node, by which programs choose seeds."""
        return len(self._nodes)

    @property
    def seed(self) -> int | None:
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed

    def drawn_seed(self) -> int:
        """A seed that follows from the one of the program: where operations run at once."""
        raise NotImplementedError

    @property
    def building_function(self) -> bool:
        return self._building_function

    def watch_variable(self, variable: Any) -> None:
        """Notes that a variable is read: of interest to the body of a function alone."""

    # Names ------------------------------------------------------------------------------------

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` in the current scope, made unique by a suffix."""
        prefix = self._scopes.name
        with self._lock:
            return self._names.take(f"{prefix}/{name}" if prefix else name, mark=mark_as_used)

    def get_name_scope(self) -> str:
        return self._scopes.name

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Opens a scope; a name that ends in '/' re-enters that scope, None or '' is the root."""
        if name:
            naming.check_scope_name(name, nested=bool(self._scopes.name))
        if not name:
            scope = ""
        elif name[-1] == "/":
            scope = name[:-1]
        else:
            scope = self.unique_name(name)
        with self._scopes.setting(name=scope):
            yield f"{scope}/" if name else ""

    # Scopes -----------------------------------------------------------------------------------

    def as_default(self) -> AbstractContextManager[Graph]:
        """Makes this the default graph of the thread within a `with` block."""
        return defaults.graph_scope(self)

    def _enable_auto_casting_variables(self, dtype: Any) -> AbstractContextManager[Any]:
        """A block in which variables of mixed precision are read in a type; None for their own."""
        return auto_casts.reading_as(None if dtype is None else as_dtype(dtype))

    @contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        """Places the nodes made inside; see `tf.device`."""
        scope = self._scopes
        outer = scope.devices
        scope.devices = inner = [*outer, scopes.device_scope(device_name_or_function)]
        try:
            yield
        finally:
            if scope.devices is not inner:
                raise RuntimeError("Exiting device scope without proper scope nesting.")
            scope.devices = outer

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Places the nodes made inside on the device of `op`, wherever that will be."""
        if op is None and not ignore_existing:
            raise ValueError(
                "Trying to reset colocation (op is None) but ignore_existing is not True"
            )
        target = scopes.op_to_colocate_with(op)
        stack = [] if ignore_existing else self._scopes.colocations
        if target is not None:
            stack = [*stack, scopes.ColocationScope(target, source.user_line())]
        with self._scopes.setting(devices=[], colocations=stack):
            yield

    @contextmanager
    def control_dependencies(self, control_inputs: Any) -> Iterator[None]:
        """Runs the nodes made inside after `control_inputs`; None clears the outer blocks."""
        if control_inputs is None:
            with self._scopes.setting(controllers=[], control_flow=None):
                yield
            return
        ops = [self._control_op(value) for value in control_inputs]
        controller = scopes.ControlScope(list(dict.fromkeys(ops)))
        with self._scopes.pushing("controllers", controller):
            yield

    def _control_op(self, value: Any) -> Operation:
        is_variable = hasattr(value, "_as_graph_element") and hasattr(value, "op")
        is_slices = hasattr(value, "values") and hasattr(value, "indices")
        if is_variable or is_slices:
            value = value.op  # an updated variable is waited for by its update, without a read
        element = self.as_graph_element(value)
        return element.op if isinstance(element, Tensor) else element

    @property
    def _container(self) -> str:
        return self._scopes.container

    @contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Keeps the state of the stateful nodes made inside in the named container."""
        with self._scopes.setting(container=container_name):
            yield container_name

    @contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        """Gives nodes of some types made inside another registered gradient."""
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for key, value in op_type_map.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        with self._scopes.setting(gradient_names={**self._scopes.gradient_names, **op_type_map}):
            yield

    @contextmanager
    def _attr_scope(self, attr_map: dict[str, Any]) -> Iterator[None]:
        merged = {**self._scopes.attrs, **attr_map}
        with self._scopes.setting(attrs={k: v for k, v in merged.items() if v is not None}):
            yield

    @contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Iterator[None]:
        """Lets nodes of some types made inside ask for the kernels with a label."""
        if not isinstance(op_to_kernel_label_map, dict):
            raise TypeError(
                "op_to_kernel_label_map must be a dictionary mapping strings to strings"
            )
        for key, value in op_to_kernel_label_map.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise TypeError("op_to_kernel_label_map must map strings to strings")
        labels = {**self._scopes.kernel_labels, **op_to_kernel_label_map}
        with self._scopes.setting(kernel_labels=labels):
            yield

    @contextmanager
    def _original_op(self, op: Operation) -> Iterator[None]:
        with self._scopes.setting(original_op=op):
            yield

    def _get_control_flow_context(self) -> Any:
        return self._scopes.control_flow

    def _set_control_flow_context(self, context: Any) -> None:
        self._scopes.control_flow = context

    def switch_to_thread_local(self) -> None:
        """Scopes are always kept per thread here; TensorFlow's programs may ask for it."""

    # Looking up -------------------------------------------------------------------------------

    def get_operations(self) -> list[Operation]:
        return list(self._nodes)

    def get_operation_by_name(self, name: str) -> Operation:
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False, allow_operation=True)

    def get_tensor_by_name(self, name: str) -> Tensor:
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=True, allow_operation=False)

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The tensor or operation of this graph that `obj` is or names."""
        if not allow_tensor and not allow_operation:
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        kinds = " or ".join(["Tensor"] * allow_tensor + ["Operation"] * allow_operation)
        convert = getattr(obj, "_as_graph_element", None)
        if convert is not None:
            obj = convert()
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._by_name(obj, allow_tensor, allow_operation)
        allowed = (Tensor,) * allow_tensor + (Operation,) * allow_operation
        if not isinstance(obj, allowed):
            raise TypeError(f"Can not convert a {type(obj).__name__} into a {kinds}.")
        if obj.graph is not self:
            kind = "Tensor" if isinstance(obj, Tensor) else "Operation"
            raise ValueError(f"{kind} {obj} is not an element of this graph.")
        return obj

    _as_graph_element_locked = as_graph_element

    def _by_name(self, name: str, allow_tensor: bool, allow_operation: bool) -> Any:
        if ":" in name and allow_tensor:
            match = re.match(r"^(.*):(\d+)$", name)
            if match is None:
                raise ValueError(
                    f"The name {name!r} looks a like a Tensor name, but is not a valid one. "
                    'Tensor names must be of the form "<op_name>:<output_index>".'
                )
            op = self._nodes_by_name.get(match[1])
            index = int(match[2])
            if op is None or index >= len(op.outputs):
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                    f"{match[1]!r}, "
                    + (
                        f"exists but only has {len(op.outputs)} outputs."
                        if op is not None
                        else "does not exist in the graph."
                    )
                )
            return op.outputs[index]
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
        if not allow_operation:
            known = name in self._nodes_by_name
            is_one = "refers to an" if known else "looks like an (invalid)"
            noun = "Operation" if known else "Operation name"
            hint = f' Did you mean "{name}:0"?' if known else ""
            raise ValueError(
                f"The name {name!r} {is_one} {noun}, not a Tensor. Tensor names must be of the "
                f'form "<op_name>:<output_index>".{hint}'
            )
        if name not in self._nodes_by_name:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return self._nodes_by_name[name]

    def is_feedable(self, tensor: Tensor) -> bool:
        return tensor not in self._unfeedable

    def is_fetchable(self, tensor_or_op: Tensor | Operation) -> bool:
        if isinstance(tensor_or_op, Tensor) and tensor_or_op._op in self._unfetchable:
            return False
        return tensor_or_op not in self._unfetchable

    def prevent_feeding(self, tensor: Tensor) -> None:
        self._unfeedable.add(tensor)

    def prevent_fetching(self, op: Operation) -> None:
        self._unfetchable.add(op)

    # Collections ------------------------------------------------------------------------------

    def add_to_collection(self, name: Any, value: Any) -> None:
        self._check_open()
        with self._lock:
            self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        with self._lock:
            return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """The values of a collection; `scope` is a regex that their names must start with."""
        with self._lock:
            values = list(self._collections.get(name, ()))
        if scope is None:
            return values
        pattern = re.compile(scope)
        return [v for v in values if hasattr(v, "name") and pattern.match(v.name)]

    def get_all_collection_keys(self) -> list[Any]:
        with self._lock:
            return [key for key in self._collections if isinstance(key, str)]

    @property
    def collections(self) -> list[Any]:
        return self.get_all_collection_keys()

    def clear_collection(self, name: Any) -> None:
        self._check_open()
        with self._lock:
            self._collections.pop(name, None)

    # GraphDef ---------------------------------------------------------------------------------

    @property
    def _c_graph(self) -> Graph:
        """What stands for the graph in calls of TensorFlow's native library: itself."""
        return self

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> Any:
        """The graph as a GraphDef message; from `from_version`, only nodes added since then."""
        from penstock.ir.graph_def import graph_def

        with self._lock:
            return graph_def(self, from_version or 0, add_shapes=add_shapes)

    @property
    def graph_def_versions(self) -> Any:
        from penstock.proto import VersionDef

        # A reader must know functions only where there are any.
        producer, needed = self._versions
        needed = max(needed, 12 if self._functions else 0)
        return VersionDef(producer=producer, min_consumer=needed)

    def _merge_versions(self, imported: Any) -> tuple[int, int]:
        """Counts in the versions of a GraphDef: the oldest writer's, all needs. Returns the old."""
        old = self._versions
        self._versions = (min(old[0], imported.producer), max(old[1], imported.min_consumer))
        return old

    def _remove_since(self, version: int) -> None:
        """Removes the nodes of an import that failed half-way; nothing has used them yet."""
        with self._lock:
            for op in reversed(self._nodes[version:]):
                del self._nodes_by_name[op.name]
                for tensor in op._inputs:
                    tensor._consumers.remove(op)
            del self._nodes[version:]
            self.mutations += 1
