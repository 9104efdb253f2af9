#include "mutant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/attributes.h"
#include "base/file.h"
#include "base/splitmix.h"
#include "reference/cpu_reference.h"
#include "trace/convert.h"

enum { SOURCE_BYTES_MAX = 1 << 20, MULTIPROCESSORS = 2 };

static const struct kernel_row {
    const char *name;
    const char *end; /* takes the place of the host code */
} kernel_rows[] = {
    [MUTANT_GEMM] = {"gemm_wgmma", "}\n"},
    [MUTANT_MHA] = {"mha_fwd", "template __global__ void mha_fwd_kernel<128>(const __grid_constant__ CUtensorMap, "
                               "const __grid_constant__ CUtensorMap, const __grid_constant__ CUtensorMap, "
                               "const __grid_constant__ CUtensorMap, float *, const Problem);\n}\n"},
};

const char *mutant_kernel_name(enum mutant_kernel kernel)
{
    return kernel_rows[kernel].name;
}

static bool substitute(const struct mutant_edit *edit, char **text, struct error *error)
{
    char *at = strstr(*text, edit->replace);
    struct buffer changed = buffer_new(SOURCE_BYTES_MAX);

    if (!at)
        return error_set(error, ERROR_INPUT, "the source has no '%s'", edit->replace);
    (void)buffer_append(&changed, *text, (size_t)(at - *text));
    (void)buffer_append_text(&changed, edit->with);
    (void)buffer_append_text(&changed, at + strlen(edit->replace));
    free(*text);
    *text = changed.data;
    return true;
}

/* The binding's headers are not needed, and take longer to compile than the kernel. */
static void drop_binding(char *text)
{
    for (char *at = strstr(text, "#include <tvm/"); at; at = strstr(at, "#include <tvm/"))
        memcpy(at, "//", 2);
}

bool mutant_source(enum mutant_kernel kernel, const struct mutant *mutant, struct buffer *source, struct error *error)
{
    AUTO_FREE char *text = NULL;
    char path[512];
    size_t length;

    (void)snprintf(path, sizeof path, SOURCE_ROOT "/kernels/hopper/%s.cu", kernel_rows[kernel].name);
    if (!file_read(path, SOURCE_BYTES_MAX, &text, &length, error))
        return false;
    char *host = strstr(text, "/* Host. */");
    if (!host)
        return error_set(error, ERROR_INPUT, "%s: no host code", path);
    *host = 0;
    drop_binding(text);
    for (int i = 0; mutant && i < MUTANT_EDITS_MAX && mutant->edits[i].replace; i++)
        if (!substitute(&mutant->edits[i], &text, error))
            return error_prefix(error, "%s", mutant->name);
    (void)buffer_append_text(source, text);
    return buffer_append_text(source, kernel_rows[kernel].end) || error_set(error, ERROR_MEMORY, "out of memory");
}

/* Work. */

/* Everything is exact, in any order of additions: integers of -2..2; Q and K of MHA are 16 or -16, so that a row of the
 * softmax is 1 at the highest scores, or 1 / n where n are equal, and less than 1e-9 elsewhere. */
static void fill(enum mutant_kernel kernel, int input, uint16_t *values, size_t count)
{
    uint64_t seed = (uint64_t)input + 1;

    for (size_t i = 0; i < count; i++) {
        uint64_t random = splitmix_next(&seed) >> 33;
        bool sign_alone = kernel == MUTANT_MHA && input < 2;
        values[i] = float_to_bfloat16(sign_alone ? (random % 2 ? 16.0f : -16.0f) : (float)((int)random % 5 - 2));
    }
}

size_t mutant_elements(enum mutant_kernel kernel)
{
    return kernel == MUTANT_GEMM ? (size_t)MUTANT_GEMM_M * MUTANT_GEMM_N : (size_t)MUTANT_MHA_LENGTH * MUTANT_MHA_DIM;
}

static void set_sizes(enum mutant_kernel kernel, struct mutant_work *work)
{
    size_t elements = mutant_elements(kernel);

    work->output_bytes = elements * 2;
    for (int i = 0; i < 3; i++)
        work->input_bytes[i] = elements * 2;
    work->extra_bytes = kernel == MUTANT_MHA ? MUTANT_MHA_LENGTH * sizeof(float) : 0;
    if (kernel == MUTANT_GEMM) {
        work->input_bytes[0] = (size_t)MUTANT_GEMM_M * MUTANT_GEMM_K * 2;
        work->input_bytes[1] = (size_t)MUTANT_GEMM_N * MUTANT_GEMM_K * 2;
        work->input_bytes[2] = 0;
    }
}

bool mutant_work_new(enum mutant_kernel kernel, struct mutant_work *work, struct error *error)
{
    const struct cpu_attention shape = {.batch = 1, .heads = 1, .length = MUTANT_MHA_LENGTH, .dim = MUTANT_MHA_DIM};
    float lse[MUTANT_MHA_LENGTH];

    *work = (struct mutant_work){0};
    set_sizes(kernel, work);
    work->expected = malloc(work->output_bytes);
    for (int i = 0; i < 3; i++)
        work->inputs[i] = malloc(work->input_bytes[i] + 1);
    if (!work->expected || !work->inputs[0] || !work->inputs[1] || !work->inputs[2]) {
        mutant_work_free(work);
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    for (int i = 0; i < 3; i++)
        fill(kernel, i, (uint16_t *)(void *)work->inputs[i], work->input_bytes[i] / 2);
    const uint16_t *in[3];
    for (int i = 0; i < 3; i++)
        in[i] = (const uint16_t *)(const void *)work->inputs[i];
    if (kernel == MUTANT_GEMM)
        cpu_gemm(in[0], in[1], (uint16_t *)(void *)work->expected, MUTANT_GEMM_M, MUTANT_GEMM_N, MUTANT_GEMM_K);
    else
        cpu_mha_forward(&shape, in[0], in[1], in[2], (uint16_t *)(void *)work->expected, lse);
    return true;
}

void mutant_work_free(struct mutant_work *work)
{
    for (int i = 0; i < 3; i++)
        free(work->inputs[i]);
    free(work->expected);
    *work = (struct mutant_work){0};
}

static bool is_wrong(enum mutant_kernel kernel, uint16_t got, uint16_t expected)
{
    float value = bfloat16_to_float(got), reference = bfloat16_to_float(expected);

    if (kernel == MUTANT_GEMM)
        return !(value >= reference && value <= reference);
    return !(fabsf(value - reference) <= 1e-2f + 1e-2f * fabsf(reference));
}

size_t mutant_wrong(enum mutant_kernel kernel, const struct mutant_work *work, const uint8_t *output)
{
    const uint16_t *got = (const uint16_t *)(const void *)output;
    const uint16_t *expected = (const uint16_t *)(const void *)work->expected;
    size_t wrong = 0;

    for (size_t i = 0; i < mutant_elements(kernel); i++)
        wrong += is_wrong(kernel, got[i], expected[i]);
    return wrong;
}

bool mutant_launch(enum mutant_kernel kernel, const struct mutant *mutant, struct hopper_device device,
                   const uint64_t buffers[5], struct hopper_launch *launch, struct error *error)
{
    const struct hopper_gemm gemm = {.m = MUTANT_GEMM_M,
                                     .n = MUTANT_GEMM_N,
                                     .k = MUTANT_GEMM_K,
                                     .cluster = 2,
                                     .a = buffers[0],
                                     .b = buffers[1],
                                     .c = buffers[3]};
    const struct hopper_mha mha = {.heads = 1,
                                   .sequence = MUTANT_MHA_LENGTH,
                                   .dim = MUTANT_MHA_DIM,
                                   .q = buffers[0],
                                   .k = buffers[1],
                                   .v = buffers[2],
                                   .o = buffers[3],
                                   .lse = buffers[4]};

    device.multiprocessors = MULTIPROCESSORS;
    if (mutant) {
        device.shared_extra = mutant->shared_extra;
        device.wide_box = mutant->wide_box;
    }
    return kernel == MUTANT_GEMM ? hopper_gemm_launch(&device, &gemm, launch, error)
                                 : hopper_mha_launch(&device, &mha, launch, error);
}
