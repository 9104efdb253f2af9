#!/usr/bin/env bash
# `ptxbench emu -- PROGRAM`: CUDA programs on the emulator's look-alike libraries, without a GPU.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

here=$(dirname "$0")/emu_run
emu=$(dirname "$PTXBENCH")/emu
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if ldd "$emu/libptxemu.so" 2>/dev/null | grep -q libasan; then
    t_skip_all 'programs without the sanitizers cannot load libraries with them'
fi

# build NAME [OPTION]...: compiles emu_run/NAME.cu to $T_DIR/NAME.
build() {
    local name=$1
    shift
    "$nvcc" -cudart shared -std=c++17 -lineinfo -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' \
        -o "$T_DIR/$name" "$here/$name.cu" "$@" >"$T_DIR/.nvcc" 2>&1 && return 0
    t_not_ok "$name.cu compiles"
    t_comment '' <"$T_DIR/.nvcc"
    return 1
}

# relay NAME: the TAP lines of the last run as checks of this script, and its status.
relay() {
    local line
    while IFS= read -r line; do
        case $line in
        ok*) t_ok "$1: ${line#* - }" ;;
        'not ok'*) t_not_ok "$1: ${line#* - }" "$(tail -n 3 "$T_DIR/.stderr")" ;;
        esac
    done <"$T_DIR/.stdout"
    t_status 0 "$1: no check failed"
}

# rows CODE: how many findings of that code the last run wrote.
rows() {
    python3 - "$T_DIR/findings.jsonl" "$1" <<'END'
import json, sys
print(sum(json.loads(line)["code"] == sys.argv[2] for line in open(sys.argv[1])))
END
}

if build memory; then
    t_run "$PTXBENCH" emu --findings "$T_DIR/findings.jsonl" -- "$T_DIR/memory"
    relay memory
    t_err_like 'cudaMemcpy: destination .* leaves its allocation' 'a refused copy is explained'
    t_true 'and written down' test "$(rows api_misuse)" -gt 3
    t_run "$PTXBENCH" emu --quiet -- "$T_DIR/memory"
    t_is "$stderr" '' '--quiet prints nothing'
    t_run "$PTXBENCH" emu --memory 1K -- "$T_DIR/memory"
    t_status 1 '--memory limits the device'
fi
if build host; then
    t_run "$PTXBENCH" emu -- "$T_DIR/host"
    relay host
    t_err_like '^ptxbench emulator: cudaGraphCreate is not emulated$' 'an unknown function is named'
    t_true 'once' test "$(grep -c cudaGraphCreate "$T_DIR/.stderr")" -eq 1
fi
if build sharing -L"$(dirname "$nvcc")/../lib64/stubs" -lcuda; then
    t_run "$PTXBENCH" emu -- "$T_DIR/sharing"
    relay sharing
fi
if build kernels; then
    t_run "$PTXBENCH" emu --stats="$T_DIR/stats.json" -- "$T_DIR/kernels" results
    relay kernels
    cp "$T_DIR/stats.json" "$T_DIR/.stdout"
    t_json 'sorted((k["launches"], k["clusters"]) for k in v["kernels"])' '[(1, 1), (1, 7), (1, 8)]' 'statistics'
    t_json 'all(k["warp_instructions"] > 0 for k in v["kernels"]) and v["findings"]' 0 'instructions are counted'
    t_run "$PTXBENCH" emu -- "$T_DIR/kernels" rules
    relay rules
    rm -f "$T_DIR/findings.jsonl"
    t_run "$PTXBENCH" emu --findings "$T_DIR/findings.jsonl" -- "$T_DIR/kernels" fault
    relay fault
    t_err_like 'global_out_of_bounds in _Z5saxpy.* at .*kernels\.cu:[0-9]+' 'the fault is explained with its line'
    t_true 'once' test "$(rows global_out_of_bounds)" -ge 1
    t_run "$PTXBENCH" emu -- "$T_DIR/kernels" order
    relay order
    t_err_like 'use_after_free' 'a use after free is called one'
fi

if build gemm "$PTXBENCH_SOURCE/kernels/hopper/gemm_simt.cu" -I"$PTXBENCH_SOURCE/include"; then
    t_run "$PTXBENCH" emu -- "$T_DIR/gemm"
    relay gemm
fi

# The runner as it is: its own fill kernels, then a candidate.
runner=$(dirname "$PTXBENCH")/ptxbench-runner
tensors=(in:bfloat16:64x128 in:bfloat16:96x128 out:bfloat16:64x96)
t_run "$PTXBENCH" compile --binding c --keep "$T_DIR/candidate.so" "$PTXBENCH_SOURCE/kernels/hopper/gemm_simt.cu"
t_run "$PTXBENCH" emu --stats -- "$runner" --object "$T_DIR/candidate.so" --binding c "${tensors[@]}"
t_status 0 'the runner runs a candidate on the emulator'
t_out_like '^ptxbench-runner: completed$' 'to its end'
t_err_like ' 1 +1 +[0-9]+ +_ZN9gemm_simt' 'and launches its kernel'
t_run "$PTXBENCH" emu -- "$runner" --object "$T_DIR/candidate.so" --binding c in:bfloat16:64x128 \
    in:bfloat16:95x128 out:bfloat16:64x95
t_status 0 'sizes that are no multiple of anything'

t_run "$PTXBENCH" emu --
t_status 64 'no program'
t_run "$PTXBENCH" emu -- "$T_DIR/nothing"
t_status 64 'a program that does not exist'
t_run "$PTXBENCH" emu --schedule sideways -- true
t_status 64 'a schedule that is none'
t_err_like 'sideways' 'is named'
t_run "$PTXBENCH" emu -- sh -c 'exit 42'
t_status 42 "the program's exit status is the command's"
t_done
