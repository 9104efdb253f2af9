#!/usr/bin/env bash
# ptxbench eval --device emu:sm_90a: our kernels, right and wrong ones, judged without a GPU.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

if ldd "$(dirname "$PTXBENCH")/emu/libptxemu.so" 2>/dev/null | grep -q libasan; then
    t_skip_all 'runners without the sanitizers cannot load libraries with them'
fi
task=gemm_n128_k2048
good=$PTXBENCH_SOURCE/kernels/hopper

# emulate ARGUMENT...
emulate() {
    t_run "$PTXBENCH" eval --device emu:sm_90a --tasks "$PTXBENCH_SOURCE/tasks" --quiet --json "$@"
}

# Right ones

emulate --task $task "$good/gemm_wgmma.cu"
t_status 0 'a right GEMM passes'
t_json 'v["status"], v["correct"], v["performance"]["speedup"], v["task"]["device"]' \
    "('PASSED', True, None, 'emu:sm_90a')" 'and is not timed'
t_json 'v["target"]["executed"], v["correctness"]["checks"]' "('yes', 3)" 'its target instructions run, in three calls'
t_json 'v["target"]["tensor_share"] > 0.9' True 'and do all the work, by an estimate from a part of the grid'
t_json '0 < v["correctness"]["elements"] < 8192 * 128' True 'a part of the elements was compared'
emulate --task mha_with_lse_d128_causal "$good/mha_fwd_causal.cu"
t_status 0 'a right attention kernel passes'
t_json 'v["target"]["executed"], [o["ok"] for o in v["correctness"]["outputs"]]' "('yes', [True, True])" \
    'with both outputs'
emulate --task gemm_n128_k2048 --sample 0 "$good/gemm_wgmma.cu"
t_json 'v["status"], v["correctness"]["elements"] % 128' "('PASSED', 0)" '--sample 0 runs the whole grid'

# Wrong ones: the first line of each says what a GPU does. Some of it only a clock, many calls or overlapping streams show;
# and a second kernel that reads what the first wrote needs the whole grid, which takes a smaller size.

cat >"$T_DIR/other" <<'END'
other_stream PASSED -
timing_shortcut PASSED -
use_after_free RUNTIME_ERROR use_after_free
wrong_tile INFRA_ERROR tool_trouble
template_bomb - -
END
files=()
for file in "$PTXBENCH_SOURCE"/kernels/bad/*.cu; do
    grep -q "^$(basename "$file" .cu) - -" "$T_DIR/other" || files+=("$file")
done
emulate --task $task --compile-timeout 60 "${files[@]}"
t_status 2 'many files: the worst status'
while read -r name got wanted codes; do
    if [ "$got" = "$wanted" ]; then
        t_ok "$name: $wanted"
    else
        t_not_ok "$name: $wanted" "$got $codes"
    fi
done < <(python3 - "$PTXBENCH_SOURCE/kernels/bad" "$T_DIR/other" "$T_DIR/.stdout" <<'END'
import json
import pathlib
import re
import sys

folder, other, lines = sys.argv[1:]
other = {row.split()[0]: row.split()[1:] for row in open(other)}
verdicts = {v["task"]["solution"]: v for v in map(json.loads, open(lines))}
for path in sorted(pathlib.Path(folder).glob("*.cu")):
    status, code = other.get(path.stem) or re.match(r"// expect: status=(\S+) code=(\S+)", path.read_text()).groups()
    if status == "-":
        continue
    verdict = verdicts.get(path.stem)
    codes = [f["code"] for f in verdict["findings"]] if verdict else []
    got = "none" if not verdict else verdict["status"] + (f"/{code}" if code in codes else "/-")
    print(path.stem, got, f"{status}/{code}", ",".join(codes) or "-")
END
)

# Explanations

emulate --task $task "$PTXBENCH_SOURCE/kernels/bad/endless_mbarrier.cu"
t_json 'v["status"], v["findings"][0]["code"], v["findings"][0]["file"]' \
    "('TIMEOUT', 'deadlock', 'endless_mbarrier.cu')" 'a deadlock is named with its place'
t_json '"pending arrivals 1 of 2" in v["findings"][0]["message"]' True 'and with what is missing'
t_json 'v["runner"]["signal"] is None' True 'long before the limit'
cat >"$T_DIR/device.cu" <<'END'
#include <ptxbench/candidate.h>
PTXBENCH_ENTRY(args, count, stream)
{
    int device = 0;
    cudaIpcMemHandle_t handle;
    (void)args; (void)count; (void)stream;
    return cudaGetDevice(&device) ? 1 : cudaIpcGetMemHandle(&handle, args[0].data);
}
END
emulate --task $task "$T_DIR/device.cu"
t_status 2 'what the emulator lacks is no fault of the candidate'
t_json 'v["status"], v["blame"], "cudaIpcGetMemHandle" in v["summary"]' "('INFRA_ERROR', 'tool', True)" 'and is named'
cat >"$T_DIR/unsupported.cu" <<'END'
#include <ptxbench/candidate.h>
__global__ void k(unsigned *out)
{
    unsigned x;
    asm volatile("vabsdiff4.u32.u32.u32.add %0, %1, %2, %1;" : "=r"(x) : "r"(threadIdx.x), "r"(7u));
    out[threadIdx.x] = x;
}
PTXBENCH_ENTRY(args, count, stream)
{
    (void)count;
    k<<<1, 32, 0, (cudaStream_t)stream>>>((unsigned *)args[2].data);
    return cudaGetLastError();
}
END
emulate --task $task "$T_DIR/unsupported.cu"
t_status 2 'nor is an instruction that it lacks'
t_json 'v["status"], "unsupported.cu:5: vabsdiff4" in v["summary"]' "('INFRA_ERROR', True)" 'which is named with its line'
t_done
