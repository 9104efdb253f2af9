#!/usr/bin/env bash
# ptxbench eval up to the point where a device is needed. Judging on the emulator: test_eval_emulated.sh; on a GPU: tests/gpu.
. "$(dirname "$0")/lib.sh"

export TMPDIR=$T_DIR/tmp
mkdir "$TMPDIR"
unset PTXBENCH_TMPDIR PTXBENCH_LOG
task=gemm_n7168_k5120
has_gpu=$([ -e /dev/nvidia0 ] && echo yes)

t_skip() { # NAME REASON
    t_count=$((t_count + 1))
    echo "ok $t_count - $1 # SKIP $2"
}

# eval_run ARGUMENT...: judges with the shipped tasks.
eval_run() {
    t_run "$PTXBENCH" eval --tasks "$PTXBENCH_SOURCE/tasks" "$@"
}

cat >"$T_DIR/good.cu" <<'END'
#include <ptxbench/candidate.h>
__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
PTXBENCH_ENTRY(args, count, stream)
{
    twice<<<1, count, 0, (cudaStream_t)stream>>>((float *)args[0].data);
    return cudaGetLastError();
}
END
printf '#include <ptxbench/candidate.h>\n__global__ void k(float *x)\n{\n    *x = 1.0f\n}\n' >"$T_DIR/syntax.cu"
printf '#include <cublas_v2.h>\n' | cat - "$T_DIR/good.cu" >"$T_DIR/banned.cu"

# Usage

eval_run
t_status 64 'no file is a usage error'
t_err_like 'no candidate given' 'and says so'
eval_run --tolernce paper "$T_DIR/good.cu"
t_status 64 'a mistyped option is a usage error'
t_err_like 'tolernce' 'and is named'
while read -r option value remedy; do
    eval_run --task $task "--$option" "$value" "$T_DIR/good.cu"
    t_status 64 "--$option $value is a usage error"
    t_err_like "$option.*\"$value\".*$remedy" "and hears: $remedy"
done <<'END'
tolerance loose paper
sanitizer maybe auto
binding torch tvm-ffi
arch sm_80 sm_90a
verify-with nsys ncu
device gpu0 cuda:0
device emu:sm_80 emu:sm_90a
sample -1 0
repeat 0 1
repeat x 1
repeat 99999999999999999999 100000
repeat 1x 1
trials 17 16
iterations 4 5
runners 9 8
compile-timeout -1 3600
seed -1 0
END
eval_run --task gemm_n7168_k512 "$T_DIR/good.cu"
t_status 64 'an unknown task is a usage error'
t_err_like 'did you mean "gemm_n7168_k5120"' 'and hears the nearest'
eval_run --task $task --workload 00000000 "$T_DIR/good.cu"
t_status 64 'an unknown workload is a usage error'
t_err_like "hint: .*task show $task" 'and hears how to list them'
eval_run "$T_DIR/good.cu"
t_status 64 'a .cu file needs a task'
t_err_like 'hint: .*--task' 'and hears how to name one'
eval_run --tasks "$T_DIR/absent" --task $task "$T_DIR/good.cu"
t_status 64 'a missing trace set is a usage error'

# Files

eval_run --task $task "$T_DIR/absent.cu"
t_status 64 'a missing file is a usage error'
t_err_like 'absent\.cu: no such file' 'and is named'
: >"$T_DIR/empty.cu"
eval_run --task $task "$T_DIR/empty.cu"
t_status 64 'an empty file is a usage error'
t_err_like 'empty\.cu: the file is empty' 'and is named'
printf ' \n\t\r\n' >"$T_DIR/blank.cu"
eval_run --task $task "$T_DIR/blank.cu"
t_status 64 'so is one of white space'
eval_run --task $task "$T_DIR"
t_status 64 'a folder is a usage error'
t_err_like 'is a folder' 'and is called one'
head -c 5000000 /dev/zero | tr '\0' ' ' >"$T_DIR/huge.cu"
eval_run --task $task "$T_DIR/huge.cu"
t_status 64 'a file beyond 4 MiB is a usage error'
t_err_like 'huge\.cu: larger than 4194304 bytes' 'and hears the limit'

# Candidates that fail without a device

eval_run --task $task --json "$T_DIR/syntax.cu"
t_status 1 'a syntax error fails the candidate'
t_json 'v["schema"], v["status"], v["blame"]' "('ptxbench.verdict.v1', 'COMPILE_ERROR', 'candidate')" 'JSON: verdict'
t_json 'v["findings"][0]["file"], v["findings"][0]["line"]' "('syntax.cu', 5)" 'JSON: file and line'
t_json 'v["task"]["definition"], v["task"]["solution"]' "('$task', 'syntax')" 'JSON: task and solution'
eval_run --task $task "$T_DIR/syntax.cu"
t_status 1 'the summary has the same status'
t_out_like '^COMPILE_ERROR' 'its first word is the status'
t_out_like 'syntax\.cu:5' 'it names file and line'
t_out_unlike $'\033' 'no colours away from a terminal'
t_err_unlike . 'and no progress either'
eval_run --task $task --json "$T_DIR/banned.cu"
t_status 1 'a banned library fails the candidate'
t_json 'v["status"], any("cublas" in f["message"].lower() for f in v["findings"])' "('COMPILE_ERROR', True)" 'and is named'

# Records

eval_run --task $task --out "$T_DIR/verdict.json" --trace "$T_DIR/trace.jsonl" "$T_DIR/syntax.cu"
t_status 1 '--out and --trace change no status'
cp "$T_DIR/verdict.json" "$T_DIR/.stdout"
t_json 'v["schema"], v["status"]' "('ptxbench.verdict.v1', 'COMPILE_ERROR')" '--out holds the whole verdict'
cp "$T_DIR/trace.jsonl" "$T_DIR/.stdout"
t_json 'v["definition"], v["evaluation"]["status"]' "('$task', 'COMPILE_ERROR')" '--trace holds a trace line'
eval_run --task $task --trace "$T_DIR/trace.jsonl" "$T_DIR/syntax.cu"
t_is "$(wc -l <"$T_DIR/trace.jsonl")" 2 'a second run appends'
eval_run --task $task --out "$T_DIR/none/verdict.json" "$T_DIR/syntax.cu"
t_status 2 'an --out that cannot be written is trouble of the machine'
t_err_like 'none/verdict\.json' 'and is named'
eval_run --task $task --out /dev/stdout --quiet "$T_DIR/syntax.cu"
t_out_like '"schema": *"ptxbench.verdict.v1"' '--out /dev/stdout prints'
t_true 'and stays a link' test -L /dev/stdout
eval_run --task $task --json "$T_DIR/syntax.cu" "$T_DIR/banned.cu"
t_status 1 'several files: the worst status'
t_is "$(wc -l <"$T_DIR/.stdout")" 2 'and one line of JSON each'
eval_run --task $task "$T_DIR/absent.cu" "$T_DIR/syntax.cu"
t_status 64 'a missing file does not stop the others'
t_out_like 'COMPILE_ERROR' 'which are judged'

# Solutions

python3 - "$T_DIR" <<'END'
import json, sys
folder = sys.argv[1]
solution = {"name": "from_json", "definition": "gemm_n7168_k5120", "author": "test",
            "spec": {"language": "cuda", "binding": "c", "target_hardware": ["H200"], "entry_point": "main.cu::run",
                     "dependencies": []},
            "sources": [{"path": "main.cu", "content": open(folder + "/syntax.cu").read()}]}
json.dump(solution, open(folder + "/solution.json", "w"), indent=1)
solution["spec"]["entry_point"] = 7
json.dump(solution, open(folder + "/bad.json", "w"), indent=1)
END
eval_run --json "$T_DIR/solution.json"
t_status 1 'a solution is judged'
t_json 'v["task"]["solution"], v["task"]["definition"], v["findings"][0]["file"]' \
    "('from_json', '$task', 'main.cu')" 'with its own name, task and files'
eval_run "$T_DIR/bad.json"
t_status 64 'a malformed solution is a usage error'
t_err_like 'bad\.json:[0-9]+: \$\.spec\.entry_point: ' 'that names line and path'
head -c 100 "$T_DIR/solution.json" >"$T_DIR/torn.json"
eval_run "$T_DIR/torn.json"
t_status 64 'so is a torn one'
t_err_like 'torn\.json:[0-9]+: ' 'that names the line'

# A good candidate without a device

if [ "$has_gpu" ]; then
    t_skip 'a good candidate without a GPU' 'this machine has one'
else
    eval_run --device cuda:0 --task $task --json --trace "$T_DIR/trace.jsonl" "$T_DIR/good.cu"
    t_status 2 'a good candidate without a GPU is trouble of the machine'
    t_json 'v["status"], v["blame"] != "candidate"' "('INFRA_ERROR', True)" 'and not the fault of the candidate'
    t_json '"libcuda.so.1" in v["summary"]' True 'the missing driver is named'
    t_json 'any("driver" in (f["hint"] or "") for f in v["findings"])' True 'with the remedy'
    t_json 'v["compile"]["ok"]' True 'what is known is told: it compiles'
    t_is "$(wc -l <"$T_DIR/trace.jsonl")" 2 'no trace line says anything about it'
fi

# Ctrl-C while the compiler runs. Scripts ignore SIGINT for background jobs; env undoes that.

cat >"$T_DIR/slow.cu" <<'END'
template <int N, int M> struct b { static constexpr long v = b<N - 1, M>::v + b<N - 1, M + 1>::v + b<N - 1, 2 * M>::v; };
template <int M> struct b<0, M> { static constexpr long v = M; };
__global__ void k(long *o) { *o = b<40, 1>::v; }
END
compilers() { grep -lF -- "$T_DIR/interrupted/work" /proc/[0-9]*/cmdline 2>/dev/null; }

# await COMMAND...: until it succeeds, at most half a minute.
await() {
    local end=$((SECONDS + 30))
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.05
    done
}
no_compilers() { ! compilers; }

for signal in INT TERM; do
    PTXBENCH_CACHE=$T_DIR/interrupted env --default-signal=INT "$PTXBENCH" eval --tasks "$PTXBENCH_SOURCE/tasks" \
        --task $task --out "$T_DIR/interrupted.json" --trace "$T_DIR/interrupted.jsonl" "$T_DIR/slow.cu" \
        >"$T_DIR/.stdout" 2>"$T_DIR/.stderr" &
    job=$!
    await compilers
    t_is "$(find "$T_DIR/interrupted/work" -mindepth 1 -maxdepth 1 | wc -l)" 1 "SIG$signal: the compiler is at work"
    kill -$signal $job
    wait $job
    t_is $? $((128 + $(kill -l $signal))) 'the signal ends the program'
    t_is "$(find "$T_DIR/interrupted/work" -mindepth 1 | wc -l)" 0 'no workspace is left'
    t_true 'no compiler is left' await no_compilers
    t_true 'nothing is recorded' test ! -e "$T_DIR/interrupted.json" -a ! -e "$T_DIR/interrupted.jsonl"
done
t_is "$(find "$TMPDIR" -mindepth 1 | wc -l)" 0 'no run left anything in the folder for temporary files'
t_done
