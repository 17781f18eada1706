"""`tf.contrib.predictor`: functions from arrays to arrays, of exported models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import penstock as tf
from penstock import saved_model
from penstock.contrib import lazy_paths
from penstock.contrib.saved_model.reader import read_saved_model
from penstock.platform import logging

DEFAULT_TAGS = "serve"
_OLD_KEY = "default_input_alternative:{}"
#: `tf.estimator.ModeKeys.PREDICT`
_PREDICT = "infer"


class Predictor:
    """Runs a model: call it with a dict of inputs, get a dict of outputs.

    A subclass sets the graph, the session, and the tensors to feed and to fetch.
    """

    _graph: Any
    _session: Any
    _feed_tensors: dict[str, Any]
    _fetch_tensors: dict[str, Any]

    def _use(self, inputs: Mapping[str, str], outputs: Mapping[str, str]) -> None:
        """Finds the tensors to feed and to fetch by their names."""
        find = self._graph.get_tensor_by_name
        self._feed_tensors = {key: find(name) for key, name in inputs.items()}
        self._fetch_tensors = {key: find(name) for key, name in outputs.items()}

    @property
    def graph(self) -> Any:
        return self._graph

    @property
    def session(self) -> Any:
        return self._session

    @property
    def feed_tensors(self) -> dict[str, Any]:
        return self._feed_tensors

    @property
    def fetch_tensors(self) -> dict[str, Any]:
        return self._fetch_tensors

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} with feed tensors {self._feed_tensors} and fetch_tensors "
            f"{self._fetch_tensors}"
        )

    def __call__(self, input_dict: Mapping[str, Any]) -> Any:
        """The outputs, by name, of inputs by name."""
        unexpected = set(input_dict) - set(self._feed_tensors)
        if unexpected:
            raise ValueError(
                f"Got unexpected keys in input_dict: {unexpected}\nexpected: "
                f"{set(self._feed_tensors)}"
            )
        feeds = {
            tensor: input_dict[key]
            for key, tensor in self._feed_tensors.items()
            if input_dict.get(key) is not None
        }
        return self._session.run(self._fetch_tensors, feed_dict=feeds)


def get_meta_graph_def(saved_model_dir: Any, tags: str) -> Any:
    """The graph of a SavedModel with exactly these tags, a list with commas."""
    wanted = {tag.strip() for tag in tags.split(",")}
    for meta_graph in read_saved_model(saved_model_dir).meta_graphs:
        if set(meta_graph.meta_info_def.tags) == wanted:
            return meta_graph
    raise ValueError(f"Could not find MetaGraphDef with tags {tags}")


def _signature(key: str | None, export_dir: Any, tags: str) -> Any:
    key = key or saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    signatures = get_meta_graph_def(export_dir, tags).signature_def
    if key in signatures:
        return signatures[key]
    old_key = _OLD_KEY.format(key)
    if old_key in signatures:
        logging.warning('Could not find signature def "%s". Using "%s" instead', key, old_key)
        return signatures[old_key]
    raise ValueError(f'Got signature_def_key "{key}". Available signatures are {list(signatures)}.')


def _check_signature_arguments(
    signature_def_key: Any, signature_def: Any, input_names: Any, output_names: Any
) -> None:
    if (input_names is None) != (output_names is None):
        raise ValueError(
            "input_names and output_names must both be specified or both be unspecified."
        )
    if sum(given is not None for given in (signature_def_key, signature_def, input_names)) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key OR signature_def OR(input_names "
            "AND output_names)."
        )


class SavedModelPredictor(Predictor):
    """Runs a SavedModel; see `from_saved_model`."""

    def __init__(
        self,
        export_dir: Any,
        signature_def_key: str | None = None,
        signature_def: Any = None,
        input_names: Mapping[str, str] | None = None,
        output_names: Mapping[str, str] | None = None,
        tags: str | None = None,
        graph: Any = None,
        config: Any = None,
    ):
        _check_signature_arguments(signature_def_key, signature_def, input_names, output_names)
        tags = tags or DEFAULT_TAGS
        self._graph = graph or tf.Graph()
        with self._graph.as_default():
            self._session = tf.Session(config=config)
            saved_model.loader.load(self._session, tags.split(","), export_dir)
        if input_names is None or output_names is None:
            signature = signature_def or _signature(signature_def_key, export_dir, tags)
            input_names = {key: info.name for key, info in signature.inputs.items()}
            output_names = {key: info.name for key, info in signature.outputs.items()}
        self._use(input_names, output_names)


def from_saved_model(
    export_dir: Any,
    signature_def_key: str | None = None,
    signature_def: Any = None,
    input_names: Mapping[str, str] | None = None,
    output_names: Mapping[str, str] | None = None,
    tags: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """A predictor of a SavedModel.

    Args:
      signature_def_key: which signature tells the inputs and outputs.
      signature_def: the signature itself.
      input_names: names of tensors by names of inputs, together with `output_names`.
      tags: which graph, as a list with commas; `serve` by default.
    """
    return SavedModelPredictor(
        export_dir,
        signature_def_key=signature_def_key,
        signature_def=signature_def,
        input_names=input_names,
        output_names=output_names,
        tags=tags,
        graph=graph,
        config=config,
    )


class CoreEstimatorPredictor(Predictor):
    """Runs the newest checkpoint of a `tf.estimator.Estimator`; see `from_estimator`."""

    def __init__(
        self,
        estimator: Any,
        serving_input_receiver_fn: Any,
        output_key: str | None = None,
        graph: Any = None,
        config: Any = None,
    ):
        self._graph = graph or tf.Graph()
        with self._graph.as_default():
            receiver = serving_input_receiver_fn()
            tf.train.create_global_step(self._graph)
            spec = estimator._call_model_fn(receiver.features, None, _PREDICT, estimator.config)
            checkpoint = tf.train.latest_checkpoint(estimator.model_dir)
            creator = tf.train.ChiefSessionCreator(
                config=config, checkpoint_filename_with_path=checkpoint, scaffold=spec.scaffold
            )
            self._session = tf.train.MonitoredSession(session_creator=creator)
            outputs = _output_names(spec, output_key, receiver)
        inputs = {key: tensor.name for key, tensor in receiver.receiver_tensors.items()}
        self._use(inputs, outputs)


def _output_names(spec: Any, output_key: str | None, receiver: Any) -> dict[str, str]:
    """The names of what a model gives: an export output, or, where it has none, predictions."""
    if not spec.export_outputs and output_key is None:
        given = spec.predictions
        given = given if isinstance(given, dict) else {"output": given}
        return {key: tensor.name for key, tensor in given.items()}
    exported = spec.export_outputs or {}
    key = output_key or saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if key not in exported:
        raise KeyError(f"output_key must be one of {exported.keys()}; got {key}")
    signature = exported[key].as_signature_def(receiver.receiver_tensors)
    return {name: info.name for name, info in signature.outputs.items()}


def from_estimator(
    estimator: Any,
    serving_input_receiver_fn: Any,
    output_key: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """A predictor of an estimator's newest checkpoint.

    Args:
      serving_input_receiver_fn: makes the placeholders and the features.
      output_key: which of the model's export outputs to give; the default one if None.
    """
    from penstock.contrib.learn.estimator import Estimator

    if isinstance(estimator, Estimator):
        raise TypeError(
            "Expected estimator to be of type tf.python.estimator.Estimator, but got type "
            "tf.contrib.learn.Estimator. You likely want to call from_contrib_estimator."
        )
    return CoreEstimatorPredictor(
        estimator, serving_input_receiver_fn, output_key=output_key, graph=graph, config=config
    )


class ContribEstimatorPredictor(Predictor):
    """Runs the newest checkpoint of an estimator of `tf.contrib.learn`."""

    def __init__(
        self,
        estimator: Any,
        prediction_input_fn: Any,
        input_alternative_key: str | None = None,
        output_alternative_key: str | None = None,
        graph: Any = None,
        config: Any = None,
    ):
        from penstock.contrib.learn.utils import saved_models

        self._graph = graph or tf.Graph()
        with self._graph.as_default():
            given = prediction_input_fn()
            model = estimator._get_predict_ops(given.features)
            checkpoint = tf.train.latest_checkpoint(estimator.model_dir)
            creator = tf.train.ChiefSessionCreator(
                config=config, checkpoint_filename_with_path=checkpoint
            )
            self._session = tf.train.MonitoredSession(session_creator=creator)
        inputs, _ = saved_models.get_input_alternatives(given)
        key = input_alternative_key or saved_models.DEFAULT_INPUT_ALTERNATIVE_KEY
        self._feed_tensors = inputs[key]
        outputs, chosen = saved_models.get_output_alternatives(model, output_alternative_key)
        _, self._fetch_tensors = outputs[chosen]


def from_contrib_estimator(
    estimator: Any,
    prediction_input_fn: Any,
    input_alternative_key: str | None = None,
    output_alternative_key: str | None = None,
    graph: Any = None,
    config: Any = None,
) -> Predictor:
    """A predictor of the newest checkpoint of a `tf.contrib.learn` estimator.

    Args:
      prediction_input_fn: gives `InputFnOps`.
      input_alternative_key: which of the inputs to feed; the default ones if None.
      output_alternative_key: which head's outputs to give, if there are several.
    """
    if isinstance(estimator, tf.estimator.Estimator):
        raise TypeError(
            "Expected estimator to be of type tf.contrib.learn.Estimator, but got type "
            "tf.python.estimator.Estimator. You likely want to call from_estimator."
        )
    return ContribEstimatorPredictor(
        estimator,
        prediction_input_fn,
        input_alternative_key=input_alternative_key,
        output_alternative_key=output_alternative_key,
        graph=graph,
        config=config,
    )


__getattr__ = lazy_paths.resolver(__name__)

#: TensorFlow has modules in here, whose names are these.
__path__: list[str] = []
