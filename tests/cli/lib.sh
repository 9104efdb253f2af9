# shellcheck shell=bash
# TAP helpers for tests/cli/test_*.sh. A test reads:
#
#     . "$(dirname "$0")/lib.sh"
#     t_run "$PTXBENCH" task list
#     t_status 0 'task list succeeds'
#     t_out_like 'gemm_n[0-9]+' 'it names a task'
#     t_done
#
# The environment gives PTXBENCH (the program) and PTXBENCH_SOURCE (the source tree). $T_DIR is an empty folder that
# is removed at the end. Every check counts one test and prints what was seen when it fails.
set -u

PTXBENCH_SOURCE=${PTXBENCH_SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
PTXBENCH=${PTXBENCH:-$PTXBENCH_SOURCE/build/ptxbench}
[ -x "$PTXBENCH" ] || {
    echo "Bail out! $PTXBENCH: not built"
    exit 1
}
T_DIR=$(mktemp -d "${TMPDIR:-/tmp}/ptxbench-cli.XXXXXX")
t_count=0
t_failed=0
t_planned=
status=
stdout=
stderr=

# Tests neither read nor fill the user's cache, and their output has no colours.
export PTXBENCH_CACHE=$T_DIR/.cache NO_COLOR=1
trap 'rm -rf "$T_DIR"' EXIT

# t_plan N: the script has exactly N checks (optional; t_done prints the count otherwise).
t_plan() {
    t_planned=$1
    echo "1..$1"
}

# t_skip_all REASON: nothing here can run on this machine.
t_skip_all() {
    echo "1..0 # SKIP $1"
    exit 77
}

# t_run COMMAND...: sets $status, $stdout and $stderr (trailing newlines are cut). Standard input is empty.
t_run() {
    t_command="$*"
    "$@" </dev/null >"$T_DIR/.stdout" 2>"$T_DIR/.stderr"
    status=$?
    stdout=$(tr -d '\0' <"$T_DIR/.stdout")
    stderr=$(tr -d '\0' <"$T_DIR/.stderr")
}

t_ok() { # NAME
    t_count=$((t_count + 1))
    echo "ok $t_count - $1"
}

t_not_ok() { # NAME [LINE]...
    t_count=$((t_count + 1))
    t_failed=$((t_failed + 1))
    echo "not ok $t_count - $1"
    shift
    printf '%s\n' "command: ${t_command:-}" "$@" | t_comment ''
}

# Standard input as TAP comments, cut to what a reader looks at.
t_comment() { # PREFIX
    sed -n "1,20s/^/#   $1/p" | cut -c 1-300
}

# t_is GOT WANTED NAME
t_is() {
    if [ "$1" = "$2" ]; then t_ok "$3"; else t_not_ok "$3" "got:    $1" "wanted: $2"; fi
}

# t_true NAME COMMAND...: the command succeeds.
t_true() {
    local name=$1
    shift
    if "$@" >/dev/null 2>&1; then t_ok "$name"; else t_not_ok "$name" "failed: $*"; fi
}

# t_status N NAME: the last t_run ended with status N.
t_status() {
    if [ "$status" -eq "$1" ]; then
        t_ok "$2"
    else
        t_not_ok "$2" "status $status, wanted $1"
        t_show
    fi
}

# t_like TEXT REGEX NAME: the text (any line of it) matches the extended regular expression.
t_like() {
    if grep -Eq -- "$2" <<<"$1"; then
        t_ok "$3"
    else
        t_not_ok "$3" "no match for: $2"
        t_show
    fi
}

t_unlike() {
    if grep -Eq -- "$2" <<<"$1"; then
        t_not_ok "$3" "unwanted match for: $2"
        t_show
    else
        t_ok "$3"
    fi
}

t_out_like() { t_like "$stdout" "$1" "$2"; }
t_err_like() { t_like "$stderr" "$1" "$2"; }
t_out_unlike() { t_unlike "$stdout" "$1" "$2"; }
t_err_unlike() { t_unlike "$stderr" "$1" "$2"; }

# t_json EXPRESSION WANTED NAME: a Python expression over `v`, the JSON on the last standard output.
t_json() {
    local got
    got=$(python3 -c 'import json, sys; v = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' \
        "$T_DIR/.stdout" "$1" 2>&1 | tail -n 1)
    t_is "$got" "$2" "$3"
}

# The last run's streams, as TAP comments.
t_show() {
    t_comment 'stdout: ' <"$T_DIR/.stdout"
    t_comment 'stderr: ' <"$T_DIR/.stderr"
}

# Ends the script: plan if none was given, exit status 1 when a check failed or the plan does not hold.
t_done() {
    if [ -z "$t_planned" ]; then
        echo "1..$t_count"
    elif [ "$t_planned" -ne "$t_count" ]; then
        echo "# planned $t_planned checks but ran $t_count"
        exit 1
    fi
    [ "$t_failed" -eq 0 ] || exit 1
    exit 0
}
