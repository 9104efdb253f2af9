/* The self-check behind reference_check: launches the naive kernels and judges their sums. */
#ifndef PTXBENCH_REFERENCE_NAIVE_CHECK_H
#define PTXBENCH_REFERENCE_NAIVE_CHECK_H

#include "reference/naive_reference.h"
#include "reference/reference.h"

/* Arguments and results as reference_check; `module` holds the naive kernels. */
MUST_CHECK bool naive_check(const struct cuda_driver *driver, CUmodule module, const struct reference_problem *problem,
                            const CUdeviceptr *inputs, const CUdeviceptr *outputs, uint64_t seed,
                            struct reference_agreement *agreement, struct error *error);

/* |output - naive| / |naive| of the summed parts; 0 when the outputs agree exactly, also at 0; NaN when a part is not
 * finite. */
double naive_error_norm(const struct naive_sums *parts, int64_t count);

/* Refuses an agreement with an error norm above its limit or not a number: ERROR_DEVICE that names `what`, the tensor,
 * both numbers and what to do. */
MUST_CHECK bool naive_judge(const struct reference_agreement *agreement, const char *what, struct error *error);

#endif
