#!/usr/bin/env bash
# The recorded trajectory of examples/quickstart through the real loop, judged on the emulator.
. "$(dirname "$0")/lib.sh"

export PTXBENCH_TASKS=$PTXBENCH_SOURCE/tasks PTXBENCH_HOME=$PTXBENCH_SOURCE
unset PTXBENCH_TMPDIR PTXBENCH_LOG
cd "$T_DIR" || exit

t_run "$PTXBENCH_SOURCE/tools/make-quickstart" --check
t_status 0 'the answers are made of the kernels as they are'
t_run "$PTXBENCH" run "$PTXBENCH_SOURCE/examples/quickstart/run.yaml" --out q
t_status 0 'the trajectory is played to its end'
t_is "$(python3 -c 'import json
for turn in json.load(open("q/trajectories/recorded.gemm_n128_k2048.v0.t0/trajectory.json"))["turns"]:
    print(turn["status"], turn["target_instructions"], end="; ")')" \
    'COMPILE_ERROR unknown; TIMEOUT unknown; PASSED never; PASSED yes; ' 'compile error, deadlock, plain, WGMMA and TMA'
t_true 'the deadlock is explained to the model' grep -q '"event":"verdict".*deadlock.*waits for the phase' \
    q/trajectories/recorded.gemm_n128_k2048.v0.t0/events.jsonl
t_run "$PTXBENCH" report q --turns 1,4 --metric correctness
t_status 0 'report makes the table'
t_out_like '^sm_90a +recorded +. / 25.0' 'one of four turns is right with target instructions'
t_out_like '\(. / 50.0\)' 'two are right'
t_done
