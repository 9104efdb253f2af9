/* Entries of binding `c`. A check that fails returns its line. */
#include <ptxbench/candidate.h>
#include <stdlib.h>

#define EXPECT(condition)                                                                                              \
    do                                                                                                                 \
        if (!(condition))                                                                                              \
            return __LINE__;                                                                                           \
    while (0)

#define ENTRY __attribute__((visibility("default")))

ENTRY int check_arguments(const ptxbench_arg *args, int count, void *stream);
ENTRY int return_seven(const ptxbench_arg *args, int count, void *stream);

PTXBENCH_ENTRY(args, count, stream)
{
    (void)args;
    (void)stream;
    return count;
}

/* in bfloat16[3, 4]; float32 0.5; int32 -7; bool true; out float32[] */
int check_arguments(const ptxbench_arg *args, int count, void *stream)
{
    EXPECT(count == 5 && !stream);
    EXPECT(args[0].rank == 2 && args[0].shape[0] == 3 && args[0].shape[1] == 4);
    EXPECT(args[0].dtype == PTXBENCH_BFLOAT16 && *(const int *)args[0].data == 1234);
    EXPECT(args[1].rank == -1 && !args[1].data && args[1].dtype == PTXBENCH_FLOAT32);
    EXPECT(args[1].scalar.real >= 0.5 && args[1].scalar.real <= 0.5);
    EXPECT(args[2].rank == -1 && args[2].dtype == PTXBENCH_INT32 && args[2].scalar.integer == -7);
    EXPECT(args[3].rank == -1 && args[3].dtype == PTXBENCH_BOOL && args[3].scalar.integer == 1);
    EXPECT(args[4].rank == 0 && args[4].dtype == PTXBENCH_FLOAT32);
    *(float *)args[4].data = 2.5f;
    return 0;
}

int return_seven(const ptxbench_arg *args, int count, void *stream)
{
    (void)args;
    (void)count;
    (void)stream;
    return 7;
}

__attribute__((constructor)) static void leave_a_trace(void)
{
    (void)setenv("PTXBENCH_TEST_CONSTRUCTOR", "ran", 1);
}
