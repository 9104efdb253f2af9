#!/usr/bin/env bash
# Every candidate of tests/attacks/screen gives the findings that its first line names, and nothing else.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

t_run "$PTXBENCH" compile "$PTXBENCH_SOURCE/tests/attacks/screen/innocent_names.cu"
case $stderr in *'nvcc not found'*) t_skip_all 'no nvcc' ;; esac

found='" ".join(sorted({("note:" if f["severity"] == "note" else "") + f["code"] for f in v["screen"]})) or "clean"'
for attack in "$PTXBENCH_SOURCE"/tests/attacks/screen/*.cu; do
    name=$(basename "$attack" .cu)
    expected=$(sed -n '1s,^// expect: ,,p' "$attack" | tr ' ' '\n' | sort | paste -sd ' ' -)
    t_run "$PTXBENCH" compile --json "$attack"
    t_json "$found" "$expected" "$name: $expected"
    case $expected in
    clean | note:*) t_status 0 "$name passes" ;;
    *) t_status 1 "$name fails the candidate" ;;
    esac
done

t_run "$PTXBENCH" compile --allow-libs "$PTXBENCH_SOURCE/tests/attacks/screen/thrust_sort.cu"
t_status 0 '--allow-libs lets a template library pass'
t_run "$PTXBENCH" compile --allow-libs "$PTXBENCH_SOURCE/tests/attacks/screen/dlopen_cublas.cu"
t_status 1 '--allow-libs does not let a vendor library pass'
t_done
