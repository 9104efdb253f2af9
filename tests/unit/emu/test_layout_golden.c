/*
 * What an H200 answered to the layout probes (tests/data/layout/sm_90a.json, written by layout_fingerprints) against
 * the predictions of src/emu. And no two elements of a probed operand share a place in the prediction, so that every
 * probe can tell them apart.
 */
#include "emu_test.h"

#include <stdlib.h>

#include "../../gpu/layout_cases.h"
#include "base/json.h"

static uint32_t expected[LAYOUT_MAX_WORDS];

static int find_case(const char *name, struct layout_case *out)
{
    for (int i = 0; i < layout_case_count(); i++) {
        *out = layout_case_at(i);
        if (strcmp(out->name, name) == 0)
            return i;
    }
    return -1;
}

/* The GPU refused: so must we. */
static void compare_refusal(const struct layout_case *c)
{
    struct tensor_tile tile;
    struct error error;

    if (tensor_tile_init(&tile, &c->map, c->coordinate, 0, &error) &&
        (c->kind != LAYOUT_TMA_STORE || tensor_tile_check_store(&tile, &error)))
        fail_msg("%s: an error on the GPU, but not here", c->name);
}

static void compare_case(struct json entry)
{
    const char *name, *digest;
    struct layout_case c;
    struct error error;
    char ours[17];

    if (!json_member_string(entry, "name", &name, &error))
        fail_msg("%s", error.message);
    if (find_case(name, &c) < 0)
        fail_msg("%s: no such case; record the golden file again", name);
    if (json_has(entry, "error")) {
        compare_refusal(&c);
        return;
    }
    if (!json_member_string(entry, "digest", &digest, &error))
        fail_msg("%s", error.message);
    layout_case_expect(&c, expected);
    (void)snprintf(ours, sizeof ours, "%016llx", (unsigned long long)layout_digest(expected, c.words));
    if (strcmp(ours, digest) != 0)
        fail_msg("%s: the GPU answered otherwise; run layout_fingerprints there for the first difference", name);
}

static void golden_file(void **state)
{
    (void)state;
    static const char PATH[] = TEST_DATA "/layout/sm_90a.json";
    AUTO_JSON_DOCUMENT *document = NULL;
    struct error error;
    struct json cases;

    if (!json_read_file(PATH, 8 << 20, &document, &error) || !json_member(json_root(document), "cases", &cases, &error))
        fail_msg("%s", error.message);
    assert_true(json_length(cases) > 0);
    for (size_t i = 0; i < json_length(cases); i++)
        compare_case(json_at(cases, i));
}

static void cases_are_sound(void **state)
{
    (void)state;
    static uint8_t seen[LAYOUT_IMAGE_BYTES];
    int count = 0;

    for (int i = 0; i < layout_case_count(); i++) {
        struct layout_case c = layout_case_at(i), other;
        if (!c.words)
            continue;
        count++;
        assert_int_equal(find_case(c.name, &other), i); /* names are unique */
        assert_in_range(c.words, 1, LAYOUT_MAX_WORDS);
        layout_case_expect(&c, expected);
        if (c.kind != LAYOUT_WGMMA_A && c.kind != LAYOUT_WGMMA_B)
            continue;
        memset(seen, 0, sizeof seen);
        for (uint32_t e = 0; e < c.words; e++) {
            assert_true(expected[e] < (uint32_t)(LAYOUT_IMAGE_BYTES / number_bytes(c.format)));
            if (seen[expected[e]]++)
                fail_msg("%s: two elements at index %u", c.name, expected[e]);
        }
    }
    assert_true(count > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_file),
        cmocka_unit_test(cases_are_sound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
