"""Apache Hudi for Python on Spark, with no jar: real Hudi tables, written, read and kept from Python."""

from pyhudi.errors import HudiError
from pyhudi.interfaces.dataframe import HudiTable, create_table, table

__all__ = ["HudiError", "HudiTable", "create_table", "table"]
