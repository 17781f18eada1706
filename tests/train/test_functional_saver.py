"""Savers whose nodes are made by each call."""

import pytest

import penstock as tf
from penstock.train.functional_saver import MultiDeviceSaver
from penstock.train.saveables import saveable_objects_for_op


def saveables(**variables):
    return [
        saveable
        for name, variable in variables.items()
        for saveable in saveable_objects_for_op(variable, name)
    ]


def test_each_device_writes_a_file_of_its_own(tmp_path):
    variables = []
    for index in range(3):
        with tf.device(f"/cpu:{index}"):
            variables.append(tf.Variable(float(index), use_resource=True))
    saver = MultiDeviceSaver(saveables(**{f"v{i}": v for i, v in enumerate(variables)}))
    prefix = str(tmp_path / "model")
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as session:
        session.run([variable.initializer for variable in variables])
        session.run(saver.save(prefix))
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            *(f"model.data-0000{i}-of-00003" for i in range(3)),
            "model.index",
        ]
        session.run([variable.assign(-1.0) for variable in variables])
        session.run(saver.restore(prefix))
        assert session.run(variables) == [0.0, 1.0, 2.0]


def test_a_saver_def_names_nodes_that_save_and_restore(tmp_path):
    variable = tf.Variable(2.0)
    saver_def = MultiDeviceSaver(saveables(x=variable)).to_proto()
    feed = {saver_def.filename_tensor_name: str(tmp_path / "model")}
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(saver_def.save_tensor_name, feed)
        session.run(variable.assign(1.0))
        session.run(saver_def.restore_op_name, feed)
        assert session.run(variable) == 2.0


def test_what_is_no_saveable_is_refused():
    with pytest.raises(ValueError, match="Expected a dictionary of SaveableObjects"):
        MultiDeviceSaver([tf.Variable(1.0)])
