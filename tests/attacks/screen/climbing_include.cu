// expect: foreign_include
// Climbs out of the candidate's folder.
#include "../../../../../../../../../../../../../../usr/share/misc/../../lib/os-release"
#include <ptxbench/candidate.h>
PTXBENCH_ENTRY(args, count, stream)
{
    (void)args, (void)count, (void)stream;
    return 0;
}
