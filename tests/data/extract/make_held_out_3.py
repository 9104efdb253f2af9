#!/usr/bin/env python3
"""Writes held_out_3.jsonl: answers composed at random of parts that models write (a plan, drafts, snippets, the kernel in a
fence of some style, commands, notes), with a fixed seed. A third set that the extractor had not seen. Usage:
make_held_out_3.py [COUNT [SEED]] > held_out_3.jsonl"""
import json
import random
import sys

import kernels as K

F = "```"
rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 20260)

OPENERS = [
    "", "Okay.", "Sure, here's an improved version.", "I see the issue: it's the parity of the *empty* barrier.",
    "## Diagnosis\n\nThe error `C7510` says that wgmma was serialised. That's caused by the call in the loop.",
    "The result was INCORRECT_NUMERICAL with a pattern in rows 64..127; so the second warpgroup's descriptor is off (64 * 128 B).",
    "Let me reason about the swizzle: for SWIZZLE_128B, `addr ^ ((addr >> 7) & 7) << 4`; the atom is 8 x 128 B.",
    "Thanks for the feedback! I'll keep the structure & only change the epilogue.",
    "**Root cause**\n\n> expect_tx counts bytes, not elements\n\nso it must be multiplied by sizeof(bf16) (= 2).",
    "1. Reads: 2 x 16 KB per stage\n2. Writes: 128 x 128 x 2 B\n3. Total smem: 131,072 B + barriers",
    "$$\\text{AI} = \\frac{2MNK}{2(MK + NK + MN)}$$ is 1,900 FLOP/B, so we're compute bound.",
    "Voici la version corrigée ; le noyau n'attend plus deux fois la même phase.",
    "Я исправил порядок `fence` и `commit`; остальное не изменилось.",
]
NOTES = [
    "", "Done.", "Let me know how it goes!", "I haven't been able to run this, so please check the tail (M % 128 != 0).",
    "### Notes\n\n- `setmaxnreg` needs a multiple of 8;\n- `cudaFuncSetAttribute` is called once;\n- don't use `-G`.",
    "Expected: ~620 TFLOP/s (63 % of peak); the epilogue isn't overlapped yet.",
    "| change | effect |\n|---|---|\n| 4 stages | +12 % |\n| multicast | +5 % |",
    "Complexity: O(S^2 D). Memory: O(S).\n\nIf it's still slow, the next step would be 2 consumer warpgroups.",
    "**Self-audit**\n- [x] every `mbarrier` is initialised\n- [x] phases flip once per round\n- [ ] cluster launch",
    "(The code above is complete; nothing else is needed.)",
]
BEFORE = [
    ("Current code:", "cpp", "mbar_wait(&empty[s], 0);  // always phase 0\n"),
    ("", "", "stage 0: [TMA A][TMA B] -> full[0]\nstage 1: [TMA A][TMA B] -> full[1]\n"),
    ("The compiler's message:", "text", "kernel.cu(41): error: expected a \";\"\n"),
    ("In PTX:", "ptx", "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"),
    ("The formula:", "python", "def ref(a, b):\n    return a @ b.T\n"),
    ("Layout:", "c", "// row r, chunk c (16 B)\nint offset = r * 128 + ((c ^ (r & 7)) << 4);\n"),
    ("As pseudo-code:", "", "for k in range(K / BK):\n    wait(full[k % S]);\n    mma();\n    arrive(empty[k % S]);\n"),
    ("A helper that I considered:", "cuda", "__device__ int swz(int r, int c) { return (c ^ (r & 7)) << 4; }\n"),
]
AFTER = [
    ("Build:", "bash", "nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -shared kernel.cu -o k.so\n"),
    ("Check:", "python", "import torch\nassert torch.allclose(c, a @ b.T, atol=1e-2)\n"),
    ("The relevant lines:", "cpp", "asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n"),
    ("Usage of the launch:", "cuda", "kernel<<<grid, block, smem, stream>>>(a, b, c);\n"),
    ("Output should be:", "", "PASSED\n"),
    ("Profile with:", "sh", "ncu --set full ./run\n"),
    ("Config:", "json", "{\"stages\": 4, \"tile\": [128, 128, 64]}\n"),
    ("Possible later change in the loop:", "diff", "-  for (int k = 0; k < n; k++)\n+  for (int k = 0; k < n; k += 2)\n"),
    ("If alignment fails, use:", "cpp", "static_assert(sizeof(Smem) % 1024 == 0, \"tile\");\n"),
]
TAGS = ["cpp", "cpp", "cpp", "cuda", "cuda", "c++", "cu", "", "C++", "c", "cpp title=kernel.cu", "CUDA"]


def block(tag, code, fence=F):
    return f"{fence}{tag}\n{code}{fence}\n"


def snippet(part):
    lead, tag, code = part
    return (lead + "\n\n" if lead else "") + block(tag, code)


def compose(number):
    code = rng.choice(K.ALL)
    if rng.random() < 0.5:
        code = f"// version {number}\n" + code
    fence = rng.choice([F, F, F, F, "~~~", "````"])
    parts = [rng.choice(OPENERS)]
    parts += [snippet(part) for part in rng.sample(BEFORE, rng.choice([0, 0, 1, 1, 2]))]
    if rng.random() < 0.2:
        parts.append("First attempt:\n\n" + block(rng.choice(TAGS), rng.choice(K.ALL)) + "\nThat doesn't handle the tail, so:")
    parts.append(rng.choice(["", "## Code", "**`kernel.cu`**", "Full file:", "Here's the complete kernel:"]))
    tail = [snippet(part) for part in rng.sample(AFTER, rng.choice([0, 0, 1, 1, 2]))]
    closed = rng.random() < 0.9 or fence != F
    if closed:
        parts.append(block(rng.choice(TAGS), code, fence))
        parts += tail + [rng.choice(NOTES)]
    else: # the closing fence is forgotten, and the model goes on
        parts.append(f"{F}{rng.choice([t for t in TAGS if t])}\n{code}" + rng.choice(["", "\n" + rng.choice(NOTES)]))
    answer = "\n\n".join(part for part in parts if part)
    style = rng.random()
    if style < 0.15:
        answer = "<think>\n" + rng.choice(OPENERS) + "\n" + block("cpp", rng.choice(K.ALL)) + rng.choice(NOTES) + "\n</think>\n\n" + answer
    elif style < 0.25:
        answer = "Hmm, let me think. " + rng.choice(OPENERS) + "\n</think>\n" + answer
    elif style < 0.35:
        answer = answer.replace("\n", "\r\n")
    elif style < 0.38:
        answer = "\ufeff" + answer
    return {"name": f"composed.{number}", "answer": answer, "status": "found", "code": code}


for n in range(int(sys.argv[1]) if len(sys.argv) > 1 else 150):
    print(json.dumps(compose(n)))
