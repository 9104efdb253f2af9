// expect: embedded_code
// Carries a cubin's header as data: enough to be recognised.
#include <ptxbench/candidate.h>
__attribute__((used)) static const unsigned char blob[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1,   0x41, 8, 0, 0, 0,
                                                             0,    0,   0,   0,   2, 0, 190, 0,    1, 0, 0, 0};
PTXBENCH_ENTRY(args, count, stream)
{
    (void)args, (void)count, (void)stream;
    return blob[count & 63] == 1;
}
