"""The one file that names classes of the JVM: a file index that Spark asks for files, and the relation over it.

Classic sessions only, through py4j. A list of files crosses in one piece, in the form in which Hadoop itself writes
a FileStatus; made one by one, 100,000 of them would take 20 seconds.
"""

from __future__ import annotations

import re
import struct
import urllib.parse
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DoubleType, FloatType, StructType

from pyhudi.engine.spark.catalyst import Filter
from pyhudi.errors import Unsupported


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanFile:
    """A Parquet file of a scan; the path is relative to the table."""

    path: str
    size: int
    modified_ms: int = 0


class FileSource(Protocol):
    """Where the file index has its files from."""

    @property
    def root_uri(self) -> str:
        """The table's root, a path of this machine or a URI."""
        ...

    @property
    def name(self) -> str:
        """How plans show it; two sources of one name are taken for the same."""
        ...

    @property
    def files(self) -> Sequence[ScanFile]:
        """All files; they never change."""
        ...

    def select(self, filters: Sequence[Filter]) -> tuple[Hashable, Sequence[ScanFile]]:
        """The files that may hold rows for which all filters are true, and a key under which to remember them."""
        ...


def parquet_frame(spark: SparkSession, schema: StructType, source: FileSource) -> DataFrame:
    """A DataFrame over Spark's own Parquet reader that asks the source which files to open.

    All columns are read from the files, partition columns too.
    """
    session: Any = getattr(spark, "_jsparkSession", None)
    if session is None:
        raise Unsupported("a Spark Connect session has no JVM at hand; read with a classic session")
    gateway: Any = spark.sparkContext._gateway
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    jvm = gateway.jvm
    datasources = jvm.org.apache.spark.sql.execution.datasources
    columns, no_columns = session.parseDataType(schema.json()), session.parseDataType(StructType([]).json())
    options = jvm.java.util.HashMap()
    for key, value in _options(schema).items():
        options.put(key, value)
    relation = datasources.HadoopFsRelation(
        _FileIndex(gateway, no_columns, source),
        no_columns,
        columns,
        jvm.scala.Option.empty(),
        datasources.parquet.ParquetFileFormat(),
        jvm.PythonUtils.toScalaMap(options),
        session,
    )
    return DataFrame(session.baseRelationToDataFrame(relation), spark)


_OPTIONS = {"datetimeRebaseMode": "CORRECTED", "int96RebaseMode": "CORRECTED", "mergeSchema": "false"}
"""Hudi's files do not carry the marks by which Spark tells old calendars; all of them use the new one."""

_WITHOUT_SKIPPING = {"parquet.filter.stats.enabled": "false", "parquet.filter.dictionary.enabled": "false"}
"""Spark's reader skips row groups with matching NaN or -0.0; Hudi's files are mostly one row group each."""

_REMEMBERED = 16
_BLOCK_SIZE = 128 << 20
_HAS_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")


def _options(schema: StructType) -> dict[str, str]:
    floats = any(isinstance(field.dataType, FloatType | DoubleType) for field in schema.fields)
    return {**_OPTIONS, **(_WITHOUT_SKIPPING if floats else {})}


class _FileIndex:
    """What Spark sees: the methods of its FileIndex, called back from the JVM."""

    class Java:
        implements = ("org.apache.spark.sql.execution.datasources.FileIndex",)

    def __init__(self, gateway: Any, no_columns: Any, source: FileSource) -> None:
        self._gateway = gateway
        self._no_columns = no_columns
        self._source = source
        self._root = source.root_uri if _HAS_SCHEME.match(source.root_uri) else f"file:{source.root_uri}"
        self._size = sum(file.size for file in source.files)
        self._remembered: OrderedDict[Hashable, Any] = OrderedDict()

    def listFiles(self, partition_filters: Any, data_filters: Any) -> Any:  # noqa: N802
        expressions = [each.apply(i) for each in (partition_filters, data_filters) for i in range(each.size())]
        key, files = self._source.select([_CatalystFilter(each) for each in expressions])
        if key not in self._remembered:
            self._remembered[key] = self._listed(files)
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
        return self._remembered[key]

    def rootPaths(self) -> Any:  # noqa: N802
        return self._seq([self._gateway.jvm.org.apache.hadoop.fs.Path(self._root)])

    def partitionSchema(self) -> Any:  # noqa: N802
        return self._no_columns

    def sizeInBytes(self) -> int:  # noqa: N802
        return self._size

    def inputFiles(self) -> Any:  # noqa: N802
        paths = (urllib.parse.quote(self._path(file), safe="/:=@+,;!$&'()*~") for file in self._source.files)
        return self._gateway.jvm.org.apache.hadoop.util.StringUtils.getStrings("\n".join(paths), "\n")

    def refresh(self) -> None:
        return None

    def metadataOpsTimeNs(self) -> Any:  # noqa: N802
        return self._gateway.jvm.scala.Option.empty()

    def toString(self) -> str:  # noqa: N802
        return self._source.name

    def hashCode(self) -> int:  # noqa: N802
        return len(self._source.name)

    def equals(self, other: Any) -> bool:
        return bool(other is self or (other is not None and other.toString() == self._source.name))

    def _path(self, file: ScanFile) -> str:
        return f"{self._root}/{file.path}"

    def _listed(self, files: Sequence[ScanFile]) -> Any:
        jvm = self._gateway.jvm
        statuses = self._gateway.new_array(jvm.org.apache.hadoop.fs.FileStatus, len(files))
        written = b"".join(_file_status(self._path(file), file) for file in files)
        stream = jvm.java.io.ByteArrayInputStream(struct.pack(">i", len(files)) + written)
        read = jvm.org.apache.hadoop.io.ArrayWritable(jvm.java.lang.Class.forName("org.apache.hadoop.fs.FileStatus"))
        read.readFields(jvm.java.io.DataInputStream(stream))
        jvm.java.lang.System.arraycopy(read.get(), 0, statuses, 0, len(files))
        nothing = jvm.org.apache.spark.sql.catalyst.InternalRow.empty()
        directory = jvm.org.apache.spark.sql.execution.datasources.PartitionDirectory
        return self._seq([directory.apply(nothing, statuses)])

    def _seq(self, items: Iterable[Any]) -> Any:
        found = self._gateway.jvm.java.util.ArrayList()
        for item in items:
            found.add(item)
        return self._gateway.jvm.PythonUtils.toSeq(found)


class _CatalystFilter:
    """A Catalyst expression of the JVM as a `Filter`."""

    _BETWEEN = "\x1e"

    def __init__(self, expression: Any) -> None:
        self._expression = expression

    def tree(self) -> str:
        return str(self._expression.toJSON())

    def raw_value(self, node: int) -> int:
        return int(self._expression.apply(node).value())

    def raw_values(self, node: int) -> list[str] | None:
        found = self._expression.apply(node)
        if found.hasNull():
            return None
        values = str(found.hset().mkString(self._BETWEEN)).split(self._BETWEEN)
        return values if len(values) == found.hset().size() else None


def _file_status(path: str, file: ScanFile) -> bytes:
    """What Hadoop's FileStatus.write writes: a length, then type, path, size, permission, times, block size."""
    name = path.encode()
    message = b"".join(
        (
            b"\x08\x02\x12",
            _varint(len(name)),
            name,
            b"\x18",
            _varint(file.size),
            b'"\x03\x08\xa4\x03*\x002\x008',
            _varint(file.modified_ms),
            b"@\x00P\x01X",
            _varint(_BLOCK_SIZE),
        )
    )
    return struct.pack(">i", len(message)) + message


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
