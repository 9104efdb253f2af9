#include "agent/prompt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/prompt_template.h"
#include "base/buffer.h"
#include "base/file.h"
#include "base/resource.h"
#include "judge/tolerance.h"

enum { TEMPLATE_FILE_BYTES = 1 << 20, VALUES_MAX = 32 };

static const struct prompt_language {
    const char *name;
    const char *fence;
    const char *suffix; /* of abi-BINDING */
    enum extract_language extract;
    const char *banned;
    bool target_instructions; /* the author chooses them */
} languages[] = {
    {"cuda-ptx", "cpp", "cu", EXTRACT_CUDA,
     "Vendor and template libraries (cuBLAS, cuDNN, cuFFT, CUTLASS, CuTe, Thrust, CUB, PyTorch) are banned, by "
     "include, by "
     "symbol and by dlopen.",
     true},
    {"triton", "python", "py", EXTRACT_PYTHON,
     "Other libraries of kernels (cuBLAS, cuDNN, FlashAttention, FlashInfer, xFormers) are banned.", false},
    {"cute-dsl", "python", "py", EXTRACT_PYTHON,
     "Finished kernels of libraries (cuBLAS, cuDNN, CUTLASS operators, FlashAttention, FlashInfer) are banned.", true},
};

static const struct prompt_arch {
    const char *arch;
    const char *gpu;
    const char *instructions;
} arches[] = {
    {"sm_90a", "NVIDIA H100 or H200 GPU", "wgmma.mma_async and TMA copies, cp.async.bulk.tensor"},
    {"sm_100a", "NVIDIA B200 GPU", "tcgen05.mma with tensor memory, fed by TMA copies, cp.async.bulk.tensor"},
};

/* Values of one text; texts are borrowed. */
struct values {
    struct template_value items[VALUES_MAX];
    size_t count;
};

static void put(struct values *values, const char *name, const char *text)
{
    if (values->count < VALUES_MAX)
        values->items[values->count++] = (struct template_value){name, text};
}

static const struct prompt_language *find_language(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(languages); i++)
        if (name && !strcmp(languages[i].name, name))
            return &languages[i];
    return NULL;
}

enum extract_language prompt_extract_language(const char *language)
{
    const struct prompt_language *found = find_language(language);

    return found ? found->extract : EXTRACT_CUDA;
}

static bool need_language(const char *name, const struct prompt_language **out, struct error *error)
{
    *out = find_language(name);
    if (*out)
        return true;
    (void)error_set(error, ERROR_NOT_FOUND, "there are no prompts for the kernel language \"%s\"", name ? name : "");
    return error_hint(error, "known: cuda-ptx, triton, cute-dsl");
}

/* prompts/LANGUAGE/FILE, or the common prompts/FILE. */
static bool read_file(struct arena *arena, const struct prompt_language *language, const char *file, const char **name,
                      const char **out, struct error *error)
{
    AUTO_FREE char *text = NULL;
    size_t length;
    const char *path = resource_find(arena, arena_printf(arena, "prompts/%s/%s", language->name, file));

    *name = arena_printf(arena, "prompts/%s/%s", language->name, file);
    if (!path) {
        *name = arena_printf(arena, "prompts/%s", file);
        path = resource_find(arena, *name);
    }
    if (!path) {
        (void)error_set(error, ERROR_NOT_FOUND, "%s is not there", *name);
        return error_hint(error, "prompts ship with the program; $PTXBENCH_HOME names another tree");
    }
    if (!file_read(path, TEMPLATE_FILE_BYTES, &text, &length, error))
        return false;
    *out = arena_strndup(arena, text, length);
    return true;
}

static const char *without_last_newline(struct arena *arena, const char *text)
{
    size_t length = strlen(text);

    while (length && text[length - 1] == '\n')
        length--;
    return arena_strndup(arena, text, length);
}

static bool abi_example(struct arena *arena, const struct prompt_language *language, const char *binding,
                        const char **out, struct error *error)
{
    const char *name;

    return read_file(arena, language, arena_printf(arena, "abi-%s.%s", binding ? binding : "tvm-ffi", language->suffix),
                     &name, out, error);
}

bool prompt_abi_example(struct arena *arena, const struct prompt_task *task, const char **out, struct error *error)
{
    const struct prompt_language *language;

    return need_language(task->language, &language, error) && abi_example(arena, language, task->binding, out, error);
}

/* The definition without tags (they name its place in the paper) and without the reference, which follows as text. */
static bool definition_text(struct arena *arena, const struct definition *definition, const char **out,
                            struct error *error)
{
    AUTO_JSON_OBJECT *shown = json_object_new_object();
    AUTO_FREE char *text = NULL;

    for (size_t i = 0; i < json_length(definition->source); i++) {
        const char *key;
        struct json member = json_entry(definition->source, i, &key);
        if (strcmp(key, "tags") != 0 && strcmp(key, "reference") != 0)
            json_put(shown, key, json_object_get(member.value));
    }
    if (!json_to_text(shown, true, &text, error))
        return false;
    *out = without_last_newline(arena, text);
    return true;
}

static void append_tensor(struct buffer *out, const struct prompt_task *task, size_t index)
{
    const struct definition *definition = task->workload->definition;
    bool input = index < definition->input_count;
    const struct tensor_spec *spec =
        input ? &definition->inputs[index] : &definition->outputs[index - definition->input_count];

    (void)buffer_printf(out, "| %zu | `%s` | %s | ", index, spec->name, input ? "input" : "output");
    if (spec->scalar) {
        (void)buffer_printf(out, "scalar %s", dtype_text(spec->dtype));
        if (input && task->workload->inputs[index].kind == INPUT_SCALAR)
            (void)buffer_printf(out, " = %.9g", task->workload->inputs[index].real);
        (void)buffer_append_text(out, " | |\n");
        return;
    }
    for (int i = 0; i < spec->rank; i++)
        (void)buffer_printf(out, "%s%s", i ? ", " : "[", definition->axes[spec->axes[i]].name);
    (void)buffer_printf(out, "%s = ", spec->rank ? "]" : "[]");
    for (int i = 0; i < spec->rank; i++)
        (void)buffer_printf(out, "%s%" PRId64, i ? ", " : "[", task->workload->axes[spec->axes[i]]);
    (void)buffer_printf(out, "%s | %s |\n", spec->rank ? "]" : "[]", dtype_text(spec->dtype));
}

static const char *tensors_text(struct arena *arena, const struct prompt_task *task)
{
    const struct definition *definition = task->workload->definition;
    AUTO_BUFFER out = buffer_new(64 << 10);

    (void)buffer_append_text(&out, "| | name | kind | shape | dtype |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < definition->input_count + definition->output_count; i++)
        append_tensor(&out, task, i);
    return without_last_newline(arena, out.data);
}

static bool put_task(struct arena *arena, const struct prompt_task *task, const struct prompt_language *language,
                     struct values *values, struct error *error)
{
    const struct definition *definition = task->workload->definition;
    struct tolerance tolerance = tolerance_paper();
    const struct prompt_arch *arch = NULL;
    const char *definition_json;
    char *axes = arena_alloc(arena, 1024);

    for (size_t i = 0; i < ARRAY_LEN(arches); i++)
        if (task->arch && !strcmp(arches[i].arch, task->arch))
            arch = &arches[i];
    if (!arch) {
        (void)error_set(error, ERROR_NOT_FOUND, "there are no prompts for the architecture \"%s\"",
                        task->arch ? task->arch : "");
        return error_hint(error, "known: sm_90a, sm_100a");
    }
    if (!definition_text(arena, definition, &definition_json, error))
        return false;
    workload_axes_text(task->workload, false, axes, 1024);
    put(values, "arch", arch->arch);
    put(values, "gpu", arch->gpu);
    put(values, "target_instructions", language->target_instructions ? arch->instructions : "");
    put(values, "fence", language->fence);
    put(values, "banned", language->banned);
    put(values, "name", definition->name);
    put(values, "definition", definition_json);
    put(values, "reference", without_last_newline(arena, definition->reference));
    put(values, "axes", axes);
    put(values, "tensors", tensors_text(arena, task));
    put(values, "tolerance",
        arena_printf(arena, "|got - expected| <= %g + %g |expected|", tolerance.atol, tolerance.rtol));
    put(values, "target_speedup", task->target_speedup > 0 ? arena_printf(arena, "%g", task->target_speedup) : "");
    return true;
}

static void put_turn(struct arena *arena, const struct prompt_turn *turn, struct values *values)
{
    bool limited = turn && turn->turn_limit > 0;

    put(values, "feedback", turn && turn->feedback ? without_last_newline(arena, turn->feedback) : "");
    put(values, "notes", turn && turn->notes ? without_last_newline(arena, turn->notes) : "");
    put(values, "turn", limited ? arena_printf(arena, "%d", turn->turn) : "");
    put(values, "turn_limit", limited ? arena_printf(arena, "%d", turn->turn_limit) : "");
    put(values, "best_speedup", turn && turn->best_speedup > 0 ? arena_printf(arena, "%.3f", turn->best_speedup) : "");
}

static bool fill_file(struct arena *arena, const struct prompt_language *language, const char *file,
                      const struct values *values, const char **out, struct error *error)
{
    const char *name;
    const char *text;

    return read_file(arena, language, file, &name, &text, error) &&
           template_fill(arena, name, text, values->items, values->count, out, error);
}

bool prompt_system(struct arena *arena, const struct prompt_task *task, const char **out, struct error *error)
{
    const struct prompt_language *language;
    struct values values = {0};
    const char *example;

    if (!need_language(task->language, &language, error) || !put_task(arena, task, language, &values, error) ||
        !abi_example(arena, language, task->binding, &example, error))
        return false;
    put(&values, "abi_example", without_last_newline(arena, example));
    put(&values, "pack", task->pack_text ? without_last_newline(arena, task->pack_text) : "");
    put(&values, "guidance", task->guidance ? without_last_newline(arena, task->guidance) : "");
    return fill_file(arena, language, "system.md", &values, out, error);
}

bool prompt_first_turn(struct arena *arena, const struct prompt_task *task, const char **out, struct error *error)
{
    const struct prompt_language *language;
    struct values values = {0};

    return need_language(task->language, &language, error) && put_task(arena, task, language, &values, error) &&
           fill_file(arena, language, "task.md", &values, out, error);
}

bool prompt_next_turn(struct arena *arena, const struct prompt_task *task, const struct prompt_turn *turn,
                      const char **out, struct error *error)
{
    const struct prompt_language *language;
    struct values values = {0};

    if (!need_language(task->language, &language, error) || !put_task(arena, task, language, &values, error))
        return false;
    put_turn(arena, turn, &values);
    return fill_file(arena, language, "turn.md", &values, out, error);
}

/* A fence that no run of backticks in the text closes. */
static const char *fence_around(struct arena *arena, const char *text)
{
    size_t longest = 2;
    char *fence;

    for (const char *at = text; *at;) {
        size_t run = strspn(at, "`");
        if (run > longest)
            longest = run;
        at += run ? run : 1;
    }
    fence = arena_alloc(arena, longest + 2);
    memset(fence, '`', longest + 1);
    return fence;
}

bool prompt_repair(struct arena *arena, const struct prompt_task *task, const char *wrong_source, const char *feedback,
                   const char *notes, const char **out, struct error *error)
{
    const struct prompt_turn turn = {.feedback = feedback, .notes = notes};
    const struct prompt_language *language;
    struct values values = {0};

    if (!need_language(task->language, &language, error) || !put_task(arena, task, language, &values, error))
        return false;
    put_turn(arena, &turn, &values);
    put(&values, "source", without_last_newline(arena, wrong_source));
    put(&values, "source_fence", fence_around(arena, wrong_source));
    return fill_file(arena, language, "repair.md", &values, out, error);
}

bool prompt_no_code(struct arena *arena, const struct prompt_task *task, const struct extract_result *result,
                    const struct prompt_turn *turn, const char **out, struct error *error)
{
    const struct prompt_language *language;
    struct values values = {0};

    if (!need_language(task->language, &language, error) || !put_task(arena, task, language, &values, error))
        return false;
    put_turn(arena, turn, &values);
    put(&values, "reason", result->reason);
    return fill_file(arena, language, "no-code.md", &values, out, error);
}
