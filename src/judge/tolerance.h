/*
 * When two elements agree. Scalar rules, written once in C as the definition that the comparison kernels are tested
 * against.
 */
#ifndef PTXBENCH_JUDGE_TOLERANCE_H
#define PTXBENCH_JUDGE_TOLERANCE_H

#include <stdbool.h>
#include <stdint.h>

/* rule, text */
#define TOLERANCE_RULES(X)                                                                                             \
    X(TOLERANCE_ALLCLOSE, "allclose")     /* right when |d| <= atol + rtol * |expected|: torch.allclose, paper 2.2 */  \
    X(TOLERANCE_FLASHINFER, "flashinfer") /* wrong when |d| > atol and |d| / (|expected| + 1e-8) > rtol */

enum tolerance_rule {
#define X(name, text) name,
    TOLERANCE_RULES(X)
#undef X
};

struct tolerance {
    enum tolerance_rule rule;
    double atol;
    double rtol;
    double required_ratio; /* share of the elements that must agree, in (0, 1] */
};

/* The paper: allclose, atol = rtol = 1e-2, every element. */
struct tolerance tolerance_paper(void);

/* NaN agrees with nothing, not even NaN; an infinity agrees with the same infinity only. */
bool tolerance_agrees(const struct tolerance *tolerance, double got, double expected);

/* |got - expected|: 0 for equal infinities, NaN when either is NaN. */
double tolerance_absolute_error(double got, double expected);

/* Absolute error / (|expected| + 1e-8), as FlashInfer-Trace reports it. */
double tolerance_relative_error(double got, double expected);

/* Whether `mismatches` of `elements` are few enough. An output without elements agrees. */
bool tolerance_accepts(const struct tolerance *tolerance, int64_t mismatches, int64_t elements);

/* Finite, non-negative bounds and a ratio in (0, 1]. */
bool tolerance_valid(const struct tolerance *tolerance);

bool tolerance_rule_parse(const char *text, enum tolerance_rule *out);
const char *tolerance_rule_text(enum tolerance_rule rule);

#endif
