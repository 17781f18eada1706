"""The test case for states of iterators: `DatasetSerializationTestBase`.

A run of a dataset is cut at some of its elements. Each part runs in a graph and a session of its
own, which take the iterator's state from the checkpoint that the part before has left; together the
parts have to give what one run without a cut gives.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from penstock import dtypes, errors
from penstock.data import dataset as datasets
from penstock.data.experimental import make_saveable_from_iterator
from penstock.data.options import Options
from penstock.ir.collections import GraphKeys
from penstock.ir.composite import SparseTensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph
from penstock.ir.tensor import Tensor
from penstock.nest import flatten, is_nested, map_structure, pack_sequence_as
from penstock.ops.lookup_tables import tables_initializer
from penstock.ops.variable_collections import global_variables_initializer
from penstock.testing.test_case import TensorFlowTestCase
from penstock.train.checkpoint_state import latest_checkpoint
from penstock.train.saved_graphs import import_meta_graph
from penstock.train.saver import Saver

MakeDataset = Callable[[], Any]

_COLLECTION = "iterator_ops"


def remove_variants(get_next_op: Any) -> Any:
    """The element without its variants, which no session gives out."""

    def fetched(part: Any) -> Any:
        return () if isinstance(part, Tensor) and part.dtype == dtypes.variant else part

    return map_structure(fetched, get_next_op)


class DatasetSerializationTestBase(TensorFlowTestCase):
    """Saves iterators at some of their elements, and goes on from there.

    In all methods `ds_fn` makes the dataset, `num_outputs` is how many elements it has, and
    `sparse_tensors` says that its elements are the three parts of a sparse tensor.
    """

    def tearDown(self) -> None:
        directory = self.get_temp_dir()
        for name in os.listdir(directory):
            if name.startswith(os.path.basename(self._ckpt_path())):
                os.remove(os.path.join(directory, name))
        super().tearDown()

    def run_core_tests(
        self, ds_fn: MakeDataset, num_outputs: int, sparse_tensors: bool = False
    ) -> None:
        """Cuts at the beginning, at the end, beyond it, and at places between."""
        options = Options()
        options.experimental_optimization.apply_default_optimizations = False

        def plain() -> Any:
            return ds_fn().with_options(options)

        for verify in (
            self.verify_unused_iterator,
            self.verify_fully_used_iterator,
            self.verify_exhausted_iterator,
            self.verify_multiple_breaks,
            self.verify_reset_restored_iterator,
        ):
            verify(plain, num_outputs, sparse_tensors=sparse_tensors)

    def verify_unused_iterator(
        self,
        ds_fn: MakeDataset,
        num_outputs: int,
        sparse_tensors: bool = False,
        verify_exhausted: bool = True,
    ) -> None:
        """Saves before the first element."""
        self.verify_run_with_breaks(ds_fn, [0], num_outputs, sparse_tensors, verify_exhausted)

    def verify_fully_used_iterator(
        self, ds_fn: MakeDataset, num_outputs: int, sparse_tensors: bool = False
    ) -> None:
        """Saves after the last element, before the iterator has noticed its end."""
        self.verify_run_with_breaks(ds_fn, [num_outputs], num_outputs, sparse_tensors)

    def verify_exhausted_iterator(
        self, ds_fn: MakeDataset, num_outputs: int, sparse_tensors: bool = False
    ) -> None:
        """Saves after the end: the restored iterator is at its end, too."""
        self.gen_outputs(ds_fn, [], num_outputs, sparse_tensors=sparse_tensors)
        rest = self.gen_outputs(ds_fn, [], 0, ckpt_saved=True, sparse_tensors=sparse_tensors)
        self.assertEqual(rest, [])

    def verify_multiple_breaks(
        self,
        ds_fn: MakeDataset,
        num_outputs: int,
        num_breaks: int = 10,
        sparse_tensors: bool = False,
        verify_exhausted: bool = True,
    ) -> None:
        """Saves at `num_breaks` places, evenly from the beginning to the end."""
        breaks = self.gen_break_points(num_outputs, num_breaks)
        self.verify_run_with_breaks(ds_fn, breaks, num_outputs, sparse_tensors, verify_exhausted)

    def verify_reset_restored_iterator(
        self,
        ds_fn: MakeDataset,
        num_outputs: int,
        break_point: int | None = None,
        sparse_tensors: bool = False,
        verify_exhausted: bool = True,
    ) -> None:
        """Initializes a restored iterator again: it begins with the first element."""
        expected = self.gen_outputs(
            ds_fn,
            [],
            num_outputs,
            sparse_tensors=sparse_tensors,
            verify_exhausted=verify_exhausted,
        )
        middle = break_point or num_outputs // 2
        self.gen_outputs(ds_fn, [], middle, sparse_tensors=sparse_tensors, verify_exhausted=False)
        with self._part(ds_fn, sparse_tensors, restored=True) as (session, init_op, element, _):
            self._initialize(init_op, session)
            actual = [session.run(element) for _ in range(num_outputs)]
            if verify_exhausted:
                self._assert_at_end(session, element)
        self.match(expected, actual)

    def verify_error_on_save(
        self,
        ds_fn: MakeDataset,
        num_outputs: int,
        error: type[Exception],
        break_point: int | None = None,
        sparse_tensors: bool = False,
    ) -> None:
        """Expects that the state of the iterator can't be saved."""
        with self._part(ds_fn, sparse_tensors, restored=False) as (session, _, element, saver):
            for _ in range(break_point or num_outputs // 2):
                session.run(element)
            with self.assertRaises(error):
                self._save(session, saver)

    def verify_run_with_breaks(
        self,
        ds_fn: MakeDataset,
        break_points: Sequence[int],
        num_outputs: int,
        sparse_tensors: bool = False,
        verify_exhausted: bool = True,
    ) -> None:
        """Compares a run that is cut at `break_points` with one that isn't."""
        expected, actual = (
            self.gen_outputs(
                ds_fn,
                breaks,
                num_outputs,
                sparse_tensors=sparse_tensors,
                verify_exhausted=verify_exhausted,
            )
            for breaks in ([], break_points)
        )
        self.match(expected, actual)

    def gen_outputs(
        self,
        ds_fn: MakeDataset,
        break_points: Sequence[int],
        num_outputs: int,
        ckpt_saved: bool = False,
        sparse_tensors: bool = False,
        verify_exhausted: bool = True,
        save_checkpoint_at_end: bool = True,
    ) -> list[Any]:
        """The elements of a run that is cut at `break_points`.

        Args:
          ckpt_saved: whether the first part, too, goes on from a checkpoint.
          verify_exhausted: whether nothing may come after `num_outputs` elements.
          save_checkpoint_at_end: whether the last part leaves a checkpoint.
        """
        outputs: list[Any] = []
        ends = [*(int(point) for point in break_points), num_outputs]
        for part, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
            last = part == len(ends) - 1
            with self._part(ds_fn, sparse_tensors, ckpt_saved) as (session, _, element, saver):
                outputs += [session.run(element) for _ in range(end - start)]
                if last and verify_exhausted:
                    self._assert_at_end(session, element)
                if not last or save_checkpoint_at_end:
                    self._save(session, saver)
                    ckpt_saved = True
        return outputs

    def match(self, expected: Any, actual: Any) -> None:
        """Asserts that two structures of values, sparse and ragged ones among them, are equal."""
        expected, actual = (
            each.tolist() if isinstance(each, np.ndarray) else each for each in (expected, actual)
        )
        self.assertEqual(type(expected), type(actual))
        if isinstance(expected, dict):
            self.assertEqual(sorted(expected), sorted(actual))
            for key in expected:
                self.match(expected[key], actual[key])
        elif is_nested(expected):
            self.assertEqual(len(expected), len(actual))
            for wanted, value in zip(expected, actual, strict=True):
                self.match(wanted, value)
        elif hasattr(expected, "row_splits"):
            self.match(expected.values, actual.values)
            self.match(expected.row_splits, actual.row_splits)
        else:
            self.assertEqual(expected, actual)

    def does_not_match(self, expected: Any, actual: Any) -> None:
        with self.assertRaises(AssertionError):
            self.match(expected, actual)

    def gen_break_points(self, num_outputs: int, num_samples: int = 10) -> Any:
        """Evenly spaced places from 0 to `num_outputs`."""
        return np.linspace(0, num_outputs, num_samples, dtype=int)

    # One part of a run ----------------------------------------------------------------------------

    @contextmanager
    def _part(
        self, ds_fn: MakeDataset, sparse_tensors: bool, restored: bool
    ) -> Iterator[tuple[Any, Any, Any, Saver]]:
        """A session with an iterator, new or restored: (session, initializer, element, saver)."""
        with Graph().as_default() as graph:
            if restored:
                saver = self._import_meta_graph()
                init_op, element = self._get_iterator_ops_from_collection(ds_fn, sparse_tensors)
            else:
                init_op, element, saver = self._build_graph(ds_fn, sparse_tensors)
            with self.session(graph=graph) as session:
                self._initialize(init_op, session)
                if restored:
                    self._restore(saver, session)
                yield session, init_op, remove_variants(element), saver

    def _assert_at_end(self, session: Any, element: Any) -> None:
        with self.assertRaises(errors.OutOfRangeError):
            session.run(element)

    def _build_graph(
        self, ds_fn: MakeDataset, sparse_tensors: bool = False
    ) -> tuple[Any, Any, Saver]:
        iterator = datasets.make_initializable_iterator(ds_fn())
        graph = get_default_graph()
        graph.add_to_collection(GraphKeys.SAVEABLE_OBJECTS, make_saveable_from_iterator(iterator))
        element = iterator.get_next()
        if sparse_tensors:
            element = SparseTensor(*element)
        self._add_iterator_ops_to_collection(iterator.initializer, element, ds_fn, sparse_tensors)
        return iterator.initializer, element, Saver(allow_empty=True)

    def _add_iterator_ops_to_collection(
        self, init_op: Any, get_next: Any, ds_fn: MakeDataset, sparse_tensors: bool = False
    ) -> None:
        graph = get_default_graph()
        graph.add_to_collection(_COLLECTION, init_op)
        for leaf in flatten(get_next):
            for part in _parts(leaf):
                graph.add_to_collection(_COLLECTION, part)

    def _get_iterator_ops_from_collection(
        self, ds_fn: MakeDataset, sparse_tensors: bool = False
    ) -> tuple[Any, Any]:
        init_op, *parts = get_default_graph().get_collection(_COLLECTION)
        if sparse_tensors:
            return init_op, SparseTensor(*parts)
        remaining = iter(parts)
        leaves = [
            SparseTensor(*(next(remaining) for _ in range(3)))
            if leaf is SparseTensor
            else next(remaining)
            for leaf in flatten(self._get_output_classes(ds_fn))
        ]
        return init_op, pack_sequence_as(self._get_output_types(ds_fn), leaves)

    def _get_output_types(self, ds_fn: MakeDataset) -> Any:
        with Graph().as_default():
            return datasets.get_legacy_output_types(ds_fn())

    def _get_output_shapes(self, ds_fn: MakeDataset) -> Any:
        with Graph().as_default():
            return datasets.get_legacy_output_shapes(ds_fn())

    def _get_output_classes(self, ds_fn: MakeDataset) -> Any:
        with Graph().as_default():
            return datasets.get_legacy_output_classes(ds_fn())

    def _ckpt_path(self) -> str:
        return os.path.join(self.get_temp_dir(), "iterator")

    def _latest_ckpt(self) -> Any:
        return latest_checkpoint(self.get_temp_dir())

    def _save(self, sess: Any, saver: Saver) -> None:
        saver.save(sess, self._ckpt_path())

    def _restore(self, saver: Saver, sess: Any) -> None:
        sess.run(tables_initializer())
        saver.restore(sess, self._latest_ckpt())

    def _initialize(self, init_op: Any, sess: Any) -> None:
        sess.run(global_variables_initializer())
        sess.run(tables_initializer())
        sess.run(init_op)

    def _import_meta_graph(self) -> Any:
        return import_meta_graph(self._ckpt_path() + ".meta")


def _parts(leaf: Any) -> list[Any]:
    """The tensors of a component, for a collection holds no sparse tensors."""
    if isinstance(leaf, SparseTensor):
        return [leaf.indices, leaf.values, leaf.dense_shape]
    return [leaf]
