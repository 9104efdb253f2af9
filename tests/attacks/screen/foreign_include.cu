// expect: foreign_include
// Reads a file of the machine into the compiler's messages.
#include "/etc/passwd"
#include <ptxbench/candidate.h>
PTXBENCH_ENTRY(args, count, stream)
{
    (void)args, (void)count, (void)stream;
    return 0;
}
