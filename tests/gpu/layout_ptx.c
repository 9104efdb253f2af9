/* The kernels of the layout probes as PTX text: instructions, shapes and offsets are literals of each case. */
#include "layout_cases.h"

#include <inttypes.h>

static void write_prologue(FILE *out)
{
    (void)fprintf(out,
                  ".version 8.4\n.target sm_90a\n.address_size 64\n\n"
                  ".visible .entry probe(.param .u64 p_image, .param .u64 p_registers, .param .u64 p_out,\n"
                  "                      .param .align 64 .b8 p_map[128])\n.maxntid %d\n{\n"
                  "    .shared .align 1024 .b8 smem[%d];\n    .shared .align 8 .b64 barrier;\n"
                  "    .reg .b32 %%t, %%i, %%w, %%a, %%smem, %%mbar, %%r<8>, %%d<128>;\n"
                  "    .reg .f32 %%f<128>;\n"
                  "    .reg .b64 %%image, %%in, %%out, %%map, %%x, %%left, %%right;\n    .reg .pred %%q, %%no;\n\n"
                  "    mov.u32 %%t, %%tid.x;\n    mov.u32 %%smem, smem;\n    mov.u32 %%mbar, barrier;\n"
                  "    ld.param.u64 %%image, [p_image];\n    ld.param.u64 %%in, [p_registers];\n"
                  "    ld.param.u64 %%out, [p_out];\n"
                  "    cvta.to.global.u64 %%image, %%image;\n    cvta.to.global.u64 %%in, %%in;\n"
                  "    cvta.to.global.u64 %%out, %%out;\n"
                  "    setp.ne.u32 %%no, %%t, %%t;\n    mov.u32 %%i, %%t;\nCOPY:\n"
                  "    mul.wide.u32 %%x, %%i, 4;\n    add.u64 %%x, %%x, %%image;\n    ld.global.u32 %%w, [%%x];\n"
                  "    shl.b32 %%a, %%i, 2;\n    add.u32 %%a, %%a, %%smem;\n    st.shared.u32 [%%a], %%w;\n"
                  "    add.u32 %%i, %%i, %d;\n    setp.lt.u32 %%q, %%i, %d;\n    @%%q bra COPY;\n"
                  "    mul.wide.u32 %%x, %%t, %d;\n    add.u64 %%in, %%in, %%x;\n"
                  "    ld.global.v4.u32 {%%r0, %%r1, %%r2, %%r3}, [%%in];\n"
                  "    ld.global.v4.u32 {%%r4, %%r5, %%r6, %%r7}, [%%in+16];\n"
                  "    setp.ne.u32 %%q, %%t, 0;\n    @%%q bra READY;\n"
                  "    mbarrier.init.shared::cta.b64 [%%mbar], 1;\nREADY:\n"
                  "    fence.proxy.async;\n    bar.sync 0;\n",
                  LAYOUT_THREADS, LAYOUT_SHARED_BYTES, LAYOUT_THREADS, LAYOUT_SHARED_BYTES / 4, 4 * LAYOUT_REGISTERS);
}

/* Registers %Xfirst.. as a vector operand. */
static void write_vector(FILE *out, char name, int first, int count)
{
    (void)fputc('{', out);
    for (int i = 0; i < count; i++)
        (void)fprintf(out, "%s%%%c%d", i ? ", " : "", name, first + i);
    (void)fputc('}', out);
}

/* out[t * count + i] = register i. */
static void write_store_registers(FILE *out, char name, int count)
{
    (void)fprintf(out, "    mul.wide.u32 %%x, %%t, %d;\n    add.u64 %%out, %%out, %%x;\n", 4 * count);
    for (int i = 0; i < count; i++)
        (void)fprintf(out, "    st.global.%s [%%out+%d], %%%c%d;\n", name == 'f' ? "f32" : "b32", 4 * i, name, i);
}

/* out[i] = word i of shared memory. */
static void write_dump(FILE *out, uint32_t words)
{
    (void)fprintf(
        out,
        "    bar.sync 0;\n    mov.u32 %%i, %%t;\nDUMP:\n    shl.b32 %%a, %%i, 2;\n    add.u32 %%a, %%a, %%smem;\n"
        "    ld.shared.u32 %%w, [%%a];\n    mul.wide.u32 %%x, %%i, 4;\n    add.u64 %%x, %%x, %%out;\n"
        "    st.global.u32 [%%x], %%w;\n    add.u32 %%i, %%i, %d;\n    setp.lt.u32 %%q, %%i, %u;\n"
        "    @%%q bra DUMP;\n",
        LAYOUT_THREADS, words);
}

/* %name = the descriptor with its start at smem + offset. */
static void write_descriptor(FILE *out, const char *name, const struct wgmma_descriptor *descriptor, uint32_t offset)
{
    (void)fprintf(out,
                  "    add.u32 %%a, %%smem, %u;\n    shr.u32 %%a, %%a, 4;\n    cvt.u64.u32 %%x, %%a;\n"
                  "    add.u64 %%%s, %%x, 0x%" PRIx64 ";\n",
                  offset, name, wgmma_descriptor_encode(descriptor));
}

static void write_wgmma(const struct layout_case *c, FILE *out)
{
    static const struct wgmma_descriptor IDENTITY = {.leading_offset = 128, .stride_offset = 256};
    bool shared_a = c->kind == LAYOUT_WGMMA_A, integer = number_is_integer(c->format);
    bool half_type = number_bytes(c->format) == 2;
    int n = shared_a ? c->k : c->rows, registers = c->half_accumulator ? n / 4 : n / 2;
    char d = integer || c->half_accumulator ? 'd' : 'f';
    const char *type = number_text(c->format);

    write_descriptor(out, shared_a ? "left" : "right", &c->descriptor, 0);
    if (shared_a)
        write_descriptor(out, "right", &IDENTITY, LAYOUT_IMAGE_BYTES);
    for (int i = 0; i < registers; i++)
        (void)fprintf(out, "    mov.b32 %%%c%d, %s;\n", d, i, d == 'f' ? "0f00000000" : "0");
    (void)fprintf(out, "    wgmma.fence.sync.aligned;\n    wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s ", n, c->k,
                  integer               ? "s32"
                  : c->half_accumulator ? "f16"
                                        : "f32",
                  type, type);
    write_vector(out, d, 0, registers);
    (void)fputs(", ", out);
    if (shared_a)
        (void)fputs("%left", out);
    else
        write_vector(out, 'r', 0, 4);
    (void)fputs(", %right, %no", out);
    if (!integer)
        (void)fputs(", 1, 1", out);
    if (half_type && shared_a)
        (void)fprintf(out, ", %d, 0", c->mn_major);
    else if (half_type)
        (void)fprintf(out, ", %d", c->mn_major);
    (void)fputs(";\n    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n", out);
    write_store_registers(out, d, registers);
}

/* Of what a load moves; ours to compute, since src/emu refuses some of the probes. */
static uint32_t box_bytes(const struct tensor_map *map)
{
    uint32_t bytes = map->box[0] * (uint32_t)tensor_map_type_bits(map->type) / 8;

    for (int i = 1; i < map->rank; i++)
        bytes *= (map->box[i] + map->element_stride[i] - 1) / map->element_stride[i];
    return bytes;
}

static void write_tma(const struct layout_case *c, FILE *out)
{
    (void)fputs("    mov.b64 %map, p_map;\n    cvta.param.u64 %map, %map;\n", out);
    for (int i = 0; i < c->map.rank; i++)
        (void)fprintf(out, "    mov.b32 %%r%d, %d;\n", i, c->coordinate[i]);
    (void)fputs("    setp.ne.u32 %q, %t, 0;\n    @%q bra ISSUED;\n", out);
    if (c->kind == LAYOUT_TMA_LOAD) {
        (void)fprintf(
            out,
            "    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%mbar], %u;\n"
            "    cp.async.bulk.tensor.%dd.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%%smem], [%%map, ",
            box_bytes(&c->map), c->map.rank);
        write_vector(out, 'r', 0, c->map.rank);
        /* bounded, so that a wrong byte count shows as a difference and does not hang */
        (void)fputs("], [%mbar];\nISSUED:\n    mov.u32 %i, 0;\nWAIT:\n    add.u32 %i, %i, 1;\n"
                    "    setp.gt.u32 %q, %i, 1000;\n    @%q bra LANDED;\n"
                    "    mbarrier.try_wait.parity.shared::cta.b64 %q, [%mbar], 0;\n    @!%q bra WAIT;\nLANDED:\n"
                    /* the last word says whether the byte count was right */
                    "    mbarrier.test_wait.parity.shared::cta.b64 %q, [%mbar], 0;\n    selp.b32 %w, 1, 0, %q;\n"
                    "    st.shared.u32 [%smem+8188], %w;\n",
                    out);
        write_dump(out, c->words);
        return;
    }
    (void)fprintf(out, "    cp.async.bulk.tensor.%dd.global.shared::cta.tile.bulk_group [%%map, ", c->map.rank);
    write_vector(out, 'r', 0, c->map.rank);
    (void)fputs("], [%smem];\n    cp.async.bulk.commit_group;\n    cp.async.bulk.wait_group 0;\nISSUED:\n", out);
}

/* Input register 4 is the byte offset of the lane's row, 0-3 what stmatrix stores. */
static void write_matrix(const struct layout_case *c, FILE *out)
{
    const char *trans = c->transposed ? ".trans" : "";

    (void)fputs("    setp.ge.u32 %q, %t, 32;\n    @%q bra OTHERS;\n    add.u32 %a, %smem, %r4;\n", out);
    if (c->kind == LAYOUT_LDMATRIX) {
        (void)fprintf(out, "    ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 ", c->count, trans);
        write_vector(out, 'd', 0, c->count);
        (void)fputs(", [%a];\n", out);
        write_store_registers(out, 'd', c->count);
        (void)fputs("OTHERS:\n", out);
        return;
    }
    (void)fprintf(out, "    stmatrix.sync.aligned.m8n8.x%d%s.shared.b16 [%%a], ", c->count, trans);
    write_vector(out, 'r', 0, c->count);
    (void)fputs(";\nOTHERS:\n", out);
    write_dump(out, c->words);
}

/* Input registers 0-3 hold A, 4-5 hold B. */
static void write_mma(const struct layout_case *c, FILE *out)
{
    bool integer = number_is_integer(c->format);
    char d = integer ? 'd' : 'f';
    const char *type = number_text(c->format), *result = integer ? "s32" : "f32";

    (void)fputs("    setp.ge.u32 %q, %t, 32;\n    @%q bra OTHERS;\n", out);
    for (int i = 0; i < 4; i++)
        (void)fprintf(out, "    mov.b32 %%%c%d, %s;\n", d, i, integer ? "0" : "0f00000000");
    (void)fprintf(out, "    mma.sync.aligned.m16n8k%d.row.col.%s.%s.%s.%s ", c->k, result, type, type, result);
    write_vector(out, d, 0, 4);
    (void)fputs(", ", out);
    write_vector(out, 'r', 0, layout_mma_a(c).registers);
    (void)fputs(", ", out);
    write_vector(out, 'r', 4, layout_mma_b(c).registers);
    (void)fputs(", ", out);
    write_vector(out, d, 0, 4);
    (void)fputs(";\n", out);
    write_store_registers(out, d, 4);
    (void)fputs("OTHERS:\n", out);
}

void layout_case_write_ptx(const struct layout_case *c, FILE *out)
{
    write_prologue(out);
    switch (c->kind) {
    case LAYOUT_TMA_LOAD:
    case LAYOUT_TMA_STORE:
        write_tma(c, out);
        break;
    case LAYOUT_WGMMA_B:
    case LAYOUT_WGMMA_A:
        write_wgmma(c, out);
        break;
    case LAYOUT_LDMATRIX:
    case LAYOUT_STMATRIX:
        write_matrix(c, out);
        break;
    case LAYOUT_MMA:
        write_mma(c, out);
        break;
    }
    (void)fputs("    ret;\n}\n", out);
}
