/*
 * The base mnemonics of PTX ISA 9.0 that exist for sm_90a and sm_100a, one row each. Source: PTX ISA 9.0, chapter 9
 * and its table of reserved instruction keywords.
 *
 * Adding an opcode, or a modifier to one, is an edit of a row. All functions are pure.
 */
#ifndef PTXBENCH_EMU_PTX_OPCODES_H
#define PTXBENCH_EMU_PTX_OPCODES_H

#include <stdbool.h>
#include <stddef.h>

enum ptx_category {
    PTX_SCALAR,          /* arithmetic, logic, comparison, conversion */
    PTX_MOVEMENT,        /* registers, lanes, addresses */
    PTX_MEMORY,          /* loads, stores, atomics, cache hints */
    PTX_ASYNC_COPY,      /* cp.async, bulk and tensor copies, tensor maps */
    PTX_CONTROL,         /* branches, calls, ends of threads */
    PTX_SYNCHRONISATION, /* barriers, fences, votes, launch control */
    PTX_MATRIX,          /* warp-level matrix: mma, wmma, ldmatrix */
    PTX_TENSOR,          /* wgmma, tcgen05 */
    PTX_TEXTURE,         /* textures and surfaces */
    PTX_VIDEO,           /* SIMD video instructions */
    PTX_MISCELLANEOUS
};

/* What the emulator does with it. */
enum ptx_support {
    PTX_SUPPORT_EMULATED, /* it has a row in lower_table.c */
    PTX_SUPPORT_LATER,    /* a later stage: Blackwell */
    PTX_SUPPORT_NONE      /* left out */
};

/* groups of modifiers that several rows share */
#define PTX_G_ROUND "rn rz rm rp "
#define PTX_G_COMPARE "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor ftz "
#define PTX_G_SCOPE "cta cluster gpu sys "
#define PTX_G_ORDER "weak relaxed acquire release acq_rel sc volatile mmio "
#define PTX_G_SPACE "global shared shared::cta shared::cluster local const param param::entry param::func "
#define PTX_G_EVICT                                                                                                    \
    "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate L2::evict_normal "            \
    "L2::evict_first L2::evict_last L2::cache_hint "
#define PTX_G_PREFETCH_SIZE "L2::64B L2::128B L2::256B "
#define PTX_G_VECTOR "v2 v4 v8 "
#define PTX_G_REDUCE "add min max inc dec and or xor exch cas noftz "
#define PTX_G_WARP "sync aligned "
#define PTX_G_TENSOR_DIMENSION "1d 2d 3d 4d 5d "
#define PTX_G_KIND                                                                                                     \
    "kind::f16 kind::tf32 kind::f8f6f4 kind::i8 kind::mxf8f6f4 kind::mxf4 kind::mxf4nvf4 block_scale scale_vec::1X "   \
    "scale_vec::2X scale_vec::4X block16 block32 "
#define PTX_G_TEXTURE "1d 2d 3d a1d a2d cube acube 2dms a2dms base level grad unified v2 v4 "
#define PTX_G_SURFACE "b p 1d 2d 3d a1d a2d trap clamp zero ca cg cs cv wb wt v2 v4 add min max and or "
#define PTX_G_VIDEO "sat add min max absdiff shr7 shr15 po clamp wrap " PTX_G_COMPARE

/* X(identifier, mnemonic, category, support, modifiers it may carry besides types) */
#define PTX_OPCODES(X)                                                                                                 \
    X(ABS, "abs", PTX_SCALAR, PTX_SUPPORT_EMULATED, "ftz")                                                             \
    X(ACTIVEMASK, "activemask", PTX_SYNCHRONISATION, PTX_SUPPORT_EMULATED, "")                                         \
    X(ADD, "add", PTX_SCALAR, PTX_SUPPORT_EMULATED, PTX_G_ROUND "ftz sat cc")                                          \
    X(ADDC, "addc", PTX_SCALAR, PTX_SUPPORT_EMULATED, "cc")                                                            \
    X(ALLOCA, "alloca", PTX_MISCELLANEOUS, PTX_SUPPORT_NONE, "")                                                       \
    X(AND, "and", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                                \
    X(APPLYPRIORITY, "applypriority", PTX_MEMORY, PTX_SUPPORT_EMULATED, "global L2::evict_normal")                     \
    X(ATOM, "atom", PTX_MEMORY, PTX_SUPPORT_EMULATED,                                                                  \
      PTX_G_ORDER PTX_G_SCOPE PTX_G_SPACE PTX_G_REDUCE PTX_G_VECTOR "L2::cache_hint")                                  \
    X(BAR, "bar", PTX_SYNCHRONISATION, PTX_SUPPORT_EMULATED, "sync arrive red cta warp popc and or aligned")           \
    X(BARRIER, "barrier", PTX_SYNCHRONISATION, PTX_SUPPORT_EMULATED,                                                   \
      "sync arrive red cta cluster wait popc and or aligned release relaxed acquire")                                  \
    X(BFE, "bfe", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                                \
    X(BFI, "bfi", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                                \
    X(BFIND, "bfind", PTX_SCALAR, PTX_SUPPORT_EMULATED, "shiftamt")                                                    \
    X(BMSK, "bmsk", PTX_SCALAR, PTX_SUPPORT_EMULATED, "clamp wrap")                                                    \
    X(BRA, "bra", PTX_CONTROL, PTX_SUPPORT_EMULATED, "uni")                                                            \
    X(BREV, "brev", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                              \
    X(BRKPT, "brkpt", PTX_MISCELLANEOUS, PTX_SUPPORT_NONE, "")                                                         \
    X(BRX, "brx", PTX_CONTROL, PTX_SUPPORT_EMULATED, "idx uni")                                                        \
    X(CALL, "call", PTX_CONTROL, PTX_SUPPORT_EMULATED, "uni")                                                          \
    X(CLUSTERLAUNCHCONTROL, "clusterlaunchcontrol", PTX_SYNCHRONISATION, PTX_SUPPORT_LATER,                            \
      "try_cancel async shared::cta mbarrier::complete_tx::bytes multicast::cluster::all query_cancel is_canceled "    \
      "get_first_ctaid get_first_ctaid::x get_first_ctaid::y get_first_ctaid::z v4")                                   \
    X(CLZ, "clz", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                                \
    X(CNOT, "cnot", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                              \
    X(COPYSIGN, "copysign", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                      \
    X(COS, "cos", PTX_SCALAR, PTX_SUPPORT_EMULATED, "approx ftz")                                                      \
    X(CP, "cp", PTX_ASYNC_COPY, PTX_SUPPORT_EMULATED,                                                                  \
      "async ca cg bulk tensor reduce prefetch commit_group wait_group wait_all read mbarrier arrive noinc "           \
      "global shared shared::cta shared::cluster L2 " PTX_G_TENSOR_DIMENSION PTX_G_PREFETCH_SIZE                       \
      "tile tile::gather4 tile::scatter4 im2col im2col_no_offs im2col::w im2col::w::128 bulk_group "                   \
      "mbarrier::complete_tx::bytes multicast::cluster L2::cache_hint cta_group::1 cta_group::2 cp_mask ignore_oob "   \
      "add min max inc dec and or xor noftz")                                                                          \
    X(CREATEPOLICY, "createpolicy", PTX_MEMORY, PTX_SUPPORT_EMULATED,                                                  \
      "fractional range cvt L2 global L2::evict_last L2::evict_normal L2::evict_first L2::evict_unchanged")            \
    X(CVT, "cvt", PTX_SCALAR, PTX_SUPPORT_EMULATED,                                                                    \
      PTX_G_ROUND "rna rs rni rzi rmi rpi ftz sat satfinite relu pack scaled::n2::ue8m0")                              \
    X(CVTA, "cvta", PTX_MOVEMENT, PTX_SUPPORT_EMULATED, PTX_G_SPACE "to")                                              \
    X(DISCARD, "discard", PTX_MEMORY, PTX_SUPPORT_EMULATED, "global L2")                                               \
    X(DIV, "div", PTX_SCALAR, PTX_SUPPORT_EMULATED, PTX_G_ROUND "approx full ftz")                                     \
    X(DP2A, "dp2a", PTX_SCALAR, PTX_SUPPORT_NONE, "lo hi")                                                             \
    X(DP4A, "dp4a", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                              \
    X(ELECT, "elect", PTX_SYNCHRONISATION, PTX_SUPPORT_EMULATED, "sync")                                               \
    X(EX2, "ex2", PTX_SCALAR, PTX_SUPPORT_EMULATED, "approx ftz")                                                      \
    X(EXIT, "exit", PTX_CONTROL, PTX_SUPPORT_EMULATED, "")                                                             \
    X(FENCE, "fence", PTX_SYNCHRONISATION, PTX_SUPPORT_EMULATED,                                                       \
      PTX_G_SCOPE                                                                                                      \
      "sc acq_rel acquire release proxy alias async async::generic global shared::cta "                                \
      "shared::cluster sync_restrict::shared::cta sync_restrict::shared::cluster tensormap::generic generic "          \
      "mbarrier_init")                                                                                                 \
    X(FMA, "fma", PTX_SCALAR, PTX_SUPPORT_EMULATED, PTX_G_ROUND "ftz sat relu oob")                                    \
    X(FNS, "fns", PTX_SCALAR, PTX_SUPPORT_NONE, "")                                                                    \
    X(GETCTARANK, "getctarank", PTX_MOVEMENT, PTX_SUPPORT_EMULATED, "shared::cluster")                                 \
    X(GRIDDEPCONTROL, "griddepcontrol", PTX_SYNCHRONISATION, PTX_SUPPORT_EMULATED, "launch_dependents wait")           \
    X(ISSPACEP, "isspacep", PTX_MOVEMENT, PTX_SUPPORT_EMULATED, PTX_G_SPACE)                                           \
    X(ISTYPEP, "istypep", PTX_TEXTURE, PTX_SUPPORT_NONE, "")                                                           \
    X(LD, "ld", PTX_MEMORY, PTX_SUPPORT_EMULATED,                                                                      \
      PTX_G_ORDER PTX_G_SCOPE PTX_G_SPACE PTX_G_EVICT PTX_G_PREFETCH_SIZE PTX_G_VECTOR "ca cg cs lu cv nc unified")    \
    X(LDMATRIX, "ldmatrix", PTX_MATRIX, PTX_SUPPORT_EMULATED,                                                          \
      PTX_G_WARP "x1 x2 x4 trans shared shared::cta b8x16 b6x16_p32 b4x16_p64")                                        \
    X(LDU, "ldu", PTX_MEMORY, PTX_SUPPORT_EMULATED, "global " PTX_G_VECTOR)                                            \
    X(LG2, "lg2", PTX_SCALAR, PTX_SUPPORT_EMULATED, "approx ftz")                                                      \
    X(LOP3, "lop3", PTX_SCALAR, PTX_SUPPORT_EMULATED, "and or xor")                                                    \
    X(MAD, "mad", PTX_SCALAR, PTX_SUPPORT_EMULATED, PTX_G_ROUND "hi lo wide sat ftz cc")                               \
    X(MAD24, "mad24", PTX_SCALAR, PTX_SUPPORT_EMULATED, "hi lo sat")                                                   \
    X(MADC, "madc", PTX_SCALAR, PTX_SUPPORT_EMULATED, "hi lo cc")                                                      \
    X(MAPA, "mapa", PTX_MOVEMENT, PTX_SUPPORT_EMULATED, "shared::cluster")                                             \
    X(MATCH, "match", PTX_SYNCHRONISATION, PTX_SUPPORT_EMULATED, "any all sync")                                       \
    X(MAX, "max", PTX_SCALAR, PTX_SUPPORT_EMULATED, "ftz NaN xorsign abs relu")                                        \
    X(MBARRIER, "mbarrier", PTX_SYNCHRONISATION, PTX_SUPPORT_EMULATED,                                                 \
      PTX_G_SCOPE PTX_G_ORDER "init inval expect_tx complete_tx arrive arrive_drop noComplete test_wait try_wait "     \
                              "parity pending_count shared shared::cta shared::cluster")                               \
    X(MEMBAR, "membar", PTX_SYNCHRONISATION, PTX_SUPPORT_EMULATED, "cta gl sys proxy alias")                           \
    X(MIN, "min", PTX_SCALAR, PTX_SUPPORT_EMULATED, "ftz NaN xorsign abs relu")                                        \
    X(MMA, "mma", PTX_MATRIX, PTX_SUPPORT_EMULATED,                                                                    \
      PTX_G_WARP PTX_G_KIND "row col satfinite xor and popc sp sp::ordered_metadata")                                  \
    X(MOV, "mov", PTX_MOVEMENT, PTX_SUPPORT_EMULATED, "v2 v4")                                                         \
    X(MOVMATRIX, "movmatrix", PTX_MATRIX, PTX_SUPPORT_EMULATED, PTX_G_WARP "trans")                                    \
    X(MUL, "mul", PTX_SCALAR, PTX_SUPPORT_EMULATED, PTX_G_ROUND "hi lo wide ftz sat")                                  \
    X(MUL24, "mul24", PTX_SCALAR, PTX_SUPPORT_EMULATED, "hi lo")                                                       \
    X(MULTIMEM, "multimem", PTX_MEMORY, PTX_SUPPORT_NONE,                                                              \
      PTX_G_ORDER PTX_G_SCOPE PTX_G_REDUCE PTX_G_VECTOR "ld_reduce st red cp async bulk reduce global shared::cta "    \
                                                        "bulk_group cp_mask acc::f32 acc::f16")                        \
    X(NANOSLEEP, "nanosleep", PTX_MISCELLANEOUS, PTX_SUPPORT_EMULATED, "")                                             \
    X(NEG, "neg", PTX_SCALAR, PTX_SUPPORT_EMULATED, "ftz")                                                             \
    X(NOT, "not", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                                \
    X(OR, "or", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                                  \
    X(PMEVENT, "pmevent", PTX_MISCELLANEOUS, PTX_SUPPORT_EMULATED, "mask")                                             \
    X(POPC, "popc", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                              \
    X(PREFETCH, "prefetch", PTX_MEMORY, PTX_SUPPORT_EMULATED,                                                          \
      "global local param const L1 L2 L2::evict_last L2::evict_normal tensormap")                                      \
    X(PREFETCHU, "prefetchu", PTX_MEMORY, PTX_SUPPORT_EMULATED, "L1")                                                  \
    X(PRMT, "prmt", PTX_SCALAR, PTX_SUPPORT_EMULATED, "f4e b4e rc8 ecl ecr rc16")                                      \
    X(RCP, "rcp", PTX_SCALAR, PTX_SUPPORT_EMULATED, PTX_G_ROUND "approx ftz")                                          \
    X(RED, "red", PTX_MEMORY, PTX_SUPPORT_EMULATED,                                                                    \
      PTX_G_ORDER PTX_G_SCOPE PTX_G_SPACE PTX_G_REDUCE PTX_G_VECTOR "L2::cache_hint async "                            \
                                                                    "mbarrier::complete_tx::bytes")                    \
    X(REDUX, "redux", PTX_SYNCHRONISATION, PTX_SUPPORT_EMULATED, "sync add min max and or xor abs NaN")                \
    X(REM, "rem", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                                \
    X(RET, "ret", PTX_CONTROL, PTX_SUPPORT_EMULATED, "uni")                                                            \
    X(RSQRT, "rsqrt", PTX_SCALAR, PTX_SUPPORT_EMULATED, "approx ftz")                                                  \
    X(SAD, "sad", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                                \
    X(SELP, "selp", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                              \
    X(SET, "set", PTX_SCALAR, PTX_SUPPORT_EMULATED, PTX_G_COMPARE)                                                     \
    X(SETMAXNREG, "setmaxnreg", PTX_MISCELLANEOUS, PTX_SUPPORT_EMULATED, PTX_G_WARP "inc dec")                         \
    X(SETP, "setp", PTX_SCALAR, PTX_SUPPORT_EMULATED, PTX_G_COMPARE)                                                   \
    X(SHF, "shf", PTX_SCALAR, PTX_SUPPORT_EMULATED, "l r clamp wrap")                                                  \
    X(SHFL, "shfl", PTX_MOVEMENT, PTX_SUPPORT_EMULATED, "sync up down bfly idx")                                       \
    X(SHL, "shl", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                                \
    X(SHR, "shr", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")                                                                \
    X(SIN, "sin", PTX_SCALAR, PTX_SUPPORT_EMULATED, "approx ftz")                                                      \
    X(SLCT, "slct", PTX_SCALAR, PTX_SUPPORT_EMULATED, "ftz")                                                           \
    X(SQRT, "sqrt", PTX_SCALAR, PTX_SUPPORT_EMULATED, PTX_G_ROUND "approx ftz")                                        \
    X(ST, "st", PTX_MEMORY, PTX_SUPPORT_EMULATED,                                                                      \
      PTX_G_ORDER PTX_G_SCOPE PTX_G_SPACE PTX_G_EVICT PTX_G_VECTOR "wb cg cs wt async bulk "                           \
                                                                   "mbarrier::complete_tx::bytes")                     \
    X(STACKRESTORE, "stackrestore", PTX_MISCELLANEOUS, PTX_SUPPORT_NONE, "")                                           \
    X(STACKSAVE, "stacksave", PTX_MISCELLANEOUS, PTX_SUPPORT_NONE, "")                                                 \
    X(STMATRIX, "stmatrix", PTX_MATRIX, PTX_SUPPORT_EMULATED, PTX_G_WARP "x1 x2 x4 trans shared shared::cta")          \
    X(SUB, "sub", PTX_SCALAR, PTX_SUPPORT_EMULATED, PTX_G_ROUND "ftz sat cc")                                          \
    X(SUBC, "subc", PTX_SCALAR, PTX_SUPPORT_EMULATED, "cc")                                                            \
    X(SULD, "suld", PTX_TEXTURE, PTX_SUPPORT_NONE, PTX_G_SURFACE)                                                      \
    X(SUQ, "suq", PTX_TEXTURE, PTX_SUPPORT_NONE,                                                                       \
      "width height depth channel_data_type channel_order array_size memory_layout")                                   \
    X(SURED, "sured", PTX_TEXTURE, PTX_SUPPORT_NONE, PTX_G_SURFACE)                                                    \
    X(SUST, "sust", PTX_TEXTURE, PTX_SUPPORT_NONE, PTX_G_SURFACE)                                                      \
    X(SZEXT, "szext", PTX_SCALAR, PTX_SUPPORT_EMULATED, "clamp wrap")                                                  \
    X(TANH, "tanh", PTX_SCALAR, PTX_SUPPORT_EMULATED, "approx ftz")                                                    \
    X(TCGEN05, "tcgen05", PTX_TENSOR, PTX_SUPPORT_LATER,                                                               \
      PTX_G_WARP PTX_G_KIND                                                                                            \
      "alloc dealloc relinquish_alloc_permit ld st red wait::ld wait::st cp shift down mma ws "                        \
      "sp commit arrive::one multicast::cluster fence::before_thread_sync fence::after_thread_sync cta_group::1 "      \
      "cta_group::2 shared::cta shared::cluster 16x64b 16x128b 16x256b 32x32b 16x32bx2 128x256b 4x256b 128x128b "      \
      "64x128b 32x128b x1 x2 x4 x8 x16 x32 x64 x128 pack::16b unpack::16b warpx2::02_13 warpx2::01_23 warpx4 "         \
      "b8x16 b6x16_p32 b4x16_p64 ashift mbarrier::arrive::one collector::a::fill collector::a::use "                   \
      "collector::a::lastuse collector::a::discard collector::b0::fill collector::b0::use collector::b0::lastuse "     \
      "collector::b0::discard collector::b1::fill collector::b1::use collector::b1::lastuse collector::b1::discard "   \
      "collector::b2::fill collector::b2::use collector::b2::lastuse collector::b2::discard collector::b3::fill "      \
      "collector::b3::use collector::b3::lastuse collector::b3::discard scale::a scale::b min max abs NaN")            \
    X(TENSORMAP, "tensormap", PTX_ASYNC_COPY, PTX_SUPPORT_NONE,                                                        \
      PTX_G_SCOPE PTX_G_WARP                                                                                           \
      "replace tile global shared::cta global_address rank box_dim global_dim global_stride "                          \
      "element_stride elemtype interleave_layout swizzle_mode swizzle_atomicity fill_mode cp_fenceproxy "              \
      "tensormap::generic proxy release")                                                                              \
    X(TESTP, "testp", PTX_SCALAR, PTX_SUPPORT_NONE, "finite infinite number notanumber normal subnormal")              \
    X(TEX, "tex", PTX_TEXTURE, PTX_SUPPORT_NONE, PTX_G_TEXTURE)                                                        \
    X(TLD4, "tld4", PTX_TEXTURE, PTX_SUPPORT_NONE, PTX_G_TEXTURE "r g b a")                                            \
    X(TRAP, "trap", PTX_CONTROL, PTX_SUPPORT_EMULATED, "")                                                             \
    X(TXQ, "txq", PTX_TEXTURE, PTX_SUPPORT_NONE,                                                                       \
      "width height depth channel_data_type channel_order normalized_coords array_size num_mipmap_levels num_samples " \
      "force_unnormalized_coords filter_mode addr_mode_0 addr_mode_1 addr_mode_2 level")                               \
    X(VABSDIFF, "vabsdiff", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                  \
    X(VABSDIFF2, "vabsdiff2", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                \
    X(VABSDIFF4, "vabsdiff4", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                \
    X(VADD, "vadd", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                          \
    X(VADD2, "vadd2", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                        \
    X(VADD4, "vadd4", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                        \
    X(VAVRG2, "vavrg2", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                      \
    X(VAVRG4, "vavrg4", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                      \
    X(VMAD, "vmad", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                          \
    X(VMAX, "vmax", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                          \
    X(VMAX2, "vmax2", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                        \
    X(VMAX4, "vmax4", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                        \
    X(VMIN, "vmin", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                          \
    X(VMIN2, "vmin2", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                        \
    X(VMIN4, "vmin4", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                        \
    X(VOTE, "vote", PTX_SYNCHRONISATION, PTX_SUPPORT_EMULATED, "sync all any uni ballot")                              \
    X(VSET, "vset", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                          \
    X(VSET2, "vset2", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                        \
    X(VSET4, "vset4", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                        \
    X(VSHL, "vshl", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                          \
    X(VSHR, "vshr", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                          \
    X(VSUB, "vsub", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                          \
    X(VSUB2, "vsub2", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                        \
    X(VSUB4, "vsub4", PTX_VIDEO, PTX_SUPPORT_NONE, PTX_G_VIDEO)                                                        \
    X(WGMMA, "wgmma", PTX_TENSOR, PTX_SUPPORT_EMULATED,                                                                \
      PTX_G_WARP "mma_async sp fence commit_group wait_group satfinite and popc")                                      \
    X(WMMA, "wmma", PTX_MATRIX, PTX_SUPPORT_EMULATED,                                                                  \
      PTX_G_WARP "load store mma a b c d row col global shared shared::cta satfinite xor and popc " PTX_G_ROUND)       \
    X(XOR, "xor", PTX_SCALAR, PTX_SUPPORT_EMULATED, "")

enum ptx_opcode {
#define X(id, name, category, support, modifiers) PTX_OP_##id,
    PTX_OPCODES(X)
#undef X
        PTX_OP_COUNT,
    PTX_OP_UNKNOWN = PTX_OP_COUNT /* not in the table; the instruction's first word holds its name */
};

/* The opcode of a base mnemonic ("wgmma"), or PTX_OP_UNKNOWN. */
enum ptx_opcode ptx_opcode_find(const char *name, size_t length);

/* Of any value: "?" and PTX_MISCELLANEOUS, PTX_SUPPORT_NONE for PTX_OP_UNKNOWN. Static text. */
const char *ptx_opcode_text(enum ptx_opcode opcode);
enum ptx_category ptx_opcode_category(enum ptx_opcode opcode);
enum ptx_support ptx_opcode_support(enum ptx_opcode opcode);
const char *ptx_category_text(enum ptx_category category); /* "scalar", "async copy" */
const char *ptx_support_text(enum ptx_support support);    /* "emulated", "later", "unsupported" */

/* Whether the ISA lets the opcode carry that modifier (text without the dot). Types and shapes are not modifiers. */
bool ptx_opcode_allows(enum ptx_opcode opcode, const char *modifier);

#endif
