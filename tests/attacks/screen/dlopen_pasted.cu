// expect: loader_call denied_import
// The same with a pasted name and a computed string.
#include <ptxbench/candidate.h>
#define PASTE(a, b) a##b
extern "C" void *PASTE(dlo, pen)(const char *, int);
static volatile char name[] = "mjcdvcmbt/tp";
PTXBENCH_ENTRY(args, count, stream)
{
    char text[16] = {0};
    (void)args, (void)count, (void)stream;
    for (int i = 0; i < 12; i++)
        text[i] = (char)(name[i] - 1);
    return PASTE(dlo, pen)(text, 1) ? 0 : 1;
}
