#!/usr/bin/env python3
"""Judges every shipped kernel on a GPU and measures the judge itself.

    gpu_check.py --bundle FOLDER --out FOLDER [--repeat N] [--commit ID]

Writes gpu-check.json and gpu-check.md into the output folder. Exit status 0: every verdict as expected and every
figure within its target. Python 3 standard library only, so that it runs from a bundle on any GPU machine.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

GEMM = "gemm_n7168_k5120"
# Right kernels: task, whether target instructions must run, least speed-up.
GOOD = {
    "hopper/gemm_wgmma.cu": (GEMM, "yes", 0.85),
    "hopper/gemm_simt.cu": (GEMM, "never", 0.0),
    "hopper/mha_fwd.cu": ("mha_with_lse_d128", "yes", 0.55),
    "hopper/mha_fwd_causal.cu": ("mha_with_lse_d128_causal", "yes", 0.55),
}
# Workloads of the paper (src: the original implementation's task list).
WORKLOADS = {
    GEMM: "94920358-01a8-4c5b-9209-3103fd490e94",
    "mha_with_lse_d128": "bc38b351-d595-451b-9153-8e225702e53b",
    "mha_with_lse_d128_causal": "6d2f67a7-225a-4af5-87d3-cbb99b496325",
}
# What the target check must say about two candidates of the paper's appendix A.2.
TARGETS = {"dead_kernel_decoy.cu": "no", "use_after_free.cu": "unknown"}
COMPILE_TIMEOUT_S = 12


def expectation(path):
    """The `// expect:` line of a kernel as a dict."""
    first = path.read_text().splitlines()[0]
    match = re.match(r"// expect: status=(\S+) code=(\S+) task=(\S+)", first)
    if not match:
        sys.exit(f"{path}: no expectation in its first line")
    status, code, task = match.groups()
    return {"status": status, "code": None if code == "-" else code, "task": task}


def eval_lines(program, task, files, *options):
    """Runs `ptxbench eval` once over many files; yields (seconds since start, verdict) as verdicts arrive."""
    command = [str(program), "eval", "--task", task, "--workload", WORKLOADS[task], "--json", "--quiet",
               "--compile-timeout", str(COMPILE_TIMEOUT_S), *options, *map(str, files)]
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        text = ""
        for line in process.stdout:
            text += line
            if line.startswith("{") and line.rstrip().endswith("}") or line == "}\n":
                yield time.monotonic() - start, json.loads(text)
                text = ""


def compile_all(program, files):
    """Fills the compile cache with all cores, so that device time is not spent on the compiler."""
    def one(path):
        subprocess.run([str(program), "compile", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=120, check=False)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, files))


def codes(verdict):
    return [finding["code"] for finding in verdict["findings"]]


def check_kernel(name, verdict, expected):
    """One row of the table, with the list of surprises."""
    surprises = []
    if verdict["status"] != expected["status"]:
        surprises.append(f"status {verdict['status']}, expected {expected['status']}")
    if expected.get("code") and expected["code"] not in codes(verdict):
        surprises.append(f"no finding {expected['code']}: {', '.join(codes(verdict)) or 'none'}")
    if expected.get("executed") and verdict["target"]["executed"] != expected["executed"]:
        surprises.append(f"target instructions {verdict['target']['executed']}, expected {expected['executed']}")
    speedup = verdict["performance"]["speedup"]
    if expected.get("least_speedup") and not (speedup and speedup >= expected["least_speedup"]):
        surprises.append(f"speed-up {speedup}, expected {expected['least_speedup']} or more")
    return {
        "kernel": name, "task": expected["task"], "expected": expected["status"], "status": verdict["status"],
        "summary": verdict["summary"], "findings": codes(verdict), "executed": verdict["target"]["executed"],
        "tensor_share": verdict["target"]["tensor_share"], "latency_ms": verdict["performance"]["latency_ms"],
        "reference_latency_ms": verdict["performance"]["reference_latency_ms"], "speedup": speedup,
        "ci95": verdict["performance"]["ci95"], "sanitizer_clean": verdict["sanitizer"]["clean"],
        "verdict_ms": verdict["provenance"]["wall_ms"], "surprises": surprises,
    }


def check_all(program, kernels):
    expected = {}
    for name, (task, executed, least) in GOOD.items():
        expected[name] = {"status": "PASSED", "task": task, "executed": executed, "least_speedup": least}
    for path in sorted((kernels / "bad").glob("*.cu")):
        expected[f"bad/{path.name}"] = expectation(path) | {"executed": TARGETS.get(path.name)}
    rows, verdicts = [], {}
    for task in WORKLOADS:
        names = [name for name in expected if expected[name]["task"] == task]
        arrived = eval_lines(program, task, [kernels / name for name in names])
        for name, (_, verdict) in zip(names, arrived):
            verdicts[name] = verdict
        for name in names:
            if name in verdicts:
                rows.append(check_kernel(name, verdicts[name], expected[name]))
            else:
                rows.append({"kernel": name, "task": task, "surprises": ["no verdict"]})
    return rows, verdicts


def measure_throughput(program, kernels, repeat):
    """Warm evaluations per second and their noise."""
    arrived = list(eval_lines(program, GEMM, [kernels / "hopper/gemm_wgmma.cu"], "--sanitizer", "off", "--repeat",
                              str(repeat + 1)))
    verdicts = [verdict for _, verdict in arrived[1:]]
    seconds = arrived[-1][0] - arrived[0][0]

    def cv(values):
        return statistics.stdev(values) / statistics.mean(values)

    latencies = [v["performance"]["latency_ms"] for v in verdicts]
    references = [v["performance"]["reference_latency_ms"] for v in verdicts]
    speedups = [v["performance"]["speedup"] for v in verdicts]
    clocks = [t["sm_clock_mhz"] for v in verdicts for t in v["timing"]["trials"]]
    return {
        "evaluations": len(verdicts), "passed": sum(v["status"] == "PASSED" for v in verdicts),
        "outputs_compared_each": verdicts[0]["correctness"]["checks"],
        "per_second": len(verdicts) / seconds,
        "verdict_ms_median": statistics.median(v["provenance"]["wall_ms"] for v in verdicts),
        "latency_ms_median": statistics.median(latencies), "latency_cv": cv(latencies),
        "reference_ms_median": statistics.median(references), "reference_cv": cv(references),
        "speedup_median": statistics.median(speedups), "speedup_cv": cv(speedups),
        "sm_clock_mhz": [min(clocks), max(clocks)],
        "throttle": sorted({v["timing"]["throttle"] for v in verdicts}),
        "count_ms_median": statistics.median(v["target"]["wall_ms"] for v in verdicts),
        "count_ms_max": max(v["target"]["wall_ms"] for v in verdicts),
        "runner_start_ms_median": statistics.median(v["runner"]["start_ms"] for v in verdicts),
        "runner_start_ms_max": max(v["runner"]["start_ms"] for v in verdicts),
    }


def measure_recovery(program, kernels):
    """A crash, a good candidate, a hang, a good candidate...: times to verdict, and what the next one waits for."""
    good, crash, hang = (kernels / n for n in ("hopper/gemm_wgmma.cu", "bad/out_of_bounds.cu", "bad/endless_kernel.cu"))
    mbarrier = kernels / "bad/endless_mbarrier.cu"
    order = [good, crash, good, hang, good, crash, good, mbarrier, good]
    arrived = list(eval_lines(program, GEMM, order, "--sanitizer", "off", "--explain", "off"))
    verdicts = [verdict for _, verdict in arrived]

    def wall(path):
        return [v["provenance"]["wall_ms"] for v, p in zip(verdicts, order) if p == path]

    after = [verdicts[i] for i in range(1, len(order)) if order[i] == good]
    return {
        "endless_kernel_verdict_ms": wall(hang), "endless_mbarrier_verdict_ms": wall(mbarrier),
        "illegal_access_verdict_ms": wall(crash),
        "next_candidate_start_ms": [v["runner"]["start_ms"] for v in after],
        "next_candidate_status": [v["status"] for v in after],
        "next_candidate_verdict_ms": [v["provenance"]["wall_ms"] for v in after],
        "statuses": [v["status"] for v in verdicts],
    }


def judge_figures(result):
    """Targets of the project: name, figure, comparison, limit."""
    t, r = result["throughput"], result["recovery"]
    figures = [
        ("warm evaluations per second", t["per_second"], ">=", 4),
        ("coefficient of variation of the speed-up, %", 100 * t["speedup_cv"], "<=", 0.5),
        ("coefficient of variation of the latency, %", 100 * t["latency_cv"], "<=", 0.5),
        ("endless kernel to verdict, s", max(r["endless_kernel_verdict_ms"]) / 1e3, "<=", 3),
        ("illegal access to verdict, s", max(r["illegal_access_verdict_ms"]) / 1e3, "<=", 2),
        ("dynamic instruction check, ms", t["count_ms_max"], "<=", 50),
        ("start of the candidate after a crash or hang, s", max(r["next_candidate_start_ms"]) / 1e3, "<=", 0.5),
    ]
    return [{"figure": name, "value": value, "target": f"{sign} {limit}",
             "met": value >= limit if sign == ">=" else value <= limit} for name, value, sign, limit in figures]


def save(folder, result):
    """Also before the end: device time is dear."""
    (folder / "gpu-check.json").write_text(json.dumps(result, indent=2) + "\n")


def number(value, digits=3):
    return "-" if value is None else f"{value:.{digits}f}"


def markdown(result):
    p = result["provenance"]
    lines = ["# GPU check", "", f"{p['gpu']}, driver {p['driver']}, {p['time']}, commit {p['commit']}, "
             f"{p['kernels']} kernels. Made by `tools/gpu-check`; all figures are in `gpu-check.json`.", "",
             "## The judge", "", "| figure | value | target | met |", "|---|---|---|---|"]
    lines += [f"| {f['figure']} | {number(f['value'])} | {f['target']} | {'yes' if f['met'] else '**no**'} |"
              for f in result["figures"]]
    t = result["throughput"]
    lines += ["", f"N = {t['evaluations']} evaluations of `gemm_wgmma.cu` (M8192 N7168 K5120), each with "
              f"{t['outputs_compared_each']} calls whose outputs were all compared; SM clock {t['sm_clock_mhz'][0]:.0f} "
              f"to {t['sm_clock_mhz'][1]:.0f} MHz, throttle reasons seen: {', '.join(t['throttle']) or 'none'}. "
              f"Coefficient of variation of the reference: {100 * t['reference_cv']:.2f} %. Endless kernel and illegal access: "
              "without sanitizer and explanation (`--sanitizer off --explain off`); the table below has both.", "",
              "## Kernels", "", "| kernel | verdict | findings | target instructions | speed-up | ms to verdict | surprise |",
              "|---|---|---|---|---|---|---|"]
    for k in result["kernels"]:
        lines.append(f"| `{k['kernel']}` | {k.get('status', '-')} | {', '.join(k.get('findings', [])) or '-'} | "
                     f"{k.get('executed', '-')} | {number(k.get('speedup'))} | {number(k.get('verdict_ms'), 0)} | "
                     f"{'; '.join(k['surprises']) or '-'} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bundle", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--repeat", type=int, default=100)
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    bundle = options.bundle.resolve()
    program, kernels = bundle / "ptxbench", bundle / "kernels"
    options.out.mkdir(parents=True, exist_ok=True)

    start = time.monotonic()
    files = [p for p in [*kernels.glob("hopper/*.cu"), *kernels.glob("bad/*.cu")] if p.name != "template_bomb.cu"]
    compile_all(program, files)
    compiled = time.monotonic()
    rows, verdicts = check_all(program, kernels)
    checked = time.monotonic()
    (options.out / "verdicts.json").write_text(json.dumps(verdicts, indent=1) + "\n")
    one = verdicts["hopper/gemm_wgmma.cu"]
    result = {
        "schema": "ptxbench.gpu-check.v1",
        "provenance": {k: one["provenance"][k] for k in ("gpu", "driver", "time", "tools", "sandbox", "version")}
        | {"commit": options.commit, "kernels": len(rows), "command": f"gpu_check.py --bundle BUNDLE --out FOLDER --repeat {options.repeat} --commit {options.commit}",
           "seconds": {"compile": compiled - start, "kernels": checked - compiled}},
        "kernels": rows,
    }
    save(options.out, result)
    result["throughput"] = measure_throughput(program, kernels, options.repeat)
    save(options.out, result)
    result["recovery"] = measure_recovery(program, kernels)
    result["figures"] = judge_figures(result)
    save(options.out, result)
    (options.out / "gpu-check.md").write_text(markdown(result))
    print(markdown(result))
    surprises = sum(len(row["surprises"]) for row in rows)
    missed = sum(not figure["met"] for figure in result["figures"])
    print(f"{len(rows)} kernels, {surprises} surprises, {missed} figures off target")
    return 1 if surprises or missed else 0


if __name__ == "__main__":
    sys.exit(main())
