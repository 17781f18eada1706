"""Slots: the variables that optimizers and moving averages keep beside others."""

from __future__ import annotations

from typing import Any


def _creator(tf: Any) -> Any:
    """TensorFlow keeps its slot creator out of the public namespace."""
    if tf.__name__.startswith("tensorflow"):
        from tensorflow.python.training import slot_creator
    else:
        from penstock.train import slots as slot_creator
    return slot_creator


def _slots(tf: Any, use_resource: bool) -> Any:
    slots = _creator(tf)
    v = tf.Variable([1.0, 2.0], name="v", use_resource=use_resource)
    w = tf.get_variable(
        "w", [2, 3], use_resource=use_resource, partitioner=tf.fixed_size_partitioner(2)
    )
    made = [
        slots.create_slot(v, tf.constant([1.0, 1.0]), name="slot"),
        slots.create_zeros_slot(v, name="zero"),
        slots.create_zeros_slot(v, name="zero", dtype=tf.float64),
        slots.create_slot_with_initializer(
            v, tf.ones_initializer(), v.get_shape(), tf.float32, name="ones"
        ),
        slots.create_slot(v, tf.constant([1.0, 1.0]), "free", colocate_with_primary=False),
        slots.create_slot(tf.constant([1.0, 2.0], name="x"), tf.constant([1.0, 1.0]), name="of_x"),
    ]
    with tf.name_scope("names"):
        made += [slots.create_zeros_slot(v, name="named")]
    with tf.variable_scope("scope", partitioner=tf.fixed_size_partitioner(2)):
        made += [slots.create_zeros_slot(list(w)[1], name="part")]
    made += [slots.create_zeros_slot(next(iter(w)), name="part")]
    infos = [slot._get_save_slice_info() for slot in made[-2:]]
    return [
        [(slot, slot.trainable) for slot in made],
        [(info.full_name, info.spec) for info in infos],
    ]


def slots_of_references(tf: Any) -> Any:
    return _slots(tf, use_resource=False)


def slots_of_resources(tf: Any) -> Any:
    return _slots(tf, use_resource=True)


def slots_of_unknown_shape(tf: Any) -> Any:
    slots = _creator(tf)
    value = tf.placeholder(tf.float32)
    v = tf.Variable(value, validate_shape=False, name="v")
    r = tf.Variable(value, validate_shape=False, name="r", use_resource=True)
    return [slots.create_zeros_slot(v, name="zero"), slots.create_zeros_slot(r, name="zero")]
