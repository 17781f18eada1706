"""Lookup tables: filling them and asking them. Files and exports are in tests/lookup."""

from typing import Any

from tests.ops.case import Case, Made, array, strings

WORDS = strings("brain", "salad", "surgery")
NUMBERS = array([0, 1, 2], "int64")
TYPES = {"key_dtype": "string", "value_dtype": "int64"}
ASKED = strings("salad", "tank", "brain")
DEFAULT = array(-1, "int64")


def _table(op: str = "HashTableV2", shared_name: str = "table", **attrs: Any) -> Made:
    return Made(op, (), {**TYPES, "shared_name": shared_name, **attrs})


def _filled(how: str, table: Made, keys: Any = WORDS, values: Any = NUMBERS) -> Made:
    return Made(how, (table, keys, values))


def _dense(keys: str = "int64", **attrs: Any) -> Made:
    reserved = (array(-1, keys), array(-2, keys))
    given = {"value_dtype": "int64", "shared_name": "dense", **attrs}
    return Made("MutableDenseHashTableV2", reserved, given)


STATIC, OLD_STATIC = _table(), _table("HashTable")
MUTABLE, OLD_MUTABLE = _table("MutableHashTableV2"), _table("MutableHashTable")
VECTORS = _table("MutableHashTableOfTensorsV2", value_shape=[2])
OLD_VECTORS = _table("MutableHashTableOfTensors", value_shape=[2])
DENSE = _dense(initial_num_buckets=4)
FILLED = _filled("InitializeTableV2", STATIC)
OLD_FILLED = _filled("InitializeTable", OLD_STATIC)
INSERTED = _filled("LookupTableInsertV2", MUTABLE)
OLD_INSERTED = _filled("LookupTableInsert", OLD_MUTABLE)
PAIRS = array([[1, 2], [3, 4], [5, 6]], "int64")
INSERTED_PAIRS = _filled("LookupTableInsertV2", VECTORS, WORDS, PAIRS)
OLD_INSERTED_PAIRS = _filled("LookupTableInsert", OLD_VECTORS, WORDS, PAIRS)
IDS = array([10, 11, 12], "int64")
INSERTED_IDS = _filled("LookupTableInsertV2", DENSE, IDS)
ONE_WORD, ONE_NUMBER = strings("one"), array([1], "int64")
TEXT = {"key_index": -2, "value_index": -1}

CASES = [
    Case("HashTable", (), TYPES, outputs=()),
    Case("HashTableV2", (), TYPES),
    Case("HashTableV2", (), {**TYPES, "key_dtype": "float32"}, label="types", fails=True),
    Case("AnonymousHashTable", (), TYPES),
    Case("MutableHashTable", (), TYPES, outputs=()),
    Case("MutableHashTableV2", (), TYPES),
    Case("MutableHashTableV2", (), {**TYPES, "value_dtype": "string"}, label="types", fails=True),
    Case("MutableHashTableOfTensors", (), {**TYPES, "value_shape": [2]}, outputs=()),
    Case("MutableHashTableOfTensorsV2", (), {**TYPES, "value_shape": [2]}),
    Case(
        "MutableHashTableOfTensorsV2",
        (),
        {**TYPES, "value_shape": [2, 2]},
        label="matrices",
        fails=True,
    ),
    Case(
        "MutableDenseHashTableV2",
        (array(0, "int64"), array(1, "int64")),
        {"value_dtype": "float32"},
    ),
    *[
        Case(
            "MutableDenseHashTableV2",
            (array(0, "int64"), array(deleted, "int64")),
            {"value_dtype": "float32", **attrs},
            label=label,
            fails=True,
        )
        for label, deleted, attrs in (
            ("equal keys", 0, {}),
            ("buckets", 1, {"initial_num_buckets": 12}),
            ("load", 1, {"max_load_factor": 1.5}),
            ("shapes", [1, 2], {}),
        )
    ],
    Case("InitializeTable", (OLD_STATIC, WORDS, NUMBERS)),
    Case("InitializeTableV2", (STATIC, WORDS, NUMBERS)),
    Case("InitializeTableV2", (STATIC, strings("a", "a"), array([1, 1], "int64")), label="twice"),
    Case(
        "InitializeTableV2",
        (STATIC, strings("a", "a"), array([1, 2], "int64")),
        label="contradiction",
        fails=True,
    ),
    Case("InitializeTableV2", (STATIC, WORDS, NUMBERS[:2]), label="sizes", fails=True),
    Case("InitializeTableV2", (STATIC, NUMBERS, NUMBERS), label="key type", fails=True),
    Case("InitializeTableV2", (STATIC, WORDS, WORDS), label="value type", fails=True),
    Case("InitializeTableV2", (MUTABLE, WORDS, NUMBERS), label="mutable", fails=True),
    *[
        Case(op, (table, strings("no such file").reshape(())), TEXT, label="no file", fails=True)
        for op, table in (
            ("InitializeTableFromTextFile", OLD_STATIC),
            ("InitializeTableFromTextFileV2", STATIC),
        )
    ],
    Case("LookupTableFind", (OLD_STATIC, ASKED, DEFAULT), after=(OLD_FILLED,)),
    Case(
        "LookupTableFind", (OLD_VECTORS, ASKED, PAIRS[0]), after=(OLD_INSERTED_PAIRS,), label="of"
    ),
    Case("LookupTableFindV2", (STATIC, ASKED, DEFAULT), after=(FILLED,)),
    Case("LookupTableFindV2", (STATIC, ASKED.reshape(1, 3), DEFAULT), after=(FILLED,), label="2d"),
    Case("LookupTableFindV2", (STATIC, ASKED[:0], DEFAULT), after=(FILLED,), label="none"),
    Case("LookupTableFindV2", (MUTABLE, ASKED, DEFAULT), after=(INSERTED,), label="mutable"),
    Case("LookupTableFindV2", (MUTABLE, ASKED, NUMBERS), after=(INSERTED,), label="defaults"),
    Case("LookupTableFindV2", (VECTORS, ASKED, PAIRS[0]), after=(INSERTED_PAIRS,), label="pairs"),
    Case("LookupTableFindV2", (VECTORS, ASKED, PAIRS), after=(INSERTED_PAIRS,), label="all pairs"),
    Case("LookupTableFindV2", (DENSE, IDS + 1, DEFAULT), after=(INSERTED_IDS,), label="dense"),
    Case("LookupTableFindV2", (STATIC, ASKED, DEFAULT), label="not initialized", fails=True),
    Case("LookupTableFindV2", (STATIC, IDS, DEFAULT), after=(FILLED,), label="type", fails=True),
    Case(
        "LookupTableFindV2",
        (STATIC, ASKED, array([1], "int64")),
        after=(FILLED,),
        label="default shape",
        fails=True,
    ),
    Case(
        "LookupTableFindV2",
        (DENSE, array([-1], "int64"), DEFAULT),
        after=(INSERTED_IDS,),
        label="empty key",
        fails=True,
    ),
    Case("LookupTableInsert", (OLD_MUTABLE, WORDS, NUMBERS)),
    Case("LookupTableInsertV2", (MUTABLE, WORDS, NUMBERS)),
    Case("LookupTableInsertV2", (STATIC, WORDS, NUMBERS), label="static", fails=True),
    Case("LookupTableInsertV2", (MUTABLE, WORDS, NUMBERS[:2]), label="sizes", fails=True),
    Case("LookupTableInsertV2", (VECTORS, WORDS, NUMBERS), label="no pairs", fails=True),
    Case("LookupTableInsertV2", (DENSE, array([-2], "int64"), DEFAULT.reshape(1)), fails=True),
    Case("LookupTableRemoveV2", (MUTABLE, ASKED), after=(INSERTED,)),
    Case("LookupTableRemoveV2", (DENSE, IDS), after=(INSERTED_IDS,), label="dense"),
    Case("LookupTableRemoveV2", (STATIC, ASKED), after=(FILLED,), label="static", fails=True),
    Case("LookupTableRemoveV2", (MUTABLE, IDS), label="type", fails=True),
    Case("LookupTableSize", (OLD_STATIC,), after=(OLD_FILLED,)),
    Case("LookupTableSizeV2", (STATIC,), after=(FILLED,)),
    Case("LookupTableSizeV2", (STATIC,), label="not initialized"),
    Case("LookupTableSizeV2", (DENSE,), after=(INSERTED_IDS,), label="dense"),
    Case(
        "LookupTableExport",
        (OLD_MUTABLE,),
        {"Tkeys": "string", "Tvalues": "int64"},
        after=(_filled("LookupTableInsert", OLD_MUTABLE, ONE_WORD, ONE_NUMBER),),
    ),
    Case(
        "LookupTableExportV2",
        (MUTABLE,),
        {"Tkeys": "string", "Tvalues": "int64"},
        after=(_filled("LookupTableInsertV2", MUTABLE, ONE_WORD, ONE_NUMBER),),
    ),
    Case(
        "LookupTableExportV2",
        (VECTORS,),
        {"Tkeys": "string", "Tvalues": "int64"},
        after=(_filled("LookupTableInsertV2", VECTORS, ONE_WORD, PAIRS[:1]),),
        label="pair",
    ),
    Case(
        "LookupTableExportV2",
        (STATIC,),
        {"Tkeys": "string", "Tvalues": "int64"},
        label="not initialized",
        fails=True,
    ),
    Case("LookupTableImport", (OLD_MUTABLE, WORDS, NUMBERS), after=(OLD_INSERTED,)),
    Case("LookupTableImportV2", (MUTABLE, WORDS, NUMBERS), after=(INSERTED,)),
    Case("LookupTableImportV2", (STATIC, WORDS, NUMBERS), label="static"),
    Case("LookupTableImportV2", (MUTABLE, WORDS, NUMBERS[:1]), label="sizes", fails=True),
]
