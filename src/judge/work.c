/* Arithmetic that a definition needs: target_required_flops. */
#include <string.h>

#include "judge/target.h"

enum work_shape {
    WORK_GEMM,     /* factor * M * N * K */
    WORK_ATTENTION /* factor * B * H * query-key pairs * D; pairs are halved by a causal mask */
};

/* A row matches a definition or op_type that starts with `prefix`, an "fp8_" in front ignored. First match wins. */
static const struct {
    const char *prefix;
    enum work_shape shape;
    double factor;
} work_rows[] = {
    {"gemm", WORK_GEMM, 2},
    {"mha_bwd", WORK_ATTENTION, 10},
    {"mha_backward", WORK_ATTENTION, 10},
    {"mha", WORK_ATTENTION, 4},
};

static bool starts_with(const char *text, const char *prefix)
{
    if (!text)
        return false;
    if (strncmp(text, "fp8_", 4) == 0)
        text += 4;
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Size of the first axis with one of the names ("S L"); false when there is none. */
static bool find_axis(const struct count_map *axes, const char *names, double *out)
{
    while (*names) {
        size_t length = strcspn(names, " ");
        for (size_t i = 0; i < axes->count; i++) {
            const struct named_count *axis = &axes->items[i];
            if (strlen(axis->name) == length && strncmp(axis->name, names, length) == 0 && axis->count >= 0) {
                *out = (double)axis->count;
                return true;
            }
        }
        names += length;
        names += *names == ' ';
    }
    return false;
}

struct number target_required_flops(const char *definition, const char *op_type, const struct count_map *axes)
{
    double a;
    double b;
    double c;
    double d;

    for (size_t i = 0; i < ARRAY_LEN(work_rows); i++) {
        if (!starts_with(definition, work_rows[i].prefix) && !starts_with(op_type, work_rows[i].prefix))
            continue;
        if (work_rows[i].shape == WORK_GEMM) {
            if (!find_axis(axes, "M", &a) || !find_axis(axes, "N", &b) || !find_axis(axes, "K", &c))
                return (struct number){0};
            return number_of(work_rows[i].factor * a * b * c);
        }
        if (!find_axis(axes, "B batch_size", &a) || !find_axis(axes, "H num_heads", &b) ||
            !find_axis(axes, "S L seq_len", &c) || !find_axis(axes, "D d head_dim", &d))
            return (struct number){0};
        bool causal = (definition && strstr(definition, "causal")) || (op_type && strstr(op_type, "causal"));
        double pairs = causal ? c * (c + 1) / 2 : c * c;
        return number_of(work_rows[i].factor * a * b * pairs * d);
    }
    return (struct number){0};
}
