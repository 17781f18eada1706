"""TensorBoard's pages in a real browser: the chart, the graph with its scopes, a node's cost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tensorboard import browser
from tests.tensorboard.board import Board
from tests.tensorboard.training_run import STEPS, TRACE_TAG

pytestmark = pytest.mark.skipif(
    not browser.is_installed(),
    reason="Chromium and chromedriver are not installed: `make browser` gets them",
)

_CURVES = 'found(e => e.localName === "path").map(e => e.getAttribute("d") || "")'
_NODES = 'found(e => e.matches("g.node")).map(e => e.dataset.name)'
_NODE_CARD = 'found(e => e.localName === "tf-node-info").map(e => e.shadowRoot.textContent)[0]'


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    with browser.started(tmp_path_factory.mktemp("pictures")) as running:
        yield running


def test_the_chart(window: browser.Browser, shown: Board) -> None:
    window.open(f"{shown.url}#scalars")
    window.wait_for("found(e => e.textContent.trim() === 'tag: loss').length", "chart's title")
    window.wait_for(
        f"{_CURVES}.some(path => path.split('L').length >= {STEPS})",
        "curve with a point for every step",
    )


def test_the_graph_with_its_scopes(window: browser.Browser, shown: Board) -> None:
    window.open(f"{shown.url}#graphs")
    drawn = window.wait_for(f"({_NODES}).includes('encoder') && {_NODES}", "graph")
    assert {"batch", "encoder", "objective", "gradients", "GradientDescent"} <= set(drawn)
    assert "encoder/MatMul" not in drawn, "a scope is shut at first"
    scene = "found(e => e.localName === 'tf-graph-scene')[0]"
    window.run(f"{scene}.fire('node-toggle-expand', {{name: 'encoder'}});")
    window.wait_for(f"({_NODES}).includes('encoder/MatMul')", "node of the opened scope")


def test_a_nodes_cost(window: browser.Browser, shown: Board) -> None:
    window.open(f"{shown.url}#graphs")
    window.wait_for(f"({_NODES}).includes('encoder')", "graph")
    tag = f"found(e => e.localName === 'paper-item' && e.textContent.trim() === '{TRACE_TAG}')"
    window.wait_for(f"{tag}.length", "trace to choose")
    window.run(f"{tag}[0].click();")
    graph = "found(e => e.localName === 'tf-graph')[0]"
    window.wait_for(f"{graph} && {graph}.stats && ({_NODES}).includes('encoder')", "measured graph")
    window.run(f"{graph}.set('selectedNode', 'encoder/MatMul');")
    window.wait_for(f"/Compute Time\\s+[\\d.]+ .?s/.test({_NODE_CARD})", "time of the node")
    assert window.run(f"return /Tensor Output Sizes\\s+\\[5, 3\\]/.test({_NODE_CARD});")
