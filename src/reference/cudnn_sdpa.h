/* Attention forward and backward by cuDNN; see reference.h for tensors, contexts and threads. */
#ifndef PTXBENCH_REFERENCE_CUDNN_SDPA_H
#define PTXBENCH_REFERENCE_CUDNN_SDPA_H

#include "reference/reference.h"

struct cudnn_sdpa;

/* Builds the graph, takes the best engine configuration that finalizes, and allocates its workspace. A configuration
 * that fails at the very first run is replaced by the next one there. Errors as reference_open. */
MUST_CHECK bool cudnn_sdpa_open(const struct cuda_driver *driver, const struct reference_problem *problem,
                                struct cudnn_sdpa **out, struct error *error);

/* Texts live as long as the object. */
struct reference_identity cudnn_sdpa_identity(const struct cudnn_sdpa *sdpa);

/* Pointers in the order of reference_run. */
MUST_CHECK bool cudnn_sdpa_run(struct cudnn_sdpa *sdpa, const CUdeviceptr *inputs, const CUdeviceptr *outputs,
                               CUstream stream, struct error *error);

/* Accepts NULL and a half-opened object. */
void cudnn_sdpa_close(struct cudnn_sdpa *sdpa);

#endif
