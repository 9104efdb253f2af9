#!/usr/bin/env bash
# Every shipped kernel compiles and passes the screen for its architecture, or fails as its first line says; the right
# ones hold their target instructions and draw no advisory of ptxas.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

kernels=$PTXBENCH_SOURCE/kernels
t_run "$PTXBENCH" compile "$kernels/hopper/gemm_simt.cu"
case $stderr in *'nvcc not found'*) t_skip_all 'no nvcc' ;; esac

# check_good FILE ARCH FAMILIES: compiles cleanly and holds exactly these target families.
check_good() {
    local name
    name=$(basename "$1")
    t_run "$PTXBENCH" compile --json --arch "$2" "$kernels/$1"
    t_status 0 "$name compiles and passes the screen for $2"
    t_json '" ".join(sorted(k for k in ("gmma", "tma", "tcgen") if v["sass"]["families"].get(k)))' "$3" \
        "$name holds: ${3:-no target instruction}"
    t_json 'sum(d["severity"] in ("error", "advisory") for d in v["compile"]["diagnostics"])' 0 \
        "$name draws no advisory"
    t_json 'sum(k["spill_store_bytes"] + k["spill_load_bytes"] for k in v["compile"]["kernels"])' 0 "$name does not spill"
}
check_good hopper/gemm_wgmma.cu sm_90a 'gmma tma'
check_good hopper/mha_fwd.cu sm_90a 'gmma tma'
check_good hopper/mha_fwd_causal.cu sm_90a 'gmma tma'
check_good hopper/gemm_simt.cu sm_90a ''
check_good hopper/gemm_simt.cu sm_100a ''
check_good blackwell/gemm_tcgen05.cu sm_100a 'tcgen'

# Wrong ones: the compiler and the screen stop those that say so; all others get past both, and are for tools/gpu-check.
for file in "$kernels"/bad/*.cu; do
    name=$(basename "$file")
    code=$(sed -n '1s,^// expect: status=[A-Z_]* code=\([a-z_-]*\) .*,\1,p' "$file")
    case $code in
    compile_error | banned_library | forbidden_call | entry_missing)
        t_run "$PTXBENCH" compile --json "$file"
        t_status 1 "$name is stopped ($code)"
        ;;
    compile_timeout)
        t_run "$PTXBENCH" compile --json --timeout 3 "$file"
        t_status 1 "$name is stopped by the limit"
        t_json 'v["compile"]["status"]' 'timed out' "$name timed out"
        ;;
    *)
        t_run "$PTXBENCH" compile "$file"
        t_status 0 "$name compiles"
        ;;
    esac
done
t_done
