#!/usr/bin/env python3
"""Writes held_out.jsonl: answers written after the extractor was finished, as a check that corpus.jsonl was not merely
learnt. Format as there. The figure of the first run stands in README.md. Usage: make_held_out.py > held_out.jsonl"""
import json

CASES = []
F = "```"


def case(name, answer, code, status="found"):
    CASES.append({"name": name, "answer": answer, "status": status, "code": code})


def kernel(name="k", body="y[i] = x[i];", extra="", export="TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);"):
    return f"""#include <cuda_runtime.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>
{extra}
__global__ void {name}(const float* __restrict__ x, float* __restrict__ y, int n) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {{
    {body}
  }}
}}

void run(tvm::ffi::TensorView x, tvm::ffi::TensorView y) {{
  const int n = static_cast<int>(x.size(0));
  {name}<<<(n + 255) / 256, 256>>>(static_cast<const float*>(x.data_ptr()), static_cast<float*>(y.data_ptr()), n);
}}

{export}
"""


C_ENTRY = """#include <ptxbench/candidate.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

namespace kern {
struct Params { const __nv_bfloat16 *a, *b; __nv_bfloat16 *c; int m, n, k; };

__global__ void __launch_bounds__(256, 1) mm(Params p)
{
    // each thread: one element
    int row = blockIdx.y * 16 + threadIdx.x / 16, col = blockIdx.x * 16 + threadIdx.x % 16;
    float acc = 0;
    for (int k = 0; k < p.k; ++k) acc += __bfloat162float(p.a[row * p.k + k]) * __bfloat162float(p.b[col * p.k + k]);
    p.c[row * p.n + col] = __float2bfloat16(acc);
}
} // namespace kern

PTXBENCH_ENTRY(args, count, stream)
{
    kern::Params p{(const __nv_bfloat16 *)args[0].data, (const __nv_bfloat16 *)args[1].data, (__nv_bfloat16 *)args[2].data,
                   (int)args[0].shape[0], (int)args[1].shape[0], (int)args[0].shape[1]};
    kern::mm<<<dim3(p.n / 16, p.m / 16), 256, 0, (cudaStream_t)stream>>>(p);
    return (int)cudaGetLastError();
}
"""


def fenced(code, tag="cpp"):
    return f"{F}{tag}\n{code}{F}\n"


k = kernel()
case("xml_answer_tag", "<answer>\n" + fenced(k) + "</answer>\n", k)
case("xml_kernel_tag_without_fence", "<kernel>\n" + k + "</kernel>\n", k)
case("xml_code_tag_no_fence_prose", "Here you go:\n<code>\n" + k + "</code>\nEnjoy!\n", k)
case("cdata", "<file name=\"kernel.cu\"><![CDATA[\n" + k + "]]></file>\n", k)
case("bold_filename", "**`solution.cu`**\n\n" + fenced(k, "cuda") + "\n---\n*End of answer.*\n", k)
case("horizontal_rules", "---\n\n" + fenced(C_ENTRY, "c++") + "\n---\n\n### Complexity\n\n* O(mnk)\n", C_ENTRY)
case("html_comment", "<!-- final -->\n" + fenced(k) + "<!-- end -->\n", k)
case("details_summary", "<details><summary>Kernel</summary>\n\n" + fenced(k, "cu") + "\n</details>\n", k)
case("tab_indented_fence", "\t" + F + "cpp\n" + "".join("\t" + l + "\n" for l in k.splitlines()) + "\t" + F + "\n", k)
case("trailing_spaces_behind_fences", f"{F}cpp   \n{k}{F}   \n\n", k)
case("tag_with_trailing_tab", f"{F}cuda\t\n{k}{F}\n", k)
case("fence_tag_upper_cuda_cpp", fenced(k, "CUDA-CPP"), k)
case("fence_tag_cu_cpp", fenced(k, "cu-cpp"), k)
case("fence_tag_unknown_word", "Kernel follows.\n" + fenced(k, "gpu"), k)
case("fence_tag_h100", fenced(C_ENTRY, "sm_90a"), C_ENTRY)
case("fence_tag_cpp_parenthesis", fenced(k, "cpp (CUDA)"), k)
case("fence_tag_path", fenced(k, "src/kernels/scale.cu"), k)
case("fence_tag_title_colon", fenced(k, "cuda:scale.cu"), k)
case("windows_mixed_line_ends", ("Text\r\n" + fenced(k).replace("\n", "\r\n") + "more\n"), k)
case("nbsp_indented_prose", "\u00a0Here:\n\n" + fenced(k) + "\u00a0\n", k)
case("emoji_prose", "🚀 **Optimised kernel** ✅\n\n" + fenced(k) + "\n🎯 2.3× faster!\n", k)
case("zero_width_before_fence", "\u200b\n" + fenced(k), k)

# several blocks
v1 = kernel("first", "y[i] = x[i] + 0;")
v2 = kernel("second", "y[i] = fmaf(x[i], 1.f, 0.f);")
case("draft_then_final", "Draft:\n\n" + fenced(v1) + "\nWait, that isn't coalesced... Actually it is. Final answer:\n\n" + fenced(v2), v2)
case("wrong_version_first", "This is wrong:\n\n" + fenced(v1) + "\nbecause of aliasing. Use this:\n\n" + fenced(v2), v2)
case("json_config_behind", fenced(k) + "\nConfig:\n" + fenced('{"tile": [128, 256, 64], "stages": 4}\n', "json"), k)
case("makefile_behind", fenced(k) + fenced("all:\n\tnvcc -o k kernel.cu\n", "makefile"), k)
case("cmake_untagged_behind", fenced(k) + "\nCMake:\n" + fenced("add_library(k SHARED kernel.cu)\ntarget_compile_options(k PRIVATE -O3);\n", ""), k)
case("cpp_test_program_behind", fenced(k) + "\nA small driver to test it:\n\n" + fenced(
    "#include <cstdio>\nint main() {\n  float *x; cudaMalloc(&x, 4);\n  first<<<1, 1>>>(x, x, 1);\n  printf(\"%d\\n\", 0);\n}\n"), k)
case("benchmark_with_kernel_behind", fenced(k) + "\nMicrobenchmark of the copy (not part of the solution):\n\n" + fenced(
    "__global__ void bw(float4 *p) { p[threadIdx.x] = p[threadIdx.x + 1]; }\nint main() { bw<<<1, 32>>>(nullptr); }\n"), k)
case("struct_snippet_behind", fenced(C_ENTRY) + "The layout is\n" + fenced("struct Tile { bf16 a[128][64]; bf16 b[256][64]; };\n"), C_ENTRY)
case("math_block_before", "$$S = QK^T$$\n" + fenced("S = Q K^T\nP = softmax(S)\nO = P V\n", "") + fenced(k), k)
case("pseudo_code_before", fenced("for each tile:\n  load A, B\n  mma\nstore C\n", "text") + fenced("warp 0: producer { wait empty; tma; }\nwarp 1: consumer { wait full; mma; }\n", "") + fenced(k), k)
case("review_quotes_error", "The compiler said\n" + fenced("kernel.cu(12): error: identifier \"foo\" is undefined\n", "") + "so:\n" + fenced(k), k)
case("two_files_with_quotes", "File 1: \"mma.cuh\"\n" + fenced("#pragma once\n__device__ float id(float v) { return v; }\n") +
     "File 2: \"kernel.cu\"\n" + fenced(kernel(body="y[i] = id(x[i]);", extra='#include "mma.cuh"')),
     kernel(body="y[i] = id(x[i]);", extra="#pragma once\n__device__ float id(float v) { return v; }"))
case("heading_file_names", "### include/ptx.h\n\n" + fenced("#pragma once\n#define NOP asm volatile(\"\")\n", "c") + "\n### main.cu\n\n" +
     fenced(kernel(extra='#include "include/ptx.h"'), "cuda"), kernel(extra='#pragma once\n#define NOP asm volatile("")'))
case("patch_style_replacement", "Replace the body with the following (full file):\n" + fenced(v2) + "\nThe diff against the old one:\n" +
     fenced("-    y[i] = x[i] + 0;\n+    y[i] = fmaf(x[i], 1.f, 0.f);\n", "diff"), v2)
case("diff_tagged_cpp_behind", fenced(v2) + "\nChanged:\n" + fenced("- y[i] = x[i];\n+ y[i] = fmaf(x[i], 1.f, 0.f);\n"), v2)
case("kernel_and_wrapper_split_by_prose", "The kernel:\n" + fenced("#include <cuda_runtime.h>\n#include <ptxbench/candidate.h>\n\n__global__ void z(int *p) { p[0] = 0; }\n", "cuda") +
     "\nand the launcher appended below it:\n" + fenced("PTXBENCH_ENTRY(args, count, stream)\n{\n    z<<<1, 1, 0, (cudaStream_t)stream>>>((int *)args[0].data);\n    return 0;\n}\n", "cuda"),
     "#include <cuda_runtime.h>\n#include <ptxbench/candidate.h>\n\n__global__ void z(int *p) { p[0] = 0; }\nPTXBENCH_ENTRY(args, count, stream)\n{\n    z<<<1, 1, 0, (cudaStream_t)stream>>>((int *)args[0].data);\n    return 0;\n}\n")
case("python_loader_behind", fenced(k) + "\nLoad with:\n" + fenced("import tvm_ffi\nmod = tvm_ffi.load_module('k.so')\nmod.run(x, y)\n", "py"), k)
case("full_file_then_usage_entry", fenced(C_ENTRY) + "\nReminder: the entry looks like this:\n" + fenced("PTXBENCH_ENTRY(args, count, stream) { ... }\n"), C_ENTRY)
case("alternative_whole_behind", fenced(v2) + "\nAlternatively, a simpler but slower variant:\n" + fenced(v1), v2, "unsure")
case("original_whole_behind", "Improved kernel:\n" + fenced(v2) + "\nFor reference, your original code was:\n" + fenced(v1), v2, "unsure")

# lexical traps
case("apostrophes_in_comments", fenced(kernel(extra="// it's Hopper's; don't touch\n/* can't fail */")), kernel(extra="// it's Hopper's; don't touch\n/* can't fail */"))
trap = kernel(extra='#define STR(x) #x\nstatic const char kBrace[] = "}}}{{ \\" ```";')
case("fence_in_string", fenced(trap), trap)
trap = kernel(extra='static const char *kPtx = R"PTX(\n.visible .entry e() {\n```\n)PTX";')
case("fence_in_raw_string", fenced(trap), trap)
trap = kernel(extra="/* Markdown in a comment:\n * ```cpp\n * foo();\n * ```\n */")
case("starred_fence_in_comment", fenced(trap), trap)
trap = kernel(extra="/*\n~~~\nASCII art\n~~~\n*/")
case("tildes_in_comment", fenced(trap), trap)
trap = kernel(extra="// ```\n// usage\n// ```")
case("fences_in_line_comments", fenced(trap), trap)
trap = kernel(extra="#if 0\nThis isn't compiled: it's (a note with an open bracket\n#endif")
case("prose_in_if_0", fenced(trap), trap)
case("prose_in_if_0_unclosed_fence", f"{F}cpp\n" + trap, trap)
trap = kernel(extra="constexpr auto kMask = 0xFFFF'FFFFu; constexpr char kTick = '\\'';")
case("digit_separator_hex_unclosed", f"{F}cuda\n{trap}\nThat's the kernel. It's done.\n", trap)
trap = kernel(extra="#define LAUNCH(k, g, b, ...) \\\n  do { \\\n    k<<<g, b>>>(__VA_ARGS__); \\\n  } while (0)")
case("macro_continuation", fenced(trap), trap)
trap = kernel(extra="template <typename... Ts> __device__ void ignore(Ts&&...) {}  // ... variadic")
case("variadic_dots", fenced(trap), trap)
trap = kernel(extra="// The rest of the pipeline is set up in run()...")
case("comment_with_dots_is_no_elision", fenced(v1) + "\nImproved:\n" + fenced(trap), trap)
trap = kernel(export="#define EXPORT_NAME run\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(EXPORT_NAME, ::run);\n// end of kernel.cu")
case("export_by_macro_unclosed", f"Code:\n\n{F}cpp\n{trap}\n\nThis passes all of the checks I could think of.\n", trap)

# thinking and channel marks
case("think_uppercase", "<THINK>\nhmm " + fenced(v1) + "</THINK>\n" + fenced(v2), v2)
case("think_inline_end", "<think>quick</think>" + fenced(k), k)
case("think_two_parts", "<think>\na\n</think>\nPlan.\n<think>\n" + fenced(v1) + "</think>\n" + fenced(v2), v2)
case("think_mentions_fence", "<think>\nI must answer in a ```cpp block.\n</think>\n" + fenced(k), k)
case("seed_think", "<seed:think>\ndraft\n" + fenced(v1) + "</seed:think>\n" + fenced(v2), v2)
case("channel_marks", "<|channel|>analysis<|message|>We need a kernel.\n" + fenced(v1) + "<|end|><|start|>assistant<|channel|>final<|message|>\n" + fenced(v2), v2)
case("pipe_think", "◁think▷\n" + fenced(v1) + "◁/think▷\n" + fenced(v2), v2)
case("end_of_text_marks", fenced(k) + "<|endoftext|>", k)
case("im_end_glued", fenced(k).rstrip("\n") + "<|im_end|>", k)

# no fence, or broken ones
case("two_backticks", "``cpp\n" + k + "``\n", k)
case("single_quotes_fence", "'''cpp\n" + k + "'''\n", k)
case("bbcode", "[code=cuda]\n" + k + "[/code]\n", k)
case("latex_listing", "\\begin{lstlisting}[language=C++]\n" + k + "\\end{lstlisting}\n", k)
case("plain_begins_with_define", "#define TILE 128\n" + C_ENTRY, "#define TILE 128\n" + C_ENTRY)
case("plain_with_heading", "# kernel.cu\n\n" + C_ENTRY, C_ENTRY)
case("plain_using_line", "Solution:\n\nusing bf16 = unsigned short;\n" + k, "using bf16 = unsigned short;\n" + k)
case("plain_then_numbered_notes", k + "\n1. The launch uses 256 threads.\n2. Loads are coalesced (128 B).\n", k)
case("plain_with_line_numbers", "".join(f"{n:3d}  {l}\n" for n, l in enumerate(k.splitlines(), 1)), k)
case("opening_fence_only_with_blank", F + "\n\n" + C_ENTRY, C_ENTRY)
case("json_tool_call", json.dumps({"name": "write_file", "arguments": {"path": "kernel.cu", "content": k}}), k)
case("json_tool_call_in_fence", fenced(json.dumps({"code": k}) + "\n", "json"), k)
case("json_arguments_as_string", json.dumps({"name": "submit", "arguments": json.dumps({"code": k})}), k)
case("heredoc_unquoted_tag_console", fenced("$ cat << EOF > kernel.cu\n" + k + "EOF\n$ nvcc kernel.cu\n", "console"), k)
case("python_write_file", fenced("src = r'''" + k + "'''\nopen('kernel.cu', 'w').write(src)\n", "python"), k)
case("load_inline", fenced('import torch\ncuda_src = """\n' + k + '"""\nmod = load_inline("m", cuda_src)\n', "python"), k)
case("escaped_newlines", "```cpp\\n" + k.replace("\n", "\\n") + "```", k)

# cut off
case("cut_in_comment", f"{F}cpp\n" + k[:k.index("__global__")] + "/* The kernel below walks over\n * the rows", None, "truncated")
case("cut_in_string", f"{F}cuda\n" + k[:k.index("  const int i")] + '  asm volatile("mbarrier.init.shared', None, "truncated")
case("cut_after_balanced_function", f"{F}cpp\n" + k[:k.index("void run")], None, "truncated")
case("cut_in_prose", "I will first explain the tiling in some detail, then", None, "none")
case("cut_in_last_line", f"{F}cpp\n" + k.rstrip()[:-6], None, "truncated")

# nothing
case("refusal", "I'm sorry, but I can't help with that.", None, "none")
case("tool_request", "<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"kernel.cu\"}}\n</tool_call>", None, "none")
case("only_prose_and_formula", "The arithmetic intensity is 2MNK / (MK + KN + MN) = 1,987; it's compute bound.", None, "none")
case("only_ptx", fenced(".version 8.0\n.target sm_90a\n.visible .entry k() { ret; }\n", "ptx"), None, "none")

for row in CASES:
    print(json.dumps(row))
