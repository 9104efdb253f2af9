/*
 * The words of PTX other than opcodes: types, modifiers, special registers. Source: PTX ISA 9.0, chapters 5, 9 and 10.
 *
 * The suffixes of an instruction ("ld.global.v4.f32") are kept in order as numbers: types come first, then known
 * modifiers, then the words that only a module knows (ptx_module.h). All functions are pure; texts are static.
 */
#ifndef PTXBENCH_EMU_PTX_WORDS_H
#define PTXBENCH_EMU_PTX_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(identifier, text, bits). An element below 8 bits counts as the ISA stores it: .e2m1 and .e2m3 in a byte. */
/* clang-format off */
#define PTX_TYPES(X)                                                                                                   \
    X(PRED, "pred", 1) X(B1, "b1", 1) X(B4, "b4", 4) X(B8, "b8", 8) X(B16, "b16", 16) X(B32, "b32", 32)                \
    X(B64, "b64", 64) X(B128, "b128", 128) X(B1024, "b1024", 1024) X(U4, "u4", 4) X(U8, "u8", 8) X(U16, "u16", 16)     \
    X(U32, "u32", 32) X(U64, "u64", 64) X(S2, "s2", 2) X(S4, "s4", 4) X(S8, "s8", 8) X(S16, "s16", 16)                 \
    X(S32, "s32", 32) X(S64, "s64", 64) X(U16X2, "u16x2", 32) X(S16X2, "s16x2", 32) X(F16, "f16", 16)                  \
    X(F32, "f32", 32) X(F64, "f64", 64) X(BF16, "bf16", 16) X(TF32, "tf32", 32) X(F16X2, "f16x2", 32)                  \
    X(BF16X2, "bf16x2", 32) X(F32X2, "f32x2", 64) X(E4M3, "e4m3", 8) X(E5M2, "e5m2", 8) X(E3M2, "e3m2", 8)             \
    X(E2M3, "e2m3", 8) X(E2M1, "e2m1", 8) X(UE8M0, "ue8m0", 8) X(UE4M3, "ue4m3", 8) X(E4M3X2, "e4m3x2", 16)            \
    X(E5M2X2, "e5m2x2", 16) X(E3M2X2, "e3m2x2", 16) X(E2M3X2, "e2m3x2", 16) X(E2M1X2, "e2m1x2", 8)                     \
    X(UE8M0X2, "ue8m0x2", 16) X(S2F6X2, "s2f6x2", 16) X(E4M3X4, "e4m3x4", 32) X(E5M2X4, "e5m2x4", 32)                  \
    X(E3M2X4, "e3m2x4", 32) X(E2M3X4, "e2m3x4", 32) X(E2M1X4, "e2m1x4", 16) X(TEXREF, "texref", 64)                    \
    X(SAMPLERREF, "samplerref", 64) X(SURFREF, "surfref", 64)
/* clang-format on */

enum ptx_type {
#define X(id, text, bits) PTX_##id,
    PTX_TYPES(X)
#undef X
        PTX_TYPE_COUNT
};

/* X(identifier, text): the union of what the rows of ptx_opcodes.h permit in order of strcmp (a test keeps it so). */
/* clang-format off */
#define PTX_MODIFIERS(X)                                                                                               \
    X(128X128B, "128x128b") X(128X256B, "128x256b") X(16X128B, "16x128b") X(16X256B, "16x256b")                        \
    X(16X32BX2, "16x32bx2") X(16X64B, "16x64b") X(1D, "1d") X(2D, "2d") X(2DMS, "2dms") X(32X128B, "32x128b")          \
    X(32X32B, "32x32b") X(3D, "3d") X(4D, "4d") X(4X256B, "4x256b") X(5D, "5d") X(64X128B, "64x128b") X(L1, "L1")      \
    X(L1_EVICT_FIRST, "L1::evict_first") X(L1_EVICT_LAST, "L1::evict_last") X(L1_EVICT_NORMAL, "L1::evict_normal")     \
    X(L1_EVICT_UNCHANGED, "L1::evict_unchanged") X(L1_NO_ALLOCATE, "L1::no_allocate") X(L2, "L2")                      \
    X(L2_128B, "L2::128B") X(L2_256B, "L2::256B") X(L2_64B, "L2::64B") X(L2_CACHE_HINT, "L2::cache_hint")              \
    X(L2_EVICT_FIRST, "L2::evict_first") X(L2_EVICT_LAST, "L2::evict_last") X(L2_EVICT_NORMAL, "L2::evict_normal")     \
    X(L2_EVICT_UNCHANGED, "L2::evict_unchanged") X(PROPAGATE_NAN, "NaN") X(A, "a") X(A1D, "a1d") X(A2D, "a2d")         \
    X(A2DMS, "a2dms") X(ABS, "abs") X(ABSDIFF, "absdiff") X(ACC_F16, "acc::f16") X(ACC_F32, "acc::f32")                \
    X(ACQ_REL, "acq_rel") X(ACQUIRE, "acquire") X(ACUBE, "acube") X(ADD, "add") X(ADDR_MODE_0, "addr_mode_0")          \
    X(ADDR_MODE_1, "addr_mode_1") X(ADDR_MODE_2, "addr_mode_2") X(ALIAS, "alias") X(ALIGNED, "aligned")                \
    X(ALL, "all") X(ALLOC, "alloc") X(AND, "and") X(ANY, "any") X(APPROX, "approx") X(ARRAY_SIZE, "array_size")        \
    X(ARRIVE, "arrive") X(ARRIVE_ONE, "arrive::one") X(ARRIVE_DROP, "arrive_drop") X(ASHIFT, "ashift")                 \
    X(ASYNC, "async") X(ASYNC_GENERIC, "async::generic") X(B, "b") X(B4E, "b4e") X(B4X16_P64, "b4x16_p64")             \
    X(B6X16_P32, "b6x16_p32") X(B8X16, "b8x16") X(BALLOT, "ballot") X(BASE, "base") X(BFLY, "bfly")                    \
    X(BLOCK16, "block16") X(BLOCK32, "block32") X(BLOCK_SCALE, "block_scale") X(BOX_DIM, "box_dim") X(BULK, "bulk")    \
    X(BULK_GROUP, "bulk_group") X(C, "c") X(CA, "ca") X(CAS, "cas") X(CC, "cc") X(CG, "cg")                            \
    X(CHANNEL_DATA_TYPE, "channel_data_type") X(CHANNEL_ORDER, "channel_order") X(CLAMP, "clamp")                      \
    X(CLUSTER, "cluster") X(COL, "col") X(COLLECTOR_A_DISCARD, "collector::a::discard")                                \
    X(COLLECTOR_A_FILL, "collector::a::fill") X(COLLECTOR_A_LASTUSE, "collector::a::lastuse")                          \
    X(COLLECTOR_A_USE, "collector::a::use") X(COLLECTOR_B0_DISCARD, "collector::b0::discard")                          \
    X(COLLECTOR_B0_FILL, "collector::b0::fill") X(COLLECTOR_B0_LASTUSE, "collector::b0::lastuse")                      \
    X(COLLECTOR_B0_USE, "collector::b0::use") X(COLLECTOR_B1_DISCARD, "collector::b1::discard")                        \
    X(COLLECTOR_B1_FILL, "collector::b1::fill") X(COLLECTOR_B1_LASTUSE, "collector::b1::lastuse")                      \
    X(COLLECTOR_B1_USE, "collector::b1::use") X(COLLECTOR_B2_DISCARD, "collector::b2::discard")                        \
    X(COLLECTOR_B2_FILL, "collector::b2::fill") X(COLLECTOR_B2_LASTUSE, "collector::b2::lastuse")                      \
    X(COLLECTOR_B2_USE, "collector::b2::use") X(COLLECTOR_B3_DISCARD, "collector::b3::discard")                        \
    X(COLLECTOR_B3_FILL, "collector::b3::fill") X(COLLECTOR_B3_LASTUSE, "collector::b3::lastuse")                      \
    X(COLLECTOR_B3_USE, "collector::b3::use") X(COMMIT, "commit") X(COMMIT_GROUP, "commit_group")                      \
    X(COMPLETE_TX, "complete_tx") X(CONST, "const") X(CP, "cp") X(CP_FENCEPROXY, "cp_fenceproxy")                      \
    X(CP_MASK, "cp_mask") X(CS, "cs") X(CTA, "cta") X(CTA_GROUP_1, "cta_group::1") X(CTA_GROUP_2, "cta_group::2")      \
    X(CUBE, "cube") X(CV, "cv") X(CVT, "cvt") X(D, "d") X(DEALLOC, "dealloc") X(DEC, "dec") X(DEPTH, "depth")          \
    X(DOWN, "down") X(ECL, "ecl") X(ECR, "ecr") X(ELEMENT_STRIDE, "element_stride") X(ELEMTYPE, "elemtype")            \
    X(EQ, "eq") X(EQU, "equ") X(EXCH, "exch") X(EXPECT_TX, "expect_tx") X(F4E, "f4e") X(FENCE, "fence")                \
    X(FENCE_AFTER_THREAD_SYNC, "fence::after_thread_sync") X(FENCE_BEFORE_THREAD_SYNC, "fence::before_thread_sync")    \
    X(FILL_MODE, "fill_mode") X(FILTER_MODE, "filter_mode") X(FINITE, "finite")                                        \
    X(FORCE_UNNORMALIZED_COORDS, "force_unnormalized_coords") X(FRACTIONAL, "fractional") X(FTZ, "ftz")                \
    X(FULL, "full") X(G, "g") X(GE, "ge") X(GENERIC, "generic") X(GET_FIRST_CTAID, "get_first_ctaid")                  \
    X(GET_FIRST_CTAID_X, "get_first_ctaid::x") X(GET_FIRST_CTAID_Y, "get_first_ctaid::y")                              \
    X(GET_FIRST_CTAID_Z, "get_first_ctaid::z") X(GEU, "geu") X(GL, "gl") X(GLOBAL, "global")                           \
    X(GLOBAL_ADDRESS, "global_address") X(GLOBAL_DIM, "global_dim") X(GLOBAL_STRIDE, "global_stride") X(GPU, "gpu")    \
    X(GRAD, "grad") X(GT, "gt") X(GTU, "gtu") X(HEIGHT, "height") X(HI, "hi") X(HS, "hs") X(IDX, "idx")                \
    X(IGNORE_OOB, "ignore_oob") X(IM2COL, "im2col") X(IM2COL_W, "im2col::w") X(IM2COL_W_128, "im2col::w::128")         \
    X(IM2COL_NO_OFFS, "im2col_no_offs") X(INC, "inc") X(INFINITE, "infinite") X(INIT, "init")                          \
    X(INTERLEAVE_LAYOUT, "interleave_layout") X(INVAL, "inval") X(IS_CANCELED, "is_canceled")                          \
    X(KIND_F16, "kind::f16") X(KIND_F8F6F4, "kind::f8f6f4") X(KIND_I8, "kind::i8") X(KIND_MXF4, "kind::mxf4")          \
    X(KIND_MXF4NVF4, "kind::mxf4nvf4") X(KIND_MXF8F6F4, "kind::mxf8f6f4") X(KIND_TF32, "kind::tf32") X(L, "l")         \
    X(LAUNCH_DEPENDENTS, "launch_dependents") X(LD, "ld") X(LD_REDUCE, "ld_reduce") X(LE, "le") X(LEU, "leu")          \
    X(LEVEL, "level") X(LO, "lo") X(LOAD, "load") X(LOCAL, "local") X(LS, "ls") X(LT, "lt") X(LTU, "ltu")              \
    X(LU, "lu") X(MASK, "mask") X(MAX, "max") X(MBARRIER, "mbarrier")                                                  \
    X(MBARRIER_ARRIVE_ONE, "mbarrier::arrive::one") X(MBARRIER_COMPLETE_TX_BYTES, "mbarrier::complete_tx::bytes")      \
    X(MBARRIER_INIT, "mbarrier_init") X(MEMORY_LAYOUT, "memory_layout") X(MIN, "min") X(MMA, "mma")                    \
    X(MMA_ASYNC, "mma_async") X(MMIO, "mmio") X(MULTICAST_CLUSTER, "multicast::cluster")                               \
    X(MULTICAST_CLUSTER_ALL, "multicast::cluster::all") X(NAN, "nan") X(NC, "nc") X(NE, "ne") X(NEU, "neu")            \
    X(NOCOMPLETE, "noComplete") X(NOFTZ, "noftz") X(NOINC, "noinc") X(NORMAL, "normal")                                \
    X(NORMALIZED_COORDS, "normalized_coords") X(NOTANUMBER, "notanumber") X(NUM, "num")                                \
    X(NUM_MIPMAP_LEVELS, "num_mipmap_levels") X(NUM_SAMPLES, "num_samples") X(NUMBER, "number") X(OOB, "oob")          \
    X(OR, "or") X(P, "p") X(PACK, "pack") X(PACK_16B, "pack::16b") X(PARAM, "param") X(PARAM_ENTRY, "param::entry")    \
    X(PARAM_FUNC, "param::func") X(PARITY, "parity") X(PENDING_COUNT, "pending_count") X(PO, "po") X(POPC, "popc")     \
    X(PREFETCH, "prefetch") X(PROXY, "proxy") X(QUERY_CANCEL, "query_cancel") X(R, "r") X(RANGE, "range")              \
    X(RANK, "rank") X(RC16, "rc16") X(RC8, "rc8") X(READ, "read") X(RED, "red") X(REDUCE, "reduce")                    \
    X(RELAXED, "relaxed") X(RELEASE, "release") X(RELINQUISH_ALLOC_PERMIT, "relinquish_alloc_permit")                  \
    X(RELU, "relu") X(REPLACE, "replace") X(RM, "rm") X(RMI, "rmi") X(RN, "rn") X(RNA, "rna") X(RNI, "rni")            \
    X(ROW, "row") X(RP, "rp") X(RPI, "rpi") X(RS, "rs") X(RZ, "rz") X(RZI, "rzi") X(SAT, "sat")                        \
    X(SATFINITE, "satfinite") X(SC, "sc") X(SCALE_A, "scale::a") X(SCALE_B, "scale::b")                                \
    X(SCALE_VEC_1X, "scale_vec::1X") X(SCALE_VEC_2X, "scale_vec::2X") X(SCALE_VEC_4X, "scale_vec::4X")                 \
    X(SCALED_N2_UE8M0, "scaled::n2::ue8m0") X(SHARED, "shared") X(SHARED_CLUSTER, "shared::cluster")                   \
    X(SHARED_CTA, "shared::cta") X(SHIFT, "shift") X(SHIFTAMT, "shiftamt") X(SHR15, "shr15") X(SHR7, "shr7")           \
    X(SP, "sp") X(SP_ORDERED_METADATA, "sp::ordered_metadata") X(ST, "st") X(STORE, "store")                           \
    X(SUBNORMAL, "subnormal") X(SWIZZLE_ATOMICITY, "swizzle_atomicity") X(SWIZZLE_MODE, "swizzle_mode")                \
    X(SYNC, "sync") X(SYNC_RESTRICT_SHARED_CLUSTER, "sync_restrict::shared::cluster")                                  \
    X(SYNC_RESTRICT_SHARED_CTA, "sync_restrict::shared::cta") X(SYS, "sys") X(TENSOR, "tensor")                        \
    X(TENSORMAP, "tensormap") X(TENSORMAP_GENERIC, "tensormap::generic") X(TEST_WAIT, "test_wait") X(TILE, "tile")     \
    X(TILE_GATHER4, "tile::gather4") X(TILE_SCATTER4, "tile::scatter4") X(TO, "to") X(TRANS, "trans")                  \
    X(TRAP, "trap") X(TRY_CANCEL, "try_cancel") X(TRY_WAIT, "try_wait") X(UNI, "uni") X(UNIFIED, "unified")            \
    X(UNPACK_16B, "unpack::16b") X(UP, "up") X(V2, "v2") X(V4, "v4") X(V8, "v8") X(VOLATILE, "volatile")               \
    X(WAIT, "wait") X(WAIT_LD, "wait::ld") X(WAIT_ST, "wait::st") X(WAIT_ALL, "wait_all")                              \
    X(WAIT_GROUP, "wait_group") X(WARP, "warp") X(WARPX2_01_23, "warpx2::01_23") X(WARPX2_02_13, "warpx2::02_13")      \
    X(WARPX4, "warpx4") X(WB, "wb") X(WEAK, "weak") X(WIDE, "wide") X(WIDTH, "width") X(WRAP, "wrap") X(WS, "ws")      \
    X(WT, "wt") X(X1, "x1") X(X128, "x128") X(X16, "x16") X(X2, "x2") X(X32, "x32") X(X4, "x4") X(X64, "x64")          \
    X(X8, "x8") X(XOR, "xor") X(XORSIGN, "xorsign") X(ZERO, "zero")
/* clang-format on */

enum ptx_word {
    PTX_WORD_SHAPE = PTX_TYPE_COUNT, /* "m64n128k16"; the sizes are in the instruction */
#define X(id, text) PTX_M_##id,
    PTX_MODIFIERS(X)
#undef X
        PTX_WORD_FIRST_UNKNOWN /* this and above: index into the unknown words of the module */
};

/* X(identifier, text, type, elements): three elements are x, y, z; their w is zero. */
/* clang-format off */
#define PTX_SPECIALS(X)                                                                                                \
    X(TID, "%tid", PTX_U32, 3) X(NTID, "%ntid", PTX_U32, 3) X(CTAID, "%ctaid", PTX_U32, 3)                             \
    X(NCTAID, "%nctaid", PTX_U32, 3) X(CLUSTERID, "%clusterid", PTX_U32, 3) X(NCLUSTERID, "%nclusterid", PTX_U32, 3)   \
    X(CLUSTER_CTAID, "%cluster_ctaid", PTX_U32, 3) X(CLUSTER_NCTAID, "%cluster_nctaid", PTX_U32, 3)                    \
    X(LANEID, "%laneid", PTX_U32, 1) X(WARPID, "%warpid", PTX_U32, 1) X(NWARPID, "%nwarpid", PTX_U32, 1)               \
    X(SMID, "%smid", PTX_U32, 1) X(NSMID, "%nsmid", PTX_U32, 1) X(CLUSTER_CTARANK, "%cluster_ctarank", PTX_U32, 1)     \
    X(CLUSTER_NCTARANK, "%cluster_nctarank", PTX_U32, 1) X(LANEMASK_EQ, "%lanemask_eq", PTX_U32, 1)                    \
    X(LANEMASK_LE, "%lanemask_le", PTX_U32, 1) X(LANEMASK_LT, "%lanemask_lt", PTX_U32, 1)                              \
    X(LANEMASK_GE, "%lanemask_ge", PTX_U32, 1) X(LANEMASK_GT, "%lanemask_gt", PTX_U32, 1)                              \
    X(CLOCK, "%clock", PTX_U32, 1) X(CLOCK_HI, "%clock_hi", PTX_U32, 1)                                                \
    X(GLOBALTIMER_LO, "%globaltimer_lo", PTX_U32, 1) X(GLOBALTIMER_HI, "%globaltimer_hi", PTX_U32, 1)                  \
    X(TOTAL_SMEM_SIZE, "%total_smem_size", PTX_U32, 1) X(AGGR_SMEM_SIZE, "%aggr_smem_size", PTX_U32, 1)                \
    X(DYNAMIC_SMEM_SIZE, "%dynamic_smem_size", PTX_U32, 1) X(GRIDID, "%gridid", PTX_U64, 1)                            \
    X(CLOCK64, "%clock64", PTX_U64, 1) X(GLOBALTIMER, "%globaltimer", PTX_U64, 1)                                      \
    X(CURRENT_GRAPH_EXEC, "%current_graph_exec", PTX_U64, 1)                                                           \
    X(IS_EXPLICIT_CLUSTER, "%is_explicit_cluster", PTX_PRED, 1) X(PM0, "%pm0", PTX_U32, 1)                             \
    X(PM1, "%pm1", PTX_U32, 1) X(PM2, "%pm2", PTX_U32, 1) X(PM3, "%pm3", PTX_U32, 1) X(PM4, "%pm4", PTX_U32, 1)        \
    X(PM5, "%pm5", PTX_U32, 1) X(PM6, "%pm6", PTX_U32, 1) X(PM7, "%pm7", PTX_U32, 1)                                   \
    X(PM0_64, "%pm0_64", PTX_U64, 1) X(PM1_64, "%pm1_64", PTX_U64, 1) X(PM2_64, "%pm2_64", PTX_U64, 1)                 \
    X(PM3_64, "%pm3_64", PTX_U64, 1) X(PM4_64, "%pm4_64", PTX_U64, 1) X(PM5_64, "%pm5_64", PTX_U64, 1)                 \
    X(PM6_64, "%pm6_64", PTX_U64, 1) X(PM7_64, "%pm7_64", PTX_U64, 1) X(ENVREG0, "%envreg0", PTX_B32, 1)               \
    X(ENVREG1, "%envreg1", PTX_B32, 1) X(ENVREG2, "%envreg2", PTX_B32, 1) X(ENVREG3, "%envreg3", PTX_B32, 1)           \
    X(ENVREG4, "%envreg4", PTX_B32, 1) X(ENVREG5, "%envreg5", PTX_B32, 1) X(ENVREG6, "%envreg6", PTX_B32, 1)           \
    X(ENVREG7, "%envreg7", PTX_B32, 1) X(ENVREG8, "%envreg8", PTX_B32, 1) X(ENVREG9, "%envreg9", PTX_B32, 1)           \
    X(ENVREG10, "%envreg10", PTX_B32, 1) X(ENVREG11, "%envreg11", PTX_B32, 1) X(ENVREG12, "%envreg12", PTX_B32, 1)     \
    X(ENVREG13, "%envreg13", PTX_B32, 1) X(ENVREG14, "%envreg14", PTX_B32, 1) X(ENVREG15, "%envreg15", PTX_B32, 1)     \
    X(ENVREG16, "%envreg16", PTX_B32, 1) X(ENVREG17, "%envreg17", PTX_B32, 1) X(ENVREG18, "%envreg18", PTX_B32, 1)     \
    X(ENVREG19, "%envreg19", PTX_B32, 1) X(ENVREG20, "%envreg20", PTX_B32, 1) X(ENVREG21, "%envreg21", PTX_B32, 1)     \
    X(ENVREG22, "%envreg22", PTX_B32, 1) X(ENVREG23, "%envreg23", PTX_B32, 1) X(ENVREG24, "%envreg24", PTX_B32, 1)     \
    X(ENVREG25, "%envreg25", PTX_B32, 1) X(ENVREG26, "%envreg26", PTX_B32, 1) X(ENVREG27, "%envreg27", PTX_B32, 1)     \
    X(ENVREG28, "%envreg28", PTX_B32, 1) X(ENVREG29, "%envreg29", PTX_B32, 1) X(ENVREG30, "%envreg30", PTX_B32, 1)     \
    X(ENVREG31, "%envreg31", PTX_B32, 1) X(RESERVED_SMEM_OFFSET_BEGIN, "%reserved_smem_offset_begin", PTX_B32, 1)      \
    X(RESERVED_SMEM_OFFSET_END, "%reserved_smem_offset_end", PTX_B32, 1)                                               \
    X(RESERVED_SMEM_OFFSET_CAP, "%reserved_smem_offset_cap", PTX_B32, 1)                                               \
    X(RESERVED_SMEM_OFFSET_0, "%reserved_smem_offset_0", PTX_B32, 1)                                                   \
    X(RESERVED_SMEM_OFFSET_1, "%reserved_smem_offset_1", PTX_B32, 1)
/* clang-format on */

enum ptx_special {
#define X(id, text, type, elements) PTX_SPECIAL_##id,
    PTX_SPECIALS(X)
#undef X
        PTX_SPECIAL_COUNT
};

/* The type or modifier of a suffix (without its dot), or PTX_WORD_FIRST_UNKNOWN. Shapes are not looked for. */
uint16_t ptx_word_find(const char *text, size_t length);

/* Text of a word below PTX_WORD_FIRST_UNKNOWN that is no shape. */
const char *ptx_word_text(uint16_t word);

/* Whether the text is a type, and which. */
bool ptx_type_find(const char *text, size_t length, enum ptx_type *out);
const char *ptx_type_text(enum ptx_type type);
unsigned ptx_type_bits(enum ptx_type type);

/* "m64n128k16" into its three numbers, each from 1 to 65535; the last is 0 for "m8n8". */
bool ptx_shape_parse(const char *text, size_t length, uint16_t sizes[3]);

/* "%tid", "%laneid", "%envreg3"; PTX_SPECIAL_COUNT when there is none of that name. */
enum ptx_special ptx_special_find(const char *name, size_t length);
const char *ptx_special_text(enum ptx_special special);
enum ptx_type ptx_special_type(enum ptx_special special);
unsigned ptx_special_elements(enum ptx_special special);

#endif
