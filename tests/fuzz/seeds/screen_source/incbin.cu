// expect: incbin denied_string
// Brings in a prebuilt binary by the assembler.
#include <ptxbench/candidate.h>
__asm__(".section .rodata\n.global blob\nblob: .inc" "bin \"/usr/lib/x86_64-linux-gnu/libc.so.6\"\n.text");
PTXBENCH_ENTRY(args, count, stream)
{
    (void)args, (void)count, (void)stream;
    return 0;
}
