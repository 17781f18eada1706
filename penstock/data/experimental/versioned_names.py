"""Names of the two versions that TensorFlow has of functions which are one here."""

from penstock.data.experimental.files import (
    CsvDataset,
    SqlDataset,
    make_batched_features_dataset,
    make_csv_dataset,
)
from penstock.data.experimental.sampling import (
    Counter,
    RandomDataset,
    choose_from_datasets,
    sample_from_datasets,
)

CounterV1 = CounterV2 = Counter
CsvDatasetV1 = CsvDatasetV2 = CsvDataset
SqlDatasetV1 = SqlDatasetV2 = SqlDataset
RandomDatasetV1 = RandomDatasetV2 = RandomDataset
choose_from_datasets_v1 = choose_from_datasets_v2 = choose_from_datasets
make_batched_features_dataset_v1 = make_batched_features_dataset_v2 = make_batched_features_dataset
make_csv_dataset_v1 = make_csv_dataset_v2 = make_csv_dataset
sample_from_datasets_v1 = sample_from_datasets_v2 = sample_from_datasets
