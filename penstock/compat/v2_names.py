"""Which names `tf.compat.v2` has, and where those are that are not the ones of `tf`."""

from __future__ import annotations

#: Namespace → the names in it that mean the same in both of TensorFlow 1.15's APIs.
SAME: dict[str, str] = {
    "": """
        AggregationMethod Assert CriticalSection DType DeviceSpec GradientTape Graph IndexedSlices
        IndexedSlicesSpec Module Operation OptionalSpec RaggedTensor RaggedTensorSpec
        RegisterGradient SparseTensor SparseTensorSpec Tensor TensorArray TensorArraySpec
        TensorShape TensorSpec TypeSpec UnconnectedGradients VariableAggregation
        VariableSynchronization abs acos acosh add add_n argsort as_dtype as_string asin asinh
        atan atan2 atanh bfloat16 bitcast bool broadcast_dynamic_shape broadcast_static_shape
        broadcast_to cast clip_by_global_norm clip_by_norm clip_by_value complex complex128
        complex64 concat constant control_dependencies cos cosh cumsum
        custom_gradient divide double dynamic_partition dynamic_stitch edit_distance einsum
        enable_v2_behavior ensure_shape equal executing_eagerly exp extract_volume_patches eye fill
        fingerprint
        float16 float32 float64 floor foldl foldr function get_logger get_static_value
        grad_pass_through greater greater_equal group guarantee_const half histogram_fixed_width
        histogram_fixed_width_bins identity identity_n import_graph_def init_scope int16 int32
        int64 int8 is_tensor less less_equal linspace logical_and logical_not logical_or
        make_ndarray make_tensor_proto map_fn matmul matrix_square_root maximum meshgrid minimum
        multiply name_scope negative newaxis no_gradient no_op not_equal numpy_function one_hot
        ones parallel_stack pow print py_function qint16 qint32 qint8 quint16
        quint8 range rank realdiv
        recompute_grad
        register_tensor_conversion_function repeat
        required_space_to_batch_paddings reshape resource reverse roll round saturate_cast scan
        scatter_nd searchsorted sequence_mask shape_n sigmoid sign sin sinh slice sort
        space_to_batch_nd split sqrt square stack stop_gradient strided_slice string subtract
        switch_case tan tanh tensor_scatter_nd_add tensor_scatter_nd_sub tensor_scatter_nd_update
        tensordot tile timestamp truediv truncatediv truncatemod uint16 uint32 uint64 uint8 unique
        unique_with_counts unravel_index unstack variable_creator_scope variant vectorized_map
        zeros
    """,
    "audio": "decode_wav encode_wav",
    "autograph": "set_verbosity to_code to_graph trace",
    "autograph.experimental": "Feature do_not_convert set_loop_options",
    "bitwise": "bitwise_and bitwise_or bitwise_xor invert left_shift right_shift",
    "config": """
        experimental_connect_to_cluster experimental_connect_to_host experimental_list_devices
        experimental_run_functions_eagerly get_soft_device_placement set_soft_device_placement
    """,
    "config.experimental": """
        VirtualDeviceConfiguration get_device_policy get_memory_growth get_synchronous_execution
        get_virtual_device_configuration get_visible_devices list_logical_devices
        list_physical_devices set_device_policy set_memory_growth set_synchronous_execution
        set_virtual_device_configuration set_visible_devices
    """,
    "config.optimizer": """
        get_experimental_options get_jit set_experimental_options set_jit
    """,
    "config.threading": """
        get_inter_op_parallelism_threads get_intra_op_parallelism_threads
        set_inter_op_parallelism_threads set_intra_op_parallelism_threads
    """,
    "data": """
        DatasetSpec FixedLengthRecordDataset Options TFRecordDataset TextLineDataset
    """,
    "data.experimental": """
        AUTOTUNE CheckpointInputPipelineHook Counter CsvDataset DistributeOptions
        INFINITE_CARDINALITY MapVectorizationOptions OptimizationOptions Optional RandomDataset
        Reducer StatsOptions TFRecordWriter ThreadingOptions UNKNOWN_CARDINALITY
        bucket_by_sequence_length bytes_produced_stats cardinality choose_from_datasets
        copy_to_device dense_to_sparse_batch enumerate_dataset from_variant get_next_as_optional
        get_single_element get_structure group_by_reducer group_by_window ignore_errors
        latency_stats make_batched_features_dataset make_csv_dataset make_saveable_from_iterator
        map_and_batch parallel_interleave parse_example_dataset prefetch_to_device
        rejection_resample sample_from_datasets scan shuffle_and_repeat take_while to_variant
        unbatch unique
    """,
    "debugging": """
        Assert assert_proper_iterable assert_same_float_dtype check_numerics
        get_log_device_placement is_numeric_tensor set_log_device_placement
    """,
    "distribute": """
        CrossDeviceOps HierarchicalCopyAllReduce InputContext InputReplicationMode
        MirroredStrategy NcclAllReduce OneDeviceStrategy ReduceOp ReductionToOneDevice
        ReplicaContext Server Strategy StrategyExtended experimental_set_strategy
        get_replica_context get_strategy has_strategy in_cross_replica_context
    """,
    "distribute.cluster_resolver": """
        ClusterResolver GCEClusterResolver KubernetesClusterResolver SimpleClusterResolver
        SlurmClusterResolver TFConfigClusterResolver TPUClusterResolver UnionResolver
    """,
    "distribute.experimental": """
        CentralStorageStrategy CollectiveCommunication MultiWorkerMirroredStrategy
        ParameterServerStrategy
    """,
    "dtypes": """
        DType QUANTIZED_DTYPES as_dtype bfloat16 bool cast complex complex128 complex64 double
        float16 float32 float64 half int16 int32 int64 int8 qint16 qint32 qint8 quint16 quint8
        resource saturate_cast string uint16 uint32 uint64 uint8 variant
    """,
    "errors": """
        ABORTED ALREADY_EXISTS AbortedError AlreadyExistsError CANCELLED CancelledError DATA_LOSS
        DEADLINE_EXCEEDED DataLossError DeadlineExceededError FAILED_PRECONDITION
        FailedPreconditionError INTERNAL INVALID_ARGUMENT InternalError InvalidArgumentError
        NOT_FOUND NotFoundError OK OUT_OF_RANGE OpError OutOfRangeError PERMISSION_DENIED
        PermissionDeniedError RESOURCE_EXHAUSTED ResourceExhaustedError UNAUTHENTICATED
        UNAVAILABLE UNIMPLEMENTED UNKNOWN UnauthenticatedError UnavailableError UnimplementedError
        UnknownError
    """,
    "feature_column": """
        bucketized_column categorical_column_with_hash_bucket categorical_column_with_identity
        categorical_column_with_vocabulary_list crossed_column embedding_column indicator_column
        numeric_column sequence_categorical_column_with_hash_bucket
        sequence_categorical_column_with_identity sequence_categorical_column_with_vocabulary_file
        sequence_categorical_column_with_vocabulary_list sequence_numeric_column
        weighted_categorical_column
    """,
    "graph_util": "import_graph_def",
    "image": """
        ResizeMethod adjust_brightness adjust_contrast adjust_gamma adjust_hue adjust_jpeg_quality
        adjust_saturation central_crop combined_non_max_suppression convert_image_dtype
        crop_to_bounding_box decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg
        decode_png encode_jpeg encode_png extract_jpeg_shape flip_left_right flip_up_down
        grayscale_to_rgb hsv_to_rgb image_gradients is_jpeg non_max_suppression
        non_max_suppression_overlaps non_max_suppression_padded non_max_suppression_with_scores
        pad_to_bounding_box per_image_standardization psnr random_brightness random_contrast
        random_crop random_flip_left_right random_flip_up_down random_hue random_jpeg_quality
        random_saturation resize_with_crop_or_pad rgb_to_grayscale rgb_to_hsv rgb_to_yiq
        rgb_to_yuv rot90 sobel_edges ssim ssim_multiscale total_variation transpose yiq_to_rgb
        yuv_to_rgb
    """,
    "io": """
        FixedLenFeature FixedLenSequenceFeature SparseFeature TFRecordOptions TFRecordWriter
        VarLenFeature decode_and_crop_jpeg decode_base64 decode_bmp decode_compressed decode_gif
        decode_image decode_jpeg decode_json_example decode_png deserialize_many_sparse
        encode_base64 encode_jpeg extract_jpeg_shape is_jpeg match_filenames_once matching_files
        parse_sequence_example parse_single_sequence_example parse_tensor read_file
        serialize_tensor write_file write_graph
    """,
    "io.gfile": """
        GFile copy exists glob isdir listdir makedirs mkdir remove rename rmtree stat walk
    """,
    "linalg": """
        LinearOperator LinearOperatorAdjoint LinearOperatorBlockDiag LinearOperatorCirculant
        LinearOperatorCirculant2D LinearOperatorCirculant3D LinearOperatorComposition
        LinearOperatorDiag LinearOperatorFullMatrix LinearOperatorHouseholder
        LinearOperatorIdentity LinearOperatorInversion LinearOperatorKronecker
        LinearOperatorLowRankUpdate LinearOperatorLowerTriangular LinearOperatorScaledIdentity
        LinearOperatorToeplitz LinearOperatorZeros adjoint band_part cholesky cholesky_solve cross
        det diag eigh eigvalsh einsum expm eye global_norm inv logdet logm lstsq lu matmul
        matrix_rank matrix_transpose matvec normalize pinv qr set_diag slogdet solve sqrtm svd
        tensor_diag tensor_diag_part tensordot trace triangular_solve tridiagonal_matmul
        tridiagonal_solve
    """,
    "lookup": """
        KeyValueTensorInitializer StaticHashTable StaticVocabularyTable TextFileIndex
        TextFileInitializer
    """,
    "lookup.experimental": "DenseHashTable",
    "math": """
        abs accumulate_n acos acosh add add_n angle asin asinh atan atan2 atanh bessel_i0
        bessel_i0e bessel_i1 bessel_i1e betainc bincount ceil conj cos cosh cumprod cumsum
        cumulative_logsumexp digamma divide divide_no_nan equal erf erfc exp expm1 floor floordiv
        floormod greater greater_equal igamma igammac imag invert_permutation is_finite is_inf
        is_nan is_non_decreasing is_strictly_increasing lbeta less less_equal lgamma log log1p
        log_sigmoid logical_and logical_not logical_or logical_xor maximum minimum mod multiply
        multiply_no_nan negative nextafter not_equal polygamma polyval pow real reciprocal
        reciprocal_no_nan reduce_euclidean_norm
        reduce_std reduce_variance rint round rsqrt
        segment_max segment_mean segment_min segment_prod segment_sum sigmoid sign sin sinh
        softplus softsign sqrt square squared_difference subtract tan tanh top_k truediv
        unsorted_segment_max unsorted_segment_mean unsorted_segment_min unsorted_segment_prod
        unsorted_segment_sqrt_n unsorted_segment_sum xdivy xlogy zero_fraction zeta
    """,
    "nest": "assert_same_structure flatten is_nested map_structure pack_sequence_as",
    "nn": """
        all_candidate_sampler atrous_conv2d atrous_conv2d_transpose avg_pool1d avg_pool2d
        avg_pool3d batch_normalization bias_add collapse_repeated compute_accidental_hits
        compute_average_loss conv1d_transpose conv_transpose ctc_greedy_decoder ctc_unique_labels
        depthwise_conv2d_backprop_filter depthwise_conv2d_backprop_input elu
        fixed_unigram_candidate_sampler l2_loss leaky_relu learned_unigram_candidate_sampler
        local_response_normalization log_poisson_loss lrn max_pool1d max_pool2d max_pool3d
        normalize_moments relu relu6 scale_regularization_loss selu sigmoid softplus softsign
        swish tanh top_k with_space_to_batch zero_fraction
    """,
    "quantization": """
        dequantize fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient
        fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient
        fake_quant_with_min_max_vars_per_channel fake_quant_with_min_max_vars_per_channel_gradient
        quantize quantize_and_dequantize quantized_concat
    """,
    "queue": "FIFOQueue PaddingFIFOQueue PriorityQueue QueueBase RandomShuffleQueue",
    "ragged": """
        boolean_mask constant map_flat_values range row_splits_to_segment_ids
        segment_ids_to_row_splits stack stack_dynamic_partitions
    """,
    "random": """
        all_candidate_sampler categorical fixed_unigram_candidate_sampler gamma
        learned_unigram_candidate_sampler log_uniform_candidate_sampler normal shuffle
        stateless_categorical stateless_normal stateless_truncated_normal stateless_uniform
        truncated_normal uniform uniform_candidate_sampler
    """,
    "random.experimental": """
        Generator create_rng_state get_global_generator set_global_generator
    """,
    "saved_model": """
        ASSETS_DIRECTORY ASSETS_KEY CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES
        CLASSIFY_OUTPUT_SCORES DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU PREDICT_INPUTS
        PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS
        SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION SERVING TPU
        TRAINING VARIABLES_DIRECTORY VARIABLES_FILENAME contains_saved_model save
    """,
    "sets": "difference intersection size union",
    "signal": """
        dct fft fft2d fft3d fftshift frame hamming_window hann_window idct ifft ifft2d ifft3d
        ifftshift inverse_stft inverse_stft_window_fn irfft irfft2d irfft3d
        linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms overlap_and_add rfft rfft2d
        rfft3d stft
    """,
    "sparse": """
        SparseTensor cross cross_hashed expand_dims eye fill_empty_rows from_dense mask maximum
        minimum reorder reset_shape reshape retain slice softmax sparse_dense_matmul to_dense
        to_indicator transpose
    """,
    "strings": """
        as_string bytes_split format join lower ngrams regex_full_match regex_replace strip
        to_hash_bucket to_hash_bucket_fast to_hash_bucket_strong to_number unicode_decode
        unicode_decode_with_offsets unicode_encode unicode_script unicode_split
        unicode_split_with_offsets unicode_transcode unsorted_segment_join upper
    """,
    "sysconfig": """
        CXX11_ABI_FLAG MONOLITHIC_BUILD get_compile_flags get_include get_lib get_link_flags
    """,
    "test": """
        Benchmark TestCase benchmark_config create_local_cluster gpu_device_name
        is_built_with_cuda is_built_with_gpu_support is_built_with_rocm is_gpu_available main
    """,
    "train": """
        BytesList Checkpoint CheckpointManager ClusterDef ClusterSpec Coordinator Example
        ExponentialMovingAverage Feature FeatureList FeatureLists Features FloatList Int64List
        JobDef SequenceExample ServerDef checkpoints_iterator get_checkpoint_state
        latest_checkpoint list_variables load_checkpoint load_variable
    """,
    "train.experimental": """
        DynamicLossScale FixedLossScale LossScale PythonState
        disable_mixed_precision_graph_rewrite enable_mixed_precision_graph_rewrite
    """,
    "version": """
        COMPILER_VERSION GIT_VERSION GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER
        GRAPH_DEF_VERSION_MIN_PRODUCER VERSION
    """,
    "xla.experimental": "compile jit_scope",
}

#: Namespace → module → the names of it with other arguments in TensorFlow 2 (`name=name there`).
OTHER: dict[str, dict[str, str]] = {
    "": {
        "internal_paths.second_signatures": """
            reduce_all=reduce_all_v2 reduce_any=reduce_any_v2 reduce_logsumexp=reduce_logsumexp_v2
            reduce_max=reduce_max_v2 reduce_mean=reduce_mean_v2 reduce_min=reduce_min_v2
            reduce_prod=reduce_prod_v2 reduce_sum=reduce_sum_v2
        """,
        "python.framework.ops": "convert_to_tensor=convert_to_tensor_v2 device=device_v2",
        "python.ops.array_ops": """
            batch_to_space=batch_to_space_v2 boolean_mask=boolean_mask_v2
            expand_dims=expand_dims_v2 gather=gather_v2 gather_nd=gather_nd_v2
            ones_like=ones_like_v2 pad=pad_v2 reverse_sequence=reverse_sequence_v2 shape=shape_v2
            size=size_v2 space_to_batch=space_to_batch_v2 squeeze=squeeze_v2
            transpose=transpose_v2 where=where_v2 zeros_like=zeros_like_v2
        """,
        "python.ops.check_ops": """
            assert_equal=assert_equal_v2 assert_greater=assert_greater_v2
            assert_less=assert_less_v2 assert_rank=assert_rank_v2
        """,
        "python.ops.control_flow_ops": """
            case=case_v2 cond=cond_for_tf_v2 tuple=tuple_v2 while_loop=while_loop_v2
        """,
        "python.ops.gradients_impl": "gradients=gradients_v2 hessians=HessiansV2",
        "python.ops.init_ops_v2": """
            constant_initializer=Constant ones_initializer=Ones zeros_initializer=Zeros
            random_normal_initializer=RandomNormal random_uniform_initializer=RandomUniform
        """,
        "python.ops.linalg_ops": "norm=norm_v2",
        "python.ops.math_ops": "argmax=argmax_v2 argmin=argmin_v2 scalar_mul=scalar_mul_v2",
        "python.ops.variables": "Variable",
    },
    "data": {
        "python.data.ops.dataset_ops": "Dataset=DatasetV2",
    },
    "debugging": {
        "python.ops.check_ops": """
            assert_equal=assert_equal_v2 assert_greater=assert_greater_v2
            assert_greater_equal=assert_greater_equal_v2 assert_integer=assert_integer_v2
            assert_less=assert_less_v2 assert_less_equal=assert_less_equal_v2
            assert_near=assert_near_v2 assert_negative=assert_negative_v2
            assert_non_negative=assert_non_negative_v2 assert_non_positive=assert_non_positive_v2
            assert_none_equal=assert_none_equal_v2 assert_positive=assert_positive_v2
            assert_rank=assert_rank_v2 assert_rank_at_least=assert_rank_at_least_v2
            assert_rank_in=assert_rank_in_v2 assert_scalar=assert_scalar_v2
            assert_shapes=assert_shapes_v2 assert_type=assert_type_v2
        """,
        "python.ops.numerics": "assert_all_finite=verify_tensor_all_finite_v2",
    },
    "feature_column": {
        "python.feature_column.feature_column_v2": """
            categorical_column_with_vocabulary_file=categorical_column_with_vocabulary_file_v2
            make_parse_example_spec=make_parse_example_spec_v2
            shared_embeddings=shared_embedding_columns_v2
        """,
    },
    "image": {
        "python.ops.array_ops": "extract_patches=extract_image_patches_v2",
        "python.ops.image_ops_impl": """
            crop_and_resize=crop_and_resize_v2 draw_bounding_boxes=draw_bounding_boxes_v2
            extract_glimpse=extract_glimpse_v2 resize=resize_images_v2
            resize_with_pad=resize_image_with_pad_v2
            sample_distorted_bounding_box=sample_distorted_bounding_box_v2
        """,
    },
    "estimator": {
        "estimator.canned.keras_estimators": """
            BaselineClassifier=BaselineClassifierV2 BaselineEstimator=BaselineEstimatorV2
            BaselineRegressor=BaselineRegressorV2 DNNClassifier=DNNClassifierV2
            DNNEstimator=DNNEstimatorV2 DNNRegressor=DNNRegressorV2
            DNNLinearCombinedClassifier=DNNLinearCombinedClassifierV2
            DNNLinearCombinedEstimator=DNNLinearCombinedEstimatorV2
            DNNLinearCombinedRegressor=DNNLinearCombinedRegressorV2
            LinearClassifier=LinearClassifierV2 LinearEstimator=LinearEstimatorV2
            LinearRegressor=LinearRegressorV2
        """,
    },
    "estimator.experimental": {
        "estimator.canned.recurrent": "RNNClassifier RNNEstimator",
    },
    "io": {
        "internal_paths.second_signatures": "decode_raw=decode_raw_v2",
        "python.ops.parsing_ops": """
            decode_csv=decode_csv_v2 parse_example=parse_example_v2
            parse_single_example=parse_single_example_v2_unoptimized
        """,
        "python.ops.sparse_ops": """
            serialize_many_sparse=serialize_many_sparse_v2 serialize_sparse=serialize_sparse_v2
        """,
    },
    "keras.callbacks": {
        "keras.callbacks.tensorboard_v2": "TensorBoard",
    },
    "keras.initializers": {
        "python.ops.init_ops_v2": """
            Constant GlorotNormal GlorotUniform Identity Initializer Ones Orthogonal RandomNormal
            RandomUniform TruncatedNormal VarianceScaling Zeros constant=Constant
            glorot_normal=GlorotNormal glorot_uniform=GlorotUniform he_normal he_uniform
            identity=Identity lecun_normal lecun_uniform ones=Ones orthogonal=Orthogonal zeros=Zeros
        """,
    },
    "keras.layers": {
        "keras.layers.normalization_v2": "BatchNormalization",
        "keras.layers.recurrent_v2": "GRU GRUCell LSTM LSTMCell",
        "python.feature_column.dense_features_v2": "DenseFeatures",
    },
    "linalg": {
        "python.ops.array_ops": "diag_part=matrix_diag_part",
        "python.ops.linalg_ops": "norm=norm_v2",
        "python.ops.nn_impl": "l2_normalize=l2_normalize_v2",
    },
    "math": {
        "internal_paths.second_signatures": """
            confusion_matrix=confusion_matrix_v2 reduce_all=reduce_all_v2 reduce_any=reduce_any_v2
            reduce_logsumexp=reduce_logsumexp_v2 reduce_max=reduce_max_v2
            reduce_mean=reduce_mean_v2 reduce_min=reduce_min_v2 reduce_prod=reduce_prod_v2
            reduce_sum=reduce_sum_v2
        """,
        "python.ops.math_ops": """
            argmax=argmax_v2 argmin=argmin_v2 count_nonzero=count_nonzero_v2
            scalar_mul=scalar_mul_v2
        """,
        "python.ops.nn_impl": "l2_normalize=l2_normalize_v2",
        "python.ops.nn_ops": """
            in_top_k=in_top_k_v2 log_softmax=log_softmax_v2 softmax=softmax_v2
        """,
    },
    "nn": {
        "keras.layers.rnn_cell_wrapper_v2": """
            RNNCellDeviceWrapper=DeviceWrapper RNNCellDropoutWrapper=DropoutWrapper
            RNNCellResidualWrapper=ResidualWrapper
        """,
        "python.ops.array_ops": """
            depth_to_space=depth_to_space_v2 space_to_batch=space_to_batch_v2
            space_to_depth=space_to_depth_v2
        """,
        "python.ops.ctc_ops": """
            ctc_beam_search_decoder=ctc_beam_search_decoder_v2 ctc_loss=ctc_loss_v2
        """,
        "python.ops.embedding_ops": """
            embedding_lookup=embedding_lookup_v2
            embedding_lookup_sparse=embedding_lookup_sparse_v2
            safe_embedding_lookup_sparse=safe_embedding_lookup_sparse_v2
        """,
        "python.ops.nn_impl": """
            batch_norm_with_global_normalization=batch_norm_with_global_normalization_v2
            depthwise_conv2d=depthwise_conv2d_v2 l2_normalize=l2_normalize_v2 moments=moments_v2
            nce_loss=nce_loss_v2 sampled_softmax_loss=sampled_softmax_loss_v2
            separable_conv2d=separable_conv2d_v2
            sigmoid_cross_entropy_with_logits=sigmoid_cross_entropy_with_logits_v2
            sufficient_statistics=sufficient_statistics_v2
            weighted_cross_entropy_with_logits=weighted_cross_entropy_with_logits_v2
            weighted_moments=weighted_moments_v2
        """,
        "python.ops.nn_ops": """
            avg_pool=avg_pool_v2 conv1d=conv1d_v2 conv2d=conv2d_v2
            conv2d_transpose=conv2d_transpose_v2 conv3d=conv3d_v2
            conv3d_transpose=conv3d_transpose_v2 convolution=convolution_v2 crelu=crelu_v2
            dilation2d=dilation2d_v2 dropout=dropout_v2 erosion2d=erosion2d_v2
            fractional_avg_pool=fractional_avg_pool_v2 fractional_max_pool=fractional_max_pool_v2
            in_top_k=in_top_k_v2 log_softmax=log_softmax_v2 max_pool=max_pool_v2
            max_pool_with_argmax=max_pool_with_argmax_v2 pool=pool_v2 softmax=softmax_v2
            softmax_cross_entropy_with_logits=softmax_cross_entropy_with_logits_v2
            sparse_softmax_cross_entropy_with_logits=sparse_softmax_cross_entropy_with_logits_v2
        """,
    },
    "random": {
        "": "set_seed=set_random_seed",
        "python.ops.random_ops": "poisson=random_poisson_v2",
    },
    "sparse": {
        "python.ops.math_ops": """
            segment_mean=sparse_segment_mean_v2 segment_sqrt_n=sparse_segment_sqrt_n_v2
            segment_sum=sparse_segment_sum_v2
        """,
        "python.ops.sparse_ops": """
            add=sparse_add_v2 concat=sparse_concat_v2 reduce_max=sparse_reduce_max_v2
            reduce_sum=sparse_reduce_sum_v2 split=sparse_split_v2
        """,
    },
    "strings": {
        "python.ops.ragged.ragged_string_ops": "split=string_split_v2",
        "python.ops.string_ops": """
            length=string_length_v2 reduce_join=reduce_join_v2 substr=substr_v2
        """,
    },
    "summary": {
        "python.ops.summary_ops_v2": """
            SummaryWriter create_file_writer=create_file_writer_v2 create_noop_writer flush
            record_if trace_export trace_off trace_on write
        """,
        "summary.plugin_summaries": "audio histogram image scalar text",
    },
    "summary.experimental": {
        "python.ops.summary_ops_v2": "get_step set_step summary_scope write_raw_pb",
    },
    "test": {
        "python.framework.test_util": "assert_equal_graph_def=assert_equal_graph_def_v2",
        "python.ops.gradient_checker_v2": "compute_gradient",
    },
    "saved_model": {"saved_model": "load=load_v2"},
}
