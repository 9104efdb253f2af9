/* Shared by host C and device C++: what a comparison counts. */
#ifndef PTXBENCH_DEVICE_COMPARE_STATS_H
#define PTXBENCH_DEVICE_COMPARE_STATS_H

enum {
    COMPARE_POISON_BYTE = 0xff, /* NaN in every float type, -1 in integers */
    COMPARE_TILE = 64           /* rows and columns of a tile in the mismatch map */
};

enum compare_kind { COMPARE_ALLCLOSE, COMPARE_MAX_RULE };

/* See src/judge/tolerance.h for the two rules. */
struct compare_rule {
    int kind; /* enum compare_kind */
    float atol;
    float rtol;
};

struct compare_stats {
    unsigned long long mismatches;
    unsigned long long nans;           /* in the candidate's output */
    unsigned long long infinities;     /* in the candidate's output */
    unsigned long long untouched;      /* elements that still hold the poison pattern */
    unsigned long long first_mismatch; /* element index; ~0 when none */
    double sum_square_error;           /* over pairs with a finite difference */
    double sum_square_reference;
    unsigned int max_abs_bits; /* float bits, over pairs with a finite difference */
    unsigned int max_rel_bits; /* of |got - expected| / (|expected| + 1e-8) */
};

#endif
