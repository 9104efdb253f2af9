#!/usr/bin/env bash
# ptxbench prompt: show, extract, feedback, notes.
. "$(dirname "$0")/lib.sh"
unset PTXBENCH_TASKS
bad=$PTXBENCH_SOURCE/kernels/bad
data=$PTXBENCH_SOURCE/tests/data

t_run "$PTXBENCH" prompt
t_status 64 'an action is needed'
t_err_like 'no action given: show, extract, feedback or notes' 'and the message names them'
t_run "$PTXBENCH" prompt frobnicate
t_status 64 'an unknown action is a usage error'
t_run "$PTXBENCH" prompt extract
t_status 64 'extract needs a file'
t_run "$PTXBENCH" prompt extract a b c d
t_status 64 'and no more'

t_run "$PTXBENCH" prompt show
t_status 64 'show needs a task'
t_run "$PTXBENCH" prompt show --task gemm_n7168_k5120
t_status 0 'show'
t_out_like '^# Task: gemm_n7168_k5120$' 'it states the task'
t_out_like '^Axes of this workload: M=8192 N=7168 K=5120$' 'the axes of the workload'
t_out_like 'TVM_FFI_DLL_EXPORT_TYPED_FUNC\(run, run\);' 'the entry point'
t_out_unlike '\{\{' 'and no placeholder is left'
t_run "$PTXBENCH" prompt show --task gemm_n7168_k5120 --binding c --axes M=64 --arch sm_100a --json
t_status 0 'show as JSON'
t_json '[m["role"] for m in v]' "['system', 'user']" 'two messages'
t_json '"PTXBENCH_ENTRY" in v[0]["content"] and "tcgen05" in v[0]["content"]' True 'of the binding and architecture'
t_json '"[M, K] = [64, 5120]" in v[1]["content"]' True 'with the other sizes'
echo 'PACK {{text}}' >"$T_DIR/pack.md"
t_run "$PTXBENCH" prompt show --task gemm_n7168_k5120 --part system --pack "$T_DIR/pack.md"
t_out_like '^PACK \{\{text\}\}$' 'a pack is put in as it is'
t_run "$PTXBENCH" pack build hopper-gemm-multicast
built=$stdout
t_run "$PTXBENCH" prompt show --task gemm_n7168_k5120 --part system --variant 1
t_status 0 'a prompt variant'
t_true 'has the text of its pack, byte for byte' python3 -c \
    'import sys; sys.exit(sys.argv[1] not in sys.argv[2])' "$built" "$stdout"
t_run "$PTXBENCH" prompt show --task gemm_n7168_k5120 --part system --variant 1 --arch sm_70
t_status 64 'an architecture without packs'
t_run "$PTXBENCH" prompt show --task gemm_n7168_k5120 --part system --variant 1 --pack hopper
t_status 64 'a variant and a pack'
t_run "$PTXBENCH" prompt show --task gemm_n7168_k5120 --part system --pack hooper
t_status 64 'an unknown pack'
t_run "$PTXBENCH" prompt show --task gemm_n7168_k5120 --language fortran
t_status 64 'an unknown language'
t_err_like '^hint: known: cuda-ptx, triton, cute-dsl$' 'and the known ones'
t_run "$PTXBENCH" prompt show --task gemm_n7168_k5120 --part repair
t_status 64 'a repair needs the wrong kernel'
t_run "$PTXBENCH" prompt show --task gemm_n7168_k5120 --part repair --source "$bad/wrong_tile.cu"
t_out_like 'The kernel below should implement this operation' 'repair'
t_out_like '^// expect: status=INCORRECT_NUMERICAL' 'with the kernel'

# the examples of languages that are not installed here are at least Python
for example in "$PTXBENCH_SOURCE"/prompts/*/abi-*.py; do
    t_true "${example#"$PTXBENCH_SOURCE"/} parses" python3 -c 'import ast, sys; ast.parse(open(sys.argv[1]).read())' "$example"
done

# templates of a user's own tree
mkdir -p "$T_DIR/home/prompts/cuda-ptx"
cp "$PTXBENCH_SOURCE"/prompts/cuda-ptx/* "$T_DIR/home/prompts/cuda-ptx/"
cp "$PTXBENCH_SOURCE/prompts/task.md" "$T_DIR/home/prompts/"
echo 'Goal {{gaol}}' >"$T_DIR/home/prompts/cuda-ptx/task.md"
PTXBENCH_HOME=$T_DIR/home t_run "$PTXBENCH" prompt show --task gemm_n7168_k5120 --tasks "$PTXBENCH_SOURCE/tasks"
t_status 64 'a placeholder without a value fails'
t_err_like 'prompts/cuda-ptx/task.md:1: no value for the placeholder "gaol"' 'with file, line and name'

# shellcheck disable=SC2016 # backticks are meant
printf 'Sure!\n\n```cuda\n%s\n```\nDone.\n' "$(cat "$bad/wrong_arity_c.cu")" >"$T_DIR/answer.md"
t_run "$PTXBENCH" prompt extract "$T_DIR/answer.md"
t_status 0 'extract'
t_is "$stdout" "$(cat "$bad/wrong_arity_c.cu")" 'the kernel, byte for byte'
t_err_like '^found: ' 'and says so'
t_run bash -c "'$PTXBENCH' prompt extract - --json <'$T_DIR/answer.md'"
t_json 'v["status"]' found 'from standard input, as JSON'
echo 'I cannot.' >"$T_DIR/answer.md"
t_run "$PTXBENCH" prompt extract "$T_DIR/answer.md"
t_status 1 'no kernel'
t_err_like '^none: no code$' 'and why'
# shellcheck disable=SC2016
printf '```cpp\n__global__ void k()\n{\n' >"$T_DIR/answer.md"
t_run "$PTXBENCH" prompt extract "$T_DIR/answer.md"
t_status 1 'a cut kernel'
t_err_like '^truncated: ' 'is told apart'
t_run "$PTXBENCH" prompt extract "$T_DIR/absent.md"
t_status 64 'a missing answer'

t_run "$PTXBENCH" prompt feedback "$data/feedback/compile_error.verdict.json" "$bad/compile_error.cu"
t_status 0 'feedback'
t_out_like '^# Result: COMPILE_ERROR$' 'with the result first'
t_out_like '^[0-9a-f]{8}\| >    8 \|     tile_load\(a, b, c\);' 'and the line of the error'
t_run "$PTXBENCH" prompt feedback "$data/feedback/compile_error.verdict.json" --secret other
t_out_unlike '>    8 ' 'without a source there is no excerpt'
echo '{"schema": "ptxbench.verdict.v1"}' >"$T_DIR/verdict.json"
t_run "$PTXBENCH" prompt feedback "$T_DIR/verdict.json"
t_status 64 'a verdict that says nothing about the kernel is refused'

python3 - "$T_DIR/pool.jsonl" <<'END'
import json, sys
with open(sys.argv[1], "w") as pool:
    for name in "ab":
        pool.write(json.dumps({"id": name, "definition": "gemm_" + name, "op_type": "gemm", "source": "__global__ void gemm_kernel() {}",
                               "error": "it hangs", "note": "note of " + name, "fixed": "fix of " + name}) + "\n")
END
echo '__global__ void gemm_kernel() { wrong(); }' >"$T_DIR/wrong.cu"
t_run "$PTXBENCH" prompt notes "$T_DIR/pool.jsonl" "$T_DIR/wrong.cu" --with-fix
t_status 0 'notes'
t_out_like '^> note of a$' 'with the notes'
t_out_like '^fix of a$' 'and the repaired kernel'
t_run "$PTXBENCH" prompt notes "$T_DIR/pool.jsonl" "$T_DIR/wrong.cu" --with-fix --hold-out gemm_a
t_status 1 'held out, with copies of its kernels under another name'
t_is "$stdout" '' 'nothing is shown'
t_done
