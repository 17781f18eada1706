"""`tf.contrib.predictor`: functions from arrays to arrays, of exported models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import penstock as tf
from penstock import saved_model
from penstock.contrib import lazy_paths
from penstock.platform import logging

_OLD_KEY = "default_input_alternative:{}"
#: `tf.estimator.ModeKeys.PREDICT`
_PREDICT = "infer"


class Predictor:
    """Runs a model: call it with a dict of inputs, get a dict of outputs."""

    def __init__(
        self, graph: Any, session: Any, inputs: Mapping[str, str], outputs: Mapping[str, str]
    ):
        self._graph = graph
        self._session = session
        self._feed_tensors = {key: graph.get_tensor_by_name(name) for key, name in inputs.items()}
        self._fetch_tensors = {key: graph.get_tensor_by_name(name) for key, name in outputs.items()}

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


def _signature(meta_graph: Any, key: str | None) -> Any:
    key = key or saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    signatures = meta_graph.signature_def
    if key in signatures:
        return signatures[key]
    old_key = _OLD_KEY.format(key)
    if old_key in signatures:
        logging.warning('Could not find signature def "%s". Using "%s" instead', key, old_key)
        return signatures[old_key]
    raise ValueError(f'Got signature_def_key "{key}". Available signatures are {list(signatures)}.')


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
    if (input_names is None) != (output_names is None):
        raise ValueError(
            "input_names and output_names must both be specified or both be unspecified."
        )
    if sum(given is not None for given in (signature_def_key, signature_def, input_names)) > 1:
        raise ValueError(
            "You must specify at most one of signature_def_key OR signature_def OR(input_names "
            "AND output_names)."
        )
    graph = graph or tf.Graph()
    with graph.as_default():
        session = tf.Session(config=config)
        meta_graph = saved_model.loader.load(session, (tags or "serve").split(","), export_dir)
    if input_names is None or output_names is None:
        signature = signature_def or _signature(meta_graph, signature_def_key)
        input_names = {key: info.name for key, info in signature.inputs.items()}
        output_names = {key: info.name for key, info in signature.outputs.items()}
    return Predictor(graph, session, input_names, output_names)


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
      output_key: which of the model's export outputs to give.
    """
    graph = graph or tf.Graph()
    with graph.as_default():
        receiver = serving_input_receiver_fn()
        tf.train.create_global_step(graph)
        spec = estimator._call_model_fn(receiver.features, None, _PREDICT, estimator.config)
        checkpoint = tf.train.latest_checkpoint(estimator.model_dir)
        creator = tf.train.ChiefSessionCreator(
            config=config, checkpoint_filename_with_path=checkpoint, scaffold=spec.scaffold
        )
        session = tf.train.MonitoredSession(session_creator=creator)
    fetched = spec.predictions
    if output_key is not None:
        fetched = spec.export_outputs[output_key].outputs
    if not isinstance(fetched, dict):
        fetched = {"output": fetched}
    inputs = {key: tensor.name for key, tensor in receiver.receiver_tensors.items()}
    return Predictor(graph, session, inputs, {key: each.name for key, each in fetched.items()})


__getattr__ = lazy_paths.resolver(__name__)

#: TensorFlow has modules in here, whose names are these.
__path__: list[str] = []
