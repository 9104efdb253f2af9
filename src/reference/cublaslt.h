/* C[M,N] = A[M,K] * B[N,K]^T by cublasLtMatmul; see reference.h for contexts and threads. */
#ifndef PTXBENCH_REFERENCE_CUBLASLT_H
#define PTXBENCH_REFERENCE_CUBLASLT_H

#include "reference/reference.h"

struct cublaslt_matmul;

/* Loads libcublasLt.so.13, asks its heuristics with a 32 MiB workspace (what PyTorch gives it on Hopper and newer) and
 * keeps result 0, as torch.matmul does. Errors as reference_open. */
MUST_CHECK bool cublaslt_matmul_open(const struct cuda_driver *driver, const struct reference_problem *problem,
                                     struct cublaslt_matmul **out, struct error *error);

/* Texts live as long as the object. */
struct reference_identity cublaslt_matmul_identity(const struct cublaslt_matmul *matmul);

MUST_CHECK bool cublaslt_matmul_run(struct cublaslt_matmul *matmul, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c,
                                    CUstream stream, struct error *error);

/* Accepts NULL and a half-opened object. */
void cublaslt_matmul_close(struct cublaslt_matmul *matmul);

#endif
