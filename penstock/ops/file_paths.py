"""Which inputs and attrs of op types name files.

The files behind a reader come from a queue; its kernels check them one by one.
"""

from __future__ import annotations

#: Op types by the input or attr that holds a path, a pattern of paths or a prefix of them.
_BY_NAME = {
    "filename": "ReadFile WriteFile Save SaveSlices CacheDataset CacheDatasetV2 DatasetToTFRecord "
    "ExperimentalDatasetToTFRecord InitializeTableFromTextFile InitializeTableFromTextFileV2",
    "filenames": "CSVDataset ExperimentalCSVDataset FixedLengthRecordDataset "
    "FixedLengthRecordDatasetV2 TFRecordDataset TextLineDataset LMDBDataset "
    "ExperimentalLMDBDataset",
    "data_source_name": "SqlDataset ExperimentalSqlDataset",
    "pattern": "MatchingFiles",
    "patterns": "MatchingFilesDataset ExperimentalMatchingFilesDataset",
    "file_pattern": "Restore RestoreSlice RecordInput",
    "prefix": "RestoreV2 SaveV2",
    "checkpoint_prefixes": "MergeV2Checkpoints",
    "destination_prefix": "MergeV2Checkpoints",
    "ckpt_path": "LoadAndRemapMatrix",
    "new_vocab_file": "GenerateVocabRemapping",
    "old_vocab_file": "GenerateVocabRemapping",
    "vocab_file": "FixedUnigramCandidateSampler",
    "memory_region_name": "ImmutableConst",
    "logdir": "CreateSummaryFileWriter",
}

PATHS: dict[str, tuple[str, ...]] = {}
for _name, _types in _BY_NAME.items():
    for _type in _types.split():
        PATHS[_type] = (*PATHS.get(_type, ()), _name)
