#define _GNU_SOURCE
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Rights newer than the oldest <linux/landlock.h> we build with (ABI 2). */
#define ACCESS_TRUNCATE (1ULL << 14)  /* ABI 3 */
#define ACCESS_IOCTL_DEV (1ULL << 15) /* ABI 5: not restricted, the CUDA driver needs it */

static const uint64_t read_rights =
    LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t write_rights = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
                                     LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                     LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM;

int sandbox_landlock_abi(void)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

    return abi > 0 ? (int)abi : 0;
}

static int allow_path(int ruleset, const char *path, uint64_t rights)
{
    struct stat info;
    int fd = open(path, O_PATH | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 0 : errno;
    /* Rights that only make sense for folders are refused on files. */
    if (!fstat(fd, &info) && !S_ISDIR(info.st_mode))
        rights &=
            LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE;
    struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = fd};
    long result = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    int reason = result ? errno : 0;
    (void)close(fd);
    return reason;
}

static int allow_paths(int ruleset, const char *const *paths, uint64_t rights)
{
    for (; paths && *paths; paths++) {
        int reason = allow_path(ruleset, *paths, rights);
        if (reason)
            return reason;
    }
    return 0;
}

int sandbox_restrict_files(const struct process_sandbox *sandbox, bool *applied)
{
    int abi = sandbox_landlock_abi();

    *applied = false;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return errno;
    if (!abi)
        return 0;
    uint64_t writing = write_rights | (abi >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0) | (abi >= 3 ? ACCESS_TRUNCATE : 0);
    uint64_t handled = writing | (sandbox->readable ? read_rights : 0);
    struct landlock_ruleset_attr attributes = {.handled_access_fs = handled};
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0);
    if (ruleset < 0)
        return errno;
    int reason = allow_paths(ruleset, sandbox->readable, read_rights & handled);
    if (!reason)
        reason = allow_paths(ruleset, sandbox->writable, (writing | read_rights) & handled);
    if (!reason && syscall(SYS_landlock_restrict_self, ruleset, 0))
        reason = errno;
    (void)close(ruleset);
    *applied = !reason;
    return reason;
}
