"""Steps on a cluster of one parameter server and two workers, in Penstock and in TensorFlow."""
