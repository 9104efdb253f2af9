#!/usr/bin/env python3
"""Writes corpus.jsonl: answers as models give them, each with the code that a reader would take. The expected code is the
kernel that the answer was built around (kernels.py), never the extractor's output.

Each @shape is one way to write an answer; it gets a kernel and returns the answer, or (answer, expected code), or
(answer, expected code, expected status). Usage: make_corpus.py > corpus.jsonl
"""
import json
import sys

import kernels as K

SHAPES = []
F = "```"


def shape(*chosen, count=2):
    """Registers a function; `chosen`: indices of K.ALL, or the next `count` ones in turn."""
    def add(function):
        start = 3 * len(SHAPES)
        picks = list(chosen) or [(start + i * 3) % len(K.ALL) for i in range(count)]
        SHAPES.append((function, picks))
        return function
    return add


PROSE = [
    "I'll tile the output in 128x128 blocks (BK = 64) and keep a 4-stage ring of TMA loads.",
    "Here's the thing: the previous version didn't wait for the barrier's phase, so I fixed that.",
    "Key changes:\n\n1. **Swizzle**: 128B; the descriptor's LBO is 1.\n2. **Barriers**: arrive count = 1 (plus tx bytes).\n",
    "The kernel below uses `wgmma.mma_async` with `m64n256k16`; accumulators live in registers {d[0], ..., d[127]}.",
    "Let me think about occupancy: 227 KB / 98 KB = 2 CTAs per SM; that's fine.",
    "# Solution\n\nWe launch one warp per row.\n\n## Code\n",
    "Sure! Below is the complete implementation.",
    "Ниже приведён исправленный код ядра. Теперь всё ждёт своей фазы.",
    "下面是完整的内核代码:每个线程块处理 128 行。",
]
AFTER = [
    "This should reach about 600 TFLOP/s on an H100 (if the clocks hold).",
    "Notes:\n- `smem` is 98,304 bytes, so cudaFuncSetAttribute is required;\n- don't forget `-arch=sm_90a`.",
    "**Why it works**: each consumer warpgroup waits on `full[stage]`, then issues wgmma; afterwards it arrives on `empty`.",
    "If the sanitizer still complains, let me know & I'll look at the epilogue (it's the only part that I changed).",
    "| tile | smem | regs |\n|---|---|---|\n| 128x256 | 196 KB | 168 |",
]
STATE = {"prose": 0, "after": 0}


def prose():
    STATE["prose"] += 1
    return PROSE[STATE["prose"] % len(PROSE)]


def after():
    STATE["after"] += 1
    return AFTER[STATE["after"] % len(AFTER)]


def fenced(code, tag="cpp", fence=F):
    return f"{fence}{tag}\n{code}{fence}\n"


# ---- one block, every kind of fence
for _tag in ["cpp", "cuda", "c++", "cu", "c", "", "C++", "CUDA", "Cpp", "cuda-cpp", "cc", "cxx", "cuh", "hpp", "CU", "c/c++",
             "cuda c++", "cpp ", " cpp", "cpp title=\"kernel.cu\"", "cpp:kernel.cu", "kernel.cu", "{.cpp}", "{.cuda .numberLines}",
             "cpp {linenos=table}", "language-cpp", "cu filename=solution.cu", "CUDA C++", "cpp,ignore", "c++ kernel.cu"]:
    def _one(code, tag=_tag):
        return f"{prose()}\n\n{F}{tag}\n{code}{F}\n\n{after()}\n"
    shape(count=1)(_one)


@shape()
def only_the_block(code):
    return fenced(code)


@shape()
def no_newline_at_the_end(code):
    return prose() + "\n" + fenced(code).rstrip("\n")


@shape()
def tildes(code):
    return prose() + "\n\n" + fenced(code, "cpp", "~~~") + after()


@shape()
def long_tildes(code):
    return fenced(code, "cuda", "~~~~~~") + after()


@shape()
def four_backticks(code):
    return prose() + "\n\n" + fenced(code, "cpp", "````") + "\n" + after()


@shape()
def five_backticks_three_close(code):
    return prose() + f"\n`````cpp\n{code}```\n" + after()


@shape()
def crlf(code):
    return (prose() + "\n\n" + fenced(code) + "\n" + after()).replace("\n", "\r\n")


@shape()
def crlf_without_fence_end(code):
    return (prose() + "\n\n" + F + "cpp\n" + code).replace("\n", "\r\n")


@shape()
def byte_order_mark(code):
    return "\ufeff" + fenced(code) + after()


@shape()
def byte_order_mark_and_prose(code):
    return "\ufeff" + prose() + "\n" + fenced(code, "cuda")


@shape()
def old_mac_line_ends(code):
    return fenced(code).replace("\n", "\r")


# ---- fences that do not close
@shape(count=3)
def no_closing_fence(code):
    return prose() + f"\n\n{F}cpp\n{code}"


@shape(count=3)
def no_closing_fence_but_prose(code):
    return prose() + f"\n\n{F}cpp\n{code}\n{after()}\n"


@shape()
def no_closing_fence_next_block(code):
    return f"{F}cpp\n{code}\nCompile it with\n\n{F}bash\nnvcc -O3 -arch=sm_90a kernel.cu\n{F}\n"


@shape()
def no_closing_fence_of_a_draft(code):
    return f"First idea:\n{F}cpp\n__global__ void draft(float *x) {{ x[0] = 1; }}\n\nBetter:\n\n{F}cpp\n{code}{F}\n"


@shape()
def closing_fence_glued_to_code(code):
    return f"{F}cpp\n{code.rstrip()}{F}\n" + after()


@shape()
def text_behind_the_closing_fence(code):
    return f"{F}cpp\n{code}{F} That is all.\n" + after()


@shape()
def closing_fence_indented(code):
    return f"{F}cpp\n{code}   {F}\n" + after()


@shape()
def closing_fence_longer(code):
    return f"{F}cpp\n{code}``````\n" + after()


# ---- where the fence stands
@shape()
def fence_behind_text(code):
    return f"Here is the kernel: {F}cpp\n{code}{F}\n"


@shape()
def fence_in_bold_heading(code):
    return f"**kernel.cu** {F}cuda\n{code}{F}\n{after()}"


@shape()
def code_on_the_fence_line(code):
    return f"{F}cpp #include <cstddef>\n{code}{F}\n", "#include <cstddef>\n" + code


@shape()
def comment_on_the_fence_line(code):
    return f"{F}cpp // kernel.cu\n{code}{F}\n", "// kernel.cu\n" + code


@shape()
def in_a_list(code):
    body = "".join("   " + line + "\n" if line else "\n" for line in code.split("\n")[:-1])
    return f"1. Write the kernel:\n\n   {F}cpp\n{body}   {F}\n\n2. Build it.\n"


@shape()
def behind_a_list_mark(code):
    body = "".join("  " + line + "\n" if line else "\n" for line in code.split("\n")[:-1])
    return f"- {F}cpp\n{body}  {F}\n"


@shape()
def in_a_block_quote(code):
    body = "".join("> " + line + "\n" for line in code.split("\n")[:-1])
    return f"> The answer:\n>\n> {F}cpp\n{body}> {F}\n"


@shape()
def indented_fence_only(code):
    return f"  {F}cpp\n" + "".join(("  " + line if line else "") + "\n" for line in code.split("\n")[:-1]) + f"  {F}\n"


# ---- several blocks
@shape(count=3)
def compile_command_behind(code):
    return prose() + "\n" + fenced(code) + "\nBuild:\n" + fenced("nvcc -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a k.cu\n", "bash")


@shape()
def compile_command_untagged(code):
    return fenced(code) + "\nBuild:\n" + fenced("nvcc -O3 -arch=sm_90a -o k.so k.cu\n./run --check\n", "")


@shape()
def compile_command_before(code):
    return fenced("ptxbench eval kernel.cu --task gemm_n7168_k5120\n", "sh") + prose() + "\n" + fenced(code)


@shape(count=3)
def snippet_behind(code):
    return (fenced(code) + "\nThe important line is the fence:\n\n" +
            fenced('asm volatile("fence.proxy.async.shared::cta;" ::: "memory");\n'))


@shape()
def kernel_snippet_behind(code):
    return (fenced(code) + "\nIn the inner loop it boils down to this:\n\n" +
            fenced("__global__ void sketch(float *c)\n{\n    for (int k = 0; k < K; k += 64)\n        mma(c, a[k], b[k]);\n}\n"))


@shape()
def launch_snippet_behind(code):
    return fenced(code) + "\nTo test it, call\n\n" + fenced("my_kernel<<<grid, block, smem>>>(a, b, c);\ncudaDeviceSynchronize();\n", "cuda")


@shape()
def snippets_before(code):
    return ("The old code had\n\n" + fenced("if (threadIdx.x = 0) init();\n") + "\nwhich assigns. Also\n\n" +
            fenced("mbarrier_wait(bar, 0);\n") + "\nignores the phase.\n\n" + fenced(code))


@shape(count=3)
def two_versions_last_counts(code):
    return ("A first version:\n\n" + fenced(code.replace("(", "( ", 1)) + "\nWith the bank conflicts removed:\n\n" + fenced(code))


@shape()
def three_versions(code):
    return (fenced("// v1\n" + code) + "Hmm, that spills.\n" + fenced("// v2\n" + code, "cuda") + "Still not it.\n" + fenced("// v3\n" + code, ""),
            "// v3\n" + code)


@shape()
def same_code_twice(code):
    return fenced(code) + "\nFor convenience once more, in one piece:\n\n" + fenced(code)


@shape()
def naive_version_behind(code):
    naive = "// naive\n" + K.SCALE_FFI
    return fenced("// fast\n" + code) + "\nFor comparison, the naive baseline that I started from:\n\n" + fenced(naive), "// fast\n" + code, "unsure"


@shape()
def elided_version_behind(code):
    sketch = code.replace("{", "{\n    // ... rest of the kernel as before ...\n", 1)
    return fenced(code) + "\nIf you need fp32 output, change:\n\n" + fenced(sketch), code, "unsure"


@shape()
def python_test_behind(code):
    return fenced(code) + "\nTest:\n\n" + fenced("import torch\nx = torch.randn(4, device='cuda')\nassert torch.allclose(run(x), ref(x))\n", "python")


@shape()
def ptx_behind(code):
    return fenced(code) + "\nThe PTX of the hot loop:\n" + fenced("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {%f0}, %rd1, %rd2, 1, 1, 1, 0, 0;\n", "ptx")


@shape()
def output_block_behind(code):
    return fenced(code) + "\nExpected output:\n" + fenced("PASSED 1.02x\nmax error 0.0039\n", "text")


@shape()
def ascii_diagram_before(code):
    return fenced("  +------+     +------+\n  | load | --> | mma  |\n  +------+     +------+\n", "") + "\n" + fenced(code)


@shape()
def table_of_contents(code):
    return "## 1. Plan\n" + prose() + "\n## 2. Code\n" + fenced(code, "cuda") + "\n## 3. Notes\n" + after() + "\n" + fenced("x = y;\n", "c")


@shape()
def header_file_before(_):
    return ("`helper.cuh`:\n\n" + fenced(K.HELPER) + "\n`kernel.cu`:\n\n" + fenced(K.USES_HELPER), K.JOINED_HELPER)


@shape(0)
def header_file_in_info(_):
    return (fenced(K.HELPER, "cpp helper.cuh") + "\n" + fenced(K.USES_HELPER, "cpp kernel.cu"), K.JOINED_HELPER)


@shape(0)
def header_file_in_comment(_):
    return ("Two files.\n" + fenced("// helper.cuh\n" + K.HELPER) + "\n" + fenced(K.USES_HELPER),
            K.USES_HELPER.replace('#include "helper.cuh"\n', "// helper.cuh\n" + K.HELPER))


@shape(0)
def header_file_behind(_):
    return ("**kernel.cu**\n\n" + fenced(K.USES_HELPER, "cuda") + "\n**include/helper.cuh**\n\n" + fenced(K.HELPER, "cuda"), K.JOINED_HELPER)


@shape(0)
def two_parts(_):
    return ("Device code:\n" + fenced(K.DEVICE_PART) + "\nHost code, same file:\n" + fenced(K.HOST_PART), K.DEVICE_PART + K.HOST_PART)


@shape(0)
def two_parts_and_command(_):
    return ("Part 1\n" + fenced(K.DEVICE_PART, "cuda") + "\nPart 2\n" + fenced(K.HOST_PART, "cuda") + "\n" + fenced("nvcc -c k.cu\n", "bash"),
            K.DEVICE_PART + K.HOST_PART)


@shape(0)
def three_parts(_):
    cut = K.DEVICE_PART.index("__global__")
    return ("Includes:\n" + fenced(K.DEVICE_PART[:cut]) + "Kernel:\n" + fenced(K.DEVICE_PART[cut:]) + "Entry:\n" + fenced(K.HOST_PART),
            K.DEVICE_PART[:cut].rstrip("\n") + "\n" + K.DEVICE_PART[cut:] + K.HOST_PART)


# ---- nesting
@shape()
def markdown_around(code):
    return "````markdown\nThe kernel:\n\n" + fenced(code) + "````\n"


@shape()
def markdown_around_same_length(code):
    return f"{F}markdown\n# Answer\n\n" + fenced(code) + F + "\n"


@shape()
def md_tildes_around(code):
    return "~~~md\n" + fenced(code, "cu") + "~~~\n" + after()


@shape()
def text_around(code):
    return f"{F}text\nSolution follows\n{F}cpp\n{code}{F}\n{F}\n" + after()


@shape(3, 3)
def fences_in_comments(code):
    return prose() + "\n" + fenced(code) + after()


@shape(3)
def fences_in_comments_untagged(code):
    return fenced(code, "") + "\n" + after()


@shape(3)
def fences_in_comments_four(code):
    return fenced(code, "cuda", "````")


@shape()
def inline_backticks_around(code):
    return "Use ```wgmma``` here, and ``TMA``.\n\n" + fenced(code) + "As said, ```cp.async.bulk``` is asynchronous.\n"


@shape()
def fence_line_in_line_comment(code):
    marked = "// Put the answer in a ```cpp fence.\n" + code
    return fenced(marked), marked


# ---- thinking
@shape(count=3)
def think_before(code):
    return "<think>\nThe wait needs the phase... maybe\n" + fenced(K.SCALE_FFI) + "no, that's too slow.\n</think>\n\n" + fenced(code)


@shape()
def think_with_open_fence(code):
    return f"<think>\nTry\n{F}cpp\n__global__ void k() {{\n no wait, I should\n</think>\n{prose()}\n\n" + fenced(code)


@shape()
def think_closing_only(code):
    return "Okay, so the user wants a kernel. Let me draft.\n" + fenced(K.COPY_C) + "That will do.\n</think>\n\n" + fenced(code)


@shape()
def thinking_tag(code):
    return "<thinking>\n- 4 stages\n- `a < b && c > d`\n</thinking>\n" + prose() + "\n" + fenced(code, "cuda")


@shape()
def think_and_plain(code):
    return "<think>short</think>\n" + code


@shape()
def think_holds_the_only_code(code):
    return "<think>\nFinal:\n" + fenced(code) + "\nDone, I am confident.\n</think>\nThe kernel above solves it.\n", code, "unsure"


@shape()
def think_never_ends(code):
    return "<think>\nLet me write it.\n" + fenced(code)[:-80], None, "truncated"


@shape()
def think_never_ends_no_code(_):
    return "<think>\nThe tile is 128 x 128, and the accumulators take 64 registers. With two consumer warpgroups", None, "truncated"


@shape()
def think_empty(code):
    return "<think>\n\n</think>\n\n" + fenced(code)


@shape()
def template_angle_brackets(code):
    return "Compare `vec<think>` with `a</b`.\n" + fenced(code)


# ---- no fence
@shape(0, 1, 2, 5)
def plain_code(code):
    return code


@shape(0, 4, 6)
def plain_code_with_prose_before(code):
    return "Here is the kernel you asked for.\n\n" + code


@shape(1, 5, 7)
def plain_code_with_prose_around(code):
    return prose() + "\n\n" + code + "\n" + after() + "\n"


@shape(0, 2)
def plain_code_and_command_block(code):
    return code + "\nCompile:\n\n" + fenced("nvcc -shared k.cu\n", "bash")


@shape(0, 7)
def missing_opening_fence(code):
    return "cpp\n" + code + F + "\n" + after()


@shape(1, 4)
def indented_as_code(code):
    return "The kernel:\n\n" + "".join("    " + line + "\n" if line else "\n" for line in code.split("\n")[:-1])


@shape(0, 1, 4)
def html_pre(code):
    return "<pre>\n" + code + "</pre>\n"


@shape(0, 2)
def html_entities(code):
    escaped = code.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "<pre><code>\n" + escaped + "</code></pre>\n"


@shape(0, 1)
def fenced_entities(code):
    return fenced(code.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


@shape(0, 1, 5)
def json_answer(code):
    return json.dumps({"language": "cuda", "files": [{"path": "kernel.cu", "content": code}]})


@shape(2, 4)
def json_answer_pretty(code):
    return json.dumps({"explanation": "uses TMA", "code": code}, indent=2)


@shape(0, 1)
def here_document(code):
    return "I will write the file:\n\n" + fenced("cat > kernel.cu <<'EOF'\n" + code + "EOF\nnvcc -arch=sm_90a kernel.cu\n", "bash")


# ---- cut off
@shape(0, 1, 5)
def cut_in_the_kernel(code):
    at = code.index("__global__") + 60
    return prose() + f"\n\n{F}cpp\n" + code[:at], None, "truncated"


@shape(2, 7)
def cut_before_the_entry(code):
    return f"{F}cuda\n" + code[:code.rindex("<<<")], None, "truncated"


@shape(0)
def cut_plain(code):
    return code[:code.index("<<<")], None, "truncated"


@shape(0, 5)
def cut_in_a_second_version(code):
    return fenced(code) + f"\nNow with vector loads:\n\n{F}cpp\n" + K.WGMMA[:500], code


# ---- nothing there
for _text in ["I cannot write this kernel without knowing the layout of K.",
              "",
              "   \n\n",
              "Which architecture should I target?\n\n- Hopper\n- Blackwell\n",
              fenced("nvcc --version\n", "bash"),
              "I would use `cudaMemcpyAsync(dst, src, n)`; see the documentation.",
              fenced("diff --git a/k.cu b/k.cu\n-x\n+y\n", "diff"),
              fenced("", "cpp"),
              "```",
              "The `__global__` qualifier marks kernels. I need more information, sorry."]:
    def _nothing(_, text=_text):
        return text, None, "none"
    shape(0)(_nothing)


# ---- incomplete code is still the answer: the compiler will say what is missing
@shape(0, 5)
def entry_forgotten(code):
    cut = code[:code.index("TVM_FFI_DLL_EXPORT")]
    return fenced(cut) + after(), cut


@shape(0, 1)
def closing_brace_forgotten(code):
    broken = code.replace("}\n", "\n", 1)
    return prose() + "\n" + fenced(broken) + after(), broken


@shape(0)
def quote_not_closed(code):
    broken = code.replace("__global__", 'static const char *s = "oops;\n__global__', 1)
    return fenced(broken), broken


@shape(1)
def comment_not_closed(code):
    broken = code + "\n/* the rest\n"
    return fenced(broken), broken


@shape(0)
def no_kernel_in_it(_):
    code = "#include <cstdio>\nint main()\n{\n    puts(\"hello\");\n}\n"
    return fenced(code), code


def main():
    for index, (function, picks) in enumerate(SHAPES):
        for number, pick in enumerate(picks):
            code = K.ALL[pick]
            result = function(code)
            answer, expected, status = (result if isinstance(result, tuple) else (result, code)) + ("found",) * (
                3 - (len(result) if isinstance(result, tuple) else 2))
            name = function.__name__.strip("_")
            print(json.dumps({"name": f"{name}.{index}.{number}", "answer": answer, "status": status, "code": expected}))


if __name__ == "__main__":
    sys.exit(main())
