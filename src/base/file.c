#define _GNU_SOURCE
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"

bool file_each_piece(const char *path, file_piece *take, void *context, struct error *error)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    char piece[64 * 1024];
    struct stat info;

    if (fd < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return error_set(error, ERROR_NOT_FOUND, "%s: no such file", path);
        return error_system(error, errno, "%s: cannot open", path);
    }
    if (fstat(fd, &info))
        return error_system(error, errno, "%s: cannot stat", path);
    if (S_ISDIR(info.st_mode))
        return error_set(error, ERROR_INPUT, "%s: is a folder, expected a file", path);
    for (;;) {
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_system(error, errno, "%s: cannot read", path);
        if (!got)
            return true;
        if (!take(context, piece, (size_t)got, error))
            return false;
    }
}

struct whole_file {
    const char *path;
    struct buffer buffer;
};

static bool take_piece(void *context, const char *bytes, size_t length, struct error *error)
{
    struct whole_file *file = context;

    return buffer_append(&file->buffer, bytes, length) ||
           error_set(error, ERROR_LIMIT, "%s: larger than %zu bytes", file->path, file->buffer.limit);
}

bool file_read(const char *path, size_t limit, char **out, size_t *length, struct error *error)
{
    struct whole_file file = {.path = path, .buffer = buffer_new(limit)};

    if (!file_each_piece(path, take_piece, &file, error)) {
        buffer_free(&file.buffer);
        return false;
    }
    *length = file.buffer.length;
    *out = buffer_detach(&file.buffer);
    return *out ? true : error_set(error, ERROR_MEMORY, "%s: out of memory", path);
}

static bool write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        bytes += put;
        length -= (size_t)put;
    }
    return true;
}

static void sync_folder_of(const char *path)
{
    char folder[PATH_MAX];

    (void)snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == folder)
        slash++;
    if (slash)
        *slash = '\0';
    AUTO_CLOSE int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        (void)fsync(fd);
}

/* A device or a pipe (/dev/null, /dev/stdout) cannot be replaced: renaming would remove it. */
static bool write_in_place(const char *path, const void *bytes, size_t length, struct error *error)
{
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return error_system(error, errno, "%s: cannot open", path);
    return write_all(fd, bytes, length) ? true : error_system(error, errno, "%s: cannot write", path);
}

bool file_write(const char *path, const void *bytes, size_t length, mode_t mode, struct error *error)
{
    char temporary[PATH_MAX], target[PATH_MAX];
    struct stat info;

    if (!stat(path, &info) && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return write_in_place(path, bytes, length, error);
    if (!lstat(path, &info) && S_ISLNK(info.st_mode) && realpath(path, target))
        path = target; /* the file changes, the link stays */
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= sizeof temporary)
        return error_set(error, ERROR_INPUT, "%s: path is too long", path);
    AUTO_CLOSE int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return error_system(error, errno, "%s: cannot create", path);
    if (!write_all(fd, bytes, length) || fchmod(fd, mode) || fsync(fd) || rename(temporary, path)) {
        int reason = errno;
        (void)unlink(temporary);
        return error_system(error, reason, "%s: cannot write", path);
    }
    sync_folder_of(path);
    return true;
}

bool file_make_folder(const char *path, struct error *error)
{
    char partial[PATH_MAX];
    size_t length = strlen(path);

    if (!length || length >= sizeof partial)
        return error_set(error, ERROR_INPUT, "%s: not a usable folder name", path);
    memcpy(partial, path, length + 1);
    for (char *at = partial + 1;; at++) {
        if (*at && *at != '/')
            continue;
        char kept = *at;
        *at = '\0';
        if (mkdir(partial, 0777) && errno != EEXIST)
            return error_system(error, errno, "%s: cannot create folder", partial);
        *at = kept;
        if (!kept)
            break;
    }
    if (!file_is_folder(path))
        return error_set(error, ERROR_INPUT, "%s: exists and is not a folder", path);
    return true;
}

bool file_make_temporary_folder(struct arena *arena, const char *parent, const char *prefix, char **out,
                                struct error *error)
{
    char *path = arena_printf(arena, "%s/%s.XXXXXX", parent, prefix);

    if (!mkdtemp(path))
        return error_system(error, errno, "%s: cannot create a temporary folder", parent);
    *out = path;
    return true;
}

static bool remove_at(int parent, const char *name, int depth)
{
    if (!unlinkat(parent, name, 0) || errno == ENOENT)
        return true;
    if ((errno != EISDIR && errno != EPERM) || depth > 64)
        return false;
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    DIR *folder = fdopendir(fd);
    if (!folder) {
        (void)close(fd);
        return false;
    }
    bool ok = true;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            ok &= remove_at(fd, entry->d_name, depth + 1);
    (void)closedir(folder);
    return !unlinkat(parent, name, AT_REMOVEDIR) && ok;
}

bool file_remove_tree(const char *path)
{
    return remove_at(AT_FDCWD, path, 0);
}

bool file_exists(const char *path)
{
    return !access(path, F_OK);
}

bool file_is_folder(const char *path)
{
    struct stat info;

    return !stat(path, &info) && S_ISDIR(info.st_mode);
}

char *file_join(struct arena *arena, const char *folder, const char *name)
{
    if (!*folder || *name == '/')
        return arena_strdup(arena, name);
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    return arena_printf(arena, "%s%s%s", folder, slash, name);
}

const char *file_basename(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

const char *file_temporary_root(void)
{
    const char *root = getenv("PTXBENCH_TMPDIR");

    if (!root || !*root)
        root = getenv("TMPDIR");
    return root && *root ? root : "/tmp";
}

char *file_cache_root(struct arena *arena)
{
    const char *own = getenv("PTXBENCH_CACHE");
    const char *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");

    if (own && *own)
        return arena_strdup(arena, own);
    if (xdg && *xdg)
        return arena_printf(arena, "%s/ptxbench", xdg);
    if (home && *home)
        return arena_printf(arena, "%s/.cache/ptxbench", home);
    return arena_printf(arena, "%s/ptxbench-cache-%u", file_temporary_root(), (unsigned)getuid());
}

char *file_find_program(struct arena *arena, const char *name)
{
    if (strchr(name, '/'))
        return access(name, X_OK) ? NULL : arena_strdup(arena, name);
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        if (length) {
            char *candidate = arena_printf(arena, "%.*s/%s", (int)length, path, name);
            if (!access(candidate, X_OK) && !file_is_folder(candidate))
                return candidate;
        }
        path += length + (path[length] == ':');
    }
    return NULL;
}

char *file_executable_folder(struct arena *arena)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    if (length <= 0)
        return arena_strdup(arena, ".");
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash && slash != path)
        *slash = '\0';
    return arena_strdup(arena, path);
}

enum { LIST_MAX_FILES = 100000, LIST_MAX_DEPTH = 16 };

struct listing {
    struct arena *arena;
    const char *suffix;
    char **paths;
    size_t count;
    size_t capacity;
};

static bool list_folder(struct listing *listing, const char *root, const char *relative, int depth, struct error *error)
{
    char *folder_path = file_join(listing->arena, root, relative);
    DIR *folder = opendir(folder_path);

    if (!folder)
        return errno == ENOENT && !depth ? true : error_system(error, errno, "%s: cannot list", folder_path);
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        char *name = file_join(listing->arena, relative, entry->d_name);
        struct stat info;
        if (fstatat(dirfd(folder), entry->d_name, &info, entry->d_type == DT_LNK ? 0 : AT_SYMLINK_NOFOLLOW))
            continue;
        if (S_ISDIR(info.st_mode) && entry->d_type != DT_LNK) {
            ok = depth < LIST_MAX_DEPTH ? list_folder(listing, root, name, depth + 1, error)
                                        : error_set(error, ERROR_LIMIT, "%s: nested too deep", name);
            continue;
        }
        size_t length = strlen(entry->d_name);
        size_t suffix_length = strlen(listing->suffix);
        if (!S_ISREG(info.st_mode) || length < suffix_length ||
            strcmp(entry->d_name + length - suffix_length, listing->suffix) != 0)
            continue;
        if (listing->count == LIST_MAX_FILES) {
            ok = error_set(error, ERROR_LIMIT, "%s: more than %d files", root, LIST_MAX_FILES);
            break;
        }
        if (listing->count == listing->capacity) {
            size_t capacity = listing->capacity ? 2 * listing->capacity : 64;
            char **paths = arena_calloc(listing->arena, capacity, sizeof *paths);
            if (listing->count)
                memcpy(paths, listing->paths, listing->count * sizeof *paths);
            listing->paths = paths;
            listing->capacity = capacity;
        }
        listing->paths[listing->count++] = name;
    }
    (void)closedir(folder);
    return ok;
}

static int compare_paths(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

bool file_list(struct arena *arena, const char *root, const char *suffix, char ***paths, size_t *count,
               struct error *error)
{
    struct listing listing = {.arena = arena, .suffix = suffix};

    if (!list_folder(&listing, root, "", 0, error))
        return false;
    if (listing.count)
        qsort(listing.paths, listing.count, sizeof *listing.paths, compare_paths);
    *paths = listing.paths;
    *count = listing.count;
    return true;
}
