/* Causal variant of mha_fwd.cu. */
#define CAUSAL 1
#include "mha_fwd.cu"
