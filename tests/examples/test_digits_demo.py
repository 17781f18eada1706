import re

import penstock as tf
from penstock.examples import digits_demo


def test_demo_reads_held_out_digits(capsys):
    with tf.Graph().as_default():
        digits_demo.main()
    output = capsys.readouterr().out
    accuracy = re.search(r"([\d.]+)% of 300 held-out digits", output)
    assert accuracy, output
    assert float(accuracy[1]) >= 95
    assert "steps/s" in output
