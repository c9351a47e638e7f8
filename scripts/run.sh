#!/usr/bin/env bash
# run.sh 4|35 command ...: sets the environment up if need be, then runs the command in it, with a Java for Spark.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case $1 in
    4) venv=$root/.venv; "$root/scripts/setup.sh" 4 ;;
    35) venv=$root/.venv35; "$root/scripts/setup.sh" 4 35 ;;
    *) echo "run: what is '$1'? Say 4 or 35" >&2; exit 2 ;;
esac
shift
JAVA_HOME=$("$root/scripts/java.sh")
export JAVA_HOME PATH=$venv/bin:$PATH PYSPARK_PYTHON=$venv/bin/python PYSPARK_DRIVER_PYTHON=$venv/bin/python
unset SPARK_HOME
cd "$root"
exec "$@"
