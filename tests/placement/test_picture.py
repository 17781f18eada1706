"""The schedule of a step as a picture: text, SVG and a page."""

from xml.etree import ElementTree

import pytest

import penstock as tf
from penstock.ir.registry import find
from penstock.ir.step_graph import Node
from penstock.placement.picture import as_html, as_svg, as_text, duration
from penstock.placement.simulate import Bar, Schedule

SVG = "{http://www.w3.org/2000/svg}"


def bar(kind, device, begin, end, name="n"):
    return Bar(Node(find(kind), name, {}, [], []), device, begin, end)


@pytest.fixture
def schedule():
    bars = (
        bar("MatMul", "/device:CPU:0", 0.0, 0.6),
        bar("Exp", "/device:CPU:0", 0.6, 0.8),
        bar("MatMul", "/device:CPU:1", 0.5, 1.0, "a<b>&'c'"),
    )
    return Schedule(("/device:CPU:0", "/device:CPU:1"), bars, 1.0)


def test_text(schedule):
    assert as_text(schedule, width=10).splitlines() == [
        "/device:CPU:0 |aaaaaabb..|  80% busy",
        "/device:CPU:1 |.....aaaaa|  50% busy",
        "a MatMul 1.1 s  b Exp 200 ms",
    ]


def test_a_column_shows_what_takes_most_of_it():
    bars = (bar("Exp", "d", 0.0, 0.4), bar("MatMul", "d", 0.4, 1.0), bar("Exp", "d", 1.0, 2.0))
    assert "|ba|" in as_text(Schedule(("d",), bars, 2.0), width=2)


def test_a_step_that_takes_no_time():
    assert as_text(Schedule(("d",), (), 0.0)) == "nothing that takes time"


def test_svg_has_a_bar_for_each_node(schedule):
    root = ElementTree.fromstring(as_svg(schedule))
    titles = [title.text for title in root.iter(f"{SVG}title")]
    assert titles[2] == "MatMul 'a<b>&'c'': 500 ms from 500 ms"
    bars = [rect for rect in root.iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None]
    lengths = [float(rect.get("width")) for rect in bars]
    assert lengths[0] / lengths[1] == pytest.approx(3, rel=1e-2)
    assert len({rect.get("fill") for rect in bars}) == 2


def test_a_page_loads_nothing(schedule):
    page = as_html(schedule, "x < y")
    assert "x &lt; y" in page and "<svg" in page
    assert "src=" not in page and "href=" not in page and "<script" not in page


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (4.2e-5, "42 us"), (0.0, "0 us")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text


class TestExplain:
    def test_a_row_for_each_device(self):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [256, 256])
            with tf.device("/cpu:0"):
                a = tf.matmul(x, x, name="a")
            with tf.device("/cpu:1"):
                b = tf.matmul(a, a, name="b")
            config = tf.ConfigProto(device_count={"CPU": 2})
            with tf.Session(config=config) as sess:
                said = tf.explain(b, [x], sess)
        assert "schedule: " in said and "estimated times" in said
        rows = [line for line in said.splitlines() if line.endswith("% busy")]
        assert [row.partition(" ")[0] for row in rows] == ["/device:CPU:0", "/device:CPU:1"]
        begins = {bar.node.name: bar.begin for bar in said.schedule.bars}
        assert begins["a"] == 0 and begins["b"] > said.schedule.makespan / 2
        assert "MatMul &#x27;a&#x27;" in said.svg and said.svg in said.html
        assert said._repr_html_() == said.svg

    def test_measured_times(self):
        with tf.Graph().as_default():
            x = tf.placeholder(tf.float32, [2])
            y = tf.exp(x, name="y")
            metadata = tf.RunMetadata()
            row = metadata.step_stats.dev_stats.add(
                device="/job:localhost/replica:0/task:0/device:CPU:0"
            )
            row.node_stats.add(node_name="y", op_end_rel_micros=1500)
            said = tf.explain(y, [x], run_metadata=metadata)
        assert "schedule: 1.5 ms, simulated with measured times" in said
