#!/usr/bin/env bash
# setup.sh 4|35 ...: makes or refreshes .venv (PySpark 4) and .venv35 (PySpark 3.5) from the hash-pinned locks.
# Needs a Python 3.11+ (3.11 for 35) and nothing else; does nothing when the locks are the ones installed last.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

newest_python() {  # the first of the named interpreters that runs, is no older than 3.11 and can make an environment
    local name
    for name in "$@"; do
        if "$name" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            echo "$name"
            return
        fi
    done
    echo "setup: none of these is a Python 3.11 or newer with venv: $*" >&2
    return 1
}

usable() { "$1/bin/python" -m pip --version >/dev/null 2>&1; }

install_locked() {  # folder lock
    local pip=("$1/bin/python" -m pip --no-input --disable-pip-version-check install --quiet)
    "${pip[@]}" --require-hashes -r requirements/build.txt
    "${pip[@]}" --require-hashes --no-build-isolation -r "requirements/$2.txt"
    "${pip[@]}" --no-deps --no-build-isolation --editable .
}

refresh() {  # folder lock interpreter...
    local folder=$1 lock=$2 stamp wanted started=$SECONDS
    shift 2
    stamp=$folder/.locked
    wanted=$(cat requirements/build.txt "requirements/$lock.txt" pyproject.toml "${BASH_SOURCE[0]}" | sha256sum)
    if [ -f "$stamp" ] && [ "$(<"$stamp")" = "$wanted" ]; then
        return
    fi
    echo "setup: $folder from requirements/$lock.txt"
    rm -f "$stamp"
    usable "$folder" || "$(newest_python "$@")" -m venv --clear "$folder"
    install_locked "$folder" "$lock"
    echo "$wanted" >"$stamp"
    echo "setup: $folder ready after $((SECONDS - started)) s"
}

for spark in "${@:-4}"; do
    case $spark in
        4) refresh .venv py-spark4 "${PYTHON:-python3.11}" python3.12 python3.13 python3 python ;;
        35) refresh .venv35 py-spark35 "${PYTHON35:-python3.11}" ;;
        *) echo "setup: what is '$spark'? Say 4 or 35" >&2; exit 2 ;;
    esac
done
