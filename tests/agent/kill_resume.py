#!/usr/bin/env python3
"""Kills a run of 20 trajectories with SIGKILL at random moments and resumes it, again and again, until it is done; then
compares it with a run that nobody disturbed: the same events in the same order, the same verdicts, tokens and costs.

    kill_resume.py PTXBENCH FOLDER [--kills N] [--seed N]

A run may be done before N kills are used up; then the next one begins. Prints one line a run, and what differs.
"""
import argparse
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

TRAJECTORIES, TURNS = 20, 4

GOOD_LOOKING = """#include <ptxbench/candidate.h>
__global__ void k(float *x)
{
    *x = %d.0f%s
}
PTXBENCH_ENTRY(a, c, s)
{
    (void)a; (void)c;
    k<<<1, 1, 0, (cudaStream_t)s>>>(0);
    return cudaSuccess;
}
"""


def answers(path):
    """Every trajectory its own mixture of failures, all of which are judged without a device."""
    choose = random.Random(7)
    with open(path, "w") as out:
        for t in range(TRAJECTORIES):
            for turn in range(TURNS + 1):
                kind = choose.choice(["compile", "compile", "banned", "none", "two", "cut", "refused", "retry"])
                number = choose.randrange(3)
                broken = GOOD_LOOKING % (number, "")
                text = "Turn %d.\n```cuda\n%s```\n" % (turn, broken)
                line = {"status": "ok"}
                if kind == "banned":
                    text = "```cpp\n#include <cublas_v2.h>\n%s```\n" % (GOOD_LOOKING % (number, ";"))
                elif kind == "none":
                    text = "I would rather think about it."
                elif kind == "two":
                    text = "```cuda\n%s```\nor\n```cuda\n%s```\n" % (broken, GOOD_LOOKING % (number + 1, ""))
                elif kind == "cut":
                    text, line["finish_reason"] = text[: len(text) // 2], "length"
                elif kind == "refused":
                    text, line["status"] = "", "refused"
                elif kind == "retry" and t == 3:
                    line["status"] = "context_overflow"
                line.update(
                    trajectory="recorded.gemm_n7168_k5120.v0.t%d" % t,
                    turn=turn,
                    text=text,
                    delay_ms=choose.randrange(5, 60),
                    cost_usd=choose.randrange(1, 1000) / 1000,
                    usage={
                        "input_tokens": choose.randrange(1000, 30000),
                        "cached_tokens": choose.randrange(100),
                        "output_tokens": choose.randrange(1, 5000),
                        "reasoning_tokens": choose.randrange(100),
                    },
                )
                out.write(json.dumps(line) + "\n")


TIMES = ("time", "elapsed_ms", "first_token_ms", "request_id", "wall_ms")


def stable(event):
    """An event without what depends on the clock. Of a verdict the judgement, not how long it took or which machine."""
    kept = {key: value for key, value in event.items() if key not in TIMES}
    verdict = kept.pop("verdict", None)
    if verdict:
        kept["verdict"] = [verdict[key] for key in ("status", "blame", "summary", "task")]
        kept["verdict"] += [[f["class"], f["code"], f["message"], f["line"]] for f in verdict["findings"]]
        kept["verdict"].append(verdict["provenance"]["source_sha256"])
    if "feedback" in kept:  # quotes carry a tag that hashes the verdict, times included
        kept["feedback"] = len(kept["feedback"])
    return kept


def events_of(folder):
    runs = {}
    for path in sorted(glob.glob(folder + "/trajectories/*/events.jsonl")):
        with open(path) as lines:
            runs[path.split("/")[-2]] = [stable(json.loads(line)) for line in lines]
    return runs


def sums_of(events):
    sums = {"events": 0, "input": 0, "output": 0, "cost": 0, "verdicts": {}}
    for log in events.values():
        sums["events"] += len(log)
        for event in log:
            if event["event"] == "reply":
                sums["input"] += event["input_tokens"] or 0
                sums["output"] += event["output_tokens"] or 0
                sums["cost"] += round(1000 * (event["cost_usd"] or 0))
            if event["event"] == "verdict":
                key = event["status"] or event["outcome"]
                sums["verdicts"][key] = sums["verdicts"].get(key, 0) + 1
    return sums


def processes_of(folder):
    """Processes whose environment names the run's scratch folder: its workers and what they started."""
    found = []
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            with open(path, "rb") as environ:
                if (os.path.abspath(folder) + "/scratch").encode() in environ.read():
                    found.append(int(path.split("/")[2]))
        except OSError:
            pass
    return found


def start(ptxbench, arguments):
    return subprocess.Popen([ptxbench, "run", "--quiet"] + arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def finish(process):
    _, errors = process.communicate()
    if process.returncode != 0:
        sys.exit("the run ended with status %d: %s" % (process.returncode, errors.decode()))


def disturbed(ptxbench, config, folder, kills, choose):
    used = 0
    arguments = [config, "--out", folder]
    while True:
        process = start(ptxbench, arguments)
        if used < kills:
            try:
                process.wait(choose.uniform(0.02, 0.35))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                used += 1
                deadline = time.time() + 20
                while processes_of(folder) and time.time() < deadline:
                    time.sleep(0.005)
                if processes_of(folder):
                    sys.exit("workers outlived the run: %s" % processes_of(folder))
                if os.path.exists(folder + "/run.json"):
                    arguments = ["--resume", folder]
                continue
        finish(process)
        return used


def report_turns(ptxbench, folder):
    out = subprocess.run([ptxbench, "report", "--format", "json", folder], capture_output=True, check=True).stdout
    return json.loads(out)["tables"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ptxbench")
    parser.add_argument("folder")
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    choose = random.Random(options.seed)
    folder = os.path.abspath(options.folder)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    answers(folder + "/answers.jsonl")
    with open(folder + "/recorded.yaml", "w") as out:
        out.write("name: recorded\nprovider: replay\nmodel_id: recorded\nreplay: answers.jsonl\n")
    config = folder + "/run.yaml"
    with open(config, "w") as out:
        out.write("name: killed\nmodels: [recorded.yaml]\ntasks:\n  - definition: gemm_n7168_k5120\n")
        out.write("variants: [none]\nbinding: c\nparallel: 6\n")
        out.write("trajectories: %d\nturns: %d\n" % (TRAJECTORIES, TURNS))
    finish(start(options.ptxbench, [config, "--out", folder + "/undisturbed"]))
    wanted = events_of(folder + "/undisturbed")
    print("undisturbed: %s" % json.dumps(sums_of(wanted)))
    used = runs = 0
    while used < options.kills:
        mine = "%s/killed_%d" % (folder, runs)
        now = disturbed(options.ptxbench, config, mine, options.kills - used, choose)
        used += now
        runs += 1
        got = events_of(mine)
        print("run %d, killed %d times: %s" % (runs, now, json.dumps(sums_of(got))))
        for name in wanted:
            if got.get(name) != wanted[name]:
                for a, b in zip(wanted[name], got.get(name, [])):
                    if a != b:
                        print("%s:\n  undisturbed %s\n  killed      %s" % (name, a, b))
                        break
                sys.exit("%s: %d events, undisturbed %d" % (name, len(got.get(name, [])), len(wanted[name])))
        if report_turns(options.ptxbench, mine) != report_turns(options.ptxbench, folder + "/undisturbed"):
            sys.exit("run %d: the report differs" % runs)
        if not now:
            sys.exit("run %d was done before it could be killed" % runs)
    print("%d kills in %d runs: nothing lost, nothing twice" % (used, runs))


main()
