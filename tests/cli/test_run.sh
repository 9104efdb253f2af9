#!/usr/bin/env bash
# ptxbench run, inspect and worker with recorded answers. What needs a device ends with INFRA_ERROR here, or is judged.
. "$(dirname "$0")/lib.sh"

export PTXBENCH_TASKS=$PTXBENCH_SOURCE/tasks PTXBENCH_HOME=$PTXBENCH_SOURCE
unset PTXBENCH_TMPDIR PTXBENCH_LOG
cd "$T_DIR" || exit

# Answers: a compile error, no code, a banned library; kernel K compiles and would need a device.
python3 - <<'END'
import json

def kernel(line, head=""):
    return head + """#include <ptxbench/candidate.h>
__global__ void k(float *x)
{
    %s
}
PTXBENCH_ENTRY(a, c, s) { (void)a; (void)c; k<<<1, 1, 0, (cudaStream_t)s>>>(0); return cudaGetLastError(); }
""" % line

def write(name, answers):
    with open(name + ".jsonl", "w") as out:
        for turn, answer in enumerate(answers):
            line = {"turn": turn, "usage": {"input_tokens": 100, "output_tokens": 10}, "cost_usd": 0.25}
            out.write(json.dumps({**line, **answer}) + "\n")
    with open(name + ".yaml", "w") as out:
        out.write("name: %s\nprovider: replay\nmodel_id: x\nreplay: %s.jsonl\n" % (name, name))

fence = "Here it is.\n```cuda\n%s```\n"
broken, banned = kernel("*x = 1.0f"), kernel("*x = 1.0f;", "#include <cublas_v2.h>\n")
usual = [{"text": fence % broken}, {"text": "I would rather not."}, {"text": fence % banned}]
write("usual", usual + [{"text": fence % broken}])
write("slow", [{**answer, "delay_ms": 1500} for answer in usual])
write("full", [usual[0], {"status": "context_overflow", "text": ""}])
write("keyless", [{"status": "authentication", "text": "", "usage": {}}] * 2)
write("refusing", [{"status": "refused", "text": ""}, usual[0]])
write("failing", [{"status": "retryable_exhausted", "text": ""}])
write("works", [{"text": fence % kernel("*x = 1.0f;")}])
END
cat >c.yaml <<'END'
name: demo
models: [usual.yaml]
tasks:
  - definition: gemm_n7168_k5120
variants: [none]
binding: c
turns: 3
trajectories: 2
retry_delay_ms: 1
END
log() { echo "$1/trajectories/$2.gemm_n7168_k5120.v0.t0/events.jsonl"; }
kinds() { python3 -c 'import json, sys; print(*[json.loads(l)["event"] for l in open(sys.argv[1])])' "$1"; }
one() { # MODEL FOLDER [OPTION]...: one trajectory
    local model=$1 folder=$2
    shift 2
    t_run "$PTXBENCH" run -m "./$model.yaml" -t gemm_n7168_k5120 --variant none --binding c --turns 3 --retry-delay 1 --call-attempts 1 \
        -o "$folder" "$@"
}

# Usage

t_run "$PTXBENCH" run
t_status 64 'nothing to run is a usage error'
t_err_like 'models: none given' 'and says what is missing'
printf 'turrns: 3\n' | cat - c.yaml >mistyped.yaml
t_run "$PTXBENCH" run mistyped.yaml
t_status 64 'an unknown key is refused'
t_err_like 'mistyped.yaml:1: .*turrns' 'with file and line'
t_run "$PTXBENCH" run c.yaml --turns 0
t_status 64 'no turns are refused'
t_run "$PTXBENCH" run c.yaml -m nosuchmodel -o none
t_status 64 'an unknown model is refused'
t_run "$PTXBENCH" run c.yaml --resume x
t_status 64 '--resume takes no configuration'
t_run "$PTXBENCH" run --resume nothing
t_status 64 'a folder without a run cannot be resumed'

# Plan

t_run "$PTXBENCH" run c.yaml --dry-run --trajectories 5
t_status 0 'a dry run succeeds'
t_out_like '5 trajectories of at most 3 turns: 15 calls' 'and counts calls'
t_true 'and makes nothing' test ! -e runs

# A whole run

t_run "$PTXBENCH" run c.yaml -o r
t_status 0 'a run whose kernels all fail is done'
t_out_like '2/2 trajectories done, turn 6/6' 'it took all turns'
t_out_like 'trajectories with a correct kernel: 0' 'none of them right'
t_err_like 'v0.t1 turn 2/3: no code in the answer' 'a line for each turn'
t_is "$(kinds "$(log r usual)")" "started request reply extraction verdict request reply extraction verdict request reply \
extraction verdict ended" 'the log has every event'
t_true 'kernels are kept' grep -q 'cublas_v2' r/trajectories/usual.gemm_n7168_k5120.v0.t1/turn_2/kernel.cu
t_true 'and verdicts' grep -q '"COMPILE_ERROR"' r/trajectories/usual.gemm_n7168_k5120.v0.t1/turn_0/verdict.json
t_true 'scratch is gone' test ! -e r/scratch
t_run "$PTXBENCH" report r --metric outcomes --format csv
t_status 0 'report reads the folder'
t_out_like 'usual' 'and names the model'
t_run "$PTXBENCH" run c.yaml -o r
t_status 64 'a second run into the same folder is refused'
t_err_like 'resume' 'with what to do instead'

# Resume

before=$(md5sum r/trajectories/*/events.jsonl)
t_run "$PTXBENCH" run --resume r
t_status 0 'a finished run can be resumed'
t_is "$(md5sum r/trajectories/*/events.jsonl)" "$before" 'and stays as it is'
head -c -700 "$(log r usual)" >torn && cp torn "$(log r usual)"
t_run "$PTXBENCH" run --resume r
t_status 0 'a run with a torn log can be resumed'
t_is "$(kinds "$(log r usual)" | wc -w)" 14 'and has the same events again'
t_run "$PTXBENCH" run --resume r --extend-turns 1
t_status 0 'more turns can be asked for'
t_is "$(kinds "$(log r usual)" | cut -d ' ' -f 14-)" 'ended reopened request reply extraction verdict ended' 'and are taken'
sed -i '3s/^.\{20\}/x/' "$(log r usual)"
t_run "$PTXBENCH" run --resume r
t_status 64 'a log that is broken in its middle is refused'
t_err_like 'events.jsonl:3' 'with file and line'

# A signal, as from Ctrl-C

"$PTXBENCH" run -q -m ./slow.yaml -t gemm_n7168_k5120 --variant none --binding c --turns 3 -o c >/dev/null 2>&1 &
pid=$!
for _ in $(seq 200); do
    grep -qs '"verdict"' "$(log c slow)" && break
    sleep 0.05
done
t_run "$PTXBENCH" run --resume c
t_status 2 'a run that is under way cannot be resumed'
t_err_like 'another process' 'and says why'
kill -TERM $pid # a background job of a script ignores SIGINT
wait $pid
t_is $? 143 'a signal ends a run as signals do'
t_unlike "$(kinds "$(log c slow)")" 'retry|ended' 'nothing is recorded of it'
t_run "$PTXBENCH" run --resume c
t_status 0 'and it goes on'
t_is "$(kinds "$(log c slow)" | wc -w)" 14 'to its end'

# How calls end

one full f
t_status 0 'a context that overflows ends a trajectory'
t_is "$(kinds "$(log f full)" | cut -d ' ' -f 6-)" 'request reply ended' 'without a turn'
t_out_like 'ended: 1 context' 'and is told'
t_run "$PTXBENCH" report f --metric metrics --turns 3 --format csv
t_is "$(tail -n 1 <<<"$stdout" | cut -d , -f 5-9)" '3,1,3,2,0' 'its missing turns count as failures'
one keyless k
t_status 2 'a wrong key is trouble'
t_out_like 'ended: 1 provider' 'of the provider'
one refusing u --turns 2
t_status 0 'a refusal is a turn'
t_is "$(kinds "$(log u refusing)" | wc -w)" 10 'and the next one is taken'
one failing p
t_status 2 'a provider that never answers is trouble'
t_is "$(kinds "$(log p failing)")" 'started request reply retry request reply retry request reply retry request reply retry ended' \
    'after three retries'
t_run "$PTXBENCH" report p --metric metrics --turns 3 --format csv
t_is "$(tail -n 1 <<<"$stdout" | cut -d , -f 5-9)" '3,1,0,0,3' 'and none of its turns counts'
t_run "$PTXBENCH" run --resume p --call-attempts 1
t_is "$(kinds "$(log p failing)" | cut -d ' ' -f 14-17)" 'ended reopened request reply' 'and is asked again by --resume'

# An answer that leaves open which block is the kernel: the model is asked, and it costs no turn

cat >choosing.py <<'END'
import json
import sys

messages = json.load(sys.stdin)["messages"]
kernel = """```cuda
__global__ void %s(float *x)
{
    *x = 1.0f
}
```
"""
if len(messages) == 4:
    print("Block 1.")
else:
    print("Either\n" + kernel % "first" + "or\n" + kernel % "second")
END
printf 'name: choosing\nprovider: script\nmodel_id: x\ncommand: [python3, %s/choosing.py]\n' "$T_DIR" >choosing.yaml
one choosing q --turns 1
t_status 0 'a doubtful answer does not stop a run'
t_is "$(kinds "$(log q choosing)")" 'started request reply request reply extraction verdict ended' 'the model is asked once more'
t_true 'and its choice is judged' grep -q 'void first' q/trajectories/choosing.gemm_n7168_k5120.v0.t0/turn_0/kernel.cu
t_out_like 'turn 1/1' 'in the same turn'

# Budget

one usual b --max-usd 0.3
t_status 0 'a run that has spent its budget pauses'
t_out_like "paused: the run's limit of cost" 'and says so'
t_is "$(kinds "$(log b usual)" | grep -o verdict | wc -l)" 2 'behind the turn that reached it'
t_run "$PTXBENCH" run --resume b --max-usd 10
t_is "$(kinds "$(log b usual)" | grep -o verdict | wc -l)" 3 'and goes on with a larger one'

# Repair notes

cat >pool.jsonl <<'END'
{"id": "n1", "definition": "gemm_n7168_k5120", "op_type": "gemm", "source": "__global__ void k(float *x) { *x = 1.0f }", "note": "end the statement"}
END
one usual n --notes pool.jsonl
t_status 0 'a run can search repair notes'
t_is "$(grep -c 'end the statement' "$(log n usual)")" 2 'and failed kernels get them'

# A kernel that needs a device

one works w --turns 1
if [ "$status" -eq 2 ]; then
    t_out_like 'ended: 1 infrastructure' 'without a device the turn does not count'
    t_is "$(kinds "$(log w works)")" 'started request reply extraction retry retry retry retry ended' 'after three retries'
else
    t_out_like '1/1 trajectories done' 'with a device the turn is judged'
    t_is "$(kinds "$(log w works)")" 'started request reply extraction verdict ended' 'once'
fi

# inspect

t_run "$PTXBENCH" inspect c
t_status 0 'inspect lists trajectories'
t_out_like 'slow.gemm_n7168_k5120.v0.t0 +3/3 +turns' 'with their state'
t_run "$PTXBENCH" inspect c v0.t0
t_out_like '^turn 1 of 3: COMPILE_ERROR' 'a trajectory has its turns'
t_out_like '^\+#include <cublas_v2.h>' 'with what changed in the code'
t_out_like 'cuBLAS' 'and verdicts'
t_run "$PTXBENCH" inspect c v0 --turn 2 --show answer
t_out_like '^\| I would rather not' 'answers are quoted'
t_out_unlike '^turn 1' 'one turn can be chosen'
t_run "$PTXBENCH" inspect c v0.t7
t_status 64 'an unknown trajectory is an error'
t_run "$PTXBENCH" inspect c --export mini-swe-agent --out mini
t_status 0 'a run is exported for mini-swe-agent'
cp mini/slow.gemm_n7168_k5120.v0.t0.json .stdout
t_json '(v["trajectory_format"], [m["role"] for m in v["messages"]])' \
    "('mini-swe-agent-1.1', ['system', 'user', 'assistant', 'user', 'assistant', 'user', 'assistant', 'user', 'exit'])" \
    'in its format'
t_json '(v["info"]["exit_status"], v["info"]["model_stats"])' \
    "('LimitsExceeded', {'instance_cost': 0.75, 'api_calls': 3})" 'with state and cost'
t_run "$PTXBENCH" inspect c --export replay --out again.jsonl
t_is "$(wc -l <again.jsonl)" 3 'and for replay'
t_run "$PTXBENCH" inspect nothing
t_status 64 'a folder that is no run is an error'

# worker

printf '%s\n' '{"id":"a","definition":"gemm_n7168_k5120","source":"int x","binding":"c"}' \
    '{"id":"b","definition":"gemm_n7168_k5120","source":"int x","trails":1}' '' nonsense \
    '{"definition":"gemm_n7168_k5120","workload":"0000","source":"int x"}' >requests
"$PTXBENCH" worker <requests >answers 2>errors
t_is $? 0 'the end of the input ends a worker'
t_is "$(python3 -c 'import json
for line in open("answers"):
    v = json.loads(line)
    print(v.get("id"), v.get("status") or v["error"]["code"], end="; ")')" \
    'a COMPILE_ERROR; b bad input; None bad input; None not found; ' 'each line is answered, in order'
t_true 'an unknown member is named' grep -q 'trails' answers
t_run "$PTXBENCH" worker --device gpu
t_status 64 'an unknown device is a usage error'
t_done
