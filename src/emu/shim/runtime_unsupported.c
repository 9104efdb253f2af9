/* Functions of the runtime that are not emulated: each says so by its name. A definition elsewhere takes its place. */
#include <stdbool.h>

#include "emu/shim/runtime_names.h"
#include "emu/shim/shim.h"

#define X(name)                                                                                                        \
    int name(void);                                                                                                    \
    __attribute__((weak)) int name(void)                                                                               \
    {                                                                                                                  \
        static bool told;                                                                                              \
        return __atomic_exchange_n(&told, true, __ATOMIC_RELAXED) ? SHIM_NOT_SUPPORTED : shim_unsupported(#name);      \
    }
RUNTIME_NAMES(X)
#undef X
