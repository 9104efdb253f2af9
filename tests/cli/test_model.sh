#!/usr/bin/env bash
# ptxbench model: list, check, ask, against the server that misbehaves.
. "$(dirname "$0")/lib.sh"

key=test-secret-0123456789abcdef
unset ANTHROPIC_API_KEY GEMINI_API_KEY OPENROUTER_API_KEY TINKER_API_KEY http_proxy HTTP_PROXY
export no_proxy=127.0.0.1 PTXBENCH_TEST_KEY=$key

mkfifo "$T_DIR/port"
python3 "$PTXBENCH_SOURCE/tests/llm/server.py" >"$T_DIR/port" &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$T_DIR"' EXIT
read -r _ port <"$T_DIR/port"

# model FILE PROVIDER SCENARIO: a model file for one scenario of the server.
model() {
    cat >"$T_DIR/$1.yaml" <<-END
	name: $1
	provider: $2
	base_url: http://127.0.0.1:$port/$3/$1
	model_id: some-model
	api_key_env: PTXBENCH_TEST_KEY
	context_tokens: 4096
	max_output_tokens: 1000
	prices:
	  source: this test
	  date: "2026-01-01"
	  per_million:
	    - {input: 1.0, cached_input: 0.5, cache_write: 1.25, output: 10}
	END
}

# --- list and check

t_run "$PTXBENCH" model list
t_status 0 'list succeeds'
t_out_like '^claude-opus-4.8 +anthropic +claude-opus-4-8 +1000000 +128000 +5.00 / 25.00 +ANTHROPIC_API_KEY is not set$' \
    'and shows a model with its limits, prices and missing key'
t_out_like '^qwen3.6-27b .*needs none$' 'a local one needs no key'

t_run "$PTXBENCH" model list --json
t_json '[m["name"] for m in v]' "['claude-opus-4.8', 'gemini-3.1-pro', 'glm-5.2', 'inkling', 'qwen3.6-27b']" \
    'list --json has the models of the paper'

t_run "$PTXBENCH" model check glm-5.2
t_status 2 'check fails without the key'
t_out_like '^address +https://openrouter.ai/api/v1/chat/completions$' 'after showing where calls go'
t_err_like '^ptxbench: glm-5.2: the environment variable OPENROUTER_API_KEY is not set$' 'and names the variable'

OPENROUTER_API_KEY=$key t_run "$PTXBENCH" model check glm-5.2
t_status 0 'check succeeds with it'
t_out_unlike "$key" 'and does not show it'

t_run "$PTXBENCH" model check glm-5
t_status 64 'an unknown model is a usage error'
t_err_like '^hint: models: claude-opus-4.8, ' 'whose hint lists the known ones'

printf 'name: x\nprovider: openai\nmodel_id: m\nsampling:\n  temprature: 1\n' >"$T_DIR/x.yaml"
t_run "$PTXBENCH" model check "$T_DIR/x.yaml"
t_status 64 'a wrong file is a usage error'
t_err_like 'x.yaml:[0-9]+: Unexpected key: temprature$' 'told by file, line and key'

# --- ask

for provider in openai openrouter vllm sglang anthropic gemini; do
    model "ok-$provider" "$provider" ok
    t_run "$PTXBENCH" model ask "$T_DIR/ok-$provider.yaml" 'Write a kernel.'
    t_status 0 "$provider answers"
    # shellcheck disable=SC2016 # the server's text
    t_is "$stdout" 'Käse → `__global__ void k();`' "$provider's answer is on standard output, and nothing else"
    # shellcheck disable=SC2016 # a dollar of money
    t_err_like 'served-model, stop: 1000 tokens in \(200 cached\), 50 out \((30|\?) reasoning\), \$0.00[0-9]+, .*1 attempt$' \
        "$provider's usage and cost are on standard error"
done

t_run "$PTXBENCH" model ask "$T_DIR/ok-vllm.yaml" --json 'Write a kernel.'
t_json 'v["usage"]["reasoning_tokens"], v["served_model"], v["fingerprint"], v["provider"], v["status"], v["error"]' \
    "(30, 'served-model', 'fp-1', 'vllm/Upstream', 'ok', None)" '--json has usage, model, fingerprint and provider'
t_json 'round(v["cost_usd"], 9)' '0.0014' 'and the cost by the prices of the file'

model wait openai rate_limit
t_run "$PTXBENCH" model ask "$T_DIR/wait.yaml" hi
t_status 0 'a rate limit is waited for'
t_err_like '2 attempts$' 'and the attempts are told'

model broken openai server_error_forever
t_run "$PTXBENCH" model ask "$T_DIR/broken.yaml" --attempts 2 hi
t_status 2 'a broken server is trouble'
t_err_like '^ptxbench: broken: status 500: The server had an error \(2 attempts\)$' 'told with status and attempts'

model long anthropic overflow
t_run "$PTXBENCH" model ask "$T_DIR/long.yaml" hi
t_status 2 'a context overflow is trouble'
t_err_like 'prompt is too long' 'told in the words of the provider'
t_err_like '^hint: use a shorter pack' 'with a hint'

model no gemini refusal
t_run "$PTXBENCH" model ask "$T_DIR/no.yaml" hi
t_status 1 'a refusal is a failure'

model echo openai echo
t_run "$PTXBENCH" model ask "$T_DIR/echo.yaml" --system Sys --seed 5 --max-tokens 77 'from "here"'
sent=$stdout
t_like "$sent" '"role": "system", "content": "Sys"' 'the system message is sent'
t_like "$sent" '"content": "from \\"here\\""' 'and the text'
t_like "$sent" '"max_completion_tokens": 77' 'and the limit'
t_like "$sent" '"seed": 5' 'and the seed'
t_run "$PTXBENCH" model ask "$T_DIR/echo.yaml" --dry-run 'from "here"'
t_json 'v["messages"][0]["content"], v["model"], v["stream"]' "('from \"here\"', 'some-model', True)" \
    '--dry-run shows what would be sent'
t_err_like "^POST http://127.0.0.1:$port/echo/echo/chat/completions$" 'and where'

# shellcheck disable=SC2016 # the inner shell expands
t_run bash -c 'echo "from a pipe" | "$0" model ask "$1" -' "$PTXBENCH" "$T_DIR/echo.yaml"
t_out_like 'from a pipe' 'the text - is standard input'

# --- the key appears nowhere

model leak openai echo_key
PTXBENCH_LOG=debug t_run "$PTXBENCH" model ask "$T_DIR/leak.yaml" hi
t_status 64 'a key that may not do this is a matter of the command line'
t_err_like 'key \[key\] may not do this' 'a key that the server sends back is blacked out'
t_unlike "$stdout$stderr" "$key" 'and appears nowhere'
model leaktext anthropic echo_key_text
PTXBENCH_LOG=debug t_run "$PTXBENCH" model ask "$T_DIR/leaktext.yaml" --json hi
t_unlike "$stdout$stderr" "$key" 'not in answers and ids either'
PTXBENCH_TEST_KEY=wrong-key-0123456789 t_run "$PTXBENCH" model ask "$T_DIR/ok-openai.yaml" hi
t_status 64 'a wrong key is told'
t_err_like 'Incorrect API key provided' 'by the provider'

# --- without a network

# shellcheck disable=SC2016 # for awk's shell
printf 'name: s\nprovider: script\ncommand: [sh, -c, "tr -d \\"\\\\n\\" | wc -c; echo bad >&2; exit $STATUS"]\n' >"$T_DIR/s.yaml"
STATUS=0 t_run "$PTXBENCH" model ask "$T_DIR/s.yaml" hi
t_status 0 'a script answers'
t_out_like '^[0-9]+$' 'with what it prints'
t_err_like 'cost unknown' 'at an unknown cost'
STATUS=3 t_run "$PTXBENCH" model ask "$T_DIR/s.yaml" hi
t_status 2 'a script that fails is trouble'
t_err_like 'sh exited with status 3: bad$' 'told with its status and message'

printf 'name: r\nprovider: replay\nreplay: r.jsonl\n' >"$T_DIR/r.yaml"
printf '{"trajectory": "t", "turn": 2, "text": "recorded"}\n' >"$T_DIR/r.jsonl"
t_run "$PTXBENCH" model ask "$T_DIR/r.yaml" --trajectory t --turn 2 hi
t_is "$stdout" recorded 'a recording answers by trajectory and turn'
t_run "$PTXBENCH" model ask "$T_DIR/r.yaml" hi
t_err_like 'no answer for trajectory "", turn 0$' 'or says that it cannot'

# --- usage

for arguments in '' 'shout' 'ask' 'ask x' 'check' 'list x' 'ask a b c'; do
    # shellcheck disable=SC2086 # a list of words
    t_run "$PTXBENCH" model $arguments
    t_status 64 "model $arguments is a usage error"
done

t_done
