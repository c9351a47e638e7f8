"""Apache Hudi for Python on Spark, with no jar: real Hudi tables, written, read and kept from Python."""

from pyhudi.errors import HudiError
from pyhudi.interfaces.dataframe import HudiTable, create_table, table
from pyhudi.interfaces.engines import disable, enable

__all__ = ["HudiError", "HudiTable", "create_table", "disable", "enable", "table"]
