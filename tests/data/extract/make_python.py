#!/usr/bin/env python3
"""Writes python.jsonl: answers with Triton kernels, as in corpus.jsonl. Usage: make_python.py > python.jsonl"""
import json

import kernels as K

CASES = []
F = "```"
T = K.TRITON
T2 = T.replace("2.0 *", "3.0 *")
HOST = "import torch\nx = torch.randn(8, device='cuda')\nrun(x, torch.empty_like(x))\n"


def case(name, answer, code=T, status="found"):
    CASES.append({"name": "python." + name, "language": "python", "answer": answer, "status": status, "code": code})


def fenced(code, tag="python"):
    return f"{F}{tag}\n{code}{F}\n"


for tag in ["python", "py", "Python", "python3", "triton", "", "python title=\"kernel.py\"", "kernel.py", "{.python}"]:
    case("tag " + tag, "Here it is:\n\n" + fenced(T, tag) + "\nDone.\n")
case("tildes", "~~~python\n" + T + "~~~\n")
case("crlf", fenced(T).replace("\n", "\r\n"))
case("bom", "\ufeff" + fenced(T))
case("no closing fence", F + "python\n" + T)
case("test behind", fenced(T) + "\nTest:\n" + fenced(HOST))
case("pip behind", fenced(T) + "\n" + fenced("pip install triton\n", "bash"))
case("two versions", "First:\n" + fenced(T2) + "Better:\n" + fenced(T))
case("snippet before", fenced("offsets = tl.arange(0, BLOCK)\n") + "is the index.\n" + fenced(T))
case("snippet behind", fenced(T) + "The mask is\n" + fenced("mask = offsets < n\n"))
case("think before", "<think>\n" + fenced(T2) + "</think>\n" + fenced(T))
case("only in thoughts", "<think>\n" + fenced(T) + "</think>\nDone.\n", T, "unsure")
case("in a list", "1. code\n\n   " + F + "python\n" + "".join("   " + l + "\n" if l else "\n" for l in T.splitlines()) + "   " + F + "\n")
case("markdown around", "````markdown\n" + fenced(T) + "````\n")
case("autotune", fenced(T.replace("@triton.jit", "@triton.autotune(configs=[triton.Config({'BLOCK': 1024})], key=['n'])\n@triton.jit")),
     T.replace("@triton.jit", "@triton.autotune(configs=[triton.Config({'BLOCK': 1024})], key=['n'])\n@triton.jit"))
case("cuda beside", fenced(K.SCALE_FFI, "cuda") + "\nIn Triton:\n" + fenced(T))
case("naive behind", fenced(T) + "\nFor comparison, the naive version:\n" + fenced(T2), T, "unsure")
case("cut off", F + "python\n" + T[:T.index("tl.store") + 20], None, "truncated")
case("cut in a string", F + "python\n" + T[:T.index("Doubles") + 5], None, "truncated")
case("cut before run", F + "python\n" + T[:T.index("def run")], None, "truncated")
case("none", "Which shape?", None, "none")
case("command only", fenced("python kernel.py\n", "bash"), None, "none")

for row in CASES:
    print(json.dumps(row))
