/* Differences by line: applied to the old text they give the new one, and none is longer than it must be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/line_diff.h"
#include "base/splitmix.h"

static void check(const char *before, const char *after, int context, const char *wanted)
{
    AUTO_BUFFER out = buffer_new(1 << 20);

    line_diff(before, after, context, &out);
    assert_string_equal(out.data, wanted);
}

static void test_table(void **state)
{
    (void)state;
    check("a\nb\n", "a\nb\n", 3, "");
    check("", "", 3, "");
    check("", "a\n", 3, "@@ -0,0 +1,1 @@\n+a\n");
    check("a\n", "", 3, "@@ -1,1 +0,0 @@\n-a\n");
    check("a\nb\nc\n", "a\nX\nc\n", 1, "@@ -1,3 +1,3 @@\n a\n-b\n+X\n c\n");
    check("a\nb\nc\n", "a\nX\nc\n", 0, "@@ -2,1 +2,1 @@\n-b\n+X\n");
    check("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "X\n2\n3\n4\n5\n6\n7\n8\nY\n", 1,
          "@@ -1,2 +1,2 @@\n-1\n+X\n 2\n@@ -8,2 +8,2 @@\n 8\n-9\n+Y\n");
    check("a\nb", "a\nc", 3, "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
}

enum { LINES = 40 };

static void make_text(uint64_t *seed, char *out)
{
    int count = (int)(splitmix_next(seed) % LINES);

    for (int i = 0; i < count; i++) {
        *out++ = (char)('a' + splitmix_next(seed) % 4);
        *out++ = '\n';
    }
    *out = '\0';
}

/* Length of the longest common subsequence of lines of one letter. */
static int common(const char *a, const char *b)
{
    static int table[LINES + 1][LINES + 1];
    int n = (int)strlen(a) / 2, m = (int)strlen(b) / 2;

    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (!i || !j)
                table[i][j] = 0;
            else if (a[2 * i - 2] == b[2 * j - 2])
                table[i][j] = table[i - 1][j - 1] + 1;
            else
                table[i][j] = table[i - 1][j] > table[i][j - 1] ? table[i - 1][j] : table[i][j - 1];
        }
    return table[n][m];
}

static void test_random(void **state)
{
    uint64_t seed = 1;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        char before[2 * LINES + 1], after[2 * LINES + 1], left[2 * LINES + 1] = "", right[2 * LINES + 1] = "";
        AUTO_BUFFER out = buffer_new(1 << 20);
        int changes = 0;
        make_text(&seed, before);
        make_text(&seed, after);
        line_diff(before, after, LINES, &out); /* one hunk with everything in it */
        char *a = left, *b = right;
        for (const char *at = out.data; *at; at += strcspn(at, "\n") + 1) {
            if (*at == '@')
                continue;
            changes += *at != ' ';
            if (*at != '+')
                *a++ = at[1], *a++ = '\n', *a = '\0';
            if (*at != '-')
                *b++ = at[1], *b++ = '\n', *b = '\0';
        }
        if (!strcmp(before, after)) {
            assert_int_equal(out.length, 0);
            continue;
        }
        assert_string_equal(left, before);
        assert_string_equal(right, after);
        assert_int_equal(changes, (int)strlen(before) / 2 + (int)strlen(after) / 2 - 2 * common(before, after));
    }
}

/* Texts that differ everywhere: bounded work, still a right answer. */
static void test_too_different(void **state)
{
    AUTO_BUFFER before = buffer_new(1 << 20), after = buffer_new(1 << 20), out = buffer_new(1 << 20);
    int minus = 0, plus = 0;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        (void)buffer_printf(&before, "old %d\n", i);
        (void)buffer_printf(&after, "new %d\n", i);
    }
    line_diff(before.data, after.data, 3, &out);
    for (const char *at = out.data; *at; at += strcspn(at, "\n") + 1) {
        minus += *at == '-';
        plus += *at == '+';
    }
    assert_int_equal(minus, 3000);
    assert_int_equal(plus, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_random),
                                       cmocka_unit_test(test_too_different)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
