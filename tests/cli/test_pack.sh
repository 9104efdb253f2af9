#!/usr/bin/env bash
# ptxbench pack: list, show, build, check, tokens.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"

data=$PTXBENCH_SOURCE/tests/data/tokens

t_run "$PTXBENCH" pack list
t_status 0 'pack list'
t_out_like '^hopper +sm_90a +.*gemm 0, mha_fwd 0, mha_bwd 0, level 2' 'says what a pack is used for'
t_run "$PTXBENCH" pack list --json
t_json 'sorted(p["name"] for p in v if p["name"] in ("hopper", "blackwell"))' "['blackwell', 'hopper']" 'as JSON'
# Three variants for each of three families and three levels, on both architectures.
t_json '[sum((f + " " + str(i)) in p["uses"].split(", ") for p in v) for f in ("gemm", "mha_fwd", "mha_bwd", "level") for i in range(3)]' \
    '[2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]' 'every variant and level has a pack'

t_run "$PTXBENCH" pack show hopper
t_status 0 'pack show'
t_out_like '^  code hopper/wgmma.cuh$' 'names the parts'
t_run "$PTXBENCH" pack show hopper-gemm-multicast --json
t_json '[p["section"] for p in v["parts"] if p["section"]]' "['multicast']" 'sections as JSON'

t_run "$PTXBENCH" pack build hopper
t_status 0 'pack build'
t_out_like '^DEVICE void mbarrier_init' 'has the wrappers'
t_out_unlike '^#pragma once|^#include "' 'and nothing that only files need'
t_run "$PTXBENCH" pack build hopper --out "$T_DIR/hopper.md"
t_is "$stdout" '' '--out prints nothing'
t_run "$PTXBENCH" pack build hopper
t_true 'the file has the same text' cmp "$T_DIR/.stdout" "$T_DIR/hopper.md"

t_run "$PTXBENCH" pack tokens --tokenizer "$data/gpt2.json" hopper "$T_DIR/hopper.md"
t_status 0 'pack tokens'
t_is "$(awk '{print $1}' <<<"$stdout" | uniq | wc -l)" 1 'pack and file have the same count'
t_out_unlike 'estimate' 'which is no estimate'
t_run "$PTXBENCH" pack tokens --json hopper
t_json '(v[0]["estimate"], 5000 < v[0]["tokens"] < 22314)' '(True, True)' 'without a tokenizer it is one'
printf '{"model":{"type":"WordPiece"}}' >"$T_DIR/other.json"
t_run "$PTXBENCH" pack tokens --tokenizer "$T_DIR/other.json" hopper
t_status 2 'another kind of tokenizer'
t_err_like 'not supported' 'is refused by name'

t_run "$PTXBENCH" pack check
t_status 0 'every shipped pack keeps what it promises'
t_is "$(grep -c '^ok ' <<<"$stdout")" "$(find "$PTXBENCH_SOURCE/packs" -maxdepth 1 -name '*.yaml' | wc -l)" 'all of them'
t_run "$PTXBENCH" pack check --json hopper blackwell
t_json '[(p["max_tokens"], p["blocks"] >= 5, p["functions"] > 70, p["kernels"] >= 4, p["problems"]) for p in v]' \
    '[(22314, True, True, True, []), (28815, True, True, True, [])]' 'limits, blocks, functions, kernels'

# A pack that breaks every promise.
cat >"$T_DIR/bad.yaml" <<'END_YAML'
title: bad
arch: sm_90a
max_tokens: 20
parts:
  - text: bad.md
  - code: bad.cuh
kernels: [bad.cu]
END_YAML
# shellcheck disable=SC2016 # a backtick of Markdown
echo 'Call `ghost_fn()` before anything else, then wait for a while and see what happens next.' >"$T_DIR/bad.md"
printf '#define DEVICE __device__\nDEVICE void lonely_fn() { undeclared = 1; }\n' >"$T_DIR/bad.cuh"
printf '__global__ void k() { int unused = 1; }\n' >"$T_DIR/bad.cu"
t_run "$PTXBENCH" pack check "$T_DIR/bad.yaml"
t_status 1 'a bad pack fails'
t_out_like '^FAILED bad' 'and is named'
t_out_like 'size: bad: [0-9]+ tokens, at most 20 are allowed' 'too large'
t_out_like 'compile: bad: .*undeclared' 'does not compile'
t_out_like 'used: lonely_fn' 'a wrapper that nobody calls'
t_out_like 'names: ghost_fn' 'a name that nothing defines'
t_out_like 'kernels: bad.cu: .*never referenced' 'a kernel with a warning'
printf 'title: x\narch: sm_90a\nparts:\n  - text: none.md\n' >"$T_DIR/none.yaml"
t_run "$PTXBENCH" pack check --fast "$T_DIR/none.yaml"
t_status 1 'a part that is missing fails the check'
t_out_like 'resolve: .*no file "none.md"' 'and is named'

# A pack of one's own on top of a shipped one, with a kernel that includes shipped headers.
mkdir "$T_DIR/own"
cat >"$T_DIR/own/own.yaml" <<'END_YAML'
title: own
arch: sm_90a
parts:
  - pack: hopper-templates
  - code: own.cuh
kernels: [own.cu]
END_YAML
printf '#pragma once\n#include "common/simt.cuh"\n\nDEVICE uint32_t twice(uint32_t x) { return 2 * x; }\n' >"$T_DIR/own/own.cuh"
printf '#include "own.cuh"\n__global__ void k(uint32_t *p) { *p = twice(sm_id()); }\n' >"$T_DIR/own/own.cu"
t_run "$PTXBENCH" pack check --json "$T_DIR/own/own.yaml"
t_status 0 'a pack of your own'
t_json '(v[0]["problems"], v[0]["kernels"], v[0]["blocks"])' '([], 6, 6)' 'builds on the shipped ones'

t_run "$PTXBENCH" pack show "$T_DIR/none.yaml"
t_status 64 'pack show of it is an input error'
t_run "$PTXBENCH" pack show hoper
t_status 64 'an unknown pack'
t_err_like 'hint: .*pack list' 'gets a hint'
t_run "$PTXBENCH" pack
t_status 64 'no action'
t_run "$PTXBENCH" pack dance
t_status 64 'an unknown action'
t_run "$PTXBENCH" pack build
t_status 64 'build needs a pack'
t_done
