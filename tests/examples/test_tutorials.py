"""Every program of examples/ runs unmodified, as a process, and says what it should."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


class Tutorial(NamedTuple):
    """A program, its arguments ("{folder}" is a new folder), and lines that it must print.

    A pattern's groups are numbers, which have to lie in the ranges of `bounds`.
    """

    script: str
    arguments: str
    pattern: str
    bounds: tuple[tuple[float, float], ...] = ()
    py2: bool = False
    job: str = ""  # the options of `penstock launch` for a program that is several processes


TUTORIALS = (
    Tutorial("softmax_regression", "--steps 100", r"^test accuracy: ([\d.]+)$", ((0.85, 1),)),
    Tutorial(
        "convolutional_net",
        "--steps 50 --logdir {folder}",
        r"^restored model-50: test accuracy ([\d.]+)$",
        ((0.8, 1),),
    ),
    Tutorial(
        "char_rnn",
        "--steps 60 --units 48 --sample_length 20",
        r"^step 60: loss ([\d.]+), perplexity [\d.]+\nsample: The ",
        ((0.5, 2.9),),
    ),
    Tutorial(
        "word2vec", "--steps 500", r"^step 500: average loss ([\d.]+)\nnearest to ", ((1, 2.6),)
    ),
    Tutorial(
        "queue_pipeline",
        "--epochs 10 --data_dir {folder}",
        r"^read all records in (\d+) steps, last loss ([\d.]+)$",
        ((200, 200), (0, 0.6)),
    ),
    Tutorial(
        "estimator_digits",
        "--steps 100 --logdir {folder}",
        r"^step 100: loss ([\d.]+), accuracy ([\d.]+)\n(?:a \d read as \d .*\n){5}"
        r"exported: saved_model.pb, variables$",
        ((0, 0.8), (0.8, 1)),
    ),
    Tutorial(
        "wide_and_deep",
        "--steps 100 --logdir {folder}",
        r"^accuracy: ([\d.]+)\naccuracy_baseline: ([\d.]+)\nauc: ([\d.]+)$",
        ((0.75, 1), (0.5, 0.6), (0.8, 1)),
    ),
    Tutorial(
        "keras_digits",
        "--epochs 2 --logdir {folder}",
        r"^sequential: test accuracy ([\d.]+)\n"
        r"functional: digits right ([\d.]+), even or odd right ([\d.]+)$",
        ((0.5, 1), (0.8, 1), (0.8, 1)),
    ),
    Tutorial(
        "slim_digits",
        "--steps 50 --logdir {folder}",
        r"^final loss: ([\d.]+)\naccuracy: ([\d.]+)\nrecall of 7: [\d.]+$",
        ((0, 0.6), (0.5, 1)),
    ),
    Tutorial(
        "seq2seq_reverse",
        "--steps 120 --max_length 4",
        r"^step 120: loss ([\d.]+)\n(?:\d+ -> \d*\n){3}reversed: (\d+) of 100$",
        ((0, 0.5), (60, 100)),
    ),
    Tutorial(
        "gan", "--steps 400", r"^made: mean ([\d.]+), stddev ([\d.]+)$", ((2.5, 3.5), (0.2, 1.2))
    ),
    Tutorial(
        "reinforce_grid", "--episodes 200", r"^episode 200: average reward ([\d.]+)", ((0.4, 1),)
    ),
    Tutorial(
        "loops_and_gradients",
        "--width 30",
        r"^newton: (\d+) steps, .*\n(?:step .*\n)*step 60: loss [\d.]+, damping ([\d.]+)\n"
        r"gradient of log1pexp at 100: 1\.0$",
        ((10, 40), (0.27, 0.33)),
    ),
    Tutorial(
        "monitored_training",
        "--steps 200 --logdir {folder}",
        r"^starting at step 0\n101 steps, .*\nstarting at step 100\n"
        r"101 steps, average loss ([\d.]+)\nlatest checkpoint: step 200$",
        ((0, 0.1),),
    ),
    Tutorial(
        "old_spellings",
        "--steps 200 --logdir {folder}",
        r"^step 200 loss 0\.000000\nb = 0\.30\nw = 0\.10, 0\.20$",
        py2=True,
    ),
    Tutorial(
        "image_pipeline",
        "--output_dir {folder}",
        r"^JPEG differs from PNG by ([\d.]+) .*\n(?:batch \(4, 48, 48, 3\), .*\n){4}"
        r"read 16 pictures",
        ((0.1, 4),),
    ),
    Tutorial(
        "load_models",
        "--export_dir {folder}",
        r"^0 xor 1: saved model ([\d.]+), frozen graph ([\d.]+)\n(?:1 xor .*\n){2}the same: True$",
        ((0.9, 1), (0.9, 1)),
    ),
    Tutorial(
        "distributed_mnist",
        "--mode async --steps 200",
        r"^\[worker 0\] test accuracy after global step (\d+): ([\d.]+)$",
        ((200, 203), (0.8, 1)),
        job="--ps 1 --workers 2",
    ),
    Tutorial(
        "distributed_mnist",
        "--mode backup --steps 100 --model_dir {folder}",
        r"^\[worker 0\] test accuracy after global step (\d+): ([\d.]+)$",
        ((100, 101), (0.8, 1)),
        job="--ps 1 --workers 3",
    ),
    Tutorial(
        "mirrored_mnist",
        "--replicas 2 --steps 100",
        r"^2 replicas: test accuracy ([\d.]+)$",
        ((0.8, 1),),
    ),
    Tutorial(
        "mirrored_mnist",
        "--steps 100",
        r"^\[worker 0\] 2 replicas: test accuracy ([\d.]+)$",
        ((0.8, 1),),
        job="--ps 0 --workers 2",
    ),
    Tutorial(
        "distributed_word2vec",
        "--steps 300",
        r"^\[worker 0\] its \d+ steps: average loss at the end ([\d.]+)\n"
        r"(?:\[.*\n)*\[worker 0\] nearest to cat: ",
        ((1, 6),),
        job="--ps 2 --workers 2",
    ),
    Tutorial(
        "estimator_cluster",
        "--steps 300 --model_dir {folder}",
        r"^step (\d+): error ([\d.]+)\nweight 2\.00, bias -1\.00\nexports: 1$",
        ((300, 300), (0, 0.01)),
    ),
    Tutorial(
        "estimator_cluster",
        "--steps 300 --model_dir {folder}",
        r"^\[evaluator 0\] step (\d+): error ([\d.]+)\n"
        r"\[evaluator 0\] weight 2\.00, bias -1\.00\n\[evaluator 0\] exports: 1$",
        ((300, 306), (0, 0.01)),
        job="--chief --evaluator --ps 1 --workers 2",
    ),
    Tutorial(
        "a3c",
        "--environment balance --target 40 --steps 2500",
        # Chance alone keeps the pole up for 22 moves.
        r"^\[worker \d\] learned at update \d+: average return ([\d.]+)$",
        ((40, 500),),
        job="--ps 1 --workers 2",
    ),
)


def test_every_example_is_run():
    scripts = {path.stem for path in EXAMPLES.glob("*.py")}
    assert scripts == {tutorial.script for tutorial in TUTORIALS}
    table = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert scripts == set(re.findall(r"\((\w+)\.py\)", table))


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda tutorial: tutorial.script)
def test_tutorial(tutorial, tmp_path):
    output = run(tutorial, tmp_path)
    found = re.search(tutorial.pattern, output, re.MULTILINE)
    assert found, output
    for number, (low, high) in zip(found.groups(), tutorial.bounds, strict=True):
        assert low <= float(number) <= high, found[0]


def run(tutorial: Tutorial, folder: Path) -> str:
    """What a program prints; it runs in `folder`, so that it leaves nothing anywhere else."""
    start = ["run", *["--py2"] * tutorial.py2]
    if tutorial.job:
        start = ["launch", *tutorial.job.split()]
    command = [sys.executable, "-m", "penstock", *start]
    command += [str(EXAMPLES / f"{tutorial.script}.py")]
    command += tutorial.arguments.format(folder=folder / "output").split()
    (folder / "output").mkdir()
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
