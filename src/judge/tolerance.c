#include "judge/tolerance.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/attributes.h"

/* FlashInfer-Trace's guard against division by zero. */
#define RELATIVE_EPSILON 1e-8

static const char *const rule_texts[] = {
#define X(rule, text) text,
    TOLERANCE_RULES(X)
#undef X
};

struct tolerance tolerance_paper(void)
{
    return (struct tolerance){TOLERANCE_ALLCLOSE, 1e-2, 1e-2, 1.0};
}

double tolerance_absolute_error(double got, double expected)
{
    if (isinf(got) && isinf(expected) && (got > 0) == (expected > 0))
        return 0;
    return fabs(got - expected);
}

double tolerance_relative_error(double got, double expected)
{
    double absolute = tolerance_absolute_error(got, expected);

    if (isinf(expected) && isinf(absolute))
        return (double)INFINITY; /* inf / inf would be NaN */
    return absolute / (fabs(expected) + RELATIVE_EPSILON);
}

bool tolerance_agrees(const struct tolerance *tolerance, double got, double expected)
{
    double absolute;

    if (isnan(got) || isnan(expected))
        return false;
    if (isinf(got) || isinf(expected))
        return isinf(got) && isinf(expected) && (got > 0) == (expected > 0);
    absolute = fabs(got - expected);
    if (tolerance->rule == TOLERANCE_FLASHINFER)
        return !(absolute > tolerance->atol && absolute / (fabs(expected) + RELATIVE_EPSILON) > tolerance->rtol);
    return absolute <= tolerance->atol + tolerance->rtol * fabs(expected);
}

bool tolerance_accepts(const struct tolerance *tolerance, int64_t mismatches, int64_t elements)
{
    if (elements <= 0)
        return mismatches <= 0;
    if (tolerance->required_ratio >= 1.0)
        return mismatches <= 0; /* no rounding for the usual case */
    return (double)(elements - mismatches) / (double)elements >= tolerance->required_ratio;
}

bool tolerance_valid(const struct tolerance *tolerance)
{
    return isfinite(tolerance->atol) && tolerance->atol >= 0 && isfinite(tolerance->rtol) && tolerance->rtol >= 0 &&
           tolerance->required_ratio > 0 && tolerance->required_ratio <= 1;
}

bool tolerance_rule_parse(const char *text, enum tolerance_rule *out)
{
    for (size_t i = 0; i < ARRAY_LEN(rule_texts); i++) {
        if (strcmp(rule_texts[i], text) == 0) {
            *out = (enum tolerance_rule)i;
            return true;
        }
    }
    return false;
}

const char *tolerance_rule_text(enum tolerance_rule rule)
{
    return (size_t)rule < ARRAY_LEN(rule_texts) ? rule_texts[rule] : "unknown";
}
