/* Rounding mode and modifiers of an instruction as number_format.h has them. */
#ifndef PTXBENCH_EMU_LOWER_NUMBER_H
#define PTXBENCH_EMU_LOWER_NUMBER_H

#include "emu/lower.h"
#include "emu/number_format.h"

enum number_rounding emu_lower_rounding(const struct emu_lower *l); /* RN when none is given */
unsigned emu_lower_number_modifiers(const struct emu_lower *l);

#endif
