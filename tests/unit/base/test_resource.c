/* Looks for resources from copies of this program that lie in a bundle, an installation and a source tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/process.h"
#include "base/resource.h"

struct fixture {
    struct arena *arena;
    char *root;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error error;

    fixture->arena = arena_new();
    assert_true(file_make_temporary_folder(fixture->arena, file_temporary_root(), "resource", &fixture->root, &error));
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    assert_true(file_remove_tree(fixture->root));
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static char *path_of(struct fixture *fixture, const char *name)
{
    return file_join(fixture->arena, fixture->root, name);
}

static void make_file(struct fixture *fixture, const char *name, const char *text, size_t length, mode_t mode)
{
    char *path = path_of(fixture, name);
    char *folder = arena_strndup(fixture->arena, path, (size_t)(strrchr(path, '/') - path));
    struct error error;

    assert_true(file_make_folder(folder, &error));
    assert_true(file_write(path, text, length, mode, &error));
}

/* What a copy of this program at `place` finds; "" for nothing. Paths are told relative to the root. */
static char *find_from(struct fixture *fixture, const char *place, const char *mode, const char *name, const char *home)
{
    AUTO_FREE char *self = NULL;
    AUTO_BUFFER output = buffer_new(4096);
    AUTO_BUFFER errors = buffer_new(4096);
    size_t length;
    struct error error;
    struct process_end end;
    const char *argv[] = {path_of(fixture, place), mode, name, NULL};
    const char *environment[] = {"PATH=/nonexistent", home, NULL};
    struct process_spec spec = {
        .argv = argv, .environment = environment, .output_limit = 4096, .timeout_ns = 20 * 1000000000LL};

    assert_true(file_read("/proc/self/exe", 256u << 20, &self, &length, &error));
    make_file(fixture, place, self, length, 0755);
    assert_true(process_run(&spec, &output, &errors, &end, &error));
    assert_int_equal(end.exit_status, 0);
    size_t root_length = strlen(fixture->root);
    bool inside = !strncmp(output.data, fixture->root, root_length);
    return arena_strdup(fixture->arena, inside ? output.data + root_length : output.data);
}

static void test_layouts(void **state)
{
    static const struct {
        const char *program;
        const char *resource;
    } rows[] = {
        {"bundle/ptxbench", "/bundle/tasks"},
        {"usr/bin/ptxbench", "/usr/share/ptxbench/tasks"},
        {"tree/build/ptxbench", "/tree/tasks"},
        {"wheels/build/ptxbench", "/wheels/.venv/wheels/tasks"},
        {"nested/build/sanitize/ptxbench", "/nested/tasks"},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        make_file(fixture, arena_printf(fixture->arena, "%s/x.json", rows[i].resource + 1), "{}", 2, 0644);
        assert_string_equal(find_from(fixture, rows[i].program, "find", "tasks", NULL), rows[i].resource);
    }
}

static void test_order(void **state)
{
    struct fixture *fixture = *state;

    make_file(fixture, "tree/tasks/x.json", "{}", 2, 0644);
    make_file(fixture, "tree/build/tasks/x.json", "{}", 2, 0644);
    make_file(fixture, "mine/tasks/x.json", "{}", 2, 0644);
    assert_string_equal(find_from(fixture, "tree/build/ptxbench", "find", "tasks", NULL), "/tree/build/tasks");

    const char *home = arena_printf(fixture->arena, "PTXBENCH_HOME=%s", path_of(fixture, "mine"));
    assert_string_equal(find_from(fixture, "tree/build/ptxbench", "find", "tasks", home), "/mine/tasks");

    const char *elsewhere = "PTXBENCH_HOME=/nonexistent";
    assert_string_equal(find_from(fixture, "tree/build/ptxbench", "find", "tasks", elsewhere), "/tree/build/tasks");
}

static void test_missing(void **state)
{
    struct fixture *fixture = *state;

    assert_string_equal(find_from(fixture, "a/b/ptxbench", "find", "no-such-resource", NULL), "");
    assert_string_equal(find_from(fixture, "a/b/ptxbench", "program", "no-such-program", NULL), "");
}

static void test_program(void **state)
{
    struct fixture *fixture = *state;

    /* A folder or a file without execute bits is no program. */
    make_file(fixture, "tree/tool/x", "", 0, 0644);
    make_file(fixture, "tree/bin/tool", "", 0, 0644);
    assert_string_equal(find_from(fixture, "tree/build/ptxbench", "program", "tool", NULL), "");
    make_file(fixture, "tree/.venv/wheels/nvidia/cu13/bin/tool", "#!/bin/sh\n", 10, 0755);
    assert_string_equal(find_from(fixture, "tree/build/ptxbench", "program", "tool", NULL),
                        "/tree/.venv/wheels/nvidia/cu13/bin/tool");
    make_file(fixture, "cuda/bin/tool2", "#!/bin/sh\n", 10, 0755);
    const char *cuda = arena_printf(fixture->arena, "CUDA_HOME=%s", path_of(fixture, "cuda"));
    assert_string_equal(find_from(fixture, "tree/build/ptxbench", "program", "tool2", cuda), "/cuda/bin/tool2");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_layouts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_program, set_up, tear_down),
    };

    if (argc == 3) { /* the copy that find_from runs */
        AUTO_ARENA *arena = arena_new();
        bool program = !strcmp(argv[1], "program");
        char *found = program ? resource_find_program(arena, argv[2]) : resource_find(arena, argv[2]);
        (void)fputs(found ? found : "", stdout);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
