"""`tf.contrib.specs`: networks as short expressions; texts are TensorFlow 1.15's."""

from __future__ import annotations

import pytest

import penstock as tf
from penstock.contrib.specs import building, composition, parameters, summaries


@pytest.mark.parametrize(
    ("spec", "shape", "structure"),
    [
        (
            "net = Cr(4, [3, 3]) | Mp([2, 2])",
            [1, 4, 4, 4],
            "_ variablev2 conv variablev2 biasadd relu maxpool",
        ),
        ("net = Fs(3) + Ft(3)", [1, 8, 8, 3], None),
        ("net = Conc(3, Idx(), Id) | Flat", [1, 6 * 64], None),
        ("net = Cl(5, _1=[1, 1])", [1, 8, 8, 5], "_ variablev2 conv variablev2 biasadd"),
        ("net = (Relu | Sig) ** 2", [1, 8, 8, 3], "_ relu sig relu sig"),
        ("net = Relu ** 0", [1, 8, 8, 3], "_"),
    ],
)
def test_a_spec_makes_a_network(spec, shape, structure):
    inputs = tf.placeholder(tf.float32, [1, 8, 8, 3])
    net = building.create_net(spec, inputs)
    assert net.shape == shape
    if structure:
        assert summaries.tf_structure(net).strip() == structure


def test_a_shared_part_has_its_variables_once():
    building.create_net("f = Shared(Fr(3)); net = f | f", tf.zeros([2, 3]))
    assert len(tf.global_variables()) == 2


def test_only_assignments_are_specs():
    with pytest.raises(ValueError, match="keyword 'import' found in spec"):
        building.eval_spec("import os")
    with pytest.raises(ValueError, match="spec failed to create 'net'"):
        building.create_net("other = Relu", 1)
    assert building.eval_spec("text = 'import'") == {"text": "import"}


def test_parameters_are_expressions_of_mathematics():
    assert building.eval_params("a = sqrt(16.0); b = c + 1", {"c": 2}) == {"a": 4, "b": 3, "c": 2}
    assert 1 <= parameters.Li(1, 3) <= 3
    assert parameters.Nt(1.0, 0.0) == 1.0


def test_words_of_specs_are_names_inside_a_with_block():
    with building.ops:
        net = Fs(3) | Fm(2)  # noqa: F821
    assert "Fm" not in globals()
    assert net.funcall(tf.zeros([2, 4])).shape == [2, 2]


def test_keywords_take_places():
    assert composition.get_positional([1, None], {"_1": 5, "_3": 7, "x": 2}) == (
        [1, 5, None, 7],
        {"x": 2},
    )


def test_parameters_are_counted_and_printed():
    net = building.create_net("net = Fl(7) | Fl(2)", tf.placeholder(tf.float32, [1, 3]))
    lines: list[str] = []
    summaries.tf_parameter_summary(net, lines.append)
    assert lines == [
        "         0 Placeholder          [1, 3]",
        "        28 fully_connected      [1, 7]",
        "        16 fully_connected_1    [1, 2]",
    ]
    assert summaries.tf_num_params(net) == 44
    lines.clear()
    summaries.tf_print(net, printer=lines.append)
    assert lines[0] == "fully_connected_1/BiasAdd BiasAdd [1, 2]"
