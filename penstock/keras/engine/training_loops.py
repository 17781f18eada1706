"""`fit`, `evaluate` and `predict`: loops over batches of arrays or of generators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.keras.callbacks import CallbackList, configured
from penstock.keras.distribute.input_checks import validate_callbacks
from penstock.keras.engine import training_data
from penstock.keras.engine.batch_sources import (
    batch_source,
    evaluated,
    first_batch,
    is_dataset,
    is_endless,
    is_source,
    known_steps,
    refuse_beside,
    tensor_source,
)
from penstock.keras.engine.data_checks import check_steps_beside_arrays
from penstock.keras.engine.joined_outputs import OutputsAggregator
from penstock.keras.engine.layer_graph import in_layer_graph, is_eager_outside
from penstock.keras.engine.static_batches import settled_batch_size
from penstock.keras.engine.worker_tasks import in_task
from penstock.keras.utils.progress_bar import Progbar


class TrainingLoops:
    """The methods of a model that go through data."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What the model has that these methods are mixed into."""

    # One batch ----------------------------------------------------------------------------------

    @in_layer_graph
    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        reset_metrics: bool = True,
    ) -> Any:
        """One step on one batch: the loss, or a list of it and the metrics."""
        x, y, sample_weight = evaluated(first_batch(self, x, y, sample_weight))
        inputs, targets, weights = self._standardized(x, y, sample_weight, class_weight)
        results = self._function("train")([*inputs, *targets, *weights, 1])
        if reset_metrics:
            self.reset_metrics()
        return _single(results)

    @in_layer_graph
    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True
    ) -> Any:
        """The loss of one batch, or a list of it and the metrics."""
        x, y, sample_weight = evaluated(first_batch(self, x, y, sample_weight))
        inputs, targets, weights = self._standardized(x, y, sample_weight)
        results = self._function("test")([*inputs, *targets, *weights, 0])
        if reset_metrics:
            self.reset_metrics()
        return _single(results)

    @in_layer_graph
    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch."""
        x = evaluated(first_batch(self, x)[0])
        return _single(self._function_for_inputs(x)([*self._standardized_inputs(x), 0]))

    def _function_for_inputs(self, x: Any) -> Any:
        self._prepare_for(x)
        return self._function("predict")

    # Arrays -------------------------------------------------------------------------------------

    @in_layer_graph
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: Any = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Trains the model; the result's `history` has the losses and metrics of the epochs.

        Args:
          x: array, list of arrays, dictionary by input name; generator, `Sequence` or dataset.
          y: labels in the same forms; none for generators and datasets, which give both.
          batch_size: 32 by default.
          verbose: 0 for silence, 1 for a progress bar, 2 for a line per epoch.
          validation_split: part of the samples, from the end, that are only tested.
          validation_data: (x, y) or (x, y, weights) to test after each epoch.
          shuffle: whether to mix the samples before each epoch; "batch" mixes batches.
          initial_epoch: number of the first epoch.
        """
        if kwargs.pop("nb_epoch", None) is not None:
            raise TypeError("`nb_epoch` is called `epochs`")
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self._require_compiled()
        if is_source(x):
            refuse_beside(x, y, sample_weight, validation_split, batch_size)
            return self.fit_generator(
                x,
                steps_per_epoch=steps_per_epoch,
                epochs=epochs,
                verbose=verbose,
                callbacks=callbacks,
                validation_data=validation_data,
                validation_steps=validation_steps,
                validation_freq=validation_freq,
                class_weight=class_weight,
                shuffle=bool(shuffle),
                initial_epoch=initial_epoch,
            )
        data = (x, y, sample_weight)
        of_loop: dict[str, Any] = {
            "epochs": epochs,
            "initial_epoch": initial_epoch,
            "verbose": verbose,
            "callbacks": callbacks,
            "validation_steps": validation_steps,
            "validation_freq": validation_freq,
        }
        if validation_steps and validation_data is None and not 0.0 < validation_split < 1.0:
            raise ValueError(
                "`validation_steps` should not be specified if `validation_data` is None."
            )
        tensors = tensor_source(self, data, steps_per_epoch, "steps_per_epoch", class_weight)
        if tensors is not None:
            if validation_split and validation_data is None:
                raise ValueError(
                    "If your data is in the form of symbolic tensors, you cannot use "
                    "`validation_split`."
                )
            validation = self._validation_of(validation_data, validation_steps)
            return self._fit(tensors, validation, batch_size=None, **of_loop)
        check_steps_beside_arrays(self, x, batch_size, steps_per_epoch, "steps_per_epoch")
        batch_size = settled_batch_size(self, x, batch_size)
        arrays, validation = self._arrays_to_fit(
            (*data, class_weight), validation_data, validation_steps, validation_split
        )
        inputs, targets, weights = arrays
        count = inputs[0].shape[0] if inputs else targets[0].shape[0]
        source = _ArrayBatches([*inputs, *targets, *weights], count, batch_size, shuffle)
        if steps_per_epoch is not None:
            source.limit = steps_per_epoch
        return self._fit(source, validation, batch_size=batch_size, **of_loop)

    def _arrays_to_fit(
        self,
        given: tuple[Any, ...],
        validation_data: Any,
        validation_steps: int | None,
        validation_split: float,
    ) -> tuple[Any, Any]:
        """Inputs, labels and weights to train with, and what to validate on (None for nothing)."""
        arrays = self._standardized(*given)
        if validation_data is not None:
            validation = self._validation_of(validation_data, validation_steps)
            if isinstance(validation, tuple):
                # Weights may have been given here alone: the training data then gets ones.
                arrays = self._standardized(*given)
            return arrays, validation
        if not 0.0 < (validation_split or 0.0) < 1.0:
            return arrays, None
        at = int(arrays[0][0].shape[0] * (1.0 - validation_split))
        first, last = slice(0, at), slice(at, None)
        return (
            tuple(training_data.rows(each, first) for each in arrays),
            tuple(training_data.rows(each, last) for each in arrays),
        )

    def _validation_of(self, given: Any, steps: int | None) -> Any:
        """Lists of arrays, or a source of batches, of what is given to validate on."""
        if given is None or is_source(given):
            return given
        if len(given) not in (2, 3):
            raise ValueError(
                "When passing a `validation_data` argument, it must contain either 2 items (x_val, "
                "y_val), or 3 items (x_val, y_val, val_sample_weights), or alternatively it could "
                "be a dataset or a dataset or a dataset iterator. However we received "
                f"`validation_data={given}`"
            )
        tensors = tensor_source(self, tuple(given), steps, "validation_steps")
        return self._standardized(*given) if tensors is None else tensors

    @in_layer_graph
    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int = 1,
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The loss on data, or a list of it and the metrics (`metrics_names`)."""
        self._require_compiled()
        if is_source(x):
            refuse_beside(x, y, sample_weight, batch_size=batch_size)
            return self.evaluate_generator(x, steps=steps, callbacks=callbacks, verbose=verbose)
        tensors = tensor_source(self, (x, y, sample_weight), steps, "steps")
        if tensors is not None:
            return _single(self._evaluate(tensors, verbose=verbose, callbacks=callbacks))
        check_steps_beside_arrays(self, x, batch_size, steps, "steps")
        size = settled_batch_size(self, x, batch_size)
        inputs, targets, weights = self._standardized(x, y, sample_weight)
        count = inputs[0].shape[0]
        source = _ArrayBatches([*inputs, *targets, *weights], count, size, False)
        source.limit = steps
        return _single(self._evaluate(source, verbose=verbose, callbacks=callbacks))

    @in_layer_graph
    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: int = 0,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The outputs for data."""
        if is_source(x):
            refuse_beside(x, batch_size=batch_size)
            return self.predict_generator(x, steps=steps, callbacks=callbacks, verbose=verbose)
        tensors = tensor_source(self, (x,), steps, "steps", only_inputs=True)
        if tensors is not None:
            return _single(self._predict(tensors, verbose=verbose, callbacks=callbacks))
        check_steps_beside_arrays(self, x, batch_size, steps, "steps")
        size = settled_batch_size(self, x, batch_size)
        inputs = self._standardized_inputs(x)
        count = inputs[0].shape[0]
        source = _ArrayBatches(inputs, count, size, False)
        source.limit = steps
        return _single(self._predict(source, verbose=verbose, callbacks=callbacks))

    # Generators ---------------------------------------------------------------------------------

    @in_layer_graph
    def fit_generator(
        self,
        generator: Any,
        steps_per_epoch: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_data: Any = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        class_weight: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        shuffle: bool = True,
        initial_epoch: int = 0,
    ) -> Any:
        """Trains on what a generator or `Sequence` gives: (x, y) or (x, y, weights)."""
        self._require_compiled()
        source = batch_source(self, generator, steps_per_epoch, class_weight, shuffle)
        validation = validation_data
        if validation is not None and not is_source(validation):
            validation = self._validation_of(validation_data[:3], validation_steps)
        elif is_endless(validation) and not validation_steps:
            raise ValueError("Please specify the `validation_steps` argument.")
        return self._fit(
            source,
            validation,
            epochs=epochs,
            initial_epoch=initial_epoch,
            verbose=verbose,
            callbacks=callbacks,
            validation_steps=validation_steps,
            validation_freq=validation_freq,
            batch_size=None,
        )

    @in_layer_graph
    def evaluate_generator(
        self,
        generator: Any,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """The loss on what a generator gives, or a list of it and the metrics."""
        self._require_compiled()
        source = batch_source(self, generator, steps)
        source.steps_name = "steps"
        return _single(self._evaluate(source, verbose=verbose, callbacks=callbacks))

    @in_layer_graph
    def predict_generator(
        self,
        generator: Any,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """The outputs for what a generator gives."""
        source = batch_source(self, generator, steps, only_inputs=True)
        source.steps_name = "steps"
        return _single(self._predict(source, verbose=verbose, callbacks=callbacks))

    # The loops ----------------------------------------------------------------------------------

    @in_task
    def _fit(
        self,
        source: Any,
        validation: Any,
        epochs: int,
        initial_epoch: int,
        verbose: int,
        callbacks: Any,
        validation_steps: int | None,
        validation_freq: Any,
        batch_size: int | None,
    ) -> Any:
        if self._distribution_strategy is not None:
            validate_callbacks(_listed(callbacks), self.optimizer)
        # Making the step's nodes first: callbacks may ask for the optimizer's variables.
        source.prepare()
        function = self._function("train")
        listeners = configured(
            self,
            callbacks,
            epochs=epochs,
            batch_size=batch_size,
            steps=source.shown_steps,
            samples=source.samples,
            verbose=verbose,
            has_validation=validation is not None,
        )
        if verbose and source.samples is not None and source.steps is None:
            _announce(source.samples, validation)
        elif verbose and (source.samples is not None or is_dataset(source.source)):
            _announce_steps(source.shown_steps, validation_steps or known_steps(validation))
        self.stop_training = False
        source.epochs = epochs
        means: list[Any] = []
        listeners.on_train_begin()
        if self._training_state is not None:
            initial_epoch = self._training_state.first_epoch(initial_epoch)
        for epoch in range(initial_epoch, epochs):
            self.reset_metrics()
            logs: dict[str, Any] = {}
            listeners.on_epoch_begin(epoch, {})
            totals = _Totals()
            size = None
            for index, (values, size) in enumerate(source.batches()):
                batch_logs: dict[str, Any] = {"batch": index, "size": size}
                listeners.on_train_batch_begin(index, batch_logs)
                results = function([*values, 1])
                totals.add(results, size)
                batch_logs.update(zip(self._reported_names, results, strict=True))
                listeners.on_train_batch_end(index, batch_logs)
                if self.stop_training:
                    break
            # Where the data ended with the last epoch, this one repeats its values.
            means = totals.means() if size is not None or not means else means
            logs.update(zip(self._reported_names, means, strict=True))
            is_due = not self.stop_training and _is_due(validation_freq, epoch)
            if validation is not None and is_due:
                # Arrays are tested in batches as large as those of the source that trains.
                size_of_tests = batch_size or size
                results = self._validated(validation, validation_steps, size_of_tests, listeners)
                names = [f"val_{name}" for name in self._reported_names]
                logs.update(zip(names, results, strict=True))
            listeners.on_epoch_end(epoch, logs)
            source.on_epoch_end()
            if self.stop_training:
                break
        listeners.on_train_end()
        return self.history

    def _validated(
        self, validation: Any, steps: int | None, batch_size: int | None, listeners: CallbackList
    ) -> list[Any]:
        source: Any = validation
        if is_source(validation):
            source = batch_source(self, validation, steps)
            source.steps_name = "validation_steps"
        elif isinstance(validation, tuple):
            arrays = [array for each in validation for array in each]
            count = arrays[0].shape[0]
            # Mixed, as in TensorFlow: seeded programs get their later epochs' order from it.
            is_mixed = steps is None and not self._has_loop_of_eager_mode()
            source = _ArrayBatches(arrays, count, batch_size or 32, shuffle=is_mixed)
            source.limit = steps
        return self._evaluate(source, verbose=0, listeners=listeners)

    def _has_loop_of_eager_mode(self) -> bool:
        return is_eager_outside() and (self._experimental_run_tf_function or self.run_eagerly)

    @in_task
    def _evaluate(
        self,
        source: Any,
        verbose: int = 0,
        callbacks: Any = None,
        listeners: CallbackList | None = None,
    ) -> list[Any]:
        source.prepare()
        function = self._function("test")
        if listeners is None:
            listeners = CallbackList(_listed(callbacks))
            listeners.set_model(self)
        bar = _bar(source, verbose, self._reported_names[1:])
        self.reset_metrics()
        listeners.on_test_begin()
        totals = _Totals()
        for index, (values, size) in enumerate(source.batches()):
            logs: dict[str, Any] = {"batch": index, "size": size}
            listeners.on_test_batch_begin(index, logs)
            results = function([*values, 0])
            totals.add(results, size)
            logs.update(zip(self._reported_names, results, strict=True))
            listeners.on_test_batch_end(index, logs)
            if bar is not None:
                pairs = list(zip(self._reported_names, results, strict=True))
                bar.add(size if source.samples is not None else 1, pairs)
        listeners.on_test_end()
        return totals.means()

    @in_task
    def _predict(self, source: Any, verbose: int, callbacks: Any) -> list[Any]:
        source.prepare()
        function = self._function("predict")
        listeners = CallbackList(_listed(callbacks))
        listeners.set_model(self)
        bar = _bar(source, verbose)
        self.reset_metrics()  # whatever ran before: each pass over data begins with it
        listeners.on_predict_begin()
        counts_steps = source.samples is None or source.steps is not None
        joined = OutputsAggregator(counts_steps, num_samples=source.samples)
        done = 0
        for index, (values, size) in enumerate(source.batches()):
            logs = {"batch": index, "size": size}
            listeners.on_predict_batch_begin(index, logs)
            outputs = function([*values, 0])
            if index == 0:
                joined.create(outputs)
            joined.aggregate(outputs, done, done + size)
            done += size
            listeners.on_predict_batch_end(index, {**logs, "outputs": outputs})
            if bar is not None:
                bar.add(size if source.samples is not None else 1)
        listeners.on_predict_end()
        if not joined.results:
            raise ValueError("There is no data to predict on")
        joined.finalize()
        results: list[Any] = joined.results
        return results


class _ArrayBatches:
    """Batches of arrays of the same number of samples."""

    def __init__(self, arrays: list[Any], samples: int, batch_size: int, shuffle: Any):
        self.arrays = arrays
        self.samples: int | None = samples
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.limit: int | None = None

    @property
    def shown_steps(self) -> int | None:
        return self.steps

    @property
    def steps(self) -> int | None:
        """The number of steps, where it was given: else the samples are counted."""
        return self.limit

    def prepare(self) -> None:
        """Nothing: the data is there."""

    def batches(self) -> Any:
        assert self.samples is not None
        order: Any = np.arange(self.samples)
        if self.shuffle == "batch":
            order = _shuffled_batches(order, self.batch_size)
        elif self.shuffle:
            np.random.shuffle(order)  # noqa: NPY002 the program seeds it
        for start, end in training_data.batches(self.samples, self.batch_size)[: self.limit]:
            index = order[start:end] if self.shuffle else slice(start, end)
            yield training_data.rows(self.arrays, index), end - start

    def on_epoch_end(self) -> None:
        """Nothing: the next epoch has the same samples."""


def _shuffled_batches(order: Any, size: int) -> Any:
    whole = len(order) // size * size
    groups = order[:whole].reshape(-1, size)
    np.random.shuffle(groups)  # noqa: NPY002 the program seeds it
    return np.append(groups.ravel(), order[whole:])


class _Totals:
    """The loss' mean over samples; metrics keep their own state, so their last value counts."""

    def __init__(self) -> None:
        self.loss: Any = 0.0
        self.samples = 0
        self.metrics: list[Any] = []

    def add(self, results: list[Any], size: int) -> None:
        # A loss that a program adds may have a value for each sample.
        self.loss = self.loss + _number(results[0]) * size
        self.samples += size
        self.metrics = list(results[1:])

    def means(self) -> list[Any]:
        if not self.samples:
            raise ValueError("Empty training data.")
        return [self.loss / self.samples, *map(_number, self.metrics)]


def _number(value: Any) -> Any:
    return float(value) if np.ndim(value) == 0 else value


def _single(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _listed(callbacks: Any) -> list[Any]:
    if callbacks is None:
        return []
    return list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]


def _is_due(validation_freq: Any, epoch: int) -> bool:
    if isinstance(validation_freq, int):
        return (epoch + 1) % validation_freq == 0
    return epoch + 1 in validation_freq


def _bar(source: Any, verbose: int, metrics: Any = ()) -> Progbar | None:
    """The bar of a test or prediction; metrics count over batches themselves."""
    if verbose != 1:
        return None
    if source.samples is not None:
        return Progbar(target=source.samples, unit_name="sample", stateful_metrics=metrics)
    return Progbar(target=source.steps, stateful_metrics=metrics)


def _announce_steps(steps: int | None, validation_steps: int | None) -> None:
    import sys

    is_eager = is_eager_outside()  # where TensorFlow's other loops print
    if is_eager and steps is None:
        return
    word = "for" if is_eager else "on"
    more = f", validate {word} {validation_steps} steps" if validation_steps else ""
    sys.stdout.write(f"Train {word} {steps} steps{more}\n")


def _announce(samples: int, validation: Any) -> None:
    """Says how many samples there are, before a progress bar."""
    import sys

    text = f"Train on {samples} samples"
    if isinstance(validation, tuple) and validation[0] and validation[0][0] is not None:
        text += f", validate on {validation[0][0].shape[0]} samples"
    sys.stdout.write(text + "\n")
