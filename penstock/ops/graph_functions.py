"""`tf.function`: a Python function whose calls with one signature share one body.

A `GraphFunction`, that of `tfe.defun`, has a body for each kind of arguments. A
`PolymorphicFunction`, that of `tf.function`, may make variables while it is first called.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from penstock.ir import expanded_trees
from penstock.ir.conversion_status import ControlStatusCtx, Status
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import Function, FunctionGraph
from penstock.ir.graph import Graph
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ops.concrete_functions import ConcreteFunction, FuncGraph
from penstock.ops.flow_graphs import unique_function_name
from penstock.ops.function_arguments import Arguments, FunctionSpec, Method, validate_signature
from penstock.ops.function_cache import (
    CacheKey,
    FunctionCache,
    encoded,
    flat_shapes,
    is_same_structure,
)
from penstock.ops.function_tracing import UnknownArgument, func_graph_from_py_func
from penstock.ops.graph_lifting import UnliftableError, lift_to_graph
from penstock.ops.lifted_variables import UnliftedInitializerVariable, initialize_lifted
from penstock.ops.variable_creation import last_creator_scope

__all__ = ["defun", "defun_with_attributes", "function", "register"]

_runs_functions_eagerly = False


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
    experimental_compile: bool | None = None,
) -> Any:
    """Makes a Python function one whose calls with the same types and shapes share a body.

    Args:
      func: the function; without it, a decorator is returned.
      input_signature: a list of `tf.TensorSpec`s that every call must fit; the body is built once.
      experimental_relax_shapes: whether calls with many shapes share a body for tensors of a rank.
      experimental_compile: an attr of the function, for other runtimes.
    """
    if input_signature is not None:
        validate_signature(input_signature)

    def decorated(inner: Callable[..., Any]) -> PolymorphicFunction:
        return PolymorphicFunction(
            inner,
            _name_of(inner),
            input_signature,
            autograph=autograph,
            experimental_autograph_options=experimental_autograph_options,
            experimental_relax_shapes=experimental_relax_shapes,
            experimental_compile=experimental_compile,
        )

    return decorated if func is None else decorated(func)


def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """The older form of `tf.function`: variables may be made whenever a body is built."""
    return defun_with_attributes(
        func,
        input_signature,
        autograph=autograph,
        experimental_autograph_options=experimental_autograph_options,
        experimental_relax_shapes=experimental_relax_shapes,
    )


def defun_with_attributes(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    attributes: Mapping[str, Any] | None = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """`defun` with attrs for the function's definition; `func_name` among them names it."""
    if input_signature is not None:
        validate_signature(input_signature)

    def decorated(inner: Callable[..., Any]) -> GraphFunction:
        others = dict(attributes or {})
        name = others.pop("func_name", None) or _name_of(inner)
        return GraphFunction(
            inner,
            name,
            input_signature,
            attributes=others,
            autograph=autograph,
            autograph_options=experimental_autograph_options,
            experimental_relax_shapes=experimental_relax_shapes,
        )

    return decorated if func is None else decorated(func)


def register(func: Any, *args: Any, **kwargs: Any) -> ConcreteFunction:
    """Adds the function for such arguments, and its gradient, to the graph without a call."""
    if not isinstance(func, GraphFunction):
        raise ValueError(f"Only defun function is allowed to be registered. Got type: {type(func)}")
    concrete = func.get_concrete_function(*args, **kwargs)
    concrete.add_to_graph()
    concrete.add_gradient_functions_to_graph()
    return concrete


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Lets calls of `tf.function`s run the Python functions as they are, or no more."""
    global _runs_functions_eagerly
    _runs_functions_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether `run_functions_eagerly` is on."""
    return _runs_functions_eagerly


def _name_of(func: Callable[..., Any]) -> str:
    return str(getattr(func, "__name__", "function"))


class GraphFunction:
    """A Python function with a body for each kind of arguments that it was called with.

    Args:
      attributes: of the definitions of its functions.
      capture_by_value: whether variables are read once, when a body is built.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str | None = None,
        input_signature: Any = None,
        attributes: Mapping[str, Any] | None = None,
        autograph: bool = True,
        autograph_options: Any = None,
        experimental_relax_shapes: bool = False,
        capture_by_value: bool | None = None,
    ):
        if not callable(python_function):
            raise TypeError(f"{python_function!r} is not a callable object")
        self.python_function = python_function
        self._name = name or _name_of(python_function)
        self.function_spec = FunctionSpec.from_function_and_signature(
            python_function, input_signature
        )
        self._attributes = dict(attributes or {})
        self._autograph = autograph
        self._autograph_options = autograph_options
        self._relaxes_shapes = experimental_relax_shapes
        self._capture_by_value = capture_by_value
        self._function_cache = FunctionCache()
        self._lock = threading.RLock()
        self._methods: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self.__name__ = self._name
        self.__doc__ = python_function.__doc__
        self.__wrapped__ = python_function

    @property
    def _function_spec(self) -> FunctionSpec:
        return self.function_spec

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        return self.function_spec.input_signature

    @property
    def flat_input_signature(self) -> tuple[Any, ...]:
        return self.function_spec.flat_input_signature

    def __get__(self, instance: Any, owner: Any) -> Any:
        if instance is None:
            return self
        if instance not in self._methods:
            self._methods[instance] = self._bound_to(Method(self.python_function, instance))
        return self._methods[instance]

    def _bound_to(self, method: Method) -> GraphFunction:
        return GraphFunction(
            method,
            self._name,
            self.input_signature,
            attributes=self._attributes,
            autograph=self._autograph,
            autograph_options=self._autograph_options,
            experimental_relax_shapes=self._relaxes_shapes,
            capture_by_value=self._capture_by_value,
        )

    # Calls --------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        concrete, args, kwargs = self._defined(args, kwargs)
        return concrete._filtered_call(args, kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for arguments of one signature; a `tf.TensorSpec` stands for any tensor."""
        if self.input_signature is not None:
            self._check_fits_signature(args, kwargs)
            args, kwargs = self.input_signature, {}
        return self._defined(args, kwargs)[0]

    def _check_fits_signature(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if kwargs:
            raise ValueError(
                "Cannot define a TensorFlow function from a Python function with keyword arguments "
                "when input_signature is provided."
            )
        if not args:
            return
        if not is_same_structure(self.input_signature, args):
            raise ValueError("Structure of Python function inputs does not match input_signature.")
        leaves = expanded_trees.flatten(args)
        if not all(isinstance(leaf, (Tensor, TensorSpec)) for leaf in leaves):
            raise ValueError(
                "When input_signature is provided, all inputs to the Python function must be "
                "Tensors or tf.TensorSpec objects."
            )
        pairs = zip(self.flat_input_signature, leaves, strict=True)
        if not all(spec.is_compatible_with(leaf) for spec, leaf in pairs):
            raise ValueError(
                f"Python inputs incompatible with input_signature: inputs ({args}), "
                f"input_signature ({self.input_signature})"
            )

    def _list_all_concrete_functions_for_serialization(self) -> list[ConcreteFunction]:
        """The functions that a SavedModel has of it: one of each signature that can be told."""
        if self.input_signature is not None:
            return [self.get_concrete_function()]
        signatures: list[Any] = []
        for concrete in self._all_concrete_functions():
            signature = concrete.structured_input_signature
            leaves = expanded_trees.flatten(signature)
            if any(isinstance(leaf, UnknownArgument) for leaf in leaves):
                continue
            if not any(
                is_same_structure(signature, each, check_values=True) for each in signatures
            ):
                signatures.append(signature)
        return [self.get_concrete_function(*args, **kwargs) for args, kwargs in signatures]

    def _all_concrete_functions(self) -> list[ConcreteFunction]:
        return self._function_cache.all_values()

    # Bodies -------------------------------------------------------------------------------------

    def _defined(self, args: Any, kwargs: Any) -> tuple[ConcreteFunction, Any, Any]:
        """The function for these arguments, and the arguments in their canonical form."""
        if self.input_signature is not None and args is self.input_signature:
            canonical: Arguments = (args, {})
        else:
            canonical = self.function_spec.canonicalize_function_inputs(*args, **kwargs)
        key = self._key(canonical)
        cache = self._function_cache
        with self._lock:
            made: ConcreteFunction | None = cache.primary.get(key)
            if made is None:
                around = key.replace(input_signature=None)
                if self._relaxes_shapes and not self.input_signature and around in cache.missed:
                    return self._relaxed(canonical), *canonical
                cache.missed.add(around)
                made = cache.primary[key] = self._traced(canonical)
            return made, *canonical

    def _relaxed(self, canonical: Arguments) -> ConcreteFunction:
        """A function for tensors of these ranks."""
        key, shapes = self._key(canonical, ranks_only=True), flat_shapes(canonical)
        made: ConcreteFunction | None = self._function_cache.relaxed(key, shapes)
        if made is None:
            made = self._traced(canonical, self._function_cache.relax(key, shapes))
            self._function_cache.arg_relaxed[key] = made
        return made

    def _key(self, canonical: Arguments, ranks_only: bool = False) -> CacheKey:
        args, kwargs = canonical
        form: Any = self.flat_input_signature
        if self.input_signature is None:
            form = encoded((args, kwargs) if kwargs else args, ranks_only)
        graph = get_default_graph()
        outermost = _outermost(graph)
        places = _places(graph)
        strategies: Any = getattr(graph, "_distribution_strategy_stack", None) or ()
        in_cross_replica = bool(strategies) and strategies[-1].replica_context is None
        return CacheKey(
            form, None if outermost.is_eager else outermost, places, (), in_cross_replica
        )

    def _traced(self, canonical: Arguments, shapes: Any = None) -> ConcreteFunction:
        args, kwargs = canonical
        if self.input_signature is not None:
            args = self.input_signature
        body = FuncGraph(self._name.strip("<>"), capture_by_value=self._capture_by_value)
        status = Status.ENABLED if self._autograph else Status.DISABLED
        with self._making_variables(body), ControlStatusCtx(status, self._autograph_options):
            func_graph_from_py_func(
                body.name,
                self.python_function,
                args,
                kwargs,
                func_graph=body,
                autograph=self._autograph,
                autograph_options=self._autograph_options,
                arg_names=self._names(len(args)),
                override_flat_arg_shapes=shapes,
            )
        name = unique_function_name(get_default_graph(), "", f"__inference_{body.name}")
        return ConcreteFunction(body, Function(name, body=body), attrs=self._attributes)

    def _making_variables(self, body: FuncGraph) -> AbstractContextManager[None]:
        """A block in which the variables that a body asks for are made."""
        return nullcontext()

    def _names(self, count: int) -> list[str]:
        """The names of the first positional arguments."""
        names = self.function_spec.arg_names[:count]
        more = self.function_spec.vararg_name
        return [*names, *(f"{more}_{place}" for place in range(count - len(names)))]


class PolymorphicFunction(GraphFunction):
    """What `tf.function` makes: variables may be made in its first call, and in no other.

    The first call builds a body that may make variables. If it did, they get their initial values,
    and the body is built again, with the variables there; so will it be for other arguments.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str | None = None,
        input_signature: Any = None,
        autograph: bool = True,
        experimental_autograph_options: Any = None,
        experimental_relax_shapes: bool = False,
        experimental_compile: bool | None = None,
    ):
        attributes = {} if experimental_compile is None else {"_XlaCompile": experimental_compile}
        super().__init__(
            python_function,
            name,
            input_signature,
            attributes=attributes,
            autograph=autograph,
            autograph_options=experimental_autograph_options,
            experimental_relax_shapes=experimental_relax_shapes,
        )
        self._experimental_compile = experimental_compile
        self._created: list[weakref.ref[Any]] = []
        self._making: _Phase | None = None  # its functions may make variables
        self._later: _Phase | None = None  # those of others may not

    def _bound_to(self, method: Method) -> GraphFunction:
        return PolymorphicFunction(
            method,
            self._name,
            self.input_signature,
            autograph=self._autograph,
            experimental_autograph_options=self._autograph_options,
            experimental_relax_shapes=self._relaxes_shapes,
            experimental_compile=self._experimental_compile,
        )

    def _decorate(self, decorator: Callable[[Any], Any]) -> None:
        """Puts a decorator around the Python function, before it is first called."""
        if self._making is not None:
            raise ValueError("Functions cannot be decorated after they have been traced.")
        self.python_function = decorator(self.python_function)
        self.function_spec = FunctionSpec.from_function_and_signature(
            self.python_function, self.input_signature
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _runs_functions_eagerly:
            return self.python_function(*args, **kwargs)
        if self._making is not None:
            return self._called_again(args, kwargs)
        pending: list[Any] = []
        first = self._trace_first(args, kwargs, pending)
        if not self._created:
            canonical = self.function_spec.canonicalize_function_inputs(*args, **kwargs)
            return first._filtered_call(*canonical)
        assert self._later is not None
        try:
            initialize_lifted(pending)
        except UnliftableError:
            return self._called_initializing(first, args, kwargs)
        return self._later(*args, **kwargs)

    def _called_again(self, args: Any, kwargs: Any) -> Any:
        assert self._making is not None and self._later is not None
        if self._created:
            return self._later(*args, **kwargs)
        results = self._making(*args, **kwargs)
        if self._created:
            raise ValueError(
                "Creating variables on a non-first call to a function decorated with tf.function."
            )
        return results

    def _trace_first(self, args: Any, kwargs: Any, pending: list[Any]) -> ConcreteFunction:
        """Builds a body that may make variables; `pending` has those that need initial values."""

        created = self._created  # the creator must not keep the function itself

        def make(next_creator: Any, **settings: Any) -> Any:
            made = UnliftedInitializerVariable(add_initializers_to=pending, **settings)
            created.append(weakref.ref(made))
            return made

        self._making, self._later = _Phase(self, make), _Phase(self, _refuse)
        if self.input_signature is not None:
            args, kwargs = self.input_signature, {}
        try:
            return self._making._defined(args, kwargs)[0]
        except BaseException:
            if not self._created:
                self._making = self._later = None
            raise

    def _called_initializing(self, first: ConcreteFunction, args: Any, kwargs: Any) -> Any:
        """A call that gives variables, if they have none, values that depend on arguments."""
        from penstock.ops.comparison import logical_and
        from penstock.ops.conditionals import cond
        from penstock.ops.resource_variables import VarIsInitializedOp

        later = self._later
        assert later is not None

        def either(*inner_args: Any, **inner_kwargs: Any) -> Any:
            are_there: Any = True
            for reference in self._created:
                if (variable := reference()) is None:
                    raise ValueError(_GONE)
                are_there = logical_and(are_there, VarIsInitializedOp(variable.handle))
            return cond(
                are_there,
                lambda: later(*inner_args, **inner_kwargs),
                lambda: first._filtered_call(inner_args, inner_kwargs),
            )

        args, kwargs = self.function_spec.canonicalize_function_inputs(*args, **kwargs)
        return GraphFunction(either)(*args, **kwargs)

    def get_initialization_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """A function that gives the variables, which no call has made yet, their initial values."""
        if self._making is not None:
            raise RuntimeError(
                "get_initialization_function cannot be called after the function has been used"
            )
        pending: list[Any] = []
        self._trace_first(args, kwargs, pending)

        def initialize_variables() -> None:
            graph = get_default_graph()
            for variable, initial in pending:
                variable.assign(lift_to_graph([initial], graph)[initial])

        return GraphFunction(initialize_variables).get_concrete_function()

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for arguments of one signature; a `tf.TensorSpec` stands for any tensor."""
        if self._making is None:
            pending: list[Any] = []
            self._trace_first(args, kwargs, pending)
            initialize_lifted(pending)
        assert self._making is not None and self._later is not None
        if self._created:
            return self._later.get_concrete_function(*args, **kwargs)
        concrete = self._making.get_concrete_function(*args, **kwargs)
        if self._created:
            raise ValueError(
                "Creating variables on a non-first call to a function decorated with tf.function."
            )
        return concrete

    def _all_concrete_functions(self) -> list[ConcreteFunction]:
        phases = [each for each in (self._making, self._later) if each is not None]
        return [made for phase in phases for made in phase._all_concrete_functions()]


def _refuse(next_creator: Any, **settings: Any) -> Any:
    raise ValueError("tf.function-decorated function tried to create variables on non-first call.")


class _Phase(GraphFunction):
    """The bodies of a `tf.function` that one creator makes the variables of."""

    def __init__(self, owner: PolymorphicFunction, creator: Callable[..., Any]):
        super().__init__(
            owner.python_function,
            owner._name,
            owner.input_signature,
            attributes=owner._attributes,
            autograph=owner._autograph,
            autograph_options=owner._autograph_options,
            experimental_relax_shapes=owner._relaxes_shapes,
        )
        self.function_spec = owner.function_spec
        self._creator = creator

    def _making_variables(self, body: FuncGraph) -> AbstractContextManager[None]:
        return last_creator_scope(body, self._creator)


_GONE = (
    "A tf.Variable created inside your tf.function has been garbage-collected. Your code needs to "
    "keep Python references to variables created inside `tf.function`s: what such a function "
    "returns is the value of a variable, not the variable."
)


def _places(graph: Graph) -> tuple[Any, ...]:
    """The `tf.device` blocks around a call: a body is built for each nest of them.

    Their functions are compared and not asked, for some count the nodes that they place.
    """
    return tuple(scope.function for scope in graph._scopes.devices)


def _outermost(graph: Graph) -> Graph:
    """The graph around all bodies of functions."""
    while isinstance(graph, FunctionGraph) and graph.outer_graph is not None:
        graph = graph.outer_graph
    return graph
