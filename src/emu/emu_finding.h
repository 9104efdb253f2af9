/*
 * What the emulator has to say about a kernel: one explained defect each. The judge turns them into findings of a verdict.
 *
 * error: fails or is wrong on hardware. hazard: a legal order of events gives a wrong result. note: undocumented, tolerated.
 */
#ifndef PTXBENCH_EMU_EMU_FINDING_H
#define PTXBENCH_EMU_EMU_FINDING_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "emu/ptx_module.h"

enum emu_class { EMU_ERROR, EMU_HAZARD, EMU_NOTE };

/* enumerator, code in JSON, class, hint: adding a finding is adding a row */
#define EMU_CODES(X)                                                                                                   \
    X(EMU_GLOBAL_OUT_OF_BOUNDS, "global_out_of_bounds", EMU_ERROR, "check the last tile and the strides")              \
    X(EMU_USE_AFTER_FREE, "use_after_free", EMU_ERROR, "free the memory behind the last kernel that uses it")          \
    X(EMU_READ_ONLY, "read_only_write", EMU_ERROR, "inputs are read-only; write to a workspace of your own")           \
    X(EMU_SHARED_OUT_OF_BOUNDS, "shared_out_of_bounds", EMU_ERROR,                                                     \
      "ask for more dynamic shared memory at the launch, or check the offset")                                         \
    X(EMU_LOCAL_OUT_OF_BOUNDS, "local_out_of_bounds", EMU_ERROR, "check the index of the local array")                 \
    X(EMU_MISALIGNED, "misaligned_access", EMU_ERROR, "a vector access needs its natural alignment")                   \
    X(EMU_DEADLOCK, "deadlock", EMU_ERROR, "make every arrival that the wait counts on happen")                        \
    X(EMU_BARRIER_COUNT, "barrier_count", EMU_ERROR,                                                                   \
      "the count of a named barrier must be the number of threads that arrive, a multiple of 32")                      \
    X(EMU_TRAP, "trap", EMU_ERROR, "the kernel stopped itself: an assertion or __trap()")                              \
    X(EMU_BUDGET, "endless_loop", EMU_ERROR, "look at the loop's exit condition")                                      \
    X(EMU_DIVERGENT_ALIGNED, "divergent_aligned", EMU_ERROR,                                                           \
      "an .aligned instruction needs all threads of the warp together")                                                \
    X(EMU_UNINITIALISED_SHARED, "uninitialised_shared", EMU_HAZARD, "write the shared memory before it is read")       \
    X(EMU_MBARRIER, "mbarrier_misuse", EMU_ERROR,                                                                      \
      "initialise the barrier once, with the number of arrivals of a phase, and make that visible before its use")     \
    X(EMU_ASYNC_OPERAND, "async_copy_operand", EMU_ERROR, "see the message for the operand that the copy refuses")     \
    X(EMU_TENSOR_MAP, "tensor_map", EMU_ERROR,                                                                         \
      "pass the CUtensorMap as a __grid_constant__ parameter and check the result of its encoding")                    \
    X(EMU_COPY_AFTER_EXIT, "copy_after_exit", EMU_HAZARD,                                                              \
      "a CTA must not exit before the copies into its shared memory have landed: wait for them")                       \
    X(EMU_WARPGROUP, "incomplete_warpgroup", EMU_ERROR,                                                                \
      "all four warps of a warpgroup must execute the same wgmma instructions with the same operands")                 \
    X(EMU_MATRIX_LAYOUT, "matrix_layout", EMU_ERROR, "see the message for the field of the matrix descriptor")         \
    X(EMU_MATRIX_LAYOUT_HAZARD, "matrix_layout_hazard", EMU_HAZARD,                                                    \
      "see the message for the field of the matrix descriptor")                                                        \
    X(EMU_MATRIX_LAYOUT_NOTE, "matrix_layout_note", EMU_NOTE,                                                          \
      "see the message for the field of the matrix descriptor")                                                        \
    X(EMU_PROXY_FENCE, "missing_proxy_fence", EMU_HAZARD,                                                              \
      "put fence.proxy.async between the writes and the barrier before the copy or the wgmma that reads them")         \
    X(EMU_COPY_NOT_AWAITED, "copy_not_awaited", EMU_HAZARD,                                                            \
      "wait for the phase of the copy's mbarrier before its bytes are used")                                           \
    X(EMU_OVERWRITTEN, "overwritten_in_flight", EMU_HAZARD,                                                            \
      "wait until the operation has read its source (wait_group, mbarrier), then let the writer know by a barrier")    \
    X(EMU_MISSING_BARRIER, "missing_barrier", EMU_HAZARD,                                                              \
      "put a barrier between the threads that write shared memory and the one whose copy or wgmma reads it")           \
    X(EMU_REGISTER_IN_FLIGHT, "register_in_flight", EMU_HAZARD,                                                        \
      "commit the wgmma and wait for its group (wgmma.wait_group) before its registers are touched")                   \
    X(EMU_NOT_COMMITTED, "wgmma_not_committed", EMU_HAZARD, "put wgmma.commit_group between the wgmma and the wait")   \
    X(EMU_WGMMA_FENCE, "missing_wgmma_fence", EMU_HAZARD,                                                              \
      "put wgmma.fence.sync.aligned between the writes to these registers and the first wgmma")                        \
    X(EMU_UNINITIALISED_ACCUMULATOR, "uninitialised_accumulator", EMU_HAZARD,                                          \
      "zero the accumulators, or give scale-d 0 to the first wgmma of a tile")                                         \
    X(EMU_MBARRIER_ORDER, "mbarrier_unordered", EMU_HAZARD,                                                            \
      "put a barrier between mbarrier.init and the first use by other threads (__syncthreads, barrier.cluster)")       \
    X(EMU_DESCRIPTOR_SWIZZLE, "descriptor_swizzle", EMU_HAZARD,                                                        \
      "give the matrix descriptor (bits 62-63) the swizzle of the tensor map that wrote the tile")                     \
    X(EMU_DESCRIPTOR_TILE, "descriptor_tile", EMU_HAZARD,                                                              \
      "check the offsets of the matrix descriptor and the transposition against the tile's box")                       \
    X(EMU_STORE_LAYOUT, "store_layout", EMU_HAZARD,                                                                    \
      "write the tile with the swizzle of the tensor map that stores it: 16-byte column ^= row % 8 for 128B")          \
    X(EMU_OPERAND_K, "operand_k_mismatch", EMU_NOTE,                                                                   \
      "both operands of a wgmma step usually have the same k: check coordinates of the loads and descriptor steps")    \
    X(EMU_TILE_UNREAD, "tile_partly_unread", EMU_NOTE,                                                                 \
      "check the start addresses of the descriptors: a part of what was loaded is not used")                           \
    X(EMU_TENSOR_COVERAGE, "tensor_coverage", EMU_NOTE, "check the coordinates of the copies")                         \
    X(EMU_BAD_INSTRUCTION, "illegal_instruction", EMU_ERROR, "see the message for the operand that the ISA refuses")

enum emu_code {
#define X(name, text, class, hint) name,
    EMU_CODES(X)
#undef X
        EMU_CODE_COUNT
};

struct emu_finding {
    enum emu_code code;
    const char *message; /* one line, names the object, the lane, the address */
    struct ptx_source source;
    uint32_t ptx_line; /* 0: none */
    const char *kernel;
    uint32_t cta[3];
    int32_t warp;   /* -1: none */
    int32_t lane;   /* -1: none */
    uint64_t count; /* equal ones after it */
};

struct emu_findings; /* deduplicated by code, kernel and source line, or PTX line without one; at most 200 */

struct emu_findings *emu_findings_new(void);
void emu_findings_free(struct emu_findings *findings);
void emu_findings_clear(struct emu_findings *findings);
size_t emu_findings_count(const struct emu_findings *findings);
const struct emu_finding *emu_findings_at(const struct emu_findings *findings, size_t index);

/* Adds a finding; `where` gives code, source, place; the message is formatted. */
void emu_findings_add(struct emu_findings *findings, const struct emu_finding *where, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* The finding to tell when only one is told: the first error or hazard, else the first note; NULL: none. Later ones are
 * mostly consequences. */
const struct emu_finding *emu_findings_root(const struct emu_findings *findings);

const char *emu_code_text(enum emu_code code);
enum emu_class emu_code_class(enum emu_code code);
const char *emu_code_hint(enum emu_code code);
const char *emu_class_text(enum emu_class class);

#endif
