"""How cuDNN is set up, which needs no GPU to be seen."""

import pytest
import torch

from penstock.runtime.cudnn import configure_cudnn


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    for name in ("TF_CUDNN_USE_AUTOTUNE", "TF_CUDNN_DETERMINISTIC", "TF_DETERMINISTIC_OPS"):
        monkeypatch.delenv(name, raising=False)
    cudnn = torch.backends.cudnn
    monkeypatch.setattr(cudnn, "benchmark", cudnn.benchmark)
    monkeypatch.setattr(cudnn, "deterministic", cudnn.deterministic)


@pytest.mark.parametrize(
    ("variables", "measures", "deterministic"),
    [
        ({}, True, False),
        ({"TF_CUDNN_USE_AUTOTUNE": "0"}, False, False),
        ({"TF_CUDNN_DETERMINISTIC": "true"}, False, True),
        ({"TF_DETERMINISTIC_OPS": "1"}, False, True),
    ],
)
def test_environment(monkeypatch, variables, measures, deterministic):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    configure_cudnn()
    cudnn = torch.backends.cudnn
    assert (cudnn.benchmark, cudnn.deterministic) == (measures, deterministic)
