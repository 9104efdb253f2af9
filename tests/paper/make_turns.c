/* Synthetic turns in the published CSV layout, for timing: make_turns [TURNS] > turns.csv. Same bytes every time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/random.h"

static const char *const labels[] = {"Correct",         "Compilation error",        "Runtime error",
                                     "Numerical error", "Kernel Execution Timeout", "Extraction error"};

enum { MODELS = 10, DEFINITIONS = 16, TURNS = 8, LABELS = sizeof labels / sizeof labels[0] };

static void write_turn(unsigned long number)
{
    unsigned long trajectory = number / TURNS;
    unsigned long series = trajectory % (MODELS * DEFINITIONS);
    uint64_t bits = random_bits(1, 0, number);
    unsigned label = (unsigned)(bits % LABELS);
    double speedup = label ? 0 : (double)(1 + (bits >> 16) % 1200) / 1000;

    (void)printf("model-%lu,%s,definition-%lu,00000000-0000-4000-8000-%012lu,run-%lu,exp_%06lu,%lu,%u,output_tokens,%s,"
                 "%g,%s,%d\n",
                 series % MODELS, series % 2 ? "hopper" : "blackwell", series / MODELS, series / MODELS, series,
                 trajectory / (MODELS * DEFINITIONS), number % TURNS, (unsigned)((bits >> 40) % 100000), labels[label],
                 speedup, label ? "" : "H", label == 0 && bits >> 63);
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;

    (void)puts(
        "model,arch,definition,workload,run,trajectory_id,turn,reasoning_tokens,reasoning_token_source,correctness,"
        "speedup,ptx_arch_tag,correct_with_arch");
    for (unsigned long i = 0; i < count; i++)
        write_turn(i);
    return 0;
}
