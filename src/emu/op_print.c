/* Calls of functions without a body: vprintf, __assertfail. */
#include <inttypes.h>
#include <stdio.h>

#include "emu/lanes.h"
#include "emu/lowerings.h"
#include "emu/op_control.h"

enum { LINE_MAX_BYTES = 4096, SPEC_MAX = 32, TEXT_MAX = 1024 };

/* Offsets of the arguments in the caller's parameter memory, and of the result. */
struct external {
    uint32_t arguments[8];
    uint32_t argument_count;
    uint32_t result; /* PTX_NONE: none */
};

/* A C string of the device's memory; false when it is not readable or has no end. */
static bool read_text(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t address, char *out,
                      size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const uint8_t *byte = emu_generic_bytes(warp, op, lane, address + i, 1, 1, false);

        if (!byte)
            return false;
        out[i] = (char)*byte;
        if (!*byte)
            return true;
    }
    out[size - 1] = 0;
    return true;
}

/* One argument of the list that `address` points to; each is aligned to its size. */
static bool read_argument(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t *address, uint32_t bytes,
                          uint64_t *out)
{
    const uint8_t *from;

    *address = (*address + bytes - 1) & ~(uint64_t)(bytes - 1);
    from = emu_generic_bytes(warp, op, lane, *address, bytes, bytes, false);
    if (!from)
        return false;
    *out = 0;
    memcpy(out, from, bytes);
    *address += bytes;
    return true;
}

/* Prints one conversion. `spec` begins with %, ends with its letter, and is well-formed. */
static bool print_conversion(struct emu_warp *warp, const struct emu_op *op, int lane, const char *spec, size_t length,
                             uint64_t *arguments, struct buffer *out)
{
    char letter = spec[length - 1], format[SPEC_MAX + 4], text[TEXT_MAX];
    uint32_t bytes = strchr("fFeEgGaAps", letter) ? 8 : 4;
    uint64_t value;
    size_t plain = 0;

    for (size_t i = 0; i + 1 < length; i++) { /* lengths are put in anew */
        if (spec[i] == 'l' || spec[i] == 'z' || spec[i] == 'j' || spec[i] == 't')
            bytes = 8;
        else if (spec[i] != 'h')
            format[plain++] = spec[i];
    }
    if (!read_argument(warp, op, lane, arguments, bytes, &value))
        return false;
    if (letter == 's') {
        if (!read_text(warp, op, lane, value, text, sizeof text))
            return false;
        snprintf(format + plain, sizeof format - plain, "s");
    } else {
        snprintf(format + plain, sizeof format - plain, strchr("diouxX", letter) ? "ll%c" : "%c", letter);
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* built above from a list of letters */
    if (letter == 's')
        buffer_printf(out, format, text);
    else if (strchr("fFeEgGaA", letter))
        buffer_printf(out, format, emu_f64(value));
    else if (letter == 'p')
        buffer_printf(out, format, (void *)(uintptr_t)value);
    else if (letter == 'c')
        buffer_printf(out, format, (int)value);
    else if (letter == 'd' || letter == 'i')
        buffer_printf(out, format, bytes == 4 ? (long long)(int32_t)value : (long long)value);
    else
        buffer_printf(out, format, (unsigned long long)value);
#pragma GCC diagnostic pop
    return true;
}

/* Length of the conversion at a %, or 0 when it is none that we print. */
static size_t conversion_length(const char *text)
{
    size_t length = 1 + strspn(text + 1, "-+ #0123456789.hlzjt");

    if (length + 1 > SPEC_MAX || !text[length] || !strchr("diouxXcfFeEgGaAps", text[length]))
        return 0;
    return length + 1;
}

static bool print_line(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t format, uint64_t arguments)
{
    struct emu_grid *grid = emu_grid_of(warp);
    char text[LINE_MAX_BYTES];
    AUTO_BUFFER line = buffer_new(4 * LINE_MAX_BYTES);

    if (!read_text(warp, op, lane, format, text, sizeof text))
        return false;
    for (const char *at = text; *at;) {
        size_t plain = strcspn(at, "%");
        size_t conversion;

        buffer_append(&line, at, plain);
        at += plain;
        if (!*at)
            break;
        conversion = conversion_length(at);
        if (!conversion) {
            buffer_append_text(&line, "%");
            at += at[1] == '%' ? 2 : 1;
            continue;
        }
        if (!print_conversion(warp, op, lane, at, conversion, &arguments, &line))
            return false;
        at += conversion;
    }
    if (grid->print)
        grid->print(grid->print_context, line.data, line.length);
    return true;
}

static uint8_t *parameter(struct emu_warp *warp, uint32_t lane, uint32_t offset)
{
    const struct emu_frame *frame = warp->current->frame;

    return frame->parameters + (size_t)lane * frame->function->parameter_bytes + offset;
}

static enum emu_result op_vprintf(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct external *external = op->detail;

    EMU_FOR_MASK(lane, mask)
    {
        uint64_t format, arguments;
        int32_t result = 0;

        memcpy(&format, parameter(warp, lane, external->arguments[0]), sizeof format);
        memcpy(&arguments, parameter(warp, lane, external->arguments[1]), sizeof arguments);
        if (!print_line(warp, op, (int)lane, format, arguments))
            return EMU_FAULT;
        if (external->result != PTX_NONE)
            memcpy(parameter(warp, lane, external->result), &result, sizeof result);
    }
    return EMU_CONTINUE;
}

/* __assertfail(message, file, line, function, character size) */
static enum emu_result op_assert(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct external *external = op->detail;
    uint32_t lane = (uint32_t)__builtin_ctz(mask);
    uint64_t texts[2];
    char message[256], file[256];
    uint32_t line;

    for (uint32_t i = 0; i < 2; i++)
        memcpy(&texts[i], parameter(warp, lane, external->arguments[i]), sizeof texts[i]);
    memcpy(&line, parameter(warp, lane, external->arguments[2]), sizeof line);
    if (!read_text(warp, op, (int)lane, texts[0], message, sizeof message) ||
        !read_text(warp, op, (int)lane, texts[1], file, sizeof file))
        return EMU_FAULT;
    return emu_report(warp, op, (int)lane, EMU_TRAP, "assertion failed at %s:%u: %s", file, line, message);
}

static const struct {
    const char *name;
    uint32_t arguments;
    emu_handler *run;
} externals[] = {{"vprintf", 2, op_vprintf}, {"__assertfail", 5, op_assert}};

static bool lower_list(struct emu_lower *l, const struct ptx_operand *list, uint32_t *out, uint32_t count)
{
    if (list->count != count)
        return emu_lower_refuse(l, "%u values where %u are expected", list->count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *own = emu_lower_element(l, list, i);

        if (own->kind != PTX_OPERAND_VARIABLE || l->module->variables[own->value].space != PTX_SPACE_PARAM ||
            l->variable_offset[own->value] == PTX_NONE ||
            l->module->variables[own->value].bytes < (count == 1 || (count == 5 && i == 2) ? 4u : 8u))
            return emu_lower_unsupported(l, "values that are no .param variables");
        out[i] = l->variable_offset[own->value];
    }
    return true;
}

bool emu_lower_external_call(struct emu_lower *l, const struct ptx_function *target)
{
    struct external *external = emu_lower_detail(l, sizeof *external);
    size_t which = 0;
    bool seen_name = false;

    while (which < ARRAY_LEN(externals) && strcmp(externals[which].name, target->name) != 0)
        which++;
    if (which == ARRAY_LEN(externals))
        return emu_lower_unsupported(l, "a function that the module only declares");
    external->result = PTX_NONE;
    for (uint32_t i = 0; i < l->instruction->operand_count; i++) {
        const struct ptx_operand *operand = emu_lower_operand(l, i);

        seen_name |= operand->kind == PTX_OPERAND_FUNCTION;
        if (operand->kind != PTX_OPERAND_LIST)
            continue;
        if (!seen_name && !lower_list(l, operand, &external->result, 1))
            return false;
        if (seen_name && !lower_list(l, operand, external->arguments, externals[which].arguments))
            return false;
        external->argument_count = seen_name ? operand->count : 0;
    }
    if (external->argument_count != externals[which].arguments)
        return emu_lower_refuse(l, "%s takes %u arguments", target->name, externals[which].arguments);
    emu_lower_add(l, externals[which].run)->detail = external;
    return true;
}
