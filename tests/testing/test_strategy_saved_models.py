"""The test case that saves a model under one strategy and loads it under another."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode
from penstock.testing import strategy_saved_models as cases


class _ModuleCase(cases.TestSavedModelBase):
    """Saves a module, whose one weight is `weight` when it is loaded."""

    weight = 3.0

    def runTest(self) -> None:
        """Tests call the methods themselves."""

    def _train_model(self, model: Any, x_train: Any, y_train: Any, batch_size: int) -> None:
        pass

    def _predict_with_model(self, distribution: Any, model: Any, predict_dataset: Any) -> Any:
        return model(next(iter(predict_dataset)))

    def _save_model(self, model: Any, saved_dir: str) -> None:
        model.v.assign(self.weight)
        call = model.__call__.get_concrete_function(tf.TensorSpec([None, 3]))
        tf.saved_model.save(model, saved_dir, signatures=call)

    def _load_and_run_model(
        self,
        distribution: Any,
        saved_dir: str,
        predict_dataset: Any,
        output_name: str,
        experimental_run_tf_function: bool,
    ) -> Any:
        return cases.load_and_run_with_saved_model_api(
            distribution, saved_dir, predict_dataset, "output_0"
        )


@pytest.mark.parametrize("weight", [3.0, 4.0])
def test_another_result_after_loading_is_found(weight: float) -> None:
    with eager_mode():
        case = _ModuleCase()
        case.setUp()
        case.weight = weight
        given = (cases.SimpleTFModuleModel(), tf.distribute.OneDeviceStrategy("/cpu:0"), True)
        if weight == 3.0:
            case.run_test_save_no_strategy_restore_strategy(*given)
        else:
            with pytest.raises(AssertionError):
                case.run_test_save_no_strategy_restore_strategy(*given)


def test_models_are_ready_for_training() -> None:
    with tf.Graph().as_default():
        for named in (cases.simple_functional_model, cases.simple_sequential_model):
            model, output = named._obj.get_model(experimental_run_tf_function=True)
            assert model.optimizer is not None and model.layers[-1].name == output
            assert [array.shape.as_list() for array in named._obj.get_data()] == [
                [1000, 3],
                [1000, 5],
                [1000, 3],
            ]


def test_combinations_name_models_and_strategies() -> None:
    pairs = cases.simple_models_with_strategy_pairs()
    assert len(pairs) == 2 * 2 * len(cases.strategies) ** 2
    assert len(cases.tfmodule_models_with_strategies()) == len(cases.strategies)
