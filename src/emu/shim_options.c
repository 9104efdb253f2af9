#include "emu/shim_options.h"

#include <errno.h>
#include <string.h>

enum { COMPLETION_EAGER, COMPLETION_LATE, COMPLETION_RANDOM };

#define DEFAULT_MEMORY_MAX (80ull << 30) /* an H100's */

/* A decimal number, optionally with K, M or G behind it. */
static bool parse_bytes(const char *text, uint64_t *out)
{
    static const char units[] = "KMG";
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *text == '-')
        return false;
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (*end && (!unit || end[1]))
        return false;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (value > UINT64_MAX >> shift)
        return false;
    *out = (uint64_t)value << shift;
    return true;
}

static bool parse_number(const char *text, uint64_t limit, uint64_t *out)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || value > limit)
        return false;
    *out = value;
    return true;
}

static bool parse_completion(const char *text, uint32_t *out)
{
    static const char *const words[] = {"eager", "late", "random"};

    for (uint32_t i = 0; i < ARRAY_LEN(words); i++) {
        if (!strcmp(text, words[i])) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool take_word(const char *word, struct emulator_schedule *out)
{
    uint64_t number;

    if (!strcmp(word, "reverse")) {
        out->reverse_warps = true;
        return true;
    }
    if (!strcmp(word, "unchecked")) {
        out->unchecked = true;
        return true;
    }
    if (!strncmp(word, "completion=", 11))
        return parse_completion(word + 11, &out->completion);
    if (!strncmp(word, "seed=", 5))
        return parse_number(word + 5, UINT64_MAX, &out->seed);
    if (!strncmp(word, "quantum=", 8) && parse_number(word + 8, UINT32_MAX, &number)) {
        out->quantum = (uint32_t)number;
        return true;
    }
    if (!strncmp(word, "shift=", 6) && parse_number(word + 6, 65536, &number) && number % 16 == 0) {
        out->shared_shift = (uint32_t)number;
        return true;
    }
    return false;
}

/* Warps of a GPU go forward together. With turns this short a kernel that is right only because they do stays right; who
 * lets one warp run far ahead finds formal races instead (quantum=0). */
enum { DEFAULT_QUANTUM = 32 };
static const uint32_t NO_QUANTUM = UINT32_MAX; /* the text names none */

bool shim_schedule_parse(const char *text, struct emulator_schedule *out, struct error *error)
{
    *out = (struct emulator_schedule){.quantum = NO_QUANTUM};
    while (*text) {
        char word[64];
        size_t length = strcspn(text, ",");
        (void)snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word), text);
        if (!take_word(word, out)) {
            (void)error_set(error, ERROR_USAGE, "schedule: \"%s\" is not understood", word);
            return error_hint(error, "known are reverse, unchecked, quantum=N, completion=eager|late|random, seed=N, "
                                     "shift=BYTES (a multiple of 16)");
        }
        text += length;
        text += *text == ',';
    }
    if (out->quantum == NO_QUANTUM) /* random completion has turns of random length */
        out->quantum = out->completion == COMPLETION_RANDOM ? 0 : DEFAULT_QUANTUM;
    return true;
}

static bool read_arch(shim_environment *environment, struct shim_options *out, struct error *error)
{
    const char *text = environment(SHIM_ENV_ARCH);

    out->arch = text && *text ? text : "sm_90a";
    if (!strcmp(out->arch, "sm_90a") || !strcmp(out->arch, "sm_100a"))
        return true;
    return error_set(error, ERROR_USAGE, "%s: unknown architecture \"%s\"; known are sm_90a and sm_100a", SHIM_ENV_ARCH,
                     text);
}

static const char *text_or_null(shim_environment *environment, const char *name)
{
    const char *text = environment(name);

    return text && *text ? text : NULL;
}

static bool is_on(shim_environment *environment, const char *name)
{
    const char *text = text_or_null(environment, name);

    return text && strcmp(text, "0") != 0;
}

/* A path, or "fd:N" for a descriptor that the process has inherited. */
static bool read_findings(shim_environment *environment, struct shim_options *out, struct error *error)
{
    const char *text = text_or_null(environment, SHIM_ENV_FINDINGS);
    uint64_t fd;

    out->findings_fd = -1;
    if (!text || strncmp(text, "fd:", 3) != 0) {
        out->findings_path = text;
        return true;
    }
    if (!parse_number(text + 3, INT32_MAX, &fd))
        return error_set(error, ERROR_USAGE, "%s: \"%s\" is no descriptor such as fd:4", SHIM_ENV_FINDINGS, text);
    out->findings_fd = (int)fd;
    return true;
}

bool shim_options_read(shim_environment *environment, uint64_t physical_bytes, struct shim_options *out,
                       struct error *error)
{
    uint64_t memory = physical_bytes / 4 * 3;

    *out = (struct shim_options){.memory_bytes = memory < DEFAULT_MEMORY_MAX ? memory : DEFAULT_MEMORY_MAX};
    if (!read_arch(environment, out, error))
        return false;
    if (!read_findings(environment, out, error))
        return false;
    out->launches = is_on(environment, SHIM_ENV_LAUNCHES);
    out->guard = is_on(environment, SHIM_ENV_GUARD);
    const char *sample = text_or_null(environment, SHIM_ENV_SAMPLE);
    if (sample && !parse_number(sample, UINT32_MAX, &out->sample))
        return error_set(error, ERROR_USAGE, "%s: \"%s\" is not a number of clusters", SHIM_ENV_SAMPLE, sample);
    out->stats_path = text_or_null(environment, SHIM_ENV_STATS);
    out->quiet = is_on(environment, SHIM_ENV_QUIET);
    const char *budget = text_or_null(environment, SHIM_ENV_BUDGET);
    if (budget && !parse_number(budget, UINT64_MAX, &out->budget))
        return error_set(error, ERROR_USAGE, "%s: \"%s\" is not a number of instructions", SHIM_ENV_BUDGET, budget);
    const char *wanted = text_or_null(environment, SHIM_ENV_MEMORY);
    if (wanted && (!parse_bytes(wanted, &out->memory_bytes) || !out->memory_bytes))
        return error_set(error, ERROR_USAGE, "%s: \"%s\" is not a size such as 512M or 8G", SHIM_ENV_MEMORY, wanted);
    const char *schedule = text_or_null(environment, SHIM_ENV_SCHEDULE);
    if (!shim_schedule_parse(schedule ? schedule : "", &out->schedule, error))
        return error_prefix(error, "%s", SHIM_ENV_SCHEDULE);
    return true;
}
