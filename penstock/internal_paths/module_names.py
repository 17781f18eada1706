"""The modules inside TensorFlow 1.15 that a `*` in the table of paths stands for."""

NAMES: dict[str, str] = {
    "python.data.experimental.ops": """
        batching cardinality counter distribute distribute_options enumerate_ops error_ops
        get_single_element grouping interleave_ops iterator_ops map_defun matching_files
        optimization optimization_options parsing_ops prefetching_ops random_ops readers
        resampling scan_ops shuffle_ops sleep snapshot stats_aggregator stats_ops stats_options
        take_while_ops threading_options threadpool unique writers
    """,
    "python.data.ops": """
        dataset_ops iterator_ops multi_device_iterator_ops optional_ops readers
    """,
    "python.data.util": """
        convert nest options random_seed sparse structure traverse
    """,
    "python.debug": """
        cli cli.analyzer_cli cli.base_ui cli.cli_config cli.cli_shared cli.cli_test_utils
        cli.command_parser cli.curses_ui cli.curses_widgets cli.debugger_cli_common
        cli.evaluator cli.offline_analyzer cli.profile_analyzer_cli cli.readline_ui
        cli.tensor_format cli.ui_factory examples examples.debug_errors examples.debug_fibonacci
        examples.debug_keras examples.debug_mnist examples.debug_tflearn_iris lib lib.common
        lib.debug_data lib.debug_gradients lib.debug_graphs lib.debug_utils
        lib.grpc_debug_server lib.grpc_debug_test_server lib.grpc_tensorflow_server
        lib.profiling lib.session_debug_testlib lib.source_remote lib.source_utils wrappers
        wrappers.dumping_wrapper wrappers.framework wrappers.grpc_wrapper wrappers.hooks
        wrappers.local_cli_wrapper
    """,
    "python.distribute": """
        all_reduce central_storage_strategy cluster_resolver cluster_resolver.cluster_resolver
        cluster_resolver.gce_cluster_resolver cluster_resolver.kubernetes_cluster_resolver
        cluster_resolver.slurm_cluster_resolver cluster_resolver.tfconfig_cluster_resolver
        cluster_resolver.tpu_cluster_resolver collective_all_reduce_strategy combinations
        cross_device_ops cross_device_utils device_util distribute_config distribute_coordinator
        distribute_coordinator_context distribute_lib distribution_strategy_context
        estimator_training experimental input_lib input_ops mirrored_strategy model_collection
        model_collection.model_collection_base model_collection.simple_models model_combinations
        multi_worker_test_base multi_worker_util numpy_dataset one_device_strategy
        parameter_server_strategy reduce_util saved_model_test_base shared_variable_creator
        single_loss_example step_fn strategy_combinations strategy_test_lib summary_op_util
        tpu_strategy values
    """,
    "python.eager": """
        backprop cancellation context core def_function execute execution_callbacks executor
        forwardprop function graph_only_ops imperative_grad lift_to_graph memory_tests
        memory_tests.memory_test_util monitoring profiler profiler_client remote tape test
        wrap_function
    """,
    "python.estimator": """
        canned.kmeans canned.rnn canned.saved_model_estimator canned.linear_optimizer
        canned.linear_optimizer.python canned.linear_optimizer.python.utils
        canned.linear_optimizer.python.utils.sdca_ops
        canned.linear_optimizer.python.utils.sharded_mutable_dense_hashtable
        canned canned.baseline canned.boosted_trees canned.boosted_trees_utils canned.dnn
        canned.dnn_linear_combined canned.head canned.linear canned.metric_keys
        canned.optimizers canned.parsing_utils canned.prediction_keys estimator estimator_lib
        export export.export export.export_lib export.export_output exporter gc inputs
        inputs.inputs inputs.numpy_io inputs.pandas_io inputs.queues
        inputs.queues.feeding_functions inputs.queues.feeding_queue_runner keras model_fn
        run_config training util tpu tpu.tpu_config tpu.tpu_estimator tpu.util
        head head.base_head head.binary_class_head head.multi_class_head head.multi_head
        head.head_utils head.multi_label_head head.regression_head head.sequential_head hooks
        hooks.fake_summary_writer
        hooks.basic_session_run_hooks hooks.hooks hooks.session_run_hook mode_keys
    """,
    "python.feature_column": """
        dense_features dense_features_v2 feature_column feature_column_lib feature_column_v2
        sequence_feature_column serialization utils
    """,
    "python.keras": """
        activations api api._v1 api._v1.keras api._v1.keras.activations
        api._v1.keras.applications api._v1.keras.applications.densenet
        api._v1.keras.applications.imagenet_utils api._v1.keras.applications.inception_resnet_v2
        api._v1.keras.applications.inception_v3 api._v1.keras.applications.mobilenet
        api._v1.keras.applications.mobilenet_v2 api._v1.keras.applications.nasnet
        api._v1.keras.applications.resnet api._v1.keras.applications.resnet50
        api._v1.keras.applications.resnet_v2 api._v1.keras.applications.vgg16
        api._v1.keras.applications.vgg19 api._v1.keras.applications.xception
        api._v1.keras.backend api._v1.keras.callbacks api._v1.keras.constraints
        api._v1.keras.datasets api._v1.keras.datasets.boston_housing
        api._v1.keras.datasets.cifar10 api._v1.keras.datasets.cifar100
        api._v1.keras.datasets.fashion_mnist api._v1.keras.datasets.imdb
        api._v1.keras.datasets.mnist api._v1.keras.datasets.reuters api._v1.keras.estimator
        api._v1.keras.experimental api._v1.keras.initializers api._v1.keras.layers
        api._v1.keras.layers.experimental api._v1.keras.losses api._v1.keras.metrics
        api._v1.keras.mixed_precision api._v1.keras.mixed_precision.experimental
        api._v1.keras.models api._v1.keras.optimizers api._v1.keras.optimizers.schedules
        api._v1.keras.premade api._v1.keras.preprocessing api._v1.keras.preprocessing.image
        api._v1.keras.preprocessing.sequence api._v1.keras.preprocessing.text
        api._v1.keras.regularizers api._v1.keras.utils api._v1.keras.wrappers
        api._v1.keras.wrappers.scikit_learn api._v2 api._v2.keras api._v2.keras.activations
        api._v2.keras.applications api._v2.keras.applications.densenet
        api._v2.keras.applications.imagenet_utils api._v2.keras.applications.inception_resnet_v2
        api._v2.keras.applications.inception_v3 api._v2.keras.applications.mobilenet
        api._v2.keras.applications.mobilenet_v2 api._v2.keras.applications.nasnet
        api._v2.keras.applications.resnet api._v2.keras.applications.resnet50
        api._v2.keras.applications.resnet_v2 api._v2.keras.applications.vgg16
        api._v2.keras.applications.vgg19 api._v2.keras.applications.xception
        api._v2.keras.backend api._v2.keras.callbacks api._v2.keras.constraints
        api._v2.keras.datasets api._v2.keras.datasets.boston_housing
        api._v2.keras.datasets.cifar10 api._v2.keras.datasets.cifar100
        api._v2.keras.datasets.fashion_mnist api._v2.keras.datasets.imdb
        api._v2.keras.datasets.mnist api._v2.keras.datasets.reuters api._v2.keras.estimator
        api._v2.keras.experimental api._v2.keras.initializers api._v2.keras.layers
        api._v2.keras.layers.experimental api._v2.keras.losses api._v2.keras.metrics
        api._v2.keras.mixed_precision api._v2.keras.mixed_precision.experimental
        api._v2.keras.models api._v2.keras.optimizers api._v2.keras.optimizers.schedules
        api._v2.keras.premade api._v2.keras.preprocessing api._v2.keras.preprocessing.image
        api._v2.keras.preprocessing.sequence api._v2.keras.preprocessing.text
        api._v2.keras.regularizers api._v2.keras.utils api._v2.keras.wrappers
        api._v2.keras.wrappers.scikit_learn api.keras api.keras.activations
        api.keras.applications api.keras.applications.densenet
        api.keras.applications.imagenet_utils api.keras.applications.inception_resnet_v2
        api.keras.applications.inception_v3 api.keras.applications.mobilenet
        api.keras.applications.mobilenet_v2 api.keras.applications.nasnet
        api.keras.applications.resnet api.keras.applications.resnet50
        api.keras.applications.resnet_v2 api.keras.applications.vgg16
        api.keras.applications.vgg19 api.keras.applications.xception api.keras.backend
        api.keras.callbacks api.keras.constraints api.keras.datasets
        api.keras.datasets.boston_housing api.keras.datasets.cifar10 api.keras.datasets.cifar100
        api.keras.datasets.fashion_mnist api.keras.datasets.imdb api.keras.datasets.mnist
        api.keras.datasets.reuters api.keras.estimator api.keras.experimental
        api.keras.initializers api.keras.layers api.keras.layers.experimental api.keras.losses
        api.keras.metrics api.keras.mixed_precision api.keras.mixed_precision.experimental
        api.keras.models api.keras.optimizers api.keras.optimizers.schedules api.keras.premade
        api.keras.preprocessing api.keras.preprocessing.image api.keras.preprocessing.sequence
        api.keras.preprocessing.text api.keras.regularizers api.keras.utils api.keras.wrappers
        api.keras.wrappers.scikit_learn applications applications.densenet
        applications.imagenet_utils applications.inception_resnet_v2 applications.inception_v3
        applications.mobilenet applications.mobilenet_v2 applications.nasnet applications.resnet
        applications.resnet_v2 applications.vgg16 applications.vgg19 applications.xception
        backend backend_config callbacks callbacks_v1 constraints datasets
        datasets.boston_housing datasets.cifar datasets.cifar10 datasets.cifar100
        datasets.fashion_mnist datasets.imdb datasets.mnist datasets.reuters distribute
        distribute.distributed_training_utils distribute.keras_correctness_test_base
        distribute.multi_worker_testing_utils distribute.multi_worker_training_state engine
        engine.base_layer engine.base_layer_utils engine.base_preprocessing_layer
        engine.base_preprocessing_layer_v1 engine.data_adapter engine.input_layer
        engine.input_spec engine.network engine.node engine.partial_batch_padding_handler
        engine.saving engine.sequential engine.training engine.training_arrays
        engine.training_distributed engine.training_eager engine.training_generator
        engine.training_utils engine.training_v2 engine.training_v2_utils estimator initializers
        keras_parameterized layers layers.advanced_activations layers.convolutional
        layers.convolutional_recurrent layers.core layers.cudnn_recurrent layers.dense_attention
        layers.embeddings layers.kernelized layers.local layers.merge layers.noise
        layers.normalization layers.normalization_v2 layers.pooling layers.preprocessing
        layers.preprocessing.normalization layers.preprocessing.normalization_v1
        layers.preprocessing.preprocessing_test_utils
        layers.recurrent layers.recurrent_v2 layers.rnn_cell_wrapper_v2 layers.serialization
        layers.wrappers losses metrics mixed_precision mixed_precision.experimental
        mixed_precision.experimental.autocast_variable
        mixed_precision.experimental.loss_scale_optimizer mixed_precision.experimental.policy
        models ops optimizer_v2 optimizer_v2.adadelta optimizer_v2.adagrad optimizer_v2.adam
        optimizer_v2.adamax optimizer_v2.ftrl optimizer_v2.gradient_descent
        optimizer_v2.learning_rate_schedule optimizer_v2.nadam optimizer_v2.optimizer_v2
        optimizer_v2.rmsprop optimizers premade premade.linear premade.wide_deep preprocessing
        preprocessing.image preprocessing.sequence preprocessing.text regularizers saving
        saving.hdf5_format saving.model_config saving.save saving.saved_model
        saving.saved_model.constants saving.saved_model.load saving.saved_model.save
        saving.saved_model.serialized_attributes saving.saved_model.utils
        saving.saved_model_experimental saving.saving_utils utils utils.conv_utils
        utils.data_utils utils.generic_utils utils.io_utils utils.kernelized_utils
        utils.layer_utils utils.losses_utils utils.metrics_utils utils.mode_keys
        utils.multi_gpu_utils utils.np_utils utils.tf_utils utils.vis_utils wrappers
        wrappers.scikit_learn
    """,
    "python.ops.distributions": """
        bernoulli beta bijector bijector_impl bijector_test_util categorical dirichlet
        dirichlet_multinomial distribution distributions exponential gamma identity_bijector
        kullback_leibler laplace multinomial normal special_math student_t
        transformed_distribution uniform util
    """,
    "python.ops.linalg": """
        adjoint_registrations cholesky_registrations inverse_registrations linalg linalg_impl
        linear_operator linear_operator_addition linear_operator_adjoint linear_operator_algebra
        linear_operator_block_diag linear_operator_circulant linear_operator_composition
        linear_operator_diag linear_operator_full_matrix linear_operator_householder
        linear_operator_identity linear_operator_inversion linear_operator_kronecker
        linear_operator_low_rank_update linear_operator_lower_triangular
        linear_operator_test_util linear_operator_toeplitz linear_operator_util
        linear_operator_zeros matmul_registrations registrations_util solve_registrations
    """,
    "python.ops.losses": """
        loss_reduction losses losses_impl util
    """,
    "python.ops.ragged": """
        ragged_array_ops ragged_batch_gather_ops ragged_batch_gather_with_default_op
        ragged_concat_ops ragged_config ragged_conversion_ops ragged_dispatch ragged_factory_ops
        ragged_functional_ops ragged_gather_ops ragged_getitem ragged_map_ops ragged_math_ops
        ragged_operators ragged_squeeze_op ragged_string_ops ragged_tensor ragged_tensor_shape
        ragged_tensor_value ragged_util ragged_where_op segment_id_ops
    """,
    "python.ops.signal": """
        dct_ops fft_ops mel_ops mfcc_ops reconstruction_ops shape_ops signal spectral_ops
        util_ops window_ops
    """,
    "python.profiler": """
        internal internal.flops_registry model_analyzer option_builder profile_context profiler
        tfprof_logger
    """,
    "python.saved_model": """
        builder builder_impl constants function_deserialization function_serialization load
        load_v1_in_v2 loader loader_impl main_op main_op_impl model_utils
        model_utils.export_output model_utils.export_utils model_utils.mode_keys
        nested_structure_coder revived_types save saved_model signature_constants
        signature_def_utils signature_def_utils_impl signature_serialization simple_save
        tag_constants utils utils_impl
    """,
    "python.summary.writer": """
        event_file_writer event_file_writer_v2 writer writer_cache
    """,
    "python.summary": """
        plugin_asset summary summary_iterator writer writer.event_file_writer
        writer.event_file_writer_v2 writer.writer writer.writer_cache
    """,
    "python.tools": """
        api api.generator api.generator.create_python_api api.generator.doc_srcs freeze_graph
        import_pb_to_tensorboard inspect_checkpoint module_util optimize_for_inference
        optimize_for_inference_lib print_selective_registration_header saved_model_cli
        saved_model_utils selective_registration_header_lib strip_unused strip_unused_lib
    """,
    "python.training.saving": """
        functional_saver saveable_object saveable_object_util
    """,
    "python.training.checkpointable": """
        base data_structures graph_view layer_utils python_state tracking util
    """,
    "python.training.tracking": """
        base data_structures graph_view layer_utils python_state tracking util
    """,
    "python.training": """
        adadelta adagrad adagrad_da adam basic_loops basic_session_run_hooks
        checkpoint_management checkpoint_ops checkpoint_utils coordinator device_setter
        distribute distribution_strategy_context evaluation experimental experimental.loss_scale
        experimental.loss_scale_optimizer experimental.mixed_precision
        experimental.mixed_precision_global_state ftrl gen_training_ops gradient_descent input
        learning_rate_decay momentum monitored_session moving_averages optimizer
        proximal_adagrad proximal_gradient_descent queue_runner queue_runner_impl rmsprop saver
        saver_test_utils saving saving.functional_saver saving.saveable_object
        saving.saveable_object_util server_lib session_manager session_run_hook slot_creator
        summary_io supervisor sync_replicas_optimizer tensorboard_logging tracking tracking.base
        tracking.data_structures tracking.graph_view tracking.layer_utils tracking.python_state
        tracking.tracking tracking.util training training_ops training_util warm_starting_util
    """,
    "python.util": """
        all_util compat compat_internal decorator_utils deprecation deprecation_wrapper dispatch
        example_parser_configuration function_utils future_api is_in_graph_mode keyword_args
        lazy_loader lock_util memory module_wrapper nest object_identity protobuf
        protobuf.compare serialization tf_contextlib tf_decorator tf_export tf_inspect
        tf_should_use tf_stack
    """,
}
