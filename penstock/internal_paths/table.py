"""Which modules of Penstock hold the names of which path inside TensorFlow.

A line is a path and its sources, in the order in which they are searched (a line that begins with a
space goes on with the one above); `.` is the package itself, for most of TensorFlow's internal
modules are where public functions are defined. `*` stands for the modules that TensorFlow has
there (`module_names`), in a source for the same; such a line is asked only for what has no line
itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib.util import find_spec

from penstock.internal_paths.module_names import NAMES

#: Paths that are imported for the op types which their sources register.
REGISTERS_OPS = frozenset({"python.framework.test_ops"})

PATHS = """
core.framework.*_pb2                      proto internal_paths.enum_values
core.protobuf.*_pb2                       proto internal_paths.enum_values
core.example.*_pb2                        proto internal_paths.enum_values
core.protobuf.tpu.*_pb2                   proto
core.util.*_pb2                           proto internal_paths.enum_values
core.profiler.*_pb2                       proto internal_paths.enum_values
core.grappler.costs.*_pb2                 proto internal_paths.enum_values
core.kernels.boosted_trees.*_pb2          proto
core.lib.core.error_codes_pb2           errors proto internal_paths.enum_values

contrib.framework.python.framework      contrib.framework
contrib.framework.python.framework.checkpoint_utils contrib.framework.checkpoints
 train.checkpoint_variables
contrib.framework.python.framework.experimental contrib.framework.printing
contrib.framework.python.framework.graph_util contrib.framework.graph_parts
contrib.framework.python.framework.tensor_util contrib.framework
contrib.framework.python.ops.audio_ops  internal_paths.generated_ops
contrib.framework.python.ops.checkpoint_ops contrib.framework.remapped_checkpoints
contrib.framework.python.ops.ops        contrib.framework.python.ops
contrib.framework.python.ops.prettyprint_ops contrib.framework.printing
contrib.framework.python.ops.script_ops contrib.framework.python_calls
contrib.framework.python.ops.sort_ops   ops.sorting
contrib.cluster_resolver.python         contrib.cluster_resolver
contrib.cluster_resolver.python.training contrib.cluster_resolver
contrib.cluster_resolver.python.training.* train.cluster_resolver contrib.cluster_resolver
contrib.checkpoint.python               contrib.checkpoint
contrib.checkpoint.python.containers    contrib.checkpoint
contrib.checkpoint.python.python_state  contrib.checkpoint
contrib.checkpoint.python.split_dependency contrib.checkpoint
contrib.checkpoint.python.visualize     contrib.checkpoint
contrib.data.python                     contrib.data
contrib.distribute.python               contrib.distribute
contrib.distribute.python.mirrored_strategy contrib.distribute internal_paths.strategy_names
 internal_paths.core_strategies
contrib.distribute.python.one_device_strategy contrib.distribute
contrib.distribute.python.collective_all_reduce_strategy contrib.distribute
contrib.distribute.python.parameter_server_strategy contrib.distribute
 internal_paths.core_strategies
contrib.data.python.ops                 contrib.data
contrib.data.python.ops.threadpool      contrib.data.threadpool
contrib.data.python.ops.*               contrib.data data.experimental data
contrib.lookup.lookup_ops               contrib.lookup lookup
contrib.stateless                       internal_paths.stateless_functions random .
contrib.image.python                    contrib.image
contrib.image.python.ops                contrib.image
contrib.image.python.ops.dense_image_warp contrib.image ops.image_warping
contrib.image.python.ops.image_ops      contrib.image
contrib.nccl.python                     contrib.nccl
contrib.nccl.python.ops                 contrib.nccl
contrib.nccl.python.ops.nccl_ops        ops.nccl
contrib.mixed_precision.python          contrib.mixed_precision
contrib.mixed_precision.python.loss_scale_manager contrib.mixed_precision.loss_scale_manager
contrib.mixed_precision.python.loss_scale_optimizer contrib.mixed_precision.loss_scale_optimizer
contrib.layers.python                   contrib.layers
contrib.layers.python.layers            contrib.layers
contrib.layers.python.layers.embedding_ops contrib.layers.embeddings
                                        contrib.layers.scattered_embeddings
contrib.layers.python.layers.encoders   contrib.layers.embeddings
contrib.layers.python.layers.feature_column contrib.layers.columns contrib.layers.columns.sparse
                                        contrib.layers.columns.bucketized
                                        contrib.layers.columns.crossed
                                        contrib.layers.columns.embedding
                                        contrib.layers.columns.one_hot
                                        contrib.layers.columns.parsing
                                        contrib.layers.columns.protocol
                                        contrib.layers.columns.real_valued
contrib.layers.python.layers.feature_column_ops contrib.layers.columns
                                        contrib.layers.columns.transformation
contrib.layers.python.layers.initializers contrib.layers.initializers
contrib.layers.python.layers.layers     contrib.layers contrib.layers.reshaping
 contrib.layers.data_formats
contrib.layers.python.layers.normalization contrib.layers.normalization
 contrib.layers.data_formats
contrib.layers.python.layers.optimizers contrib.layers.optimizers
contrib.layers.python.layers.regularizers contrib.layers.regularizers
contrib.layers.python.layers.rev_block_lib contrib.layers.reversible
contrib.layers.python.layers.summaries  contrib.layers.summaries
contrib.layers.python.layers.target_column contrib.layers.target_columns
contrib.layers.python.layers.utils      contrib.layers.named_outputs
 contrib.layers.known_values
contrib.layers.python.ops.bucketization_op contrib.layers.columns.bucketized
contrib.layers.python.ops.sparse_feature_cross_op ops.sparse_feature_cross
contrib.layers.python.ops.sparse_ops    contrib.layers.sparse_ids
contrib.losses.python                   contrib.losses
contrib.losses.python.losses            contrib.losses
contrib.losses.python.losses.loss_ops   contrib.losses
contrib.metrics.python                  contrib.metrics
contrib.metrics.python.metrics          contrib.metrics
contrib.metrics.python.metrics.classification contrib.metrics
contrib.metrics.python.ops              contrib.metrics
contrib.metrics.python.ops.confusion_matrix_ops contrib.metrics
contrib.metrics.python.ops.histogram_ops contrib.metrics contrib.metrics.histograms
contrib.metrics.python.ops.metric_ops   contrib.metrics contrib.metrics.concatenated
contrib.metrics.python.ops.set_ops      contrib.metrics
contrib.slim.python                     contrib.slim
contrib.slim.python.slim                contrib.slim
contrib.slim.python.slim.evaluation     contrib.slim.evaluation
contrib.slim.python.slim.learning       contrib.slim.learning
contrib.slim.python.slim.model_analyzer contrib.slim.model_analyzer
contrib.slim.python.slim.queues         contrib.slim.queues
contrib.slim.python.slim.summaries      contrib.slim.summaries
contrib.slim.python.slim.data           contrib.slim
contrib.slim.python.slim.data.data_decoder contrib.slim.data_decoder
contrib.slim.python.slim.data.data_provider contrib.slim.data_provider
contrib.slim.python.slim.data.dataset   contrib.slim.dataset
contrib.slim.python.slim.data.dataset_data_provider contrib.slim.dataset_data_provider
contrib.slim.python.slim.data.parallel_reader contrib.slim.parallel_reader
contrib.slim.python.slim.data.prefetch_queue contrib.slim.prefetch_queue
contrib.slim.python.slim.data.test_utils testing.image_records
contrib.slim.python.slim.data.tfexample_decoder contrib.slim.tfexample_decoder
contrib.slim.python.slim.nets           contrib.slim.nets
contrib.slim.python.slim.nets.alexnet   contrib.slim.nets.alexnet
contrib.slim.python.slim.nets.inception contrib.slim.nets.inception
contrib.slim.python.slim.nets.inception_v1 contrib.slim.nets.inception_v1
contrib.slim.python.slim.nets.inception_v2 contrib.slim.nets.inception_v2
contrib.slim.python.slim.nets.inception_v3 contrib.slim.nets.inception_v3
contrib.slim.python.slim.nets.overfeat  contrib.slim.nets.overfeat
contrib.slim.python.slim.nets.resnet_utils contrib.slim.nets.resnet_utils
contrib.slim.python.slim.nets.resnet_v1 contrib.slim.nets.resnet_v1
contrib.slim.python.slim.nets.resnet_v2 contrib.slim.nets.resnet_v2
contrib.slim.python.slim.nets.vgg       contrib.slim.nets.vgg

contrib.gan.python                      contrib.gan
contrib.gan.python.losses               contrib.gan.losses
contrib.gan.python.losses.python        contrib.gan.losses
contrib.gan.python.losses.python.losses_impl contrib.gan.losses.wargs
contrib.gan.python.losses.python.losses_wargs contrib.gan.losses.wargs
contrib.gan.python.losses.python.tuple_losses contrib.gan.losses.of_models
contrib.gan.python.losses.python.tuple_losses_impl contrib.gan.losses.of_models
contrib.gan.python.namedtuples          contrib.gan.namedtuples
contrib.gan.python.train                contrib.gan.train
contrib.gan.python.features.python.*_impl contrib.gan.features
contrib.gan.python.features.python.*    contrib.gan.features
contrib.gan.python.eval.python.classifier_metrics contrib.gan.eval.classifier_metrics
contrib.gan.python.eval.python.classifier_metrics_impl contrib.gan.eval.classifier_metrics
contrib.gan.python.eval.python.*        contrib.gan.eval
contrib.gan.python.estimator.python.*   contrib.gan.estimator
contrib.gan.python.*                    contrib.gan.*
contrib.graph_editor.util               contrib.graph_editor.elements
contrib.distributions.python.ops.bijectors contrib.distributions.bijectors
contrib.distributions.python.ops.bijectors.* contrib.distributions.bijectors
contrib.nn.python                       contrib.nn
contrib.nn.python.ops                   contrib.nn
contrib.nn.python.ops.alpha_dropout     contrib.nn
contrib.nn.python.ops.cross_entropy     contrib.nn
contrib.nn.python.ops.fwd_gradients     contrib.nn
contrib.nn.python.ops.sampling_ops      contrib.nn
contrib.nn.python.ops.scaled_softplus   contrib.nn
contrib.sparsemax.python                contrib.sparsemax
contrib.sparsemax.python.ops            contrib.sparsemax
contrib.sparsemax.python.ops.sparsemax  contrib.sparsemax
contrib.sparsemax.python.ops.sparsemax_loss contrib.sparsemax
contrib.predictor.predictor             contrib.predictor
contrib.predictor.predictor_factories   contrib.predictor
contrib.predictor.core_estimator_predictor contrib.predictor
contrib.predictor.contrib_estimator_predictor contrib.predictor
contrib.predictor.saved_model_predictor contrib.predictor
contrib.image.python.ops.distort_image_ops contrib.image.distortions
contrib.image.python.ops.interpolate_spline contrib.image.splines
contrib.periodic_resample.python        contrib.periodic_resample
contrib.periodic_resample.python.ops    contrib.periodic_resample
contrib.periodic_resample.python.ops.periodic_resample_op contrib.periodic_resample
contrib.reduce_slice_ops.python         contrib.reduce_slice_ops
contrib.reduce_slice_ops.python.ops     contrib.reduce_slice_ops
contrib.reduce_slice_ops.python.ops.reduce_slice_ops contrib.reduce_slice_ops
contrib.image.python.ops.sparse_image_warp contrib.image.control_points
contrib.solvers.python.ops.lanczos      contrib.solvers.lanczos
contrib.kernel_methods.python           contrib.kernel_methods
contrib.kernel_methods.python.losses    contrib.kernel_methods.losses
contrib.kernel_methods.python.kernel_estimators contrib.kernel_methods.estimators
contrib.kernel_methods.python.mappers   contrib.kernel_methods.mappers
contrib.kernel_methods.python.mappers.dense_kernel_mapper contrib.kernel_methods.mappers
contrib.kernel_methods.python.mappers.random_fourier_features contrib.kernel_methods.mappers
contrib.batching.python                 contrib.batching
contrib.batching.python.ops             contrib.batching
contrib.batching.python.ops.batch_ops   contrib.batching ops.batching internal_paths.generated_ops
contrib.proto.python                    contrib.proto
contrib.proto.python.ops                contrib.proto
contrib.proto.python.ops.decode_proto_op contrib.proto
contrib.proto.python.ops.encode_proto_op contrib.proto
contrib.copy_graph.python               contrib.copy_graph
contrib.copy_graph.python.util          contrib.copy_graph
contrib.copy_graph.python.util.copy_elements contrib.copy_graph
contrib.input_pipeline.python           contrib.input_pipeline
contrib.input_pipeline.python.ops       contrib.input_pipeline
contrib.input_pipeline.python.ops.input_pipeline_ops contrib.input_pipeline
contrib.eager.python                    contrib.eager
contrib.eager.python.tfe                contrib.eager
contrib.eager.python.datasets           contrib.eager
contrib.eager.python.metrics            contrib.eager.metrics
contrib.eager.python.network            contrib.eager.network
contrib.eager.python.saver              contrib.eager
contrib.eager.python.metrics_impl       contrib.eager.metrics
contrib.cudnn_rnn.python                contrib.cudnn_rnn
contrib.cudnn_rnn.python.layers         contrib.cudnn_rnn
contrib.cudnn_rnn.python.layers.cudnn_rnn contrib.cudnn_rnn contrib.cudnn_rnn.layers
 contrib.cudnn_rnn.names
contrib.cudnn_rnn.python.ops.cudnn_rnn_ops contrib.cudnn_rnn contrib.cudnn_rnn.layers
 contrib.cudnn_rnn.names
contrib.losses.python.metric_learning   contrib.losses.metric_learning
contrib.losses.python.metric_learning.metric_loss_ops contrib.losses.metric_learning
contrib.solvers.python                  contrib.solvers
contrib.solvers.python.ops              contrib.solvers
contrib.solvers.python.ops.least_squares contrib.solvers.conjugate_gradients
contrib.solvers.python.ops.linear_equations contrib.solvers.conjugate_gradients
contrib.solvers.python.ops.util         contrib.solvers.operators
contrib.specs.python                    contrib.specs
contrib.specs.python.params_ops         contrib.specs.parameters
contrib.specs.python.specs              contrib.specs.building
contrib.specs.python.specs_lib          contrib.specs.composition
contrib.specs.python.specs_ops          contrib.specs.operators
contrib.specs.python.summaries          contrib.specs.summaries
contrib.receptive_field.receptive_field_api contrib.receptive_field
contrib.receptive_field.python          contrib.receptive_field
contrib.receptive_field.python.util     contrib.receptive_field
contrib.receptive_field.python.util.graph_compute_order contrib.receptive_field.compute_order
contrib.receptive_field.python.util.parse_layer_parameters contrib.receptive_field.layer_parameters
contrib.receptive_field.python.util.receptive_field contrib.receptive_field.fields
contrib.recurrent.python                contrib.recurrent
contrib.recurrent.python.recurrent_api  contrib.recurrent
contrib.recurrent.python.ops            contrib.recurrent
contrib.recurrent.python.ops.functional_rnn contrib.recurrent.networks
contrib.recurrent.python.ops.recurrent  contrib.recurrent.recurrence
contrib.model_pruning.python            contrib.model_pruning
contrib.model_pruning.python.learning   contrib.model_pruning.learning
contrib.model_pruning.python.pruning    contrib.model_pruning.pruning
contrib.model_pruning.python.pruning_utils contrib.model_pruning.blocks
contrib.model_pruning.python.strip_pruning_vars_lib contrib.model_pruning.stripping
contrib.model_pruning.python.layers     contrib.model_pruning
contrib.model_pruning.python.layers.core_layers contrib.model_pruning.masked_layers
contrib.model_pruning.python.layers.layers contrib.model_pruning.masked_layers
contrib.model_pruning.python.layers.rnn_cells contrib.model_pruning.masked_cells
contrib.timeseries.python contrib.timeseries
contrib.timeseries.python.timeseries contrib.timeseries
contrib.timeseries.python.timeseries.ar_model contrib.timeseries.ar_model
contrib.timeseries.python.timeseries.estimators contrib.timeseries.estimators
contrib.timeseries.python.timeseries.feature_keys contrib.timeseries.feature_keys
contrib.timeseries.python.timeseries.head contrib.timeseries.head
 contrib.timeseries.feature_checks
contrib.timeseries.python.timeseries.input_pipeline contrib.timeseries.input_functions
 contrib.timeseries.readers contrib.timeseries.numpy_series
contrib.timeseries.python.timeseries.math_utils contrib.timeseries.log_probabilities
 contrib.timeseries.matrices contrib.timeseries.covariances contrib.timeseries.state_tables
 contrib.timeseries.input_statistics
contrib.timeseries.python.timeseries.model contrib.timeseries.model
 contrib.timeseries.sequential_model
contrib.timeseries.python.timeseries.model_utils contrib.timeseries.continuations
contrib.timeseries.python.timeseries.saved_model_utils contrib.timeseries.saved_model_utils
contrib.timeseries.python.timeseries.state_management contrib.timeseries.state_management
contrib.timeseries.python.timeseries.test_utils testing.series_models
contrib.timeseries.python.timeseries.state_space_models contrib.timeseries.state_space
contrib.timeseries.python.timeseries.state_space_models.test_utils testing.series_models
contrib.timeseries.python.timeseries.state_space_models.filtering_postprocessor
 contrib.timeseries.state_space.filtering_postprocessor
contrib.timeseries.python.timeseries.state_space_models.kalman_filter
 contrib.timeseries.state_space.kalman_filter
contrib.timeseries.python.timeseries.state_space_models.level_trend
 contrib.timeseries.state_space.level_trend
contrib.timeseries.python.timeseries.state_space_models.periodic
 contrib.timeseries.state_space.periodic
contrib.timeseries.python.timeseries.state_space_models.state_space_model
 contrib.timeseries.state_space.state_space_model
 contrib.timeseries.state_space.ensembles contrib.timeseries.state_space.configuration
contrib.timeseries.python.timeseries.state_space_models.structural_ensemble
 contrib.timeseries.state_space.structural_ensemble
contrib.timeseries.python.timeseries.state_space_models.varma contrib.timeseries.state_space.varma
contrib.quantize.python                 contrib.quantize
contrib.quantize.python.common          contrib.quantize.rewiring
contrib.quantize.python.fold_batch_norms contrib.quantize contrib.quantize.folding
contrib.quantize.python.graph_matcher   contrib.quantize.graph_matcher
contrib.quantize.python.input_to_ops    contrib.quantize.rewiring
contrib.quantize.python.quant_ops       contrib.quantize.ranges
contrib.quantize.python.quantize        contrib.quantize contrib.quantize.insertion
contrib.quantize.python.quantize_graph  contrib.quantize

contrib.summary.summary                 contrib.summary
contrib.summary.summary_ops             contrib.summary
contrib.summary.gen_summary_ops         internal_paths.generated_ops
contrib.testing.python.framework.fake_summary_writer contrib.testing.fake_summary_writer
contrib.testing.python.framework.*      contrib.testing
contrib.training.python.training.bucket_ops contrib.training.bucket_ops contrib.training
 train.batching
contrib.training.python.training.resample contrib.training.resample contrib.training
contrib.training.python.training.sampling_ops contrib.training.sampling_ops contrib.training
contrib.training.python.training.*      contrib.training contrib.training.hparam
 contrib.training.sequence_queueing_state_saver
contrib.estimator.python.estimator.dnn_with_layer_annotations contrib.estimator.layer_annotations
contrib.estimator.python.estimator.early_stopping contrib.estimator estimator.early_stopping
contrib.estimator.python.estimator.exporter contrib.estimator.steps_exporter
contrib.estimator.python.estimator.replicate_model_fn contrib.estimator.replication
contrib.estimator.python.estimator.rnn  contrib.estimator.recurrent
contrib.estimator.python.estimator.*    contrib.estimator estimator
contrib.learn.python                    contrib.learn
contrib.learn.python.learn              contrib.learn
contrib.learn.python.learn.datasets     contrib.learn.datasets
contrib.learn.python.learn.datasets.base contrib.learn.datasets.base
contrib.learn.python.learn.datasets.mnist contrib.learn.datasets.mnist
contrib.learn.python.learn.datasets.synthetic contrib.learn.datasets.synthetic
contrib.learn.python.learn.datasets.text_datasets contrib.learn.datasets.text_datasets
contrib.learn.python.learn.estimators   contrib.learn
contrib.learn.python.learn.estimators.run_config contrib.learn.run_config
contrib.learn.python.learn.estimators.head contrib.learn.head contrib.learn.single_heads
 contrib.learn.head_names
contrib.learn.python.learn.estimators._sklearn contrib.learn.fitting_errors contrib.learn
contrib.learn.python.learn.estimators.composable_model contrib.learn.composable_model
contrib.learn.python.learn.estimators.debug contrib.learn.debug
contrib.learn.python.learn.estimators.dnn contrib.learn contrib.learn.canned_models
contrib.learn.python.learn.estimators.dnn_linear_combined contrib.learn contrib.learn.canned_models
contrib.learn.python.learn.estimators.dynamic_rnn_estimator contrib.learn.dynamic_rnn_estimator
                                        contrib.learn.recurrent_parts
contrib.learn.python.learn.estimators.linear contrib.learn contrib.learn.dual_ascent
                                        contrib.learn.canned_models
contrib.learn.python.learn.estimators.rnn_common contrib.learn.recurrent_parts
contrib.learn.python.learn.estimators.state_saving_rnn_estimator
                                        contrib.learn.state_saving_rnn_estimator
contrib.learn.python.learn.estimators.estimator contrib.learn contrib.learn.estimator
contrib.learn.python.learn.estimators.estimator_test_utils contrib.learn.estimators_under_test
contrib.learn.python.learn.estimators.kmeans contrib.learn.kmeans
contrib.learn.python.learn.estimators.tensor_signature contrib.learn.tensor_signature
contrib.learn.python.learn.estimators.test_data contrib.learn.estimators_under_test
contrib.learn.python.learn.estimators.* contrib.learn contrib.learn.model_fn
contrib.learn.python.learn.experiment   contrib.learn.experiment
contrib.learn.python.learn.learn_io      contrib.learn.learn_io
contrib.learn.python.learn.learn_io.data_feeder contrib.learn.learn_io.data_feeder
                                        contrib.learn.learn_io.dask_io
contrib.learn.python.learn.learn_io.dask_io contrib.learn.learn_io.dask_io
contrib.learn.python.learn.learn_io.*    contrib.learn.learn_io
contrib.learn.python.learn.graph_actions contrib.learn.graph_actions
contrib.learn.python.learn.learn_runner contrib.learn.learn_runner
contrib.learn.python.learn.monitors     contrib.learn.monitors
contrib.learn.ops                       contrib.learn.old_losses contrib.learn.old_sequences
contrib.learn.python.learn.models       contrib.learn.models
contrib.learn.python.learn.ops          contrib.learn.old_losses contrib.learn.old_sequences
contrib.learn.python.learn.ops.*        contrib.learn.old_losses contrib.learn.old_sequences
contrib.learn.python.learn.preprocessing contrib.learn.preprocessing
contrib.learn.python.learn.preprocessing.* contrib.learn.preprocessing
                                        contrib.learn.preprocessing.text
contrib.learn.python.learn.run_config   contrib.learn.run_config
contrib.learn.python.learn.utils        contrib.learn.utils
contrib.learn.python.learn.utils.export contrib.learn.utils.export
contrib.learn.python.learn.utils.gc     contrib.session_bundle.gc
contrib.learn.python.learn.utils.*      contrib.learn.utils.input_fn_utils
                                        contrib.learn.utils.saved_model_export_utils
contrib.learn.python.learn.*            contrib.learn

contrib.tpu.python                      contrib.tpu
contrib.tpu.python.ops                  contrib.tpu
contrib.tpu.python.ops.tpu_ops          contrib.tpu internal_paths.generated_ops
contrib.tpu.python.tpu                  contrib.tpu
contrib.tpu.python.tpu.datasets         contrib.tpu.datasets
contrib.tpu.python.tpu.feature_column   contrib.tpu.feature_columns
contrib.tpu.python.tpu.feature_column_v2 contrib.tpu.feature_columns
contrib.tpu.python.tpu.topology         contrib.tpu.topology
contrib.tpu.python.tpu.tpu_feed         contrib.tpu.infeed
contrib.tpu.python.tpu.tpu_sharding     contrib.tpu.sharding
contrib.tpu.python.tpu.tpu_function     contrib.tpu.tpu_function
contrib.tpu.python.tpu.*                contrib.tpu

contrib.crf.python                      contrib.crf
contrib.crf.python.ops                  contrib.crf
contrib.crf.python.ops.crf              contrib.crf
contrib.integrate.python                contrib.integrate
contrib.integrate.python.ops            contrib.integrate
contrib.integrate.python.ops.odes       contrib.integrate contrib.integrate.adaptive
 contrib.integrate.fixed_grid
contrib.memory_stats.python             contrib.memory_stats
contrib.memory_stats.python.ops         contrib.memory_stats
contrib.memory_stats.python.ops.memory_stats_ops contrib.memory_stats
contrib.resampler.python                contrib.resampler
contrib.resampler.python.ops            contrib.resampler
contrib.resampler.python.ops.resampler_ops contrib.resampler
contrib.text.python                     contrib.text
contrib.text.python.ops                 contrib.text
contrib.text.python.ops.skip_gram_ops   contrib.text
contrib.hooks.python                    contrib.hooks
contrib.hooks.python.training           contrib.hooks
contrib.hooks.python.training.profiler_hook contrib.hooks
python.compiler.xla                     xla.experimental
python.compiler.xla.jit                 contrib.compiler.jit
python.compiler.xla.xla                 contrib.compiler.xla
python.ops.clustering_ops               contrib.factorization.clustering_ops
contrib.saved_model.python              contrib.saved_model
contrib.saved_model.python.saved_model  contrib.saved_model
contrib.saved_model.python.saved_model.keras_saved_model contrib.saved_model
contrib.saved_model.python.saved_model.reader contrib.saved_model.reader
contrib.feature_column.python           contrib.feature_column
contrib.feature_column.python.feature_column contrib.feature_column
contrib.feature_column.python.feature_column.sequence_feature_column contrib.feature_column
contrib.all_reduce.python               contrib.all_reduce
contrib.all_reduce.python.all_reduce    distribute.all_reduce
python.distribute.all_reduce            distribute.all_reduce
contrib.bayesflow.python                contrib.bayesflow
contrib.bayesflow.python.ops            contrib.bayesflow
contrib.bayesflow.python.ops.monte_carlo contrib.bayesflow.monte_carlo
contrib.bayesflow.python.ops.monte_carlo_impl contrib.bayesflow.monte_carlo
contrib.boosted_trees.python            contrib.boosted_trees
contrib.boosted_trees.python.utils      contrib.boosted_trees
contrib.boosted_trees.python.utils.losses contrib.boosted_trees.losses
contrib.libsvm.python                   contrib.libsvm
contrib.libsvm.python.ops               contrib.libsvm
contrib.libsvm.python.ops.libsvm_ops    contrib.libsvm
contrib.nearest_neighbor.python         contrib.nearest_neighbor
contrib.nearest_neighbor.python.ops     contrib.nearest_neighbor
contrib.nearest_neighbor.python.ops.nearest_neighbor_ops contrib.nearest_neighbor
contrib.factorization.python            contrib.factorization
contrib.factorization.python.ops        contrib.factorization
contrib.factorization.python.ops.clustering_ops contrib.factorization.clustering_ops
contrib.factorization.python.ops.factorization_ops contrib.factorization.factorization_ops
contrib.factorization.python.ops.factorization_ops_test_utils
                                        contrib.factorization.matrices_under_test
contrib.factorization.python.ops.gen_factorization_ops ops.matrix_factorization
contrib.factorization.python.ops.wals   contrib.factorization.wals
contrib.factorization.python.ops.gmm    contrib.factorization.mixture_estimator
contrib.factorization.python.ops.gmm_ops contrib.factorization.gaussian_mixtures
contrib.factorization.python.ops.kmeans contrib.factorization.kmeans
contrib.linear_optimizer.python contrib.linear_optimizer
contrib.linear_optimizer.python.ops contrib.linear_optimizer
contrib.linear_optimizer.python.ops.sdca_ops estimator.sdca.model
contrib.linear_optimizer.python.ops.sparse_feature_column estimator.sdca.model
contrib.linear_optimizer.python.ops.sharded_mutable_dense_hashtable estimator.sdca.sharded_table
contrib.linear_optimizer.python.sdca_estimator contrib.linear_optimizer.sdca_estimator
contrib.linear_optimizer.python.sdca_optimizer contrib.linear_optimizer.sdca_optimizer
contrib.grid_rnn.python                 contrib.grid_rnn
contrib.grid_rnn.python.ops             contrib.grid_rnn
contrib.grid_rnn.python.ops.grid_rnn_cell contrib.grid_rnn
contrib.opt.python                      contrib.opt
contrib.opt.python.training             contrib.opt
contrib.opt.python.training.matrix_functions contrib.opt.matrix_functions
contrib.opt.python.training.*           contrib.opt contrib.opt.center_variables contrib.opt.shampoo
contrib.optimizer_v2.*                  contrib.optimizer_v2
contrib.constrained_optimization.python contrib.constrained_optimization
contrib.constrained_optimization.python.candidates contrib.constrained_optimization.candidates
contrib.constrained_optimization.python.* contrib.constrained_optimization
 contrib.constrained_optimization.regret
contrib.quantization                    internal_paths.generated_ops
contrib.quantization.python.*           internal_paths.generated_ops
contrib.tensor_forest.client            contrib.tensor_forest.client
contrib.tensor_forest.client.eval_metrics contrib.tensor_forest.client.eval_metrics
contrib.tensor_forest.client.random_forest contrib.tensor_forest.client.random_forest
contrib.tensor_forest.python            contrib.tensor_forest
contrib.tensor_forest.python.tensor_forest contrib.tensor_forest.tensor_forest
contrib.tensor_forest.python.ops        contrib.tensor_forest
contrib.tensor_forest.python.ops.data_ops contrib.tensor_forest.data_ops
contrib.tensor_forest.python.ops.*      contrib.tensor_forest.resources
 internal_paths.generated_ops
contrib.tensor_forest.proto.*_pb2       proto internal_paths.enum_values
contrib.decision_trees.proto.*_pb2      proto internal_paths.enum_values
contrib.labeled_tensor.python           contrib.labeled_tensor
contrib.labeled_tensor.python.ops       contrib.labeled_tensor
contrib.labeled_tensor.python.ops._typecheck contrib.labeled_tensor.typecheck
contrib.labeled_tensor.python.ops.core  contrib.labeled_tensor.tensors
 contrib.labeled_tensor.axes contrib.labeled_tensor.elementwise
contrib.labeled_tensor.python.ops.ops   contrib.labeled_tensor.computing
 contrib.labeled_tensor.shaping
contrib.labeled_tensor.python.ops.io_ops contrib.labeled_tensor.parsing
contrib.labeled_tensor.python.ops.nn    contrib.labeled_tensor.nn
contrib.labeled_tensor.python.ops.sugar contrib.labeled_tensor.sugar
contrib.rnn.python                      contrib.rnn
contrib.rnn.python.ops                  contrib.rnn
contrib.rnn.python.kernel_tests.benchmarking testing.step_timing
contrib.rnn.python.tools                contrib.rnn
contrib.rnn.python.tools.checkpoint_convert contrib.rnn.checkpoint_convert
contrib.rnn.python.ops.lstm_ops         contrib.rnn rnn.rnn_cell internal_paths.lstm_functions
contrib.rnn.python.ops.rnn_cell         contrib.rnn rnn.rnn_cell
contrib.rnn.python.ops.*                contrib.rnn rnn.rnn_cell

contrib.distributions.python            contrib.distributions
contrib.distributions.python.ops        contrib.distributions
contrib.distributions.python.ops.batch_reshape contrib.distributions.batch_reshape
contrib.distributions.python.ops.estimator contrib.learn.distribution_head
contrib.distributions.python.ops.distribution_util contrib.distributions.scales
 python.ops.distributions.util contrib.distributions
contrib.distributions.python.ops.mvn_linear_operator contrib.distributions.multivariate_normal
contrib.distributions.python.ops.poisson_lognormal contrib.distributions.quadratures
contrib.distributions.python.ops.statistical_testing contrib.distributions.mean_tests
contrib.distributions.python.ops.test_util contrib.distributions.sample_checks
contrib.distributions.python.ops.vector_diffeomixture contrib.distributions.diffeomixture
 contrib.distributions.quadratures
contrib.distributions.python.ops.*      contrib.distributions
contrib.seq2seq.python                  contrib.seq2seq
contrib.seq2seq.python.ops              contrib.seq2seq
contrib.seq2seq.python.ops.attention_wrapper contrib.seq2seq.attention_wrapper
                                        contrib.seq2seq.attention_mechanisms
                                        contrib.seq2seq.monotonic_attention
                                        contrib.seq2seq.layer_attention
                                        internal_paths.rnn_functions
contrib.seq2seq.python.ops.basic_decoder contrib.seq2seq.basic_decoder
                                        contrib.seq2seq.layer_decoders
contrib.seq2seq.python.ops.beam_search_decoder contrib.seq2seq.beam_search_decoder
                                        contrib.seq2seq.beam_step contrib.seq2seq.layer_decoders
contrib.seq2seq.python.ops.beam_search_ops contrib.seq2seq.gather_trees
contrib.seq2seq.python.ops.decoder      contrib.seq2seq.decoder internal_paths.rnn_functions
                                        contrib.seq2seq.layer_decoders
contrib.seq2seq.python.ops.helper       contrib.seq2seq contrib.seq2seq.sampling
                                        contrib.seq2seq.training_helpers
                                        internal_paths.rnn_functions
contrib.seq2seq.python.ops.sampler      contrib.seq2seq.samplers contrib.seq2seq.sampling
contrib.seq2seq.python.ops.loss         contrib.seq2seq.loss contrib.seq2seq.keras_losses
contrib.legacy_seq2seq.python           contrib.legacy_seq2seq
contrib.legacy_seq2seq.python.ops       contrib.legacy_seq2seq
contrib.legacy_seq2seq.python.ops.seq2seq contrib.legacy_seq2seq

python.autograph                        contrib.autograph autograph
python.autograph.core.ag_ctx            ir.conversion_status
python.autograph.core.converter         internal_paths.conversion_steps
python.autograph.core.converter_testing autograph.converter_testing
python.autograph.core.function_wrappers autograph.function_scopes
python.autograph.core.naming            autograph.rewriting.naming
python.autograph.impl.api               autograph.calls autograph
python.autograph.impl.conversion        autograph.conversion internal_paths.conversion_steps
python.autograph.lang.directives        autograph.directives
python.autograph.lang.special_functions autograph.special_functions
python.autograph.operators              autograph.operators
python.autograph.operators.control_flow autograph.operators.conditionals autograph.operators.loops
 autograph.operators.unrolled_loops autograph.operators.agreement
python.autograph.operators.data_structures autograph.operators.data_structures
python.autograph.operators.exceptions   autograph.operators.exceptions
python.autograph.operators.logical      autograph.operators.logical
python.autograph.operators.py_builtins  autograph.operators.py_builtins
python.autograph.operators.slices       autograph.operators.slices
python.autograph.operators.special_values autograph.operators.special_values
python.autograph.operators.symbols      autograph.operators.special_values
 internal_paths.program_symbols
python.autograph.utils                  internal_paths.conversion_tools
python.autograph.utils.ag_logging       autograph.ag_logging
python.autograph.utils.context_managers internal_paths.conversion_tools
python.autograph.utils.misc             internal_paths.conversion_tools
python.autograph.utils.py_func          autograph.operators.python_calls
python.autograph.utils.tensor_list      internal_paths.conversion_tools
python.autograph.utils.tensors          autograph.operators.tensor_kinds
python.autograph.utils.testing          internal_paths.conversion_tools
python.autograph.utils.type_check       internal_paths.conversion_tools
python.autograph.converters.asserts     autograph.rewriting.asserts
python.autograph.converters.break_statements autograph.rewriting.break_statements
python.autograph.converters.call_trees  autograph.rewriting.call_trees
python.autograph.converters.conditional_expressions autograph.rewriting.conditional_expressions
python.autograph.converters.continue_statements autograph.rewriting.continue_statements
python.autograph.converters.control_flow autograph.rewriting.control_flow
python.autograph.converters.function_scopes autograph.rewriting.function_scopes
python.autograph.converters.lists       autograph.rewriting.lists
python.autograph.converters.logical_expressions autograph.rewriting.logical_expressions
python.autograph.converters.return_statements autograph.rewriting.return_statements
python.autograph.converters.slices      autograph.rewriting.slices
python.autograph.converters.*           internal_paths.code_conversion
python.autograph.pyct.compiler          internal_paths.conversion_steps
python.autograph.pyct.inspect_utils     autograph.inspection
python.autograph.pyct.parser            internal_paths.conversion_steps
python.autograph.pyct.templates         autograph.rewriting.templates
python.autograph.pyct.*                 internal_paths.code_conversion
python.autograph.pyct.common_transformers.* internal_paths.code_conversion
python.autograph.pyct.testing.basic_definitions testing.plain_definitions
python.autograph.pyct.testing.decorators testing.wrapping_functions

python.client.client_lib                .
python.client.device_lib                client.device_lib
python.client.session                   client.session client.fetches .
python.client.timeline                  tracing.timeline

python.compat.compat                    compat .
python.compat.v2_compat                 execution_modes

python.data                             data
python.data.experimental                data.experimental
python.data.experimental.ops.threadpool contrib.data.threadpool
python.data.experimental.ops.*          data.experimental data.experimental.transformations
 data.experimental.grouping data.experimental.sampling data.experimental.files
 data.experimental.whole data.options data
 data.experimental.pipeline_probes data.experimental.versioned_names
 data.experimental.branches data.experimental.statistics
 data.experimental.workers data.experimental.snapshots
python.data.kernel_tests.test_base      testing.dataset_test_case
python.data.experimental.kernel_tests.reader_dataset_ops_test_base testing.dataset_reader_cases
python.data.experimental.kernel_tests.stats_dataset_test_base testing.dataset_statistics_case
python.data.benchmarks.benchmark_base   testing.dataset_benchmark
python.data.experimental.kernel_tests.serialization.dataset_serialization_test_base
 testing.dataset_serialization_case
python.data.ops.dataset_ops             data data.dataset data.sources data.rearranged data.mapped
 data.padding data.mapped_function data.generator data.options .
python.data.ops.iterator_ops            data data.iterator data.eager_iterator
 data.experimental.optional .
python.data.ops.multi_device_iterator_ops data.multi_device
python.data.ops.optional_ops            data.experimental.optional
python.data.ops.readers                 data data.readers
python.data.ops.*                       data
python.data.util.nest                   data.nest nest
python.data.util.options                data.options
python.data.util.random_seed            data.argument_tensors
python.data.util.convert                data.argument_tensors
python.data.util.sparse                 data.argument_tensors
python.data.util.traverse               data.variant_ops
python.data.util.structure              data.structure data.experimental
python.data.util.*                      data

python.debug                            debugger
python.debug.cli.analyzer_cli           debugger.dump_analyzer
python.debug.cli.command_parser         debugger.command_words
python.debug.cli.debugger_cli_common    debugger.rich_text debugger.command_registry debugger.menus
python.debug.cli.profile_analyzer_cli   debugger.profile_screens
python.debug.cli.tensor_format          debugger.array_lines
python.debug.cli.cli_config             debugger.settings
python.debug.cli.cli_shared             debugger.screens
python.debug.cli.base_ui                debugger.command_lines
python.debug.cli.readline_ui            debugger.command_lines
python.debug.cli.ui_factory             debugger.command_lines
python.debug.cli.cli_test_utils         testing.screen_lines
python.debug.cli.curses_widgets         debugger.navigation
python.debug.cli.evaluator              debugger.expressions
python.debug.lib.common                 debugger.run_keys
python.debug.lib.profiling              debugger.profile_data
python.debug.lib.source_utils           debugger.source_annotations
python.debug.*                          debugger

python.distribute.combinations          testing.strategy_combinations
python.distribute.strategy_combinations testing.strategy_combinations
python.distribute.strategy_test_lib     testing.strategy_cases
python.distribute.multi_worker_test_base testing.worker_cases
python.distribute.model_collection.*    testing.strategy_saved_models
python.distribute.model_combinations    testing.strategy_saved_models
python.distribute.saved_model_test_base testing.strategy_saved_models
python.distribute.single_loss_example   testing.strategy_models
python.distribute.step_fn               distribute.training_steps
python.distribute.input_lib             distribute.worker_inputs
python.distribute.input_ops             internal_paths.worker_datasets
python.distribute.numpy_dataset         distribute.array_datasets
python.distribute.shared_variable_creator distribute.shared_variables
python.distribute.summary_op_util       internal_paths.replicas
python.distribute.distribution_strategy_context distribute distribute.context contrib.distribute
python.distribute.distribute_lib        distribute distribute.context internal_paths.strategy_names
python.distribute.distribute_coordinator distribute.coordinator
python.distribute.distribute_coordinator_context distribute.worker_context
python.distribute.multi_worker_util     distribute.clusters
python.distribute.device_util           internal_paths.device_functions
python.distribute.cluster_resolver      contrib.cluster_resolver
python.distribute.cluster_resolver.*    train.cluster_resolver contrib.cluster_resolver
python.distribute.values                internal_paths.replica_values distribute.values
                                        distribute.variables distribute
python.distribute.cross_device_ops      distribute.cross_device_ops distribute.collective_reduce
                                        internal_paths.device_reductions distribute
python.distribute.cross_device_utils    distribute.collective_reduce distribute.cross_device_ops
                                        internal_paths.device_reductions
python.distribute.mirrored_strategy     distribute.mirrored distribute internal_paths.strategy_names
python.distribute.one_device_strategy   distribute internal_paths.strategy_names
python.distribute.tpu_strategy          internal_paths.strategy_names
python.distribute.collective_all_reduce_strategy distribute.multi_worker
                                        internal_paths.strategy_names contrib.distribute
python.distribute.parameter_server_strategy distribute.parameter_server
                                        internal_paths.strategy_names
python.distribute.central_storage_strategy distribute.parameter_server
python.distribute.distribute_config     contrib.distribute
python.distribute.estimator_training    estimator.coordinated estimator.remote_cluster distribute
python.distribute.*                     distribute
python.module.module                    module

python.eager.context                    internal_paths.eager_context internal_paths.graph_mode
                                        internal_paths.run_metadata
 internal_paths.eager_primitives config.experimental debugging
python.eager.forwardprop                autodiff.forward_mode
python.eager.execute                    internal_paths.eager_execute internal_paths.eager_primitives
python.eager.backprop                   internal_paths.graph_mode internal_paths.eager_execute
 internal_paths.slice_gradients .
python.eager.core                       internal_paths.graph_mode internal_paths.eager_primitives
python.eager.def_function               internal_paths.tf_function_names internal_paths.graph_mode .
python.eager.lift_to_graph              ops.graph_lifting
python.eager.execution_callbacks        eager.callbacks
python.eager.memory_tests.memory_test_util testing.memory_growth
python.eager.monitoring                 internal_paths.monitoring
python.eager.cancellation               internal_paths.cancellation
python.eager.executor                   internal_paths.eager_executors
python.eager.graph_only_ops             internal_paths.graph_only_ops
python.eager.wrap_function              wrapped_functions
python.eager.function                   internal_paths.defun_names internal_paths.graph_mode
                                        ops.functions
python.eager.test                       internal_paths.eager_programs test
python.eager.*                          internal_paths.eager_context internal_paths.graph_mode

python.estimator                        estimator
python.estimator.canned.baseline        estimator estimator.canned.v1_names
                                        estimator.canned.v2_names
python.estimator.canned.boosted_trees   estimator.trees.estimators estimator.trees.model
                                        estimator.trees.growers estimator.trees.v1_names estimator
python.estimator.canned.boosted_trees_utils estimator.trees.v1_names
python.estimator.canned.dnn             estimator estimator.canned.logits
                                        estimator.canned.v1_names estimator.canned.v2_names
python.estimator.canned.dnn_linear_combined estimator estimator.canned.v1_names
                                        estimator.canned.v2_names
python.estimator.canned.head            estimator.heads.v1_names estimator.heads
python.estimator.canned.linear          estimator estimator.canned.logits
                                        estimator.canned.v1_names estimator.canned.v2_names
                                        estimator.sdca.linear_sdca
python.estimator.canned.kmeans          estimator.clustering contrib.factorization.kmeans
python.estimator.canned.rnn             estimator.canned.recurrent
python.estimator.canned.saved_model_estimator estimator.saved_model_estimator
python.estimator.canned.linear_optimizer.python.utils.* estimator.sdca.v1_names
python.estimator.canned.metric_keys     estimator.heads.keys
python.estimator.canned.optimizers      estimator.canned.optimizers
python.estimator.canned.parsing_utils   estimator estimator.canned.v2_names
python.estimator.canned.prediction_keys estimator.heads.keys
python.estimator.canned.timeseries.ar_model contrib.timeseries.ar_model
python.estimator.canned.timeseries.estimators contrib.timeseries.estimators
python.estimator.canned.timeseries.feature_keys contrib.timeseries.feature_keys
python.estimator.canned.timeseries.head contrib.timeseries.head
 contrib.timeseries.feature_checks
python.estimator.canned.timeseries.math_utils contrib.timeseries.log_probabilities
 contrib.timeseries.matrices contrib.timeseries.covariances contrib.timeseries.state_tables
 contrib.timeseries.input_statistics
python.estimator.canned.timeseries.model contrib.timeseries.model
 contrib.timeseries.sequential_model
python.estimator.canned.timeseries.model_utils contrib.timeseries.continuations
python.estimator.canned.timeseries.saved_model_utils contrib.timeseries.saved_model_utils
python.estimator.canned.timeseries.state_management contrib.timeseries.state_management
python.estimator.canned.timeseries.test_utils testing.series_models
python.estimator.early_stopping         estimator.early_stopping
python.estimator.estimator              estimator.estimator estimator
                                        estimator.evaluation_summaries
python.estimator.export.function        estimator.export.functions
python.estimator.export.*               estimator.export estimator.export.signatures
                                        estimator.export.receivers
python.estimator.exporter               estimator.exporters
python.estimator.gc                     estimator.path_filters
python.estimator.head.base_head         estimator.keras_heads.base_head_names
                                        estimator.heads.keys
python.estimator.head.head_utils        estimator.keras_heads testing.head_specs
python.estimator.head.sequential_head   estimator.keras_heads.sequential_head
python.estimator.head.*                 estimator.keras_heads
python.estimator.hooks.fake_summary_writer contrib.testing.fake_summary_writer
python.estimator.hooks.hooks            estimator.evaluator_hooks
python.estimator.hooks.*                train estimator
python.estimator.inputs.queues.*        estimator.inputs.queue_names
python.estimator.inputs.*               estimator.inputs
python.estimator.model_fn               estimator.estimator_spec estimator
                                        estimator.model_fn_names
python.estimator.run_config             estimator.run_config estimator.cluster_task
python.estimator.tpu.tpu_config         contrib.tpu.configuration
python.estimator.tpu.tpu_estimator      contrib.tpu.estimator
python.estimator.tpu.util               contrib.tpu.configuration
python.estimator.tpu.*                  estimator.tpu
python.estimator.training               estimator.train_and_evaluate estimator.specs estimator
python.estimator.keras                  keras.estimator
python.estimator.util                   estimator.input_results estimator.argument_names
python.estimator.*                      estimator

python.feature_column.feature_column    feature_column.v1_names feature_column
python.feature_column.feature_column_lib keras.layers.dense_features keras.layers.sequence_features
                                        feature_column.v2_names feature_column
python.feature_column.feature_column_v2 feature_column.v2_names feature_column
python.feature_column.dense_features    keras.layers.dense_features
python.feature_column.dense_features_v2 keras.layers.scoped_dense_features
python.feature_column.sequence_feature_column keras.layers.sequence_features
                                        feature_column.v2_names feature_column
python.feature_column.*                 feature_column.v2_names feature_column

python.framework.auto_control_deps      internal_paths.effect_order
python.framework.combinations           testing.combinations
python.framework.test_combinations      testing.parameter_combinations
python.framework.common_shapes          internal_paths.shape_functions shapes
                                        internal_paths.framework_ops .
python.framework.composite_tensor       internal_paths.composite_parts ir.convert ir.composite
python.framework.composite_tensor_utils internal_paths.composite_parts
python.framework.config                 config.long_names config.threading config
  config.experimental
python.framework.constant_op            internal_paths.second_signatures
                                        internal_paths.constant_functions .
python.framework.convert_to_constants   internal_paths.frozen_functions
python.framework.cpp_shape_inference_pb2 proto
python.framework.device                 devices
python.framework.device_spec            devices
python.framework.dtypes                 dtypes internal_paths.dtype_ranges
python.framework.errors                 errors
python.framework.errors_impl            errors
python.framework.function               ops.functions ops.function_libraries
                                        internal_paths.function_captures
python.framework.function_def_to_graph  internal_paths.function_graphs
python.framework.func_graph             internal_paths.function_graphs ops.concrete_functions
python.framework.framework_lib          .
python.framework.graph_io               train.graph_files .
python.framework.graph_to_function_def  ops.function_libraries ops.functions
python.framework.error_interpolation    internal_paths.error_interpolation
python.framework.c_api_util             internal_paths.c_api_objects
python.framework.graph_util             graph_util
python.framework.graph_util_impl        graph_util
python.framework.importer               ir.importer
python.framework.indexed_slices         ir.composite ir.indexed_slices_spec
                                        internal_paths.framework_ops .
python.framework.kernels                internal_paths.kernel_lists
python.framework.load_library           .
python.framework.meta_graph             train.meta_graph .
python.framework.op_callbacks           ir.op_callbacks
python.framework.op_def_library         internal_paths.op_def_library
python.framework.op_def_registry        internal_paths.op_defs
python.framework.ops                    internal_paths.second_signatures
                                        internal_paths.operation_class
                                        internal_paths.framework_ops
                                        internal_paths.gradient_registry ir.graph ir.operation
                                        ir.tensor ir.composite ir.convert ir.defaults ir.collections
                                        ir.collection_protos ir.name_scope proto profiler.flops .
python.framework.random_seed            ops.seeds .
python.framework.registry               internal_paths.registry
python.framework.smart_cond             layers.smart_cond .
python.framework.sparse_tensor          ir.composite ops.sparse_tensors .
python.framework.subscribe              internal_paths.subscriptions
python.framework.tensor_conversion_registry internal_paths.framework_ops .
python.framework.tensor_shape           shapes
python.framework.tensor_spec            ir.tensor_spec ir.bounded_tensor_spec .
python.framework.tensor_util            internal_paths.tensor_messages ops.tensor_values
                                        ir.constants ir.tensor_codec .
python.framework.test_ops               testing.test_ops
python.framework.test_util              testing.test_util testing .
python.framework.traceable_stack        internal_paths.traceable_stack
python.framework.type_spec              ir.type_spec .
python.framework.versions               platform.versions .

python.grappler                         grappler
python.grappler.cluster                 grappler.clusters
python.grappler.item                    grappler.items
python.grappler.tf_optimizer            grappler.rewriting

contrib.keras                           keras
contrib.keras.api.keras                 keras
contrib.keras.api.keras.*               keras.*
contrib.keras.python.keras.*            keras.*
contrib.keras.*                         keras.*
python.keras                            keras
python.keras.activations                keras.activations
python.keras.applications               keras.applications
python.keras.applications.densenet      keras.applications.densenet
python.keras.applications.imagenet_utils keras.applications.imagenet_utils
python.keras.applications.inception_resnet_v2 keras.applications.inception_resnet_v2
python.keras.applications.inception_v3  keras.applications.inception_v3
python.keras.applications.mobilenet     keras.applications.mobilenet
python.keras.applications.mobilenet_v2  keras.applications.mobilenet_v2
python.keras.applications.nasnet        keras.applications.nasnet
python.keras.applications.resnet        keras.applications.resnet
python.keras.applications.resnet_v2     keras.applications.resnet_v2
python.keras.applications.vgg16         keras.applications.vgg16
python.keras.applications.vgg19         keras.applications.vgg19
python.keras.applications.xception      keras.applications.xception
python.keras.backend                    keras.backend keras.backend.session keras.backend.v1_names
python.keras.backend_config             keras.backend
python.keras.callbacks                  keras.callbacks.tensorboard_v2 keras.callbacks
python.keras.callbacks_v1               keras.callbacks
python.keras.constraints                keras.constraints
python.keras.datasets                   keras.datasets
python.keras.datasets.*                 keras.datasets.*
python.keras.distribute                 keras.distribute
python.keras.distribute.distributed_training_utils keras.distribute.input_checks
                                        keras.distribute.batch_sizes
python.keras.distribute.keras_correctness_test_base testing.keras_correctness
python.keras.distribute.multi_worker_testing_utils testing.keras_workers
python.keras.distribute.multi_worker_training_state keras.distribute.training_state
python.keras.engine                     keras.layers keras
python.keras.engine.base_layer          keras.engine.layer keras.engine.op_layers keras.engine.node
                                        keras.engine.added_layers keras.layers
python.keras.engine.base_layer_utils    keras.engine.keras_history keras.dtype_behavior
                                        keras.engine.op_layers layers.core_layer
                                        keras.layers
python.keras.engine.input_layer         keras.engine.input_layer keras
python.keras.engine.input_spec          layers.input_spec keras.layers
python.keras.engine.network             keras.engine.network keras
python.keras.engine.node                keras.engine.node
python.keras.engine.saving              keras.hdf5_names keras.saving keras.models
python.keras.engine.sequential          keras.engine.sequential keras
python.keras.engine.training            keras.engine.model keras
python.keras.engine.training_utils      keras.engine.data_checks keras.engine.model_inputs
                                        keras.engine.dataset_checks keras.utils.plain_data
                                        keras.engine.joined_outputs
python.keras.engine.data_adapter        keras.engine.data_adapter
python.keras.engine.training_generator  keras.engine.data_adapter keras.layers keras
python.keras.engine.base_preprocessing_layer keras.layers.preprocessing
python.keras.engine.base_preprocessing_layer_v1 keras.layers.preprocessing
python.keras.engine.*                   keras.layers keras
python.keras.estimator                  keras.estimator
python.keras.initializers               keras.initializers
python.keras.keras_parameterized        testing.keras_parameterized
python.keras.layers                     keras.layers
python.keras.layers.convolutional       keras.layers keras.layers.v1_names
python.keras.layers.core                keras.layers.core keras.layers
python.keras.layers.cudnn_recurrent     keras.layers keras.layers.v1_names
python.keras.layers.embeddings          keras.layers
python.keras.layers.local               keras.layers.locally_connected keras.layers
python.keras.layers.merge               keras.layers.merge keras.layers
python.keras.layers.normalization       keras.layers keras.layers.v1_names
python.keras.layers.normalization_v2    keras.layers.normalization_v2
python.keras.layers.pooling             keras.layers keras.layers.v1_names
python.keras.layers.recurrent           keras.layers.recurrent keras.layers.recurrent_cells
                                        keras.layers keras.layers.v1_names
python.keras.layers.wrappers            keras.layers.wrappers keras.layers
python.keras.layers.convolutional_recurrent keras.layers.convolutional_recurrent keras.layers
python.keras.layers.dense_attention     keras.layers.dense_attention keras.layers
python.keras.layers.kernelized          keras.layers.kernelized
python.keras.layers.recurrent_v2        keras.layers.recurrent_v2 keras.layers
python.keras.layers.preprocessing       keras.layers.preprocessing
python.keras.layers.preprocessing.normalization keras.layers.preprocessing
python.keras.layers.preprocessing.normalization_v1 keras.layers.preprocessing
python.keras.layers.preprocessing.preprocessing_test_utils testing.preprocessing_layers
python.keras.layers.rnn_cell_wrapper_v2 keras.layers.rnn_cell_wrapper_v2
python.keras.layers.*                   keras.layers keras.layers.recurrent
python.keras.losses                     keras.losses
python.keras.metrics                    keras.metrics
python.keras.mixed_precision            keras.mixed_precision
python.keras.mixed_precision.experimental keras.mixed_precision.experimental
python.keras.mixed_precision.experimental.test_util testing.checked_gradients
python.keras.mixed_precision.experimental.* keras.mixed_precision.experimental.*
python.keras.models                     keras.models keras.cloning
python.keras.model_subclassing_test_util testing.subclassed_models
python.keras.optimizer_v2.learning_rate_schedule keras.optimizers.schedules keras.experimental
python.keras.optimizer_v2.*             keras.optimizers keras.optimizers.base
python.keras.optimizers                 keras.optimizers keras.optimizers.module_names
python.keras.premade.*                  keras.premade
python.keras.preprocessing              keras.preprocessing
python.keras.preprocessing.*            keras.preprocessing.*
python.keras.regularizers               keras.regularizers
python.keras.saving.hdf5_format         keras.hdf5_names keras.saving
python.keras.saving.saving_utils        keras.saved_metadata
python.keras.saving.saved_model.load    keras.saved_models keras.revived_layers
python.keras.saving.saved_model.save    keras.saved_models keras.saved_calls
python.keras.saving.saved_model_experimental keras.exported_models
python.keras.saving.*                   keras.saving keras.models
python.keras.testing_utils              testing.keras_models
python.keras.utils                      keras.utils
python.keras.utils.conv_utils           layers.windows layers.window_connections
python.keras.utils.data_utils           keras.utils keras.utils.data_files
python.keras.utils.generic_utils        keras.utils keras.utils.serialization layers.object_names
 keras.utils.plain_data keras.utils.function_bytes keras.layers.function_code
python.keras.utils.io_utils             keras.utils.hdf5_matrix
python.keras.utils.kernelized_utils     keras.utils.similarity_kernels
python.keras.utils.layer_utils          keras.utils.layer_summary keras.utils.weight_layouts
                                        keras.utils
python.keras.utils.losses_utils         keras.utils.weighting losses.squeezing
python.keras.utils.metrics_utils        keras.metrics.confusion_matrix
python.keras.utils.multi_gpu_utils      keras.utils.replicated_models
python.keras.utils.tf_utils             keras.utils.tensor_structures layers.smart_cond keras.utils
python.keras.utils.vis_utils            keras.utils.model_plots
python.keras.utils.*                    keras.utils
python.keras.wrappers                   keras.wrappers
python.keras.wrappers.scikit_learn      keras.wrappers.scikit_learn
python.keras.*                          keras

python.kernel_tests.gradient_checker    testing.gradient_checker test
python.kernel_tests.random.util         testing.random_statistics
python.kernel_tests.signal.test_util    testing.optimized_graph

python.layers                           layers
python.layers.base                      layers.base layers
python.layers.core                      layers.core layers
python.layers.convolutional             layers.convolutional layers
python.layers.layers                    layers
python.layers.normalization             layers.normalization layers
python.layers.pooling                   layers.pooling layers
python.layers.utils                     layers.windows layers.smart_cond keras.utils.plain_data
                                        layers.reachable_tensors
                                        layers

python.lib.io.file_io                   platform.file_io platform.gfile
python.lib.io.python_io                 platform.tf_record
python.lib.io.tf_record                 platform.tf_record

python.ops                              internal_paths.second_signatures
                                        internal_paths.operation_class
                                        internal_paths.framework_ops ir.graph ir.operation ir.tensor
                                        ir.composite ir.convert ir.defaults ir.collections
                                        ir.name_scope ops.control autodiff.registration
python.ops.array_grad                   .
python.ops.array_ops                    internal_paths.second_signatures
                                        internal_paths.array_functions ops.array ops.shaping
                                        ops.slicing ops.joining ops.gather ops.filling ops.diagonals
                                        ops.masking ops.padding ops.blocks .
                                        internal_paths.generated_ops
python.ops.batch_norm_ops               nn .
python.ops.batch_ops                    ops.batching internal_paths.generated_ops
python.ops.bitwise_ops                  bitwise
python.ops.boosted_trees_ops            estimator.trees.op_names
python.ops.candidate_sampling_ops       nn .
python.ops.check_ops                    internal_paths.second_signatures debugging
                                        ops.type_assertions .
python.ops.clip_ops                     ops.clip .
python.ops.collective_ops               ops.collectives
python.ops.cond_v2                      ops.functional_cond internal_paths.functional_flow
                                        autodiff.cond_gradients .
python.ops.confusion_matrix             internal_paths.second_signatures ops.confusion .
python.ops.control_flow_ops             internal_paths.second_signatures internal_paths.control_flow
                                        ops.control ops.control_flow ops.control_contexts
                                        ops.while_context ops.conditionals ops.loops ops.debugging .
python.ops.control_flow_grad            .
python.ops.control_flow_util            ops.flow_modes internal_paths.control_flow .
python.ops.control_flow_util_v2         internal_paths.functional_flow
python.ops.control_flow_state           autodiff.grad_loop
python.ops.control_flow_v2_func_graphs  ops.flow_graphs
python.ops.control_flow_v2_toggles      ops.flow_modes internal_paths.functional_flow .
python.ops.critical_section_ops         ops.critical_sections
python.ops.ctc_ops                      nn ops.ctc internal_paths.ctc_states .
                                        internal_paths.generated_ops
python.ops.cudnn_rnn_grad               .
python.ops.custom_gradient              . autodiff.registration
python.ops.data_flow_grad               .
python.ops.data_flow_ops                ops.queues ops.barriers ops.accumulators ops.staging
                                        ops.record_input ops.partitioning .
                                        internal_paths.generated_ops
python.ops.distributions                distributions
python.ops.distributions.distributions  distributions
python.ops.distributions.bijector        distributions.bijector
python.ops.distributions.bijector_impl   distributions.bijector
python.ops.distributions.identity_bijector distributions.plain_bijectors
python.ops.distributions.transformed_distribution distributions.transformed
python.ops.distributions.kullback_leibler distributions.kullback_leibler
python.ops.distributions.special_math   distributions.special_math
python.ops.distributions.util           distributions.argument_checks distributions.static_shapes
                                        distributions.triangular
                                        internal_paths.distribution_functions
python.ops.distributions.bijector_test_util internal_paths.bijector_checks
python.ops.distributions.*              distributions contrib.distributions
python.ops.embedding_ops                internal_paths.second_signatures ops.embedding nn .
python.ops.functional_ops               functional ops.functions internal_paths.functional_calls .
                                        internal_paths.generated_ops
python.ops.gradient_checker             testing.gradient_checker test
python.ops.gradient_checker_v2          testing.gradient_checker_v2 test
python.ops.gradients                    .
python.ops.gradients_impl               internal_paths.second_signatures autodiff.gradients
                                        autodiff.hessians .
python.ops.gradients_util               autodiff.gradients .
python.ops.histogram_ops                .
python.ops.image_ops                    internal_paths.image_functions image .
python.ops.image_ops_impl               internal_paths.image_functions image .
python.ops.image_grad                   .
python.ops.init_ops                     ops.initializers ops.orthogonal_initializers
                                        ops.convolution_initializers
                                        internal_paths.initializer_functions .
python.ops.init_ops_v2                  internal_paths.initializers_v2 .
python.ops.initializers_ns              initializers ops.initializers
python.ops.inplace_ops                  ops.inplace_rows ops.filling internal_paths.generated_ops
python.ops.io_ops                       io ops.checkpoint_files ops.files ops.readers .
                                        internal_paths.generated_ops
python.ops.linalg                       linalg
python.ops.linalg.linear_operator_addition linear_operators.addition
python.ops.linalg.linear_operator_algebra linear_operators.algebra
python.ops.linalg.linear_operator_circulant linear_operators.circulant linalg linear_operators
python.ops.linalg.linear_operator_toeplitz linear_operators.circulant linalg linear_operators
python.ops.linalg.linear_operator_test_util testing.linear_operator_cases
python.ops.linalg.linear_operator_util  linear_operators.batches linear_operators.hints linalg
 linear_operators.references linear_operators
python.ops.linalg.registrations_util    linear_operators.hints
python.ops.linalg.*                     linalg linear_operators
python.ops.linalg_grad                  .
python.ops.linalg_ops                   internal_paths.second_signatures linalg .
python.ops.linalg_ops_impl              linalg .
python.ops.list_ops                     internal_paths.list_functions internal_paths.generated_ops
python.ops.logging_ops                  internal_paths.second_signatures ops.debugging ops.printing
                                        printing ops.summaries summary .
python.ops.lookup_ops                   lookup lookup.tables lookup.initializers lookup.buckets
                                        lookup.vocabularies lookup.mutable .
                                        internal_paths.generated_ops
python.ops.losses                       losses
python.ops.losses.loss_reduction         keras.utils.weighting
python.ops.losses.*                     losses losses.squeezing
python.ops.manip_ops                    .
python.ops.manip_grad                   .
python.ops.map_fn                       .
python.ops.math_grad                    .
python.ops.math_ops                     internal_paths.second_signatures
                                        internal_paths.math_functions ops.math math
                                        ops.linear_algebra . internal_paths.generated_ops
python.ops.metrics                      metrics
python.ops.metrics_impl                 metrics internal_paths.metric_functions
python.ops.nccl_ops                     ops.nccl
python.ops.nn                           nn
python.ops.nn_grad                      .
python.ops.nn_impl                      internal_paths.second_signatures
                                        internal_paths.nn_functions nn linalg .
python.ops.nn_ops                       internal_paths.second_signatures
                                        internal_paths.nn_functions nn ops.convolution ops.pool
                                        ops.dropout . internal_paths.generated_ops
python.ops.numerics                     internal_paths.second_signatures .
python.ops.optional_grad                .
python.ops.op_selector                  contrib.graph_editor.select contrib.graph_editor.elements
python.ops.parallel_for                 parallel_loops jacobians
python.ops.parallel_for.control_flow_ops parallel_loops
python.ops.parallel_for.gradients       jacobians
python.ops.parallel_for.pfor            parallel_loops parallel_conversion
python.ops.parallel_for.test_util       testing.parallel_loop_case
python.ops.parsing_ops                  internal_paths.second_signatures io ops.parsing .
python.ops.partitioned_variables        ops.partitioned_variables ops.partitioners .
python.ops.ragged                       ragged
python.ops.ragged.ragged_array_ops      ragged.arrays ragged
python.ops.ragged.ragged_batch_gather_ops ragged.gathering
python.ops.ragged.ragged_batch_gather_with_default_op ragged.gathering
python.ops.ragged.ragged_concat_ops     ragged.concatenation
python.ops.ragged.ragged_config         ragged.conversion
python.ops.ragged.ragged_conversion_ops ragged.conversion ragged.dense_conversion
python.ops.ragged.ragged_dispatch       ragged.dispatchers ragged.op_list
python.ops.ragged.ragged_factory_ops    ragged.factories
python.ops.ragged.ragged_functional_ops ragged.flat_values
python.ops.ragged.ragged_gather_ops     ragged.gathering
python.ops.ragged.ragged_getitem        ragged.indexing
python.ops.ragged.ragged_map_ops        ragged.mapping
python.ops.ragged.ragged_math_ops       ragged.reductions
python.ops.ragged.ragged_operators      ragged.operators
python.ops.ragged.ragged_squeeze_op     ragged.selection
python.ops.ragged.ragged_string_ops     ragged.string_functions
python.ops.ragged.ragged_tensor         ragged.tensor ragged.tensor_spec ragged.conversion
python.ops.ragged.ragged_tensor_shape   ragged.dynamic_shape ragged.broadcasts
python.ops.ragged.ragged_tensor_value   ragged.tensor_value
python.ops.ragged.ragged_test_util      testing.ragged_test_case
python.ops.ragged.ragged_util           ragged.row_ranges
python.ops.ragged.ragged_where_op       ragged.selection
python.ops.ragged.segment_id_ops        ragged.segment_ids
python.ops.proto_ops                    ops.proto_messages
python.ops.random_grad                  internal_paths.random_functions .
python.ops.random_ops                   internal_paths.second_signatures
                                        internal_paths.random_functions random ops.random .
                                        internal_paths.generated_ops
python.ops.resource_variable_ops        internal_paths.resource_functions ops.resource_variables
                                        ops.resource_variable . internal_paths.generated_ops
python.ops.resources                    ops.resources .
python.ops.rnn                          nn rnn.dynamic rnn.static internal_paths.rnn_functions
python.ops.rnn_cell                     rnn.rnn_cell
python.ops.rnn_cell_impl                rnn.rnn_cell rnn.sizes internal_paths.rnn_functions
python.ops.rnn_cell_wrapper_impl        rnn.wrappers
python.ops.rnn_grad                     .
python.ops.script_ops                   internal_paths.script_functions ops.script .
python.ops.sdca_ops                     internal_paths.generated_ops
python.ops.seq2seq                      contrib.legacy_seq2seq
python.ops.session_ops                  ops.session_handles .
python.ops.sets                         sets
python.ops.sets_impl                    sets ops.sets
python.ops.signal                       signal
python.ops.signal.*                     signal
python.ops.sort_ops                     .
python.ops.sparse_grad                  .
python.ops.sparse_ops                   internal_paths.second_signatures ops.sparse_structure
                                        ops.sparse_arithmetic ops.sparse_reductions
                                        ops.sparse_matmul ops.sparse_conversion
                                        ops.sparse_serialization ops.sparse_cross ops.sparse_tensors
                                        internal_paths.sparse_functions .
                                        internal_paths.generated_ops
python.ops.special_math_ops             math .
python.ops.spectral_ops                 spectral signal
python.ops.spectral_ops_test_util       internal_paths.fourier_kernels
python.ops.standard_ops                 .
python.ops.state_grad                   .
python.ops.state_ops                    internal_paths.state_functions ops.state
                                        ops.variable_updates .
                                        internal_paths.generated_ops
python.ops.stateful_random_ops          random.generator
python.ops.stateless_random_ops         internal_paths.stateless_functions random .
python.ops.string_ops                   internal_paths.second_signatures strings ops.strings
                                        ops.string_joining ops.string_splitting ops.string_numbers
                                        ops.string_hashing ops.regex ops.unicode .
python.ops.summary_op_util              ops.summaries summary
python.ops.summary_ops                  summary
python.ops.summary_ops_v2               contrib.summary summary.op_writers summary.op_summaries
                                        summary.op_traces
python.ops.template                     internal_paths.template_functions ops.templates .
python.ops.tensor_array_grad            ops.tensor_array_gradients .
python.ops.tensor_array_ops             ops.tensor_array .
python.ops.unconnected_gradients        .
python.ops.variable_scope               internal_paths.second_signatures
                                        internal_paths.variable_functions ops.variable_scope
                                        ops.variable_store ops.variable_creation
                                        ops.eager_variable_store .
python.ops.variables                    internal_paths.variable_class
                                        ops.variables ops.ref_variable ops.partitioned_variables
                                        internal_paths.variable_functions
                                        ops.variable_collections .
python.ops.weights_broadcast_ops        losses.weights_broadcast losses
python.ops.while_v2                     ops.functional_while internal_paths.functional_flow
                                        autodiff.while_gradients .
python.ops.gen_bitwise_ops              bitwise internal_paths.generated_ops
python.ops.gen_*_ops                    internal_paths.generated_ops

python.platform.build_info              internal_paths.build_info
python.platform.app                     app
python.platform.benchmark               testing.benchmark test
python.platform.flags                   flags
python.platform.gfile                   gfile
python.platform.googletest              testing.googletest test
python.platform.resource_loader         resource_loader
python.platform.sysconfig               sysconfig
python.platform.test                    test
python.platform.tf_logging              platform.logging

python.tf2                              platform.tf2

python.profiler.internal.flops_registry profiler.flops
python.profiler.profile_context         profiler.profile_context
python.profiler.*                       profiler profiler.model_analyzer profiler.node_statistics
                                        profiler.option_builder profiler.flops

python.pywrap_tensorflow                summary.event_file train internal_paths.eager_execute
 internal_paths.eager_primitives internal_paths.library_types platform.versions
 testing.graph_compare .
python.pywrap_tensorflow_internal       summary.event_file train internal_paths.library_types .

python.saved_model                      saved_model
python.saved_model.builder              saved_model.builder saved_model
python.saved_model.builder_impl         saved_model.builder saved_model.assets saved_model
python.saved_model.constants            saved_model.constants saved_model
python.saved_model.load                 saved_model.object_loader
python.saved_model.loader               saved_model.loader saved_model
python.saved_model.loader_impl          saved_model.loader saved_model
python.saved_model.model_utils          estimator.export.signatures estimator.export.outputs
python.saved_model.model_utils.mode_keys saved_model.mode_keys
python.saved_model.nested_structure_coder saved_model.structured_values
python.saved_model.revived_types        saved_model.revived_types
python.saved_model.model_utils.export_output estimator.export.outputs
python.saved_model.model_utils.export_utils estimator.export.signatures estimator.export
python.saved_model.main_op              saved_model.main_op saved_model
python.saved_model.main_op_impl         saved_model.main_op saved_model
python.saved_model.signature_constants  saved_model.signature_constants
python.saved_model.signature_def_utils  saved_model.signature_def_utils
python.saved_model.signature_def_utils_impl saved_model.signature_def_utils
python.saved_model.save                 saved_model.exporting saved_model.exported_objects
python.saved_model.saved_model          saved_model.object_loader saved_model.exporting saved_model
python.saved_model.signature_serialization saved_model.signature_functions
python.saved_model.simple_save          saved_model
python.saved_model.tag_constants        saved_model.tag_constants
python.saved_model.utils                saved_model.utils
python.saved_model.utils_impl           saved_model.utils
python.saved_model.*                    saved_model

python.summary.event_accumulator        summary
python.summary.plugin_asset             summary.plugin_asset
python.summary.summary                  summary
python.summary.summary_iterator         summary train
python.summary.writer.event_file_writer summary.event_file_writer summary
python.summary.writer.event_file_writer_v2 summary.event_file_writer_v2
python.summary.writer.writer            summary.file_writer summary
python.summary.writer.*                 summary
python.summary.*                        summary

python.tools                            tools
python.tools.freeze_graph               tools.freeze_graph
python.tools.import_pb_to_tensorboard   tools.import_pb_to_tensorboard
python.tools.inspect_checkpoint         tools.inspect_checkpoint
python.tools.optimize_for_inference     tools.optimize_for_inference
python.tools.optimize_for_inference_lib tools.optimize_for_inference_lib
python.tools.saved_model_cli            tools.saved_model_cli
python.tools.saved_model_utils          tools.saved_model_utils
python.tools.strip_unused               tools.strip_unused
python.tools.strip_unused_lib           tools.strip_unused_lib

python.tpu                              contrib.tpu
python.tpu.ops                          contrib.tpu
python.tpu.ops.tpu_ops                  contrib.tpu internal_paths.generated_ops
python.tpu.datasets                     contrib.tpu.datasets
python.tpu.feature_column               contrib.tpu.feature_columns
python.tpu.feature_column_v2            contrib.tpu.feature_columns
python.tpu.topology                     contrib.tpu.topology
python.tpu.tpu_feed                     contrib.tpu.infeed
python.tpu.tpu_sharding                 contrib.tpu.sharding
python.tpu.tpu_function                 contrib.tpu.tpu_function
python.tpu.*                            contrib.tpu

python.training                         train
python.training.checkpoint_management  train.checkpoint_state train.tracking.manager train
python.training.checkpoint_ops           ops.checkpoint_remapping
python.training.checkpoint_state_pb2    proto
python.training.checkpoint_utils       train.checkpoint_variables train
python.training.moving_averages         train.moving_averages train
python.training.basic_loops             train.basic_loops train
python.training.basic_session_run_hooks train.basic_session_run_hooks train.recording_hooks
                                        train.hook_timers train
python.training.device_setter           train.device_setter train
python.training.gen_training_ops        internal_paths.generated_ops
python.training.evaluation              train.evaluation train
python.training.coordinator             train.coordinator train
python.training.input                   train.batching train.input_producers train
python.training.monitored_session       train.monitored_session train
python.training.queue_runner            train.queue_runner train
python.training.queue_runner_impl       train.queue_runner train
python.training.session_manager         train.session_manager train
python.training.session_run_hook        train.session_run_hook train
python.training.supervisor              train.supervisor train
python.training.sync_replicas_optimizer train.sync_replicas train
python.training.warm_starting_util      train.warm_starting train
python.training.optimizer               train.optimizer train.optimizer_internals train
python.training.queue_runner            train.queue_runner train
python.training.queue_runner_impl       train.queue_runner train
python.training.saver                   train.saver train
python.training.saver_test_utils        testing.checkpointed_table
python.training.saving.functional_saver train.functional_saver train.saveables
python.training.saving.*                train.saveables
python.training.server_lib              train.server_lib train
python.training.slot_creator            train.slots
python.training.gen_training_ops        internal_paths.generated_ops
python.training.training_ops            internal_paths.generated_ops
python.training.training_util           train.global_step train
python.training.checkpointable.*        train.tracking train
python.training.distribute              distribute
python.training.distribution_strategy_context distribute
python.training.experimental.loss_scale train.loss_scale
python.training.experimental.loss_scale_optimizer train.loss_scale_optimizer
python.training.experimental.mixed_precision train.mixed_precision
python.training.experimental.mixed_precision_global_state client.mixed_precision_state
python.training.tensorboard_logging     summary.logged_messages
python.training.tracking.layer_utils    train.tracking.layer_containers keras.utils.weight_layouts
python.training.tracking.tracking       train.tracking.resources train.tracking train
python.training.tracking.util           train.tracking ops.templates train
python.training.tracking.*              train.tracking train
python.training.*                       train

python.user_ops.user_ops                user_ops .

python.util.all_util                    internal_paths.python.documented_names
python.util.compat                      compat internal_paths.python_util
python.util.decorator_utils             internal_paths.python.docstring_notices
python.util.deprecation                 internal_paths.python.deprecations
python.util.deprecation_wrapper         internal_paths.python.module_wrapper
python.util.dispatch                    ir.dispatch
python.util.example_parser_configuration internal_paths.python.parser_configurations
python.util.function_utils              internal_paths.python.function_facts
python.util.keyword_args                internal_paths.python_util
python.util.lazy_loader                 internal_paths.python_util
python.util.lock_util                   internal_paths.python.group_lock
python.util.module_wrapper              internal_paths.python.module_wrapper
python.util.nest                        nest
python.util.object_identity             internal_paths.python.identity
python.util.protobuf.compare            testing.proto_compare
python.util.serialization               internal_paths.python.json_types
python.util.tf_contextlib               internal_paths.python_util
python.util.tf_decorator                internal_paths.python.decorators
python.util.tf_export                   internal_paths.python.exports
python.util.tf_inspect                  internal_paths.python_inspect
python.util.tf_should_use               internal_paths.python.unused_results
python.util.tf_stack                    internal_paths.python.stack_frames
python.util.*                           internal_paths.python_util

tools.compatibility                     tools
tools.compatibility.all_renames_v2      tools.renamed_symbols
"""


@cache
def _lines() -> tuple[dict[str, tuple[str, ...]], list[tuple[str, tuple[str, ...]]]]:
    """The sources of the paths written out (and of the packages above them), and the patterns."""
    explicit: dict[str, tuple[str, ...]] = {}
    patterns: list[tuple[str, tuple[str, ...]]] = []
    for line in PATHS.replace("\n ", " ").split("\n"):
        path, *sources = line.split() or [""]
        found = tuple("" if source == "." else source for source in sources)
        if "*" in path:
            patterns.append((path, found))
        elif path:
            explicit[path] = found
        parents = path.split(".")[:-1]
        for length in range(1, len(parents) + 1):
            explicit.setdefault(".".join(parents[:length]), ())
    return explicit, patterns


def is_written_out(path: str) -> bool:
    """Whether a path has a line of its own, or is a package above one that has."""
    return path in _lines()[0]


def sources(path: str) -> Sequence[str] | None:
    """Where the names of a path are, by modules below the package; None for an unknown path."""
    explicit, patterns = _lines()
    if path in explicit:
        return explicit[path]
    for pattern, found in patterns:
        if fnmatchcase(path, pattern) and _stands_for(pattern, path):
            same = path[pattern.index("*") :]
            if not any("*" in source for source in found):
                return found
            mirrored = tuple(source.replace("*", same) for source in found)
            if any(map(_is_module, mirrored)):
                return mirrored
    return None


def _is_module(source: str) -> bool:
    try:
        return find_spec(f"penstock.{source}") is not None
    except ModuleNotFoundError:  # what it would lie in is no package
        return False


def _packages_above(package: str) -> list[str]:
    """A package and those that it lies in, the nearest first."""
    parts = package.split(".")
    return [".".join(parts[:length]) for length in range(len(parts), 0, -1)]


def _stands_for(pattern: str, path: str) -> bool:
    """Whether `*` may be what a path has there: a module's name, of those that are known."""
    package = pattern.removesuffix(".*")
    if package == pattern:
        return True
    rest = path[len(package) + 1 :]
    for above in _packages_above(package):
        if above in NAMES:
            return path[len(above) + 1 :] in NAMES[above].split()
    return re.fullmatch(r"[a-z_][a-z0-9_]*", rest) is not None
