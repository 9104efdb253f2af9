#!/usr/bin/env bash
# ptxbench task: list, show, validate, materialize.
. "$(dirname "$0")/lib.sh"
unset PTXBENCH_TASKS
tasks=$PTXBENCH_SOURCE/tasks

set_of() { # FOLDER: a trace set with one definition and one workload
    mkdir -p "$1/definitions" "$1/workloads"
    cp "$tasks/definitions/gemm/gemm_n128_k2048.json" "$1/definitions/"
    head -n 1 "$tasks/workloads/gemm/gemm_n128_k2048.jsonl" >"$1/workloads/g.jsonl"
}

t_true 'tasks/ is what tools/make-tasks writes' "$PTXBENCH_SOURCE/tools/make-tasks" --check

t_run "$PTXBENCH" task
t_status 64 'an action is needed'
t_err_like 'no action given: list, show, validate or materialize' 'and the message names the actions'
t_run "$PTXBENCH" task frobnicate
t_status 64 'an unknown action is a usage error'
t_run "$PTXBENCH" task show --tasks "$tasks"
t_status 64 'show needs a name'

t_run "$PTXBENCH" task list --tasks "$tasks"
t_status 0 'list'
t_out_like '^gemm_n7168_k5120 +gemm +13  M N=7168 K=5120$' 'a row has name, op_type, workload count and axes'
t_is "$(wc -l <<<"$stdout")" 32 'a heading and 31 definitions'
t_run "$PTXBENCH" task list causal --op-type mha_bwd --tasks "$tasks" --json
t_status 0 'list with filters'
t_json '[d["name"] for d in v]' "['mha_bwd_d128_causal', 'mha_bwd_d64_causal', 'mha_bwd_d96_causal']" 'both filters hold'
t_json 'v[0]["axes"]' "{'B': 4, 'H': 48, 'S': None, 'D': 128}" 'variable axes are null'
t_run "$PTXBENCH" task list nothing_like_it --tasks "$tasks"
t_status 64 'a filter without hits fails'
PTXBENCH_TASKS=:$tasks t_run "$PTXBENCH" task list
t_status 0 'PTXBENCH_TASKS names trace sets'
t_run "$PTXBENCH" task list --tasks "$T_DIR/absent"
t_status 64 'a missing trace set'
t_err_like 'absent: no such trace set folder' 'is named'

t_run "$PTXBENCH" task show gemm_n7168_k5120 --tasks "$tasks"
t_status 0 'show'
t_out_like '^  A +bfloat16\[M, K\]$' 'inputs with declared shapes'
t_out_like '^  94920358-01a8-4c5b-9209-3103fd490e94  M=8192 +157 MB in +117 MB out$' 'workloads with sizes'
t_out_like '^def run\(A, B\):$' 'the reference text'
t_run "$PTXBENCH" task show mha_bwd_d128 --workload 38c3b07c --tasks "$tasks"
t_out_like 'input +L +float32\[4, 48, 4096\] +3.1 MB  derived from mha_with_lse, output LSE' 'a workload by prefix'
t_run "$PTXBENCH" task show mha_bwd_d128 --axes S=128 --tasks "$tasks"
t_out_like 'input +Q +bfloat16\[4, 48, 128, 128\]' 'a smaller variant'
t_run "$PTXBENCH" task show mha_bwd_d128 --axes D=64 --tasks "$tasks"
t_status 64 'a constant axis stays'
t_err_like 'axis "D" of mha_bwd_d128 is constant \(128\)' 'and the message says why'
t_run "$PTXBENCH" task show gemm_n7168 --tasks "$tasks"
t_status 64 'an unknown definition'
t_err_like 'hint: did you mean "gemm_n7168_k5120"\?' 'gets a suggestion'
t_run "$PTXBENCH" task show gemm_n128_k2048 --json --tasks "$tasks"
t_json '(v["definition"]["op_type"], len(v["workloads"]))' "('gemm', 13)" 'show as JSON'

t_run "$PTXBENCH" task validate "$tasks"
t_status 0 'our tasks are valid'
t_out_like 'tasks: valid \(31 definitions, 305 workloads, 0 solutions, 0 traces, 0 stored tensors\)' 'with counts'
t_run "$PTXBENCH" task validate "$tasks/definitions/gemm/gemm_n128_k2048.json" \
    "$tasks/workloads/gemm/gemm_n128_k2048.jsonl" --tasks "$tasks"
t_status 0 'single files'

set_of "$T_DIR/bad"
sed -i 's/"value": 128/"value": -128/' "$T_DIR/bad/definitions/gemm_n128_k2048.json"
t_run "$PTXBENCH" task validate "$T_DIR/bad" "$tasks"
t_status 64 'one bad path makes the command fail'
t_err_like 'gemm_n128_k2048.json:[0-9]+: \$.axes.N.value: expected a non-negative integer, found -128' \
    'file, line and JSON path'
t_out_like 'tasks: valid' 'and the other path is still checked'

set_of "$T_DIR/pointer"
sed -i 's/"A": {"type": "random"}/"A": {"type": "safetensors", "path": "blob\/a", "tensor_key": "A"}/' \
    "$T_DIR/pointer/workloads/g.jsonl"
mkdir "$T_DIR/pointer/blob"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n' >"$T_DIR/pointer/blob/a"
t_run "$PTXBENCH" task validate "$T_DIR/pointer"
t_status 64 'a Git LFS pointer'
t_err_like 'hint: run: git lfs pull' 'names the remedy'
rm "$T_DIR/pointer/blob/a"
t_run "$PTXBENCH" task validate "$T_DIR/pointer" --json
t_json '(v[0]["valid"], "blob/a: no such file" in v[0]["error"])' '(False, True)' 'a missing blob, as JSON'

out=$T_DIR/gemm.safetensors
t_run "$PTXBENCH" task materialize gemm_n128_k2048 --axes M=3 --seed 7 --out "$out" --json --tasks "$tasks"
t_status 0 'materialize'
t_json '[(t["name"], t["role"], t["shape"]) for t in v["tensors"]][2]' "('C', 'output', 'bfloat16[3, 128]')" \
    'inputs, then outputs'
# the file against the definition of the seeded inputs and the product, recomputed in another language
t_true 'inputs follow the seed and C = A B^T' python3 - "$out" <<'PYTHON'
import json, statistics, struct, sys
data = open(sys.argv[1], "rb").read()
size, = struct.unpack_from("<Q", data)
header, raw = json.loads(data[8:8 + size]), data[8 + size:]
assert header["__metadata__"]["seed"] == "7", header
M = (1 << 64) - 1
G = 0x9e3779b97f4a7c15
def mix(x):
    x = ((x ^ (x >> 30)) * 0xbf58476d1ce4e5b9) & M
    x = ((x ^ (x >> 27)) * 0x94d049bb133111eb) & M
    return x ^ (x >> 31)
def values(name):
    begin, end = header[name]["data_offsets"]
    return [struct.unpack("<f", b"\0\0" + raw[i:i + 2])[0] for i in range(begin, end, 2)]
def bfloat16(x):
    bits, = struct.unpack("<I", struct.pack("<f", x))
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000))[0]
normal = statistics.NormalDist()
A, B, C = values("A"), values("B"), values("C")
for index, tensor in enumerate((A, B)):
    key = mix((7 + G * (index + 1)) & M)
    for element in list(range(50)) + [len(tensor) - 1]:
        i = mix((key + G * (element + 1)) & M) >> 48
        assert tensor[element] == bfloat16(normal.inv_cdf((i + 0.5) / 65536)), (index, element)
for m in range(3):
    for n in range(0, 128, 17):
        exact = sum(A[m * 2048 + k] * B[n * 2048 + k] for k in range(2048))
        assert abs(C[m * 128 + n] - exact) <= abs(exact) / 256 + 1e-6, (m, n)
PYTHON
t_run "$PTXBENCH" task materialize mha_bwd_d64_causal --axes S=8 --out "$T_DIR/bwd.safetensors" --tasks "$tasks"
t_status 0 'materialize a task with derived inputs'
t_err_like '[0-9.e+]+ multiply-adds on one core' 'says how much work it is'
t_run "$PTXBENCH" task materialize gemm_n128_k2048 --tasks "$tasks"
t_status 64 'materialize needs --out'
t_run "$PTXBENCH" task materialize gemm_n128_k2048 --axes M=1 --out "$T_DIR/no/x.safetensors" --tasks "$tasks"
t_status 64 'and an existing folder'
t_run "$PTXBENCH" task materialize gemm_n128_k2048 --axes M=1000000000000 --out "$T_DIR/big.safetensors" --tasks "$tasks"
t_status 2 'a file larger than the disk is refused at once'
t_err_like 'big.safetensors: needs 4\.4 PB, but only .* are free on this disk' 'with both sizes'
t_run "$PTXBENCH" task materialize gemm_n128_k2048 --axes M=1 --seed x --out "$out" --tasks "$tasks"
t_status 64 'a seed is a number'
t_true 'nothing half-written is left' test -z "$(find "$T_DIR" -name '*.safetensors.*')"

sed -i 's/"C"/"Z"/' "$T_DIR/pointer/definitions/gemm_n128_k2048.json"
sed -i 's/{"type": "safetensors"[^}]*}/{"type": "random"}/' "$T_DIR/pointer/workloads/g.jsonl"
t_run "$PTXBENCH" task materialize gemm_n128_k2048 --axes M=1 --out "$out" --tasks "$T_DIR/pointer"
t_status 2 'no CPU reference for an unknown signature'
t_done
