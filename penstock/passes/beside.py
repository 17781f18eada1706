"""Large products beside loops: what a loop does not wait for is computed while it runs.

A loop's body is a row of small kernels, one after the other, which use few processors well. The
gradient of a large layer behind a recurrent network, for one, is wanted when its backward loop has
ended, but was computed before it. As one node, loop and product share the processors.

1. It runs on a structured and ordered step, with the times that its nodes took in a run.
2. The loop writes no variable, and the products read none directly: nobody changes their factors.
3. What uses a product early is moved behind the loop; only pure nodes are moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from penstock import dtypes
from penstock.ir.registry import OpSpec, Trait
from penstock.ir.signature import Arg, Signature
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.passes.order import accesses, may_block

LEAST_SECONDS = 5e-4  # of a product, from which it may be worth another thread
_LEAST_PART = 0.02  # of the loop's time, that the products beside it take at least


def compute_products_beside(
    step: StepGraph, seconds: Mapping[str, float], may_join: Callable[[Node], bool]
) -> bool:
    """Joins loops and products that need nothing of each other; whether there are such.

    `seconds` says how long the nodes took; `may_join` of a loop whether its device can do so.
    """
    found = False
    for loop in [node for node in step.nodes if node.type == "_While"]:
        if loop.guard or loop.attrs["loop"].writes or may_block(loop) or not may_join(loop):
            continue
        products = _Neighbours(step, loop).products(seconds)
        if products:
            _join(step, loop, products)
            found = True
    if found:
        step.verify("compute_products_beside")
    return found


class _Neighbours:
    """What comes before a loop, waits for it, or does neither."""

    def __init__(self, step: StepGraph, loop: Node):
        self._step = step
        self._loop = loop
        self._position = {node: i for i, node in enumerate(step.nodes)}
        self._needed = _closure(loop, lambda node: node.producers())
        consumers = step.consumers()
        self._users: Callable[[Node], Iterable[Node]] = consumers.__getitem__

    def products(self, seconds: Mapping[str, float]) -> list[Node]:
        """The large products to compute while the loop runs, which take no longer than it does.

        With half of the processors for each, loop and products then end earlier than one after the
        other.
        """
        limit = seconds.get(self._loop.name, 0.0)
        left = limit
        chosen: list[Node] = []
        waiting: set[Node] = set()  # for one that is chosen
        for node in self._step.nodes:
            took = seconds.get(node.name, limit)
            is_large = node.type == "MatMul" and LEAST_SECONDS <= took < left
            if is_large and node not in waiting and self._may_run_beside(node):
                left -= took
                chosen.append(node)
                waiting |= _closure(node, self._users)
        return chosen if limit - left >= _LEAST_PART * limit else []

    def _may_run_beside(self, node: Node) -> bool:
        if node.dtypes[0] not in (dtypes.float32, dtypes.float64):
            return False
        if node in self._needed or node in self._step.targets:
            return False
        if node.device != self._loop.device or node.guard or accesses(node).reads:
            return False
        place = self._position[self._loop]
        if any(self._position[each] >= place for each in node.producers()):
            return False
        moved = (each for each in _closure(node, self._users) if self._position[each] < place)
        return all(each is node or _is_pure(each) for each in moved)


def _closure(start: Node, following: Callable[[Node], Iterable[Node]]) -> set[Node]:
    found: set[Node] = set()
    pending = [start]
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending.extend(following(node))
    return found


def _is_pure(node: Node) -> bool:
    access = accesses(node)
    return not (node.spec.is_stateful or access.reads or access.writes)


def _join(step: StepGraph, loop: Node, products: list[Node]) -> None:
    """Puts one node where the loop was, and behind it what used the products before."""
    made = _joined(loop, products)
    place = step.nodes.index(loop)
    users = step.consumers().__getitem__
    gone = {loop, *products}
    late = {each for product in products for each in _closure(product, users)} - gone
    before = [node for node in step.nodes[:place] if node not in gone]
    after = [node for node in step.nodes[place:] if node not in gone]
    step.nodes = [
        *(node for node in before if node not in late),
        made,
        *(node for node in before if node in late),
        *after,
    ]
    exits = len(loop.dtypes)
    step.replace(
        {Edge(loop, i): Edge(made, i) for i in range(exits)}
        | {Edge(product, 0): Edge(made, exits + i) for i, product in enumerate(products)}
    )
    for node in step.nodes:
        if not gone.isdisjoint(node.controls):
            node.controls = list(
                dict.fromkeys(made if each in gone else each for each in node.controls)
            )
    step.targets = [made if node is loop else node for node in step.targets]


def _joined(loop: Node, products: list[Node]) -> Node:
    factors = [edge for product in products for edge in product.inputs]
    made = Node(
        _spec(loop, products),
        loop.name,
        {**loop.attrs, "products": products},
        [*loop.dtypes, *(product.dtypes[0] for product in products)],
        [*loop.shapes, *(product.shapes[0] for product in products)],
        loop.origin,
        loop.order,
        loop.device,
    )
    made.inputs = [*loop.inputs, *factors]
    waits = (control for node in (loop, *products) for control in node.controls)
    made.controls = list(dict.fromkeys(waits))
    return made


def _spec(loop: Node, products: list[Node]) -> OpSpec:
    """The signature of the loop, with two factors in and one result out for each product."""
    inputs = [
        Arg(f"factor_{i}", edge.dtype.base_dtype)
        for i, edge in enumerate(edge for product in products for edge in product.inputs)
    ]
    outputs = [Arg(f"product_{i}", product.dtypes[0]) for i, product in enumerate(products)]
    signature = Signature(
        "_WhileBeside", (*loop.spec.inputs, *inputs), (*loop.spec.outputs, *outputs), {}
    )
    return OpSpec(signature, frozenset([Trait.STATEFUL]))
