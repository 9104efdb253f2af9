#!/usr/bin/env python3
"""Writes held_out_2.jsonl: a second set of answers that the extractor had not seen, closer to what models write. Format as
in corpus.jsonl. Usage: make_held_out_2.py > held_out_2.jsonl"""
import json

CASES = []
F = "```"


def case(name, answer, code, status="found"):
    CASES.append({"name": name, "answer": answer, "status": status, "code": code})


def fenced(code, tag="cpp"):
    return f"{F}{tag}\n{code}{F}\n"


def gemm(stages=4, note="", extra=""):
    return f"""// Hopper GEMM: C[M,N] = A[M,K] * B[N,K]^T, bf16 in, fp32 accumulate{note}
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>
{extra}
constexpr int BM = 128, BN = 128, BK = 64, STAGES = {stages};

struct __align__(1024) Smem {{
  __nv_bfloat16 a[STAGES][BM * BK];
  __nv_bfloat16 b[STAGES][BN * BK];
  uint64_t full[STAGES], empty[STAGES];
}};

__device__ __forceinline__ uint32_t smem_u32(const void* p) {{
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}}

__device__ __forceinline__ void mbar_wait(uint64_t* bar, uint32_t parity) {{
  asm volatile(
      "{{\\n"
      ".reg .pred P1;\\n"
      "LAB_WAIT:\\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\\n"
      "@P1 bra DONE;\\n"
      "bra LAB_WAIT;\\n"
      "DONE:\\n"
      "}}\\n" ::"r"(smem_u32(bar)), "r"(parity) : "memory");
}}

__global__ void __launch_bounds__(256) gemm_kernel(const __grid_constant__ CUtensorMap ta,
                                                   const __grid_constant__ CUtensorMap tb,
                                                   __nv_bfloat16* __restrict__ C, int M, int N, int K) {{
  extern __shared__ uint8_t raw[];
  Smem& s = *reinterpret_cast<Smem*>(raw);
  float acc[64] = {{0.f}};
  for (int k = 0; k < K / BK; ++k) mbar_wait(&s.full[k % STAGES], (k / STAGES) & 1);
  if (threadIdx.x < M * N) C[threadIdx.x] = __float2bfloat16(acc[0]);
}}

static CUtensorMap make_map(void* p, uint64_t rows, uint64_t cols) {{
  CUtensorMap m{{}};
  /* cuTensorMapEncodeTiled through cudaGetDriverEntryPoint */
  return m;
}}

void run(tvm::ffi::TensorView A, tvm::ffi::TensorView B, tvm::ffi::TensorView C) {{
  int M = A.size(0), K = A.size(1), N = B.size(0);
  auto ta = make_map(A.data_ptr(), M, K), tb = make_map(B.data_ptr(), N, K);
  cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Smem));
  dim3 grid((N + BN - 1) / BN, (M + BM - 1) / BM);
  auto stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(A.device().device_type, A.device().device_id));
  gemm_kernel<<<grid, 256, sizeof(Smem), stream>>>(ta, tb, static_cast<__nv_bfloat16*>(C.data_ptr()), M, N, K);
}}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
"""


def attention(name="flash_fwd"):
    return f"""#include <ptxbench/candidate.h>
#include <cuda_runtime.h>
#include <math.h>

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#ifndef TILE
#define TILE 64
#endif

template <int D, bool CAUSAL>
__global__ void {name}(const float* q, const float* k, const float* v, float* o, float* lse, int S) {{
    // one warp per query row; lanes split D
    const int row = blockIdx.x;
    float m = -INFINITY, l = 0.0f;
    float acc[D / 32] = {{}};
    for (int j = 0; j < (CAUSAL ? row + 1 : S); j++) {{
        float s = 0.0f;
        for (int d = threadIdx.x; d < D; d += 32)
            s += q[row * D + d] * k[j * D + d];
        for (int off = 16; off > 0; off /= 2) s += __shfl_xor_sync(~0u, s, off);
        float m2 = fmaxf(m, s), a = expf(m - m2), p = expf(s - m2);
        l = l * a + p;
        for (int d = 0; d < D / 32; d++) acc[d] = acc[d] * a + p * v[j * D + d * 32 + threadIdx.x];
        m = m2;
    }}
    for (int d = 0; d < D / 32; d++) o[row * D + d * 32 + threadIdx.x] = acc[d] / l;
    if (threadIdx.x == 0) lse[row] = m + logf(l);
}}

PTXBENCH_ENTRY(args, count, stream)
{{
    const int S = (int)args[0].shape[2];
    {name}<128, false><<<S, 32, 0, (cudaStream_t)stream>>>((const float*)args[0].data, (const float*)args[1].data,
        (const float*)args[2].data, (float*)args[3].data, (float*)args[4].data, S);
    return cudaGetLastError();
}}
"""


g = gemm()
a = attention()

LONG_PLAN = """## Analysis of the failure

The feedback says `kernel_hang`. Each stage's full barrier is initialised with count 1, and the producer calls
`mbarrier.arrive.expect_tx` with `BM * BK * 2` bytes. But **two** loads complete on it: A *and* B. So the phase never flips:

    expected bytes: 16384
    arriving bytes: 32768

That's an over-arrival, and the tx-count goes negative; the wait then spins forever.

## Fix

1. `expect_tx` = `(BM + BN) * BK * sizeof(bf16)`
2. The consumer's parity is `(k / STAGES) & 1`, as before.
3. I also moved `fence.proxy.async` before the TMA store.

"""
NOTES = """
### What changed

- **Barrier**: `expect_tx` now counts both operands.
- **Epilogue**: unchanged.

### Expected performance

At 128x128x64 with 4 stages, smem = 4 * (16 KB + 16 KB) = 128 KB; 1 CTA/SM. I'd expect ~500 TFLOP/s, i.e. ~0.7x cuBLAS.

Next steps (if this passes): 2-CTA clusters with multicast; 2 consumer warpgroups (m64n256k16); TMA store.
"""

# the everyday answer, in the styles that models have
case("analysis_then_code", LONG_PLAN + fenced(g), g)
case("analysis_code_notes", LONG_PLAN + "## Code\n\n" + fenced(g, "cuda") + NOTES, g)
case("notes_with_snippets", fenced(g) + NOTES + "\nThe key line:\n\n" + fenced("mbar_expect_tx(&s.full[st], (BM + BN) * BK * 2);\n") + "\nGood luck!\n", g)
case("indented_example_in_prose", LONG_PLAN + fenced(a, "c++"), a)
case("code_with_cpp_title_line", "**kernel.cu**\n" + fenced(g) + "\n*Compile with* `nvcc -arch=sm_90a`.\n", g)
case("sections_and_rules", "---\n# 1. Design\n" + NOTES + "---\n# 2. Implementation\n" + fenced(a) + "---\n# 3. Checklist\n- [x] entry\n- [x] tail\n", a)
case("roofline_table", "| | FLOP | bytes |\n|---|---|---|\n| GEMM | 6e11 | 2.7e8 |\n\n" + fenced(g) + "\n| stage | state |\n|---|---|\n| 0 | full |\n", g)
case("old_and_new_snippets", "Before:\n" + fenced("bar.expect_tx(BM * BK * 2);\n") + "After:\n" + fenced("bar.expect_tx((BM + BN) * BK * 2);\n") + "Full file:\n" + fenced(g), g)
case("diff_then_full", "The change:\n" + fenced("-constexpr int STAGES = 2;\n+constexpr int STAGES = 4;\n", "diff") + "\nFull source:\n\n" + fenced(g, "cu"), g)
case("three_kernels_step_by_step", "Step 1, naive:\n" + fenced(attention("naive")) + "Step 2, tiled:\n" + fenced(attention("tiled")) + "Step 3, with warp shuffles:\n" + fenced(a), a)
case("self_correction", fenced(gemm(6)) + "\nWait - 6 stages need 192 KB plus barriers, which is fine, but registers... Let me reduce to 4.\n\n" + fenced(g), g)
case("self_correction_twice", fenced(gemm(8)) + "Hmm, 8 stages exceed 227 KB.\n" + fenced(gemm(7)) + "7 doesn't divide evenly. Final version:\n" + fenced(g), g)
case("final_then_apology", fenced(g) + "\nApologies for the earlier mistake with the descriptor; this version should be right.\n", g)
case("answer_in_german", "Der Kernel wartet nun auf beide Ladevorgänge; der Rest blieb gleich.\n\n" + fenced(g) + "\nViel Erfolg!\n", g)
case("answer_in_japanese", "以下が修正したカーネルです。\n\n" + fenced(a, "cuda") + "\n以上です。\n", a)
case("answer_in_chinese_with_full_width", "修改如下(请注意:只改了屏障):\n" + fenced(g) + "说明:`expect_tx` 包含 A、B 两个操作数。\n", g)
case("latex_math", "With $S = QK^T / \\sqrt{d}$ and $$O = \\frac{\\sum_j e^{s_j - m} v_j}{\\sum_j e^{s_j - m}},$$ we get:\n\n" + fenced(a), a)
case("bullets_with_code_spans", "* `full[s]` count 1\n* `empty[s]` count 2\n* phase `(it / STAGES) & 1`\n\n" + fenced(g) + "\n* done\n", g)
case("ptx_snippet_first", "The instruction is\n" + fenced("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [dst], [map, {x, y}], [bar];\n", "ptx") + fenced(g), g)
case("nvdisasm_excerpt_first", "SASS shows\n" + fenced("/*0a30*/ HGMMA.64x128x16.F32.BF16 R24, gdesc[UR4], !UPT ;\n", "") + "so wgmma is used.\n\n" + fenced(g), g)
case("error_log_quoted_untagged", "> error: `mbar_wait` undefined\n\n" + fenced("kernel.cu(31): error: identifier \"mbar_wait\" is undefined\n1 error detected\n", "") + "Fixed below.\n\n" + fenced(g), g)
case("test_harness_behind", fenced(g) + "\nMy test (do not submit):\n" + fenced("#include <vector>\nint main() {\n  std::vector<float> h(16);\n  run_test(h.data());\n  return 0;\n}\n"), g)
case("host_snippet_behind", fenced(a) + "\nHost side, for clarity:\n" + fenced("cudaLaunchConfig_t cfg{};\ncfg.gridDim = S;\ncudaLaunchKernelEx(&cfg, flash_fwd<128, false>, q, k, v, o, lse, S);\n"), a)
case("ascii_pipeline_behind", fenced(g) + "\nPipeline:\n" + fenced("producer: [ld0][ld1][ld2]\nconsumer:      [mma0][mma1]\n", "text"), g)
case("mermaid_behind", fenced(g) + fenced("graph TD; A-->B;\n", "mermaid"), g)
case("shell_and_output_behind", fenced(g) + fenced("$ nvcc -arch=sm_90a -cubin kernel.cu\n$ cuobjdump -sass kernel.cubin | grep HGMMA\n", "shell") + fenced("HGMMA.64x128x16.F32.BF16\n", ""), g)
case("env_line_behind", fenced(g) + "\nSet `CUDA_LAUNCH_BLOCKING=1` to debug:\n" + fenced("export CUDA_LAUNCH_BLOCKING=1;\n", ""), g)

# variations of the fence itself
case("tag_cuda_with_dash", fenced(g, "cuda-kernel"), g)
case("tag_CPP_upper", fenced(g, "CPP"), g)
case("tag_with_attributes", fenced(a, 'cpp linenums="1" hl_lines="3 4"'), a)
case("tag_with_braces_title", fenced(a, '{.cpp title="kernel.cu"}'), a)
case("tag_cxx", fenced(g, "c++ (CUDA)"), g)
case("tag_filename_equals", fenced(g, "cuda file=kernel.cu"), g)
case("tilde_with_tag_space", "~~~ cuda\n" + g + "~~~\n", g)
case("six_backticks", "``````cuda\n" + g + "``````\n", g)
case("tilde_around_backticks_in_comment", "~~~~cpp\n" + gemm(note="\n```\nnot a fence\n```") .replace("\n```\nnot a fence\n```", "\n/*\n```\nnot a fence\n```\n*/") + "~~~~\n",
     gemm(note="\n/*\n```\nnot a fence\n```\n*/"))
case("close_without_newline_then_text", f"{F}cpp\n{g}{F}Hope this helps!", g)
case("blank_lines_inside_fence", f"{F}cpp\n\n\n{g}\n\n{F}\n", g)
case("no_blank_before_fence", "Code:" + "\n" + fenced(g) + "End.", g)
case("numbered_list_two_items", f"1. The kernel:\n{fenced(g)}2. That's it; the host code is in `run`.\n", g)
case("nested_list_deep_indent", "- plan\n  - code:\n\n    " + F + "cpp\n" + "".join("    " + l + "\n" if l else "\n" for l in a.splitlines()) + "    " + F + "\n", a)
case("quote_with_code", "> **Assistant**: final kernel\n>\n> " + F + "cpp\n" + "".join("> " + l + "\n" if l else ">\n" for l in a.splitlines()) + "> " + F + "\n", a)
case("bold_fence_line", "**Final answer:**\n\n" + fenced(g) + "**End of answer**\n", g)
case("unclosed_plus_notes", LONG_PLAN + f"{F}cpp\n{g}\n" + NOTES, g)
case("unclosed_plus_short_note", f"{F}cuda\n{a}\nThis handles ragged S as well.", a)
case("unclosed_plus_numbered", f"{F}cpp\n{g}\n1. Uses TMA for both operands.\n2. Double-buffers the epilogue.\n", g)
case("unclosed_then_bash", f"{F}cpp\n{a}\nTo build:\n{F}bash\nnvcc -O3 -arch=sm_90a k.cu\n{F}\nThanks.\n", a)
case("opened_twice", f"{F}cpp\n{F}cpp\n{g}{F}\n{F}\n", g)
case("closed_twice", fenced(g) + F + "\n", g)
case("opened_with_tag_on_next_line", f"{F}\ncpp\n{g}{F}\n", g)

# thinking
case("think_long_with_drafts", "<think>\nFirst, a draft:\n" + fenced(gemm(2)) + "Too slow. Another:\n" + fenced(gemm(3)) + "OK, 4 stages.\n</think>\n\nHere is the kernel.\n\n" + fenced(g), g)
case("think_unbalanced_fence", "<think>\n```cpp\nint x = {\nhmm\n</think>\n" + fenced(g), g)
case("no_open_tag_two_drafts", "We need to fix the barrier.\n```\nexpect_tx\n```\nLet me write.\n</think>\n" + fenced(g), g)
case("thinking_then_plain", "<thinking>\nshort\n</thinking>\n" + a, a)
case("reasoning_tag", "<reasoning>The tx count was wrong.</reasoning>\n<answer>\n" + fenced(g) + "</answer>", g)
case("think_in_the_middle", "Plan: 4 stages.\n<think>\nor 6?\n" + fenced(gemm(6)) + "</think>\n" + fenced(g) + "Done.\n", g)

# several files and parts
ptx_h = "#pragma once\n#include <cstdint>\n\n__device__ __forceinline__ void nop() { asm volatile(\"\" ::: \"memory\"); }\n"
with_h = gemm(extra='#include "ptx.cuh"\n')
case("header_named_in_heading", "### `ptx.cuh`\n\n" + fenced(ptx_h) + "\n### `kernel.cu`\n\n" + fenced(with_h), with_h.replace('#include "ptx.cuh"\n', ptx_h))
case("header_named_with_path_comment", fenced("// file: ptx.cuh\n" + ptx_h) + fenced("// file: kernel.cu\n" + with_h),
     ("// file: kernel.cu\n" + with_h).replace('#include "ptx.cuh"\n', "// file: ptx.cuh\n" + ptx_h))
cut = a.index("PTXBENCH_ENTRY")
case("kernel_then_entry", "Kernel:\n" + fenced(a[:cut].rstrip("\n") + "\n", "cuda") + "Entry point:\n" + fenced(a[cut:], "cuda"), a[:cut].rstrip("\n") + "\n" + a[cut:])
cut = g.index("__global__")
case("helpers_then_rest", "Helpers first:\n" + fenced(g[:cut].rstrip("\n") + "\n") + "\nThen the kernel and launcher:\n" + fenced(g[cut:]), g[:cut].rstrip("\n") + "\n" + g[cut:])

# doubtful
case("baseline_behind", fenced(g) + "\nFor comparison, the naive version I benchmarked against:\n\n" + fenced(a), g, "unsure")
case("previous_behind", "New kernel:\n\n" + fenced(gemm(5)) + "\nThe previous version, for reference:\n\n" + fenced(g), gemm(5), "unsure")
case("sketch_behind", fenced(g) + "\nA later version could use clusters:\n\n" + fenced(
    "__global__ void gemm_kernel(...) {\n  // ... as before, with multicast ...\n}\nTVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);\n"), g, "unsure")

# cut off or empty
case("cut_mid_kernel", LONG_PLAN + f"{F}cpp\n" + g[:g.index("float acc")], None, "truncated")
case("cut_in_launch", f"{F}cuda\n" + a[:a.rindex("(float*)args[3]")], None, "truncated")
case("cut_in_host", f"Sure.\n\n{F}cpp\n" + g[:g.index("cudaFuncSetAttribute")], None, "truncated")
case("cut_plain", g[:g.index("dim3 grid")], None, "truncated")
case("cut_before_code", LONG_PLAN, None, "none")
case("refuses", "I can't produce a correct kernel within these constraints.", None, "none")
case("only_describes", NOTES, None, "none")
case("only_question", "Should the output be written with TMA or with plain stores?", None, "none")
case("empty_think", "<think></think>", None, "none")

for row in CASES:
    print(json.dumps(row))
