"""The two judges of every table: Apache Hudi in a warm JVM, and hudi-rs in this process."""

from tests.interop.oracle.errors import OracleError
from tests.interop.oracle.hudi_rs import HudiRs
from tests.interop.oracle.java import JavaHudi

__all__ = ["HudiRs", "JavaHudi", "OracleError"]
