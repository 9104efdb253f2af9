#!/usr/bin/env bash
# ptxbench doctor on this machine, and on machines where things are missing.
. "$(dirname "$0")/lib.sh"

t_run "$PTXBENCH" doctor
t_status 0 'a machine that can build can compile kernels'
for name in nvcc nvdisasm tvm_ffi candidate_header host_compiler cache scratch; do
    t_out_like "^  ok +$name " "$name is there"
done
t_out_like '^compile and screen kernels: yes$' 'it says so in the end'
t_out_unlike $'\033' 'no colours when the output is not a terminal'

t_run "$PTXBENCH" doctor --json
t_status 0 '--json has the same exit status'
t_json 'v["schema"]' ptxbench.doctor.v1 'the report names its schema'
t_json 'v["able"]["compile"]' True 'able to compile'
t_json 'v["able"]["emulation"]' True 'able to judge without a GPU'
t_json 'sorted(v)' "['able', 'checks', 'devices', 'driver_cuda_version', 'schema', 'version']" 'documented members only'
t_json 'len(set(c["name"] for c in v["checks"])) == len(v["checks"]) > 10' True 'names are unique'
t_json 'all(c["status"] in ("ok", "missing", "broken") for c in v["checks"])' True 'statuses are of the known kinds'
t_json 'all(c["needed_for"] in ("compile", "emulation", "eval", "extra") for c in v["checks"])' True 'needs are of the known kinds'
t_json 'all((c["status"] == "ok") == (c["remedy"] is None) for c in v["checks"])' True 'each defect has a remedy'
t_json 'all(c["detail"] and "\n" not in c["detail"] and c["purpose"] for c in v["checks"])' True 'details are one line'
t_json 'v["able"]["eval"] == all(c["status"] == "ok" for c in v["checks"] if c["needed_for"] != "extra")' True \
    'able to eval exactly when nothing for it is missing'

t_run env PTXBENCH_LIBCUDA=/nonexistent/libcuda.so.1 "$PTXBENCH" doctor --json
t_status 0 'no driver: compiling still works'
t_json 'v["able"]["eval"]' False 'no driver: no eval'
t_json 'v["devices"]' '[]' 'no driver: no devices'
t_json 'v["driver_cuda_version"]' None 'no driver: no version'
t_json '[c["status"] for c in v["checks"] if c["name"] == "device"]' "['missing']" 'no driver: the device is missing'

mkdir "$T_DIR/folder"
t_run env PTXBENCH_CACHE="$T_DIR/folder/deep/er" "$PTXBENCH" doctor --json
t_json '[c["status"] for c in v["checks"] if c["name"] == "cache"]' "['ok']" 'a cache that can be created is fine'
t_true 'and looking does not create it' test ! -e "$T_DIR/folder/deep"

: >"$T_DIR/file"
t_run env PTXBENCH_CACHE="$T_DIR/file/below" "$PTXBENCH" doctor
t_status 2 'a cache that cannot be created is trouble'
t_out_like '^  broken +cache .*/file/below: ' 'the folder is named'
t_out_like 'remedy: set PTXBENCH_CACHE' 'with a remedy'

t_run "$PTXBENCH" doctor extra
t_status 64 'arguments are refused'

t_done
