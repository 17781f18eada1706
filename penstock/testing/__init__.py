"""What tests of programs and ops are written with; `tf.test` has the public names."""
