#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cuda.h>
#include <driver_types.h>

#include "emu/shim/shim.h"

/* One table serves both APIs only because their numbers agree. */
_Static_assert((int)cudaErrorIllegalAddress == (int)CUDA_ERROR_ILLEGAL_ADDRESS, "codes differ");
_Static_assert((int)cudaErrorInvalidResourceHandle == (int)CUDA_ERROR_INVALID_HANDLE, "codes differ");
_Static_assert((int)cudaErrorNotSupported == (int)CUDA_ERROR_NOT_SUPPORTED, "codes differ");
_Static_assert((int)cudaErrorMemoryAllocation == (int)CUDA_ERROR_OUT_OF_MEMORY, "codes differ");

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(shim_error_driver_name(CUDA_ERROR_ILLEGAL_ADDRESS), "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_string_equal(shim_error_runtime_name(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
    assert_string_equal(shim_error_text(cudaErrorIllegalAddress), "an illegal memory access was encountered");
    assert_string_equal(shim_error_driver_name(0), "CUDA_SUCCESS");
}

static void test_missing(void **state)
{
    (void)state;
    assert_null(shim_error_driver_name(cudaErrorInvalidConfiguration)); /* the runtime's own */
    assert_non_null(shim_error_runtime_name(cudaErrorInvalidConfiguration));
    assert_null(shim_error_driver_name(12345));
    assert_null(shim_error_text(-1));
    assert_string_equal(shim_error_text(CUDA_ERROR_ALREADY_ACQUIRED), "cudaErrorAlreadyAcquired"); /* no text: a name */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_missing)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
