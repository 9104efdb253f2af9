/* The extractor on any bytes: results stay in their bounds, and the question and its answer fit together. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/extract.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_code(struct text_span code)
{
    if (code.length && (code.text[code.length - 1] != '\n' || memchr(code.text, '\0', code.length)))
        abort();
}

static void check(struct arena *arena, const uint8_t *data, size_t size, enum extract_language language)
{
    struct extract_result result;
    struct text_span chosen;
    char reply[32];

    extract_code_of((const char *)data, size, language, arena, &result);
    if (!result.reason || (result.status == EXTRACT_FOUND && !result.code.length) ||
        (result.status == EXTRACT_UNSURE && !result.code.length) ||
        (result.status == EXTRACT_NONE && result.code.length) || result.candidate_count > EXTRACT_BLOCKS)
        abort();
    check_code(result.code);
    if (strlen(extract_question(arena, &result)) > 8192)
        abort();
    for (size_t i = 0; i < result.candidate_count; i++) {
        check_code(result.candidates[i].code);
        (void)snprintf(reply, sizeof reply, "block %d", result.candidates[i].number);
        if (result.candidates[i].number < 10000 &&
            (!extract_read_choice(arena, &result, reply, strlen(reply), &chosen) ||
             chosen.text != result.candidates[i].code.text))
            abort();
    }
    (void)extract_read_choice(arena, &result, (const char *)data, size, &chosen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();

    check(arena, data, size, EXTRACT_CUDA);
    check(arena, data, size, EXTRACT_PYTHON);
    return 0;
}
