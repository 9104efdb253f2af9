/* `ptxbench emu [OPTION...] -- PROGRAM [ARGUMENT...]`: a CUDA program on the emulator, in place of a GPU. */
#ifndef PTXBENCH_CLI_EMU_RUN_H
#define PTXBENCH_CLI_EMU_RUN_H

#include <stdbool.h>

/* Whether the command line asks for a program to be run: it holds "--". */
bool emu_run_wanted(int argc, char **argv);

/* Sets the environment (emu/shim_options.h) and becomes the program, whose exit status is the command's. Returns
 * an exit status only when the program cannot be started. */
int emu_run(int argc, char **argv);

#endif
