/*
 * What the lowering of an instruction works with. A lowering function looks at l->instruction, adds one or more operations
 * with emu_lower_add and fills in their slots. It returns false after emu_lower_unsupported or emu_lower_refuse.
 *
 * The guard of the PTX instruction is put on every operation that is added for it.
 */
#ifndef PTXBENCH_EMU_LOWER_H
#define PTXBENCH_EMU_LOWER_H

#include "emu/machine.h"
#include "emu/program.h"

enum { EMU_FUNCTIONS_MAX = 256 }; /* of one program */

struct emu_lower {
    const struct ptx_module *module;
    const struct emu_globals *globals;
    const struct emu_space *space;
    struct emu_program *program;
    struct arena *arena; /* of the program */
    struct error *error;

    const struct ptx_function *ptx; /* being lowered */
    struct emu_function *function;
    const struct ptx_instruction *instruction;

    /* Private to lower.c, lower_operand.c and program.c. */
    emu_slot *registers;       /* by PTX slot */
    uint32_t *first_op;        /* by PTX instruction; [instruction_count]: the end */
    uint32_t *variable_offset; /* by variable of the module; PTX_NONE: not placed yet */
    struct emu_op *ops;
    uint32_t op_count, op_capacity;
    uint8_t *constants;
    uint32_t constant_bytes, constant_capacity;
    uint32_t *constant_table; /* open addressing: offset + 1 of a constant */
    uint32_t constant_table_size, constant_count;
    emu_slot scratch32, scratch64;
    uint32_t watch_capacity; /* of program->watches */
};

typedef bool emu_lowering(struct emu_lower *l);

/* The lowering of an opcode, or NULL (lower_table.c). */
emu_lowering *emu_lowering_of(enum ptx_opcode opcode);

/* Appends an operation; valid until the next one is added. Never NULL. */
struct emu_op *emu_lower_add(struct emu_lower *l, emu_handler *run);

/* Operand `index` of the instruction; NULL when there is none. Element `index` of a vector, pair, list or address. */
const struct ptx_operand *emu_lower_operand(const struct emu_lower *l, uint32_t index);
const struct ptx_operand *emu_lower_element(const struct emu_lower *l, const struct ptx_operand *operand,
                                            uint32_t index);

/* Whether the instruction carries a modifier or type: emu_lower_has(l, PTX_M_GLOBAL). */
bool emu_lower_has(const struct emu_lower *l, uint16_t word);

/* Type `index` of the instruction; PTX_TYPE_COUNT when there is none. */
enum ptx_type emu_lower_type(const struct emu_lower *l, uint32_t index);

/* Bits of the lanes that hold an operand: 1 for predicates, 32 or 64. For immediates and variables: `bits`. */
unsigned emu_lower_lane_bits(const struct emu_lower *l, const struct ptx_operand *operand, unsigned bits);

/* Bits of the type of a register operand; 0 for others. */
unsigned emu_lower_register_bits(const struct emu_lower *l, const struct ptx_operand *operand);

/* Slot with the value of a source of `type`: register, immediate (negated ones too), special register, address of a
 * variable. It has 64-bit lanes when the type is wider than 32 bits, else 32-bit lanes. A register keeps its own width:
 * one of another lane width than the type is refused. */
MUST_CHECK bool emu_lower_source(struct emu_lower *l, const struct ptx_operand *operand, enum ptx_type type,
                                 emu_slot *out);

/* Slot of a register to be written; `_` gets a scratch slot of that many bits (1: EMU_NO_SLOT). */
MUST_CHECK bool emu_lower_target(struct emu_lower *l, const struct ptx_operand *operand, unsigned bits, emu_slot *out);

/* A predicate source. Immediates 0 and 1 are allowed. `*negated`: !p. */
MUST_CHECK bool emu_lower_predicate(struct emu_lower *l, const struct ptx_operand *operand, emu_slot *out,
                                    bool *negated);

/* [register + offset], [variable + offset], [immediate]: the first element of an ADDRESS operand. A variable must be of
 * a space that fits the instruction; global and const ones become their address. */
MUST_CHECK bool emu_lower_address(struct emu_lower *l, const struct ptx_operand *operand, struct emu_address *out);

/* Gives a shared variable of the module the next free place. False: it does not fit. */
bool emu_lower_place_shared(struct emu_lower *l, uint32_t index);

/* The address of a variable, as seen in its own space. Parameters of the entry: their host address is known at launch,
 * so they are refused here (op_memory.c deals with them). */
MUST_CHECK bool emu_lower_variable(struct emu_lower *l, const struct ptx_operand *operand, struct emu_address *out);

/* Constants, in 32 or 64-bit lanes. */
emu_slot emu_lower_constant(struct emu_lower *l, unsigned bits, uint64_t value);

/* New registers without a name, of 1, 32 or 64 bits. */
emu_slot emu_lower_temporary(struct emu_lower *l, unsigned bits);

/* Zeroed memory of the program, for `detail`. */
void *emu_lower_detail(struct emu_lower *l, size_t bytes);

/* Index in the program of a function that is called; lowered later. */
MUST_CHECK bool emu_lower_callee(struct emu_lower *l, const struct ptx_function *callee, uint32_t *out);

/* Both return false. */
bool emu_lower_unsupported(struct emu_lower *l, const char *why);
bool emu_lower_refuse(struct emu_lower *l, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
