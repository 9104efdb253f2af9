#!/usr/bin/env python3
"""torch_reference.py [REFERENCE_CHECK.json]: PyTorch's own operators, timed like tests/gpu/reference_check.c.

torch.matmul and aten._scaled_dot_product_cudnn_attention (forward and backward), random normal inputs, median of 20 by
CUDA events, each after a flush of twice the L2. With the file that reference_check wrote, prints both side by side.
"""

import json
import re
import statistics
import sys

import torch

WARM_UP, TIMED = 5, 20
aten = torch.ops.aten


def timed(run, flush):
    samples = []
    for i in range(WARM_UP + TIMED):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        flush.zero_()
        begin.record()
        run()
        end.record()
        end.synchronize()
        if i >= WARM_UP:
            samples.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(samples)


def normal(*shape, dtype):
    return torch.randn(*shape, device="cuda", dtype=torch.float32).to(dtype)


def gemm(m, n, k, dtype):
    a, b = normal(m, k, dtype=dtype), normal(n, k, dtype=dtype)
    return lambda: torch.matmul(a, b.T)


def attention(backward, b, h, s, d, causal, dtype):
    q, k, v = (normal(b, h, s, d, dtype=dtype) for _ in range(3))

    def forward():
        return aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, causal)

    if not backward:
        return forward
    out, lse, cum_q, cum_k, max_q, max_k, seed, offset, _ = forward()
    gradient = normal(b, h, s, d, dtype=dtype)
    return lambda: aten._scaled_dot_product_cudnn_attention_backward(
        gradient, q, k, v, out, lse, seed, offset, None, cum_q, cum_k, max_q, max_k, 0.0, causal)


def build(text):
    dtype = torch.float16 if text.endswith("float16") and not text.endswith("bfloat16") else torch.bfloat16
    sizes = {name: int(value) for name, value in re.findall(r" ([a-z])(\d+)", text)}
    if text.startswith("gemm"):
        return gemm(sizes["m"], sizes["n"], sizes["k"], dtype)
    return attention(text.startswith("mha_backward"), sizes["b"], sizes["h"], sizes["s"], sizes["d"],
                     " causal" in text, dtype)


def main():
    ours = {}
    if len(sys.argv) > 1:
        with open(sys.argv[1]) as file:
            ours = {row["problem"]: row.get("median_us") for row in json.load(file)["problems"]}
    problems = list(ours) or [
        "gemm m8192 n7168 k5120 bfloat16",
        "mha_forward b4 h48 s4096 d128 bfloat16",
        "mha_forward b4 h48 s4096 d128 causal bfloat16",
        "mha_backward b4 h48 s4096 d128 bfloat16",
        "mha_backward b4 h48 s4096 d128 causal bfloat16",
    ]
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    flush = torch.empty(2 * l2_bytes, dtype=torch.uint8, device="cuda")
    print(f"{torch.cuda.get_device_name(0)}, torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}")
    print(f"{'problem':56} {'torch us':>10} {'ours us':>10} {'ours/torch':>10}")
    for text in problems:
        try:
            median = timed(build(text), flush)
        except RuntimeError as problem:
            print(f"{text:56} {str(problem).splitlines()[0][:90]}")
            continue
        own = ours.get(text)
        print(f"{text:56} {median:10.1f}" + (f" {own:10.1f} {own / median:10.3f}" if own else ""), flush=True)


if __name__ == "__main__":
    main()
