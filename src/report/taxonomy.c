#include "report/taxonomy.h"

#include <string.h>

struct outcome_text {
    const char *key;
    const char *words;
};

static const struct outcome_text texts[OUTCOME_COUNT] = {
#define X(name, key, words) {key, words},
    TURN_OUTCOMES(X)
#undef X
};

const char *outcome_key(enum turn_outcome outcome)
{
    return (size_t)outcome < ARRAY_LEN(texts) ? texts[outcome].key : "other";
}

const char *outcome_words(enum turn_outcome outcome)
{
    return (size_t)outcome < ARRAY_LEN(texts) ? texts[outcome].words : "other";
}

bool outcome_parse(const char *key, enum turn_outcome *out)
{
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (!strcmp(texts[i].key, key)) {
            *out = (enum turn_outcome)i;
            return true;
        }
    }
    return false;
}

static enum turn_outcome correct_with(enum tristate target)
{
    return target == TRISTATE_YES  ? OUTCOME_CORRECT_TARGET
           : target == TRISTATE_NO ? OUTCOME_CORRECT_PLAIN
                                   : OUTCOME_CORRECT_UNKNOWN;
}

/* Findings that say more than the status does. The first row whose code a verdict has decides. */
struct refinement {
    enum finding_code code;
    enum turn_outcome outcome;
};

static const struct refinement refinements[] = {
    {FINDING_BANNED_LIBRARY, OUTCOME_BANNED_LIBRARY},
    {FINDING_FORBIDDEN_CALL, OUTCOME_SCREENING},
    {FINDING_FOREIGN_CODE, OUTCOME_SCREENING},
    {FINDING_FORBIDDEN_SYSCALL, OUTCOME_SCREENING},
    {FINDING_DESCRIPTORS_CLOSED, OUTCOME_SCREENING},
    {FINDING_REPORT_FORGED, OUTCOME_SCREENING},
    {FINDING_RESULT_MEMOISED, OUTCOME_SCREENING},
    {FINDING_FASTER_THAN_HARDWARE, OUTCOME_SCREENING},
    {FINDING_TIMING_MISMATCH, OUTCOME_SCREENING},
    {FINDING_LATE_WORK, OUTCOME_SCREENING},
    {FINDING_NO_DEVICE_WORK, OUTCOME_SCREENING},
    {FINDING_WRONG_SHAPE, OUTCOME_SHAPE_DTYPE},
    {FINDING_WRONG_DTYPE, OUTCOME_SHAPE_DTYPE},
    {FINDING_WRONG_ARITY, OUTCOME_SHAPE_DTYPE},
    {FINDING_KERNEL_HANG, OUTCOME_HANG},
    {FINDING_HOST_HANG, OUTCOME_HANG},
    {FINDING_COMPILE_TIMEOUT, OUTCOME_COMPILE},
    {FINDING_TIMED_OUTPUT_WRONG, OUTCOME_NUMERICAL},
};

static const enum turn_outcome by_status[] = {
    [VERDICT_INFRA_ERROR] = OUTCOME_INFRASTRUCTURE,
    [VERDICT_PASSED] = OUTCOME_CORRECT_UNKNOWN, /* never looked up: split by target instructions */
    [VERDICT_INCORRECT_SHAPE] = OUTCOME_SHAPE_DTYPE,
    [VERDICT_INCORRECT_NUMERICAL] = OUTCOME_NUMERICAL,
    [VERDICT_INCORRECT_DTYPE] = OUTCOME_SHAPE_DTYPE,
    [VERDICT_RUNTIME_ERROR] = OUTCOME_RUNTIME,
    [VERDICT_COMPILE_ERROR] = OUTCOME_COMPILE,
    [VERDICT_TIMEOUT] = OUTCOME_HANG,
};

enum turn_outcome outcome_of_verdict(const struct verdict *verdict)
{
    enum verdict_executed executed = verdict->target.executed;

    if (verdict->status == VERDICT_INFRA_ERROR ||
        (verdict->status != VERDICT_PASSED && verdict->blame != BLAME_CANDIDATE))
        return OUTCOME_INFRASTRUCTURE;
    if (verdict->status == VERDICT_PASSED)
        return correct_with(executed == EXECUTED_YES       ? TRISTATE_YES
                            : executed == EXECUTED_UNKNOWN ? TRISTATE_UNKNOWN
                                                           : TRISTATE_NO);
    for (size_t i = 0; i < ARRAY_LEN(refinements); i++) {
        const struct finding *finding = finding_find(&verdict->findings, refinements[i].code);
        if (finding && finding->blame == BLAME_CANDIDATE && finding->class == FINDING_CLASS_ERROR)
            return refinements[i].outcome;
    }
    return (size_t)verdict->status < ARRAY_LEN(by_status) ? by_status[verdict->status] : OUTCOME_OTHER;
}

enum turn_outcome outcome_of_evaluation(enum evaluation_status status)
{
    switch (status) {
    case EVALUATION_PASSED:
        return OUTCOME_CORRECT_UNKNOWN;
    case EVALUATION_INCORRECT_SHAPE:
    case EVALUATION_INCORRECT_DTYPE:
        return OUTCOME_SHAPE_DTYPE;
    case EVALUATION_INCORRECT_NUMERICAL:
        return OUTCOME_NUMERICAL;
    case EVALUATION_RUNTIME_ERROR:
        return OUTCOME_RUNTIME;
    case EVALUATION_COMPILE_ERROR:
        return OUTCOME_COMPILE;
    case EVALUATION_TIMEOUT:
        return OUTCOME_HANG;
    }
    return OUTCOME_OTHER;
}

/* "Other error" holds library bans, wrong shapes and turns without a trace: the published file does not tell which. */
static const struct {
    const char *label;
    enum turn_outcome outcome;
} labels[] = {
    {"Compilation error", OUTCOME_COMPILE},
    {"Runtime error", OUTCOME_RUNTIME},
    {"Numerical error", OUTCOME_NUMERICAL},
    {"Kernel Execution Timeout", OUTCOME_HANG},
    {"Extraction error", OUTCOME_EXTRACTION},
    {"Other error", OUTCOME_OTHER},
    {"Profiling Service Timeout", OUTCOME_INFRASTRUCTURE},
    {"Sanitize Timeout", OUTCOME_INFRASTRUCTURE},
};

bool outcome_of_label(const char *label, enum tristate target, enum turn_outcome *out)
{
    if (!strcmp(label, "Correct")) {
        *out = correct_with(target);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        if (!strcmp(labels[i].label, label)) {
            *out = labels[i].outcome;
            return true;
        }
    }
    return false;
}
