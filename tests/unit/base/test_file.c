#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/file.h"

struct fixture {
    struct arena *arena;
    char *root;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error error;

    fixture->arena = arena_new();
    assert_true(file_make_temporary_folder(fixture->arena, file_temporary_root(), "file", &fixture->root, &error));
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    assert_true(file_remove_tree(fixture->root));
    assert_false(file_exists(fixture->root));
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static char *path_of(struct fixture *fixture, const char *name)
{
    return file_join(fixture->arena, fixture->root, name);
}

static void put(const char *path, const char *text)
{
    struct error error;

    assert_true(file_write(path, text, strlen(text), 0644, &error));
}

static void assert_content(const char *path, const char *wanted)
{
    AUTO_FREE char *text = NULL;
    size_t length;
    struct error error;

    assert_true(file_read(path, 1 << 20, &text, &length, &error));
    assert_int_equal(length, strlen(wanted));
    assert_string_equal(text, wanted);
}

static size_t count_entries(struct fixture *fixture, const char *folder)
{
    char **paths;
    size_t count;
    struct error error;

    assert_true(file_list(fixture->arena, folder, "", &paths, &count, &error));
    return count;
}

static void test_read(void **state)
{
    struct fixture *fixture = *state;
    char *path = path_of(fixture, "a");
    AUTO_FREE char *text = NULL;
    size_t length;
    struct error error;

    put(path, "12345");
    assert_content(path, "12345");
    assert_true(file_read(path, 5, &text, &length, &error));
    free(text);
    text = NULL;
    assert_false(file_read(path, 4, &text, &length, &error));
    assert_int_equal(error.code, ERROR_LIMIT);
    assert_non_null(strstr(error.message, path));
    assert_non_null(strstr(error.message, "4 bytes"));
    assert_false(file_read(path_of(fixture, "missing"), 4, &text, &length, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_false(file_read(path_of(fixture, "a/b"), 4, &text, &length, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_false(file_read(fixture->root, 4, &text, &length, &error));
    assert_int_equal(error.code, ERROR_INPUT);
    /* Endless, and without a size: only the cap ends it. */
    assert_false(file_read("/dev/zero", 1 << 20, &text, &length, &error));
    assert_int_equal(error.code, ERROR_LIMIT);
    put(path, "");
    assert_content(path, "");
}

static void test_write(void **state)
{
    struct fixture *fixture = *state;
    char *path = path_of(fixture, "a");
    struct stat info;
    struct error error;

    put(path, "old");
    assert_true(file_write(path, "n\0w", 3, 0600, &error));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 3);
    assert_int_equal(info.st_mode & 07777, 0600);
    assert_int_equal(count_entries(fixture, fixture->root), 1);
}

/* A file size limit makes the write fail half-way, as a full disk does. */
static void test_failed_write_leaves_the_old_file(void **state)
{
    struct fixture *fixture = *state;
    char *path = path_of(fixture, "a");
    struct rlimit old, small;
    AUTO_FREE char *large = calloc(1, 1 << 20);
    struct error error;

    put(path, "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){.rlim_cur = 4096, .rlim_max = old.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    bool written = file_write(path, large, 1 << 20, 0644, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    (void)signal(SIGXFSZ, handler);
    assert_false(written);
    assert_int_equal(error.code, ERROR_SYSTEM);
    assert_non_null(strstr(error.message, path));
    assert_content(path, "old");
    assert_int_equal(count_entries(fixture, fixture->root), 1);
}

static void test_unwritable(void **state)
{
    struct fixture *fixture = *state;
    char *folder = path_of(fixture, "folder");
    char *long_name = arena_printf(fixture->arena, "%s/%0300d", fixture->root, 1);
    char *long_path = arena_printf(fixture->arena, "%s/%05000d", fixture->root, 1);
    struct error error;

    assert_false(file_write("/proc/self/fdinfo/x", "x", 1, 0644, &error)); /* also root's */
    assert_int_equal(error.code, ERROR_SYSTEM);
    assert_false(file_write(path_of(fixture, "no/x"), "x", 1, 0644, &error));
    assert_non_null(strstr(error.message, "no/x"));
    assert_true(file_make_folder(folder, &error));
    assert_false(file_write(folder, "x", 1, 0644, &error));
    assert_true(file_is_folder(folder));
    assert_false(file_write(long_name, "x", 1, 0644, &error));
    assert_false(file_write(long_path, "x", 1, 0644, &error));
    assert_int_equal(error.code, ERROR_INPUT);
    assert_int_equal(count_entries(fixture, fixture->root), 0);
}

static void test_write_through_links_and_into_pipes(void **state)
{
    struct fixture *fixture = *state;
    char *link = path_of(fixture, "link"), *target = path_of(fixture, "target"), *pipe = path_of(fixture, "pipe");
    struct stat info;
    char text[8] = "";
    struct error error;

    put(target, "old");
    assert_int_equal(symlink("target", link), 0);
    put(link, "new");
    assert_content(target, "new");
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));

    assert_int_equal(mkfifo(pipe, 0600), 0);
    AUTO_CLOSE int reader = open(pipe, O_RDONLY | O_NONBLOCK);
    assert_true(file_write(pipe, "text", 4, 0644, &error));
    assert_int_equal(read(reader, text, sizeof text), 4);
    assert_string_equal(text, "text");
    assert_int_equal(lstat(pipe, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
}

static void test_folders(void **state)
{
    struct fixture *fixture = *state;
    char *deep = path_of(fixture, "a/b//c/");
    struct error error;

    assert_true(file_make_folder(deep, &error));
    assert_true(file_make_folder(deep, &error));
    assert_true(file_is_folder(path_of(fixture, "a/b/c")));
    put(path_of(fixture, "file"), "x");
    assert_false(file_make_folder(path_of(fixture, "file"), &error));
    assert_int_equal(error.code, ERROR_INPUT);
    assert_false(file_make_folder(path_of(fixture, "file/x"), &error));
    assert_false(file_make_folder("", &error));

    char *one, *two;
    struct stat info;
    assert_true(file_make_temporary_folder(fixture->arena, fixture->root, "t", &one, &error));
    assert_true(file_make_temporary_folder(fixture->arena, fixture->root, "t", &two, &error));
    assert_string_not_equal(one, two);
    assert_int_equal(stat(one, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_false(file_make_temporary_folder(fixture->arena, path_of(fixture, "none"), "t", &one, &error));
    assert_non_null(strstr(error.message, "none"));
}

static void test_remove_tree_follows_no_links(void **state)
{
    struct fixture *fixture = *state;
    char *outside = path_of(fixture, "outside"), *tree = path_of(fixture, "tree");
    struct error error;

    assert_true(file_make_folder(outside, &error));
    assert_true(file_make_folder(path_of(fixture, "tree/a/b"), &error));
    put(path_of(fixture, "outside/precious"), "p");
    put(path_of(fixture, "tree/a/b/file"), "f");
    put(path_of(fixture, "tree/.hidden"), "f");
    assert_int_equal(symlink(outside, path_of(fixture, "tree/a/link")), 0);
    assert_int_equal(symlink("../outside", path_of(fixture, "tree/relative")), 0);
    assert_int_equal(symlink("/nonexistent", path_of(fixture, "tree/dangling")), 0);
    assert_int_equal(mkfifo(path_of(fixture, "tree/pipe"), 0600), 0);
    assert_true(file_remove_tree(tree));
    assert_false(file_exists(tree));
    assert_content(path_of(fixture, "outside/precious"), "p");

    assert_int_equal(symlink(outside, tree), 0);
    assert_true(file_remove_tree(tree));
    assert_content(path_of(fixture, "outside/precious"), "p");
    assert_true(file_remove_tree(tree));                 /* missing is fine */
    assert_false(file_remove_tree("/proc/self/status")); /* root cannot, either */
}

static void test_list(void **state)
{
    struct fixture *fixture = *state;
    struct error error;
    char **paths;
    size_t count;

    assert_true(file_list(fixture->arena, path_of(fixture, "none"), ".json", &paths, &count, &error));
    assert_int_equal(count, 0);
    assert_true(file_make_folder(path_of(fixture, "b/c"), &error));
    assert_true(file_make_folder(path_of(fixture, "folder.json"), &error));
    put(path_of(fixture, "z.json"), "");
    put(path_of(fixture, "b/c/a.json"), "");
    put(path_of(fixture, "b/skip.txt"), "");
    put(path_of(fixture, ".hidden.json"), "");
    put(path_of(fixture, "json"), "");
    assert_int_equal(symlink("z.json", path_of(fixture, "link.json")), 0);
    assert_int_equal(symlink(".", path_of(fixture, "b/loop")), 0);
    assert_int_equal(symlink("nowhere", path_of(fixture, "dangling.json")), 0);
    assert_true(file_list(fixture->arena, fixture->root, ".json", &paths, &count, &error));
    assert_int_equal(count, 3);
    assert_string_equal(paths[0], "b/c/a.json");
    assert_string_equal(paths[1], "link.json");
    assert_string_equal(paths[2], "z.json");

    char *deep = path_of(fixture, "d");
    for (int i = 0; i < 17; i++)
        deep = file_join(fixture->arena, deep, "d");
    assert_true(file_make_folder(deep, &error));
    assert_false(file_list(fixture->arena, fixture->root, ".json", &paths, &count, &error));
    assert_int_equal(error.code, ERROR_LIMIT);
}

static void test_names(void **state)
{
    struct fixture *fixture = *state;
    struct arena *arena = fixture->arena;

    assert_string_equal(file_join(arena, "a", "b"), "a/b");
    assert_string_equal(file_join(arena, "a/", "b"), "a/b");
    assert_string_equal(file_join(arena, "", "b"), "b");
    assert_string_equal(file_join(arena, "a", "/b"), "/b");
    assert_string_equal(file_basename("/x/y.cu"), "y.cu");
    assert_string_equal(file_basename("y.cu"), "y.cu");
    assert_string_equal(file_basename("/x/"), "");
}

static void test_find_program(void **state)
{
    struct fixture *fixture = *state;
    struct arena *arena = fixture->arena;
    AUTO_FREE char *old = strdup(getenv("PATH"));
    struct error error;

    put(path_of(fixture, "plain"), "x");                                 /* not executable */
    assert_true(file_make_folder(path_of(fixture, "one/tool"), &error)); /* a folder is no program */
    assert_true(file_make_folder(path_of(fixture, "two"), &error));
    assert_true(file_write(path_of(fixture, "two/tool"), "x", 1, 0755, &error));
    (void)setenv("PATH", arena_printf(arena, "::%s/one:%s/two:%s", fixture->root, fixture->root, fixture->root), 1);
    char *tool = file_find_program(arena, "tool");
    char *plain = file_find_program(arena, "plain");
    (void)setenv("PATH", old, 1);
    assert_string_equal(tool, path_of(fixture, "two/tool"));
    assert_null(plain);
    assert_null(file_find_program(arena, "/nonexistent/tool"));
    assert_string_equal(file_find_program(arena, "/bin/sh"), "/bin/sh");
}

static void test_roots(void **state)
{
    static const struct {
        const char *own, *xdg, *home, *wanted;
    } cases[] = {
        {"/own", "/xdg", "/home/x", "/own"},
        {"", "/xdg", "/home/x", "/xdg/ptxbench"},
        {NULL, NULL, "/home/x", "/home/x/.cache/ptxbench"},
    };
    struct fixture *fixture = *state;
    static const char *const names[] = {"PTXBENCH_CACHE", "XDG_CACHE_HOME", "HOME"};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *values[] = {cases[i].own, cases[i].xdg, cases[i].home};
        for (size_t k = 0; k < ARRAY_LEN(names); k++)
            if (values[k])
                (void)setenv(names[k], values[k], 1);
            else
                (void)unsetenv(names[k]);
        assert_string_equal(file_cache_root(fixture->arena), cases[i].wanted);
    }
    (void)setenv("PTXBENCH_TMPDIR", "/p", 1);
    assert_string_equal(file_temporary_root(), "/p");
    (void)unsetenv("PTXBENCH_TMPDIR");
    assert_true(file_is_folder(file_executable_folder(fixture->arena)));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_read),
        TEST(test_write),
        TEST(test_failed_write_leaves_the_old_file),
        TEST(test_unwritable),
        TEST(test_write_through_links_and_into_pipes),
        TEST(test_folders),
        TEST(test_remove_tree_follows_no_links),
        TEST(test_list),
        TEST(test_names),
        TEST(test_find_program),
        TEST(test_roots),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
