#!/usr/bin/env bash
# The kernels of the packs on the emulator, under several schedules: right results and no finding but notes.
# shellcheck source-path=SCRIPTDIR source=../cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

emu=$(dirname "$PTXBENCH")/emu
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if ldd "$emu/libptxemu.so" 2>/dev/null | grep -q libasan; then
    t_skip_all 'programs without the sanitizers cannot load libraries with them'
fi

# try ARCH KERNEL: compiles packs/KERNEL.cu and runs it.
try() {
    local arch=$1 kernel=$2 program=$T_DIR/program schedule
    if ! "$nvcc" -cudart shared -std=c++17 -lineinfo -o "$program" "$PTXBENCH_SOURCE/packs/$kernel.cu" \
        -gencode "arch=compute_${arch#sm_},code=[$arch,compute_${arch#sm_}]" >"$T_DIR/.nvcc" 2>&1; then
        t_not_ok "$kernel compiles" "$(head -n 3 "$T_DIR/.nvcc")"
        return
    fi
    t_is "$(cat "$T_DIR/.nvcc")" '' "$kernel: nvcc says nothing"
    for schedule in completion=eager completion=late reverse,completion=late completion=random,seed=3 \
        quantum=7,completion=random,seed=5 shift=1024; do
        rm -f "$T_DIR/findings.jsonl"
        t_run "$PTXBENCH" emu --arch "$arch" --findings "$T_DIR/findings.jsonl" --schedule "$schedule" -- "$program"
        if grep -q 'not emulated' <<<"$stderr"; then
            t_ok "$kernel runs # SKIP $(head -n 1 <<<"$stderr" | grep -o 'tcgen05[^ ]*' || echo 'not emulated')"
            return
        fi
        t_status 0 "$kernel, $schedule: ends well"
        t_out_unlike '^not ok' "$kernel, $schedule: every result is right"
        t_out_like '^1\.\.[1-9]' "$kernel, $schedule: to its end"
        t_is "$(grep -vE '"class": ?"note"' "$T_DIR/findings.jsonl" 2>/dev/null)" '' "$kernel, $schedule: no finding"
    done
}

for kernel in common/kernels/copies hopper/kernels/{products,gemm,attention_forward,attention_backward}; do
    try sm_90a "$kernel"
done
for kernel in blackwell/kernels/{gemm,gemm_pair,tiles}; do
    try sm_100a "$kernel"
done
t_is "$(cd "$PTXBENCH_SOURCE/packs" && find . -name '*.cu' | wc -l)" 8 'no kernel is forgotten here'
t_done
