#!/usr/bin/env bash
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

cat >"$T_DIR/good.cu" <<'END'
#include <ptxbench/candidate.h>
__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
PTXBENCH_ENTRY(args, count, stream)
{
    twice<<<1, count, 0, (cudaStream_t)stream>>>((float *)args[0].data);
    return cudaGetLastError();
}
END

t_run "$PTXBENCH" compile "$T_DIR/good.cu"
case $stderr in *'nvcc not found'*) t_skip_all 'no nvcc' ;; esac
t_status 0 'a good kernel compiles'
t_out_like '^good: compiled \(sm_90a, c, [0-9.]+ s\)$' 'the last line says so'
t_out_like '_Z5twicePf' 'resources of the kernel are shown'
t_out_unlike $'\033' 'no colours away from a terminal'

t_run "$PTXBENCH" compile --json "$T_DIR/good.cu"
t_status 0 'JSON: same status'
t_json 'v["schema"]' ptxbench.compile.v1 'JSON: schema'
t_json 'v["compile"]["cache_hit"]' True 'the second time comes from the cache'
t_json 'v["compile"]["entries"]' "['ptxbench_run']" 'JSON: entry points'
t_json 'v["compile"]["kernels"][0]["kernel"]' _Z5twicePf 'JSON: kernels'
t_json 'v["passed"], v["offences"], len(v["screen"])' '(True, 0, 0)' 'JSON: no offence'
first=$(date +%s%N)
t_run "$PTXBENCH" compile "$T_DIR/good.cu"
t_true 'a cached answer takes less than a second' test $(($(date +%s%N) - first)) -lt 1000000000

t_run "$PTXBENCH" compile --arch sm_100a --keep "$T_DIR/kept.so" "$T_DIR/good.cu"
t_status 0 'the same source compiles for Blackwell'
t_true '--keep writes the object' test -s "$T_DIR/kept.so"

printf '__global__ void k(float *x)\n{\n    *x = 1.0f\n}\n' >"$T_DIR/syntax.cu"
t_run "$PTXBENCH" compile "$T_DIR/syntax.cu"
t_status 1 'a syntax error fails the candidate'
t_out_like '^syntax\.cu:4:[0-9]+: error: expected a ";"' 'with file, line and message'
t_run "$PTXBENCH" compile --json "$T_DIR/syntax.cu"
t_json 'v["compile"]["diagnostics"][0]["line"], v["compile"]["status"]' "(4, 'failed')" 'JSON: line and status'

printf '#include <ptxbench/candidate.h>\n__global__ void k(float *x)\n{\n    asm volatile("wgmma.fence.now;");\n}\n' \
    >"$T_DIR/ptx.cu"
t_run "$PTXBENCH" compile "$T_DIR/ptx.cu"
t_status 1 'an error in inline PTX fails the candidate'
t_out_like '^ptx\.cu:4:[0-9]+: error: ' 'and points at the line of the source'

printf '#include <cublas_v2.h>\n' | cat - "$T_DIR/good.cu" >"$T_DIR/banned.cu"
t_run "$PTXBENCH" compile "$T_DIR/banned.cu"
t_status 1 'a banned include fails the candidate'
t_out_like '^banned\.cu:1: banned vendor_include: includes cublas_v2\.h of cuBLAS' 'and is named'

printf 'int x;\n' >"$T_DIR/no_entry.cu"
t_run "$PTXBENCH" compile "$T_DIR/no_entry.cu"
t_status 1 'a kernel without entry point fails'
t_out_like 'no entry point: use TVM_FFI_DLL_EXPORT_TYPED_FUNC' 'and hears what to add'

t_run "$PTXBENCH" compile "$T_DIR/absent.cu"
t_status 64 'a missing file is a usage error'
t_err_like 'absent\.cu' 'and is named'
: >"$T_DIR/empty.cu"
t_run "$PTXBENCH" compile "$T_DIR/empty.cu"
t_status 64 'an empty file is a usage error'
t_err_like 'empty' 'and says so'
head -c 40000000 /dev/zero | tr '\0' ' ' >"$T_DIR/huge.cu"
t_run "$PTXBENCH" compile "$T_DIR/huge.cu"
t_true 'a huge file is refused' test "$status" -ne 0
t_err_like 'huge\.cu' 'and is named'
t_run "$PTXBENCH" compile "$T_DIR"
t_status 64 'a folder is a usage error'
t_run "$PTXBENCH" compile
t_status 64 'no file is a usage error'
t_run "$PTXBENCH" compile --arhc sm_90a "$T_DIR/good.cu"
t_status 64 'an unknown option is a usage error'
t_err_like 'arhc' 'and is named'
t_run "$PTXBENCH" compile --arch sm_80 "$T_DIR/good.cu"
t_status 64 'an unknown architecture is a usage error'
t_err_like 'sm_90a and sm_100a' 'and hears the known ones'
t_run "$PTXBENCH" compile --binding tvm_ffi "$T_DIR/good.cu"
t_status 64 'an unknown binding is a usage error'
t_err_like 'did you mean tvm-ffi' 'and hears the nearest'
t_run "$PTXBENCH" compile --timeout x "$T_DIR/good.cu"
t_status 64 'a time-out that is no number is a usage error'

cat >"$T_DIR/bomb.cu" <<'END'
template <int N, int M> struct b { static constexpr long v = b<N - 1, M>::v + b<N - 1, M + 1>::v + b<N - 1, 2 * M>::v; };
template <int M> struct b<0, M> { static constexpr long v = M; };
__global__ void k(long *o) { *o = b<40, 1>::v; }
END
t_run "$PTXBENCH" compile --timeout 3 "$T_DIR/bomb.cu"
t_status 1 'a template bomb fails the candidate'
t_out_like 'compilation stopped after 3 s' 'as a time-out'

t_run env PTXBENCH_CACHE=/dev/null/cache "$PTXBENCH" compile "$T_DIR/good.cu"
t_status 2 'a cache that cannot be written is trouble of the machine'
t_err_like 'hint: .*PTXBENCH_CACHE' 'with a remedy'
t_run env PTXBENCH_NVCC=/nonexistent/nvcc "$PTXBENCH" compile "$T_DIR/good.cu"
t_status 2 'a missing compiler is trouble of the machine'
t_err_like 'hint: .*PTXBENCH_NVCC' 'with a remedy'

# Two installations share a cache: what the other one compiled passes here, although its headers lay elsewhere.
tvm_ffi=$("$PTXBENCH" doctor --json | python3 -c '
import json, re, sys
details = [c["detail"] for c in json.load(sys.stdin)["checks"] if c["name"] == "tvm_ffi"]
print(re.sub(r".*\((.*)\)", r"\1", details[0]))')
cp -r "$tvm_ffi" "$T_DIR/tvm_ffi"
kernel=$PTXBENCH_SOURCE/kernels/hopper/gemm_wgmma.cu
t_run env PTXBENCH_TVM_FFI="$T_DIR/tvm_ffi" "$PTXBENCH" compile "$kernel"
t_status 0 'a TVM-FFI kernel compiles with headers elsewhere'
t_run "$PTXBENCH" compile --json "$kernel"
t_json 'v["compile"]["cache_hit"]' True 'another installation finds it in the cache'
t_status 0 'and it passes the screen there'

# Eight builds of one key at once, and eight of one file name with different content.
for i in 1 2 3 4 5 6 7 8; do
    PTXBENCH_CACHE=$T_DIR/race "$PTXBENCH" compile --json "$T_DIR/good.cu" >"$T_DIR/same.$i" 2>&1 &
done
failures=0
for job in $(jobs -p); do wait "$job" || failures=$((failures + 1)); done
t_is "$failures" 0 'eight processes compile the same source at once'
t_is "$(find "$T_DIR/race/objects" -name object.so | wc -l)" 1 'and leave one entry'
t_is "$(find "$T_DIR/race/work" -mindepth 1 | wc -l)" 0 'and no workspace'
for i in 1 2 3 4; do
    mkdir "$T_DIR/$i"
    sed "s/\*= 2/*= $i/" "$T_DIR/good.cu" >"$T_DIR/$i/good.cu"
    PTXBENCH_CACHE=$T_DIR/race "$PTXBENCH" compile --json --keep "$T_DIR/$i/out.so" "$T_DIR/$i/good.cu" >/dev/null 2>&1 &
done
wait
t_is "$(sha256sum "$T_DIR"/[1-4]/out.so | cut -c 1-64 | sort -u | wc -l)" 4 'same name, other content: other objects'
t_done
