// expect: denied_import
// Starts a program.
#include <cstdlib>
#include <ptxbench/candidate.h>
PTXBENCH_ENTRY(args, count, stream)
{
    (void)args, (void)count, (void)stream;
    return std::system("true");
}
