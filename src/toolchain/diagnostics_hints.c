#include <string.h>

#include "base/attributes.h"
#include "toolchain/diagnostics_internal.h"

struct code_hint {
    const char *code;
    const char *hint;
};

/* Codes of ptxas 13.0. Those marked (binary) were read from the message table of ptxas, not provoked by a test. */
static const struct code_hint code_hints[] = {
    {"C7504", "setmaxnreg has no effect with separate compilation; keep all device code in one file"},
    {"C7505", "setmaxnreg has no effect in debug builds"},
    {"C7506",
     "setmaxnreg has no effect in a kernel with indirect or recursive calls; remove them or inline the callees"},
    {"C7507", "setmaxnreg has no effect: the code needs more registers than it asks for; ask for more or use fewer"},
    {"C7508", "setmaxnreg needs to know the registers at entry: put __launch_bounds__(threads, 1) on the kernel"},
    {"C7509",
     "wgmma runs one at a time: the kernel calls an external function; inline or remove the call"}, /* (binary) */
    {"C7510",
     "wgmma runs one at a time: a call lies between wgmma and its wait; __forceinline__ the callee, and remove "
     "assert and printf there"},
    {"C7511", "wgmma runs one at a time: too many registers are live in the pipeline; use smaller tiles, fewer "
              "accumulators in flight, or do not touch accumulators before wgmma.wait_group"},
    {"C7512", "wgmma runs one at a time: the kernel needs more registers than it may have; raise the limit in "
              "__launch_bounds__ or use smaller tiles"}, /* (binary) */
    {"C7513", "wgmma runs one at a time: registers of its A operand are written while it runs; load them before "
              "wgmma.fence"}, /* (binary) */
    {"C7514", "wgmma runs one at a time: accumulators are read while it runs; wait for its group before reading"},
    {"C7515", "wgmma runs one at a time: accumulators are written while it runs; wait for its group, and write them "
              "before wgmma.fence"}, /* (binary) */
    {"C7516", "wgmma runs one at a time: fence, wgmma, commit_group and wait_group do not form a pipeline on every "
              "path"}, /* (binary) */
    {"C7517",
     "the compiler added a wait because accumulators are used before wgmma.wait_group; put your own wait there"},
    {"C7518",
     "wgmma runs one at a time: it is waited for on a divergent path; let the whole warpgroup take the same path"},
    {"C7519",
     "the compiler added a fence because registers are written before wgmma; put wgmma.fence.sync.aligned there"},
    {"C7520", "wgmma runs one at a time: it is fenced on a divergent path; let the whole warpgroup take the same path"},
    {"C7602",
     "the instruction needs more registers than __launch_bounds__ leaves; use fewer threads or a smaller tile"},
    {"#20-D", "declare it, or include the header that does"},
};

/* By part of the message, where there is no code. */
static const struct code_hint text_hints[] = {
    {"uses too much shared data",
     "static and dynamic shared memory of a block are limited to 227 KiB; use smaller tiles "
     "or fewer stages"},
    {"Unresolved extern function", "device code is compiled as one file: define the function in it"},
    {"Arguments mismatch for instruction",
     "number, order or types of the operands do not fit the instruction's form in "
     "the PTX ISA"},
    {"Not a name of any known instruction", "check the spelling of the instruction in the PTX ISA"},
    {"Unknown modifier", "check the instruction's modifiers and their order in the PTX ISA"},
    {"Unknown symbol", "inline PTX can only name its operands (%0, %1, ...) and what it declares itself"},
    {"not supported on .target", "this instruction does not exist on the architecture that you compile for"},
    {"requires .target", "this instruction does not exist on the architecture that you compile for"},
    {"undefined reference to", "define the function in the candidate, or do not call it"},
    {"No such file or directory", "only the candidate's own files, the CUDA toolkit and TVM-FFI can be included"},
    {"cannot open source file", "only the candidate's own files, the CUDA toolkit and TVM-FFI can be included"},
    {"no such instruction", "inline PTX belongs into device code; this assembly went to the host compiler"},
    {"excessive recursion at instantiation", "the template has no end; add a specialisation that stops it"},
};

const char *diagnostics_hint(const char *code)
{
    for (size_t i = 0; code && i < ARRAY_LEN(code_hints); i++)
        if (strcmp(code_hints[i].code, code) == 0)
            return code_hints[i].hint;
    return NULL;
}

const char *diagnostics_hint_of(const char *code, const char *message)
{
    const char *hint = diagnostics_hint(code);

    for (size_t i = 0; !hint && i < ARRAY_LEN(text_hints); i++)
        if (strstr(message, text_hints[i].code))
            hint = text_hints[i].hint;
    return hint;
}
