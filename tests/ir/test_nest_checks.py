"""What the internal `nest` says of structures that don't fit each other."""

import collections

import pytest

from penstock import nest

Pair = collections.namedtuple("Pair", "a b")


def test_a_difference_below_is_told_before_one_in_number():
    with pytest.raises(ValueError, match=r"Substructure \"type=tuple str=\(1, 2\)\" is a sequence"):
        nest.assert_same_structure(((1, 2), 3, 4), ("x", "y"))
    with pytest.raises(ValueError, match="same number of elements"):
        nest.assert_same_structure((1, 2, 3), ("x", "y"))


def test_views_of_dicts_are_structures():
    ordered = collections.OrderedDict([("d", 3), ("b", 1)])
    assert nest.flatten(ordered.values()) == [3, 1]
    assert nest.flatten(ordered.items()) == ["d", 3, "b", 1]
    packed = nest.pack_sequence_as(ordered.items(), ["d", 4, "b", 5])
    assert packed == [("d", 4), ("b", 5)]
    assert nest.map_structure(str, ordered.values()) == ["3", "1"]


def test_every_sequence_but_a_string_is_a_structure():
    assert nest.flatten([range(3), "ab", b"cd", bytearray(b"e")]) == [0, 1, 2, "ab", b"cd", b"e"]
    queue = collections.deque([1, (2, 3)])
    assert nest.flatten(queue) == [1, 2, 3]
    doubled = nest.map_structure(lambda x: 2 * x, queue)
    assert type(doubled) is collections.deque
    assert list(doubled) == [2, (4, 6)]
    assert nest.map_structure(str, range(2)) == ["0", "1"]
    assert not nest.is_nested({1, 2})


@pytest.mark.parametrize(
    ("shallow", "deep", "error", "message"),
    [
        (
            [1, 2, 3],
            [1, 2],
            ValueError,
            nest._STRUCTURES_HAVE_MISMATCHING_LENGTHS.format(input_length=2, shallow_length=3),
        ),
        (
            {"a": 1},
            {"a": 1, "b": 2},
            ValueError,
            nest._STRUCTURES_HAVE_MISMATCHING_LENGTHS.format(input_length=2, shallow_length=1),
        ),
        ({"a": 1, "d": 2}, {"a": 1, "b": 2}, ValueError, "['d']"),
        (
            [[1]],
            [(1,)],
            TypeError,
            nest._STRUCTURES_HAVE_MISMATCHING_TYPES.format(input_type=tuple, shallow_type=list),
        ),
        ([9], 0, TypeError, nest._IF_SHALLOW_IS_SEQ_INPUT_MUST_BE_SEQ.format(int)),
    ],
)
def test_shallow_structures_that_are_no_upper_part(shallow, deep, error, message):
    with pytest.raises(error) as raised:
        nest.assert_shallow_structure(shallow, deep)
    assert message in str(raised.value)


def test_a_shallow_dict_may_leave_keys_out_on_request():
    deep = {"a": "A", "b": "B", "c": "C"}
    found = nest.flatten_with_tuple_paths_up_to({"a": 1, "c": 2}, deep, check_subtrees_length=False)
    assert found == [(("a",), "A"), (("c",), "C")]
    with pytest.raises(ValueError, match="fewer elements than the shallow_tree"):
        nest.flatten_up_to([1, 2, 3], [1, 2], check_subtrees_length=False)


def test_kinds_of_structures():
    assert nest._is_mapping({}) and not nest._is_mapping([])
    assert nest._is_namedtuple(Pair(1, 2)) and not nest._is_namedtuple((1, 2))
    assert not nest._is_attrs(Pair(1, 2))


def test_lists_of_any_class_are_one_type():
    class Own(list):
        pass

    nest.assert_same_structure([1, [2]], Own([1, Own([2])]))
    with pytest.raises(TypeError, match="sequence type"):
        nest.assert_same_structure([1], (1,))
