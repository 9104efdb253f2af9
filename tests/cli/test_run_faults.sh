#!/usr/bin/env bash
# A run against a server that misbehaves in all three APIs (tests/llm/server.py): each trajectory ends in the right state,
# nothing is lost, nothing is counted twice.
. "$(dirname "$0")/lib.sh"

export PTXBENCH_TASKS=$PTXBENCH_SOURCE/tasks PTXBENCH_HOME=$PTXBENCH_SOURCE no_proxy=127.0.0.1
export PTXBENCH_TEST_KEY=test-secret-0123456789abcdef
unset PTXBENCH_TMPDIR PTXBENCH_LOG
cd "$T_DIR" || exit
python3 "$PTXBENCH_SOURCE/tests/llm/server.py" >port 2>server.err &
server=$!
trap 'kill $server; rm -rf "$T_DIR"' EXIT
for _ in $(seq 200); do
    grep -q port port && break
    sleep 0.05
done

# Scenario, what the log has behind `started`, and why the trajectory ended. Two attempts a call, one retry a turn.
cat >cases <<'END'
ok turn turns
length turn turns
empty turn turns
drip turn turns
bytewise turn turns
cut_after_end turn turns
huge turn turns
rate_limit turn turns
rate_limit_date turn turns
bad_gateway turn turns
cut turn turns
cut_inside turn turns
drop turn turns
malformed turn turns
stream_error turn turns
stall turn turns
refusal turn turns
blocked turn turns
server_error again turns
overflow over context
auth over provider
quota over provider
bad over provider
redirect over provider
echo_key over provider
rate_limit_forever twice infrastructure
rate_limit_long twice infrastructure
server_error_forever twice infrastructure
cut_forever twice infrastructure
malformed_forever twice infrastructure
not_events twice infrastructure
END
cat >steps <<'END'
turn request reply extraction verdict ended
again request reply retry request reply extraction verdict ended
over request reply ended
twice request reply retry request reply retry ended
END

python3 - "$(sed 's/port //' port)" <<'END'
import sys

models = []
for line in open("cases"):
    scenario = line.split()[0]
    for provider in ("openai", "anthropic", "gemini"):
        name = "%s-%s" % (scenario, provider)
        models.append("./%s.yaml" % name)
        with open(name + ".yaml", "w") as out:
            out.write("name: %s\nprovider: %s\nbase_url: http://127.0.0.1:%s/%s/%s\n" % (
                name, provider, sys.argv[1], scenario, provider))
            out.write("model_id: some-model\napi_key_env: PTXBENCH_TEST_KEY\nmax_output_tokens: 1000\n")
            out.write("idle_timeout_s: 3\n")
with open("run.yaml", "w") as out:
    out.write("name: faults\nmodels:\n" + "".join("  - %s\n" % model for model in models))
    out.write("tasks:\n  - definition: gemm_n7168_k5120\nvariants: [none]\nturns: 1\ncall_attempts: 2\nretries: 1\n")
    out.write("retry_delay_ms: 1\n")
END

t_run "$PTXBENCH" run -q run.yaml -o r
t_status 2 'a run with broken providers is trouble'
t_is "$(cat server.err)" '' 'the server has no complaint'
python3 - >verdicts 2>&1 <<'END'
import json

steps = {line.split()[0]: line.split()[1:] for line in open("steps")}
for line in open("cases"):
    scenario, what, reason = line.split()
    for provider in ("openai", "anthropic", "gemini"):
        name = "%s-%s.gemm_n7168_k5120.v0.t0" % (scenario, provider)
        log = [json.loads(event) for event in open("r/trajectories/%s/events.jsonl" % name)]
        got = [event["event"] for event in log[1:]]
        ended = log[-1].get("reason")
        print("ok" if got == steps[what] and ended == reason else "not ok",
              scenario, provider, what, *([] if got == steps[what] else got), ended)
END
while read -r line; do
    case $line in
    ok*) t_ok "$(echo "$line" | cut -d ' ' -f 2-)" ;;
    *) t_not_ok "$line" ;;
    esac
done <verdicts
t_is "$(wc -l <verdicts)" "$(($(wc -l <cases) * 3))" 'every trajectory was looked at'
t_true 'the key is in no file of the run' sh -c '! grep -rq test-secret r'
t_run "$PTXBENCH" report r --metric outcomes --format json
t_status 0 'report reads the run'
t_done
