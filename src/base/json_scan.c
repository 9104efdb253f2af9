#include "base/json_scan.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

bool json_scan_refuse(struct json_scan *scan, const char *problem)
{
    scan->problem = problem;
    return false;
}

char json_scan_peek(struct json_scan *scan)
{
    while (scan->offset < scan->length) {
        char byte = scan->text[scan->offset];
        if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r')
            return byte;
        scan->offset++;
    }
    return '\0';
}

bool json_scan_byte(struct json_scan *scan, char expected, const char *problem)
{
    if (json_scan_peek(scan) != expected)
        return json_scan_refuse(scan, problem);
    scan->offset++;
    return true;
}

bool json_scan_word(struct json_scan *scan, const char *word)
{
    size_t length = strlen(word);

    if (scan->length - scan->offset < length || memcmp(scan->text + scan->offset, word, length) != 0)
        return json_scan_refuse(scan, "expected a JSON value");
    scan->offset += length;
    return true;
}

/* Value of four hex digits, or -1. */
static int hex4(const char *digits)
{
    int value = 0;

    for (int i = 0; i < 4; i++) {
        char c = digits[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static bool is_high_surrogate(int unit)
{
    return unit >= 0xd800 && unit < 0xdc00;
}

static bool is_low_surrogate(int unit)
{
    return unit >= 0xdc00 && unit < 0xe000;
}

static bool scan_escape(struct json_scan *scan)
{
    const char *at = scan->text + scan->offset;
    size_t left = scan->length - scan->offset;

    if (left < 2 || !strchr("\"\\/bfnrtu", at[1]) || !at[1])
        return json_scan_refuse(scan, "unknown escape in a string");
    if (at[1] != 'u') {
        scan->offset += 2;
        return true;
    }
    int unit = left >= 6 ? hex4(at + 2) : -1;
    if (unit < 0)
        return json_scan_refuse(scan, "expected four hex digits after \\u");
    if (is_low_surrogate(unit))
        return json_scan_refuse(scan, "unpaired surrogate in a string");
    if (is_high_surrogate(unit)) {
        if (left < 12 || at[6] != '\\' || at[7] != 'u' || !is_low_surrogate(hex4(at + 8)))
            return json_scan_refuse(scan, "unpaired surrogate in a string");
        scan->offset += 6;
    }
    scan->offset += 6;
    return true;
}

bool json_scan_string(struct json_scan *scan, const char **begin, size_t *length)
{
    if (!json_scan_byte(scan, '"', "expected a string"))
        return false;
    size_t start = scan->offset;
    while (scan->offset < scan->length) {
        const unsigned char *at = (const unsigned char *)scan->text + scan->offset;
        if (*at == '"') {
            *begin = scan->text + start;
            *length = scan->offset - start;
            scan->offset++;
            return true;
        }
        if (*at == '\\') {
            if (!scan_escape(scan))
                return false;
        } else if (*at < 0x20) {
            return json_scan_refuse(scan, "control character in a string (a raw newline must be written \\n)");
        } else if (*at < 0x80) {
            scan->offset++;
        } else {
            size_t sequence = utf8_sequence_length(at, scan->length - scan->offset);
            if (!sequence)
                return json_scan_refuse(scan, "invalid UTF-8 in a string");
            scan->offset += sequence;
        }
    }
    return json_scan_refuse(scan, "string without closing quote");
}

static size_t count_digits(const struct json_scan *scan, size_t offset)
{
    size_t start = offset;

    while (offset < scan->length && scan->text[offset] >= '0' && scan->text[offset] <= '9')
        offset++;
    return offset - start;
}

static bool integer_fits(const char *text, size_t length)
{
    bool negative = text[0] == '-';
    uint64_t limit = negative ? (uint64_t)INT64_MAX + 1 : UINT64_MAX;
    uint64_t value = 0;

    for (size_t i = negative; i < length; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (value > (limit - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    return true;
}

bool json_scan_number(struct json_scan *scan, const char **begin, size_t *length, bool *integer)
{
    size_t at = scan->offset;

    if (at < scan->length && scan->text[at] == '-')
        at++;
    size_t digits = count_digits(scan, at);
    if (!digits)
        return json_scan_refuse(scan, "expected a JSON value (NaN and infinities are written as strings)");
    if (digits > 1 && scan->text[at] == '0')
        return json_scan_refuse(scan, "number with a leading zero");
    at += digits;
    *integer = true;
    if (at < scan->length && scan->text[at] == '.') {
        *integer = false;
        digits = count_digits(scan, at + 1);
        if (!digits)
            return json_scan_refuse(scan, "number without digits after the point");
        at += 1 + digits;
    }
    if (at < scan->length && (scan->text[at] == 'e' || scan->text[at] == 'E')) {
        *integer = false;
        at++;
        if (at < scan->length && (scan->text[at] == '+' || scan->text[at] == '-'))
            at++;
        digits = count_digits(scan, at);
        if (!digits)
            return json_scan_refuse(scan, "number without digits in the exponent");
        at += digits;
    }
    *begin = scan->text + scan->offset;
    *length = at - scan->offset;
    if (*integer && !integer_fits(*begin, *length))
        return json_scan_refuse(scan, "integer does not fit 64 bits");
    scan->offset = at;
    return true;
}

static size_t put_utf8(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[length] | code);
    return length;
}

size_t json_scan_decode(const char *begin, size_t length, char *out)
{
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    size_t written = 0;

    for (size_t i = 0; i < length;) {
        if (begin[i] != '\\') {
            out[written++] = begin[i++];
            continue;
        }
        const char *name = strchr(names, begin[i + 1]);
        if (name) {
            out[written++] = values[name - names];
            i += 2;
            continue;
        }
        uint32_t code = (uint32_t)hex4(begin + i + 2);
        i += 6;
        if (is_high_surrogate((int)code)) {
            code = 0x10000 + ((code - 0xd800) << 10) + ((uint32_t)hex4(begin + i + 2) - 0xdc00);
            i += 6;
        }
        written += put_utf8(code, out + written);
    }
    return written;
}
