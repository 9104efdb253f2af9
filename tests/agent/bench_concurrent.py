#!/usr/bin/env python3
"""Many trajectories at once: memory, threads, waking up while idle, and CPU of the loop itself for each turn.

    bench_concurrent.py PTXBENCH FOLDER [--trajectories 500] [--turns 4] [--provider script|replay] [--delay-ms 2000]

The answers hold no kernel in half of the turns and one that does not compile (always the same, so it comes out of the compile
cache) in the others. What the run's own process uses is reported; compilers, workers and scripts are other processes.
Never run by ctest: it prints, and judges nothing.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import time

KERNEL = """```cuda
#include <ptxbench/candidate.h>
__global__ void k(float *x)
{
    *x = 1.0f
}
PTXBENCH_ENTRY(a, c, s) { (void)a; (void)c; k<<<1, 1, 0, (cudaStream_t)s>>>(0); return cudaSuccess; }
```
"""
# A shell, since hundreds of larger programs would measure themselves.
SCRIPT = """if grep -q '"turn":[0-9]*[13579],'; then answer=kernel.md; else answer=none.md; fi
sleep %f
cat %s/$answer
"""


def status(pid, key):
    with open("/proc/%d/status" % pid) as lines:
        for line in lines:
            if line.startswith(key + ":"):
                return int(line.split()[1])
    return 0


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ptxbench")
    parser.add_argument("folder")
    parser.add_argument("--trajectories", type=int, default=500)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--provider", choices=["script", "replay"], default="script")
    parser.add_argument("--delay-ms", type=int, default=2000)
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    os.makedirs(options.folder)
    os.chdir(options.folder)
    with open("model.yaml", "w") as out:
        if options.provider == "script":
            with open("script.sh", "w") as script:
                script.write(SCRIPT % (options.delay_ms / 1000, os.getcwd()))
            with open("kernel.md", "w") as answer:
                answer.write(KERNEL)
            with open("none.md", "w") as answer:
                answer.write("no kernel today")
            out.write("name: bench\nprovider: script\nmodel_id: x\ncommand: [sh, %s/script.sh]\n" % os.getcwd())
        else:
            with open("answers.jsonl", "w") as answers:
                for turn in range(options.turns):
                    line = {"turn": turn, "text": KERNEL if turn % 2 else "no", "delay_ms": options.delay_ms}
                    answers.write(json.dumps(line) + "\n")
            out.write("name: bench\nprovider: replay\nmodel_id: x\nreplay: answers.jsonl\n")
    command = [options.ptxbench, "run", "-q", "-m", "./model.yaml", "-t", "gemm_n7168_k5120", "--binding", "c", "-o", "run"]
    command += ["--trajectories", str(options.trajectories), "--turns", str(options.turns), "--parallel", "1000"]
    process = subprocess.Popen(command)
    began = time.time()
    peak = threads = cpu = 0
    wakeups = 0
    while True:
        pid, _, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        try:
            peak = max(peak, status(process.pid, "VmHWM"))
            threads = max(threads, status(process.pid, "Threads"))
            wakeups = max(wakeups, status(process.pid, "voluntary_ctxt_switches"))
            cpu = max(cpu, cpu_seconds(process.pid))
        except OSError:
            pass
        time.sleep(0.05)
    turns = options.trajectories * options.turns
    with open("run/turns.jsonl") as lines:
        taken = sum(1 for line in lines if '"outcome":"infrastructure"' not in line)
    print(json.dumps({
        "provider": options.provider,
        "trajectories": options.trajectories,
        "turns": turns,
        "turns_taken": taken,
        "wall_s": round(time.time() - began, 1),
        "peak_memory_mib": round(peak / 1024, 1),
        "threads": threads,
        "loop_cpu_s": round(cpu, 2),
        "loop_cpu_ms_per_turn": round(1000 * cpu / turns, 3),
        "voluntary_context_switches_per_turn": round(wakeups / turns, 2),
    }, indent=1))
    if taken != turns:
        sys.exit("turns are missing")


main()
