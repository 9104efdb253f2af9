#define _GNU_SOURCE
#include "toolchain/compile_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/attributes.h"
#include "base/file.h"
#include "base/hash.h"

enum { RECENT_SECONDS = 600, STALE_WORKSPACE_SECONDS = 86400 };

static const char hint_writable[] = "make the cache folder writable, or set PTXBENCH_CACHE to another one";

static void cleanup_closedir(DIR **folder)
{
    if (*folder)
        (void)closedir(*folder);
}
#define AUTO_CLOSEDIR CLEANUP(cleanup_closedir) DIR

char *compile_cache_folder(struct arena *arena, const char *root, const char *key)
{
    return arena_printf(arena, "%s/objects/%.2s/%s", root, key, key);
}

static bool hint_unless_set(struct error *error)
{
    return error->hint[0] ? false : error_hint(error, "%s", hint_writable);
}

bool compile_cache_workspace(struct arena *arena, const char *root, char **folder, struct error *error)
{
    char *work = arena_printf(arena, "%s/work", root);

    if (!file_make_folder(work, error) || !file_make_temporary_folder(arena, work, "compile", folder, error)) {
        (void)error_prefix(error, "compile cache");
        return hint_unless_set(error);
    }
    return true;
}

static bool sync_path(const char *path)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    return fd >= 0 && fsync(fd) == 0;
}

/* Syncs the files of a flat folder, then the folder. */
static bool sync_folder(struct arena *arena, const char *path)
{
    AUTO_CLOSEDIR *folder = opendir(path);
    struct dirent *item;

    if (!folder)
        return false;
    while ((item = readdir(folder)))
        if (item->d_name[0] != '.' && !sync_path(file_join(arena, path, item->d_name)))
            return false;
    return sync_path(path);
}

bool compile_cache_publish(const char *root, const char *key, const char *folder, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    char *target = compile_cache_folder(arena, root, key);
    char *shelf = arena_strndup(arena, target, strlen(target) - (HASH_TEXT_BYTES - 1) - 1);

    if (!file_make_folder(shelf, error)) {
        (void)error_prefix(error, "compile cache");
        return hint_unless_set(error);
    }
    if (!sync_folder(arena, folder)) {
        (void)error_system(error, errno, "compile cache: cannot sync %s", folder);
        return hint_unless_set(error);
    }
    if (rename(folder, target)) {
        if (errno == EEXIST || errno == ENOTEMPTY) { /* another process was faster: its entry is as good */
            (void)file_remove_tree(folder);
            return true;
        }
        (void)error_system(error, errno, "compile cache: cannot move %s to %s", folder, target);
        return hint_unless_set(error);
    }
    (void)sync_path(shelf);
    return true;
}

void compile_cache_discard(const char *root, const char *key)
{
    AUTO_ARENA *arena = arena_new();
    struct error ignored;
    char *aside;

    /* Moved away first, so that nobody meets a half-removed entry. */
    if (!compile_cache_workspace(arena, root, &aside, &ignored))
        return;
    (void)rename(compile_cache_folder(arena, root, key), aside);
    (void)file_remove_tree(aside);
}

void compile_cache_touch(const char *root, const char *key)
{
    AUTO_ARENA *arena = arena_new();

    (void)utimensat(AT_FDCWD, compile_cache_folder(arena, root, key), NULL, 0);
}

struct cached {
    char *path;
    char *key;
    uint64_t bytes;
    time_t used;
};

struct inventory {
    struct arena *arena;
    struct cached *entries;
    size_t count;
    size_t capacity;
    uint64_t bytes;
};

static uint64_t folder_bytes(const char *path)
{
    AUTO_CLOSEDIR *folder = opendir(path);
    struct dirent *item;
    struct stat info;
    uint64_t bytes = 0;

    while (folder && (item = readdir(folder)))
        if (!fstatat(dirfd(folder), item->d_name, &info, AT_SYMLINK_NOFOLLOW) && S_ISREG(info.st_mode))
            bytes += (uint64_t)info.st_blocks * 512;
    return bytes;
}

static void inventory_add(struct inventory *inventory, const char *shelf, const char *key)
{
    struct stat info;
    char *path = file_join(inventory->arena, shelf, key);

    if (lstat(path, &info) || !S_ISDIR(info.st_mode))
        return;
    if (inventory->count == inventory->capacity) {
        inventory->capacity = inventory->capacity ? 2 * inventory->capacity : 256;
        struct cached *grown = arena_calloc(inventory->arena, inventory->capacity, sizeof *grown);
        if (inventory->count)
            memcpy(grown, inventory->entries, inventory->count * sizeof *grown);
        inventory->entries = grown;
    }
    struct cached *entry = &inventory->entries[inventory->count++];
    *entry = (struct cached){
        .path = path, .key = arena_strdup(inventory->arena, key), .bytes = folder_bytes(path), .used = info.st_mtime};
    inventory->bytes += entry->bytes;
}

static void take_inventory(struct inventory *inventory, const char *root)
{
    char *objects = arena_printf(inventory->arena, "%s/objects", root);
    AUTO_CLOSEDIR *shelves = opendir(objects);
    struct dirent *shelf, *item;

    while (shelves && (shelf = readdir(shelves))) {
        if (shelf->d_name[0] == '.')
            continue;
        char *path = file_join(inventory->arena, objects, shelf->d_name);
        AUTO_CLOSEDIR *folder = opendir(path);
        while (folder && (item = readdir(folder)))
            if (item->d_name[0] != '.')
                inventory_add(inventory, path, item->d_name);
    }
}

static int compare_used(const void *a, const void *b)
{
    const struct cached *left = a, *right = b;

    return (left->used > right->used) - (left->used < right->used);
}

static void remove_stale_workspaces(struct arena *arena, const char *root, time_t now)
{
    char *work = arena_printf(arena, "%s/work", root);
    AUTO_CLOSEDIR *folder = opendir(work);
    struct dirent *item;
    struct stat info;

    while (folder && (item = readdir(folder))) {
        if (item->d_name[0] == '.' || fstatat(dirfd(folder), item->d_name, &info, AT_SYMLINK_NOFOLLOW))
            continue;
        if (now - info.st_mtime > STALE_WORKSPACE_SECONDS)
            (void)file_remove_tree(file_join(arena, work, item->d_name));
    }
}

bool compile_cache_trim(const char *root, uint64_t max_bytes, size_t *removed, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    struct inventory inventory = {.arena = arena};
    time_t now = time(NULL);

    (void)error;
    if (removed)
        *removed = 0;
    take_inventory(&inventory, root);
    remove_stale_workspaces(arena, root, now);
    if (inventory.bytes <= max_bytes)
        return true;
    qsort(inventory.entries, inventory.count, sizeof *inventory.entries, compare_used);
    for (size_t i = 0; i < inventory.count && inventory.bytes > max_bytes; i++) {
        const struct cached *entry = &inventory.entries[i];
        if (now - entry->used < RECENT_SECONDS)
            break; /* somebody may be loading it */
        compile_cache_discard(root, entry->key);
        inventory.bytes -= entry->bytes;
        if (removed)
            (*removed)++;
    }
    return true;
}
