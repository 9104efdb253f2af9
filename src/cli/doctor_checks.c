/* Checks that need no GPU: tools, folders, protection. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/file.h"
#include "base/process.h"
#include "base/resource.h"
#include "cli/doctor.h"
#include "toolchain/toolchain.h"

enum { VERSION_OUTPUT_BYTES = 16 * 1024, PROC_FILE_BYTES = 64 * 1024, CAP_SYS_ADMIN_BIT = 21 };

static const double GIB = 1024.0 * 1024 * 1024;

/* A row for a program or folder: present when `path` is not NULL. */
static void add_present(struct arena *arena, struct doctor_report *report, struct doctor_check check, const char *path,
                        const char *version, const char *remedy)
{
    check.status = path ? DOCTOR_OK : DOCTOR_MISSING;
    check.remedy = path ? NULL : remedy;
    if (!path)
        check.detail = "not found";
    else if (version)
        check.detail = arena_printf(arena, "%s (%s)", version, path);
    else
        check.detail = path;
    doctor_add(report, &check);
}

/* Version number that `PROGRAM --version` prints, or NULL. */
static const char *program_version(struct arena *arena, const char *program)
{
    const char *argv[] = {program, "--version", NULL};
    struct process_spec spec = {.argv = argv, .timeout_ns = 10 * 1000000000LL, .output_limit = VERSION_OUTPUT_BYTES};
    AUTO_BUFFER output = buffer_new(VERSION_OUTPUT_BYTES);
    AUTO_BUFFER errors = buffer_new(VERSION_OUTPUT_BYTES);
    struct process_end end;
    struct error error;

    if (!process_run(&spec, &output, &errors, &end, &error) || end.exit_status != 0)
        return NULL;
    /* The number is the first word that starts with a digit and has a dot, as in "gcc (Debian 12.2.0) 12.2.0". */
    for (const char *at = output.data; *at; at += strcspn(at, " \n")) {
        at += strspn(at, " \n");
        size_t length = strspn(at, "0123456789.");
        if (length >= 3 && *at != '.' && memchr(at, '.', length) && strchr(" \n,-)+~", at[length]))
            return arena_strndup(arena, at, length);
        if (!*at)
            break;
    }
    return NULL;
}

/* As program_version for a program that may be missing. */
static const char *version_of(struct arena *arena, const char *program)
{
    return program ? program_version(arena, program) : NULL;
}

void doctor_check_toolchain(struct arena *arena, struct doctor_report *report)
{
    struct toolchain found;
    struct error error;

    if (!toolchain_find(arena, &found, &error)) {
        struct doctor_check broken = doctor_check_new("toolchain", "toolchain", DOCTOR_FOR_COMPILE, "compile kernels");
        broken.status = DOCTOR_BROKEN;
        broken.detail = arena_strdup(arena, error.message);
        broken.remedy = error.hint[0] ? arena_strdup(arena, error.hint) : "see the message";
        doctor_add(report, &broken);
        return;
    }
    const char *compiler = file_find_program(arena, "g++");
    const char *sanitizer = resource_find_program(arena, "compute-sanitizer");
    const char *ncu = resource_find_program(arena, "ncu");
    const char *gnuplot = file_find_program(arena, "gnuplot");
    const char *setup = "run 'make setup' in the source tree, or put CUDA 13's bin folder on PATH";
    const struct {
        const char *name;
        enum doctor_need need;
        const char *purpose;
        const char *path;
        const char *version;
        const char *remedy;
    } rows[] = {
        {"nvcc", DOCTOR_FOR_COMPILE, "compile kernels", found.nvcc, found.nvcc_version, setup},
        {"host_compiler", DOCTOR_FOR_COMPILE, "compile the host part of kernels", compiler, version_of(arena, compiler),
         "apt-get install g++"},
        {"nvdisasm", DOCTOR_FOR_COMPILE, "count target instructions", found.nvdisasm, found.nvdisasm_version, setup},
        {"cuobjdump", DOCTOR_FOR_EXTRA, "look into compiled kernels by hand", found.cuobjdump, NULL, setup},
        {"tvm_ffi", DOCTOR_FOR_COMPILE, "compile kernels with the TVM-FFI binding", found.tvm_ffi_root,
         found.tvm_ffi_version, "run 'make setup' in the source tree, or set PTXBENCH_TVM_FFI"},
        {"candidate_header", DOCTOR_FOR_COMPILE, "compile kernels with the C binding", found.candidate_include, NULL,
         "set PTXBENCH_INCLUDE to the folder that holds ptxbench/candidate.h"},
        {"compute_sanitizer", DOCTOR_FOR_EXTRA, "explain illegal accesses and races", sanitizer,
         version_of(arena, sanitizer), "install the CUDA toolkit's compute-sanitizer (package cuda-sanitizer-13-0)"},
        {"ncu", DOCTOR_FOR_EXTRA, "cross-check of the counts (eval --verify-with ncu)", ncu, version_of(arena, ncu),
         "install Nsight Compute (package cuda-nsight-compute-13-0)"},
        {"emulator", DOCTOR_FOR_EMULATION, "judge kernels without a GPU", resource_find(arena, "emu/libptxemu.so"),
         "sm_90a", "build it with 'make', or keep the folder emu/ beside this program"},
        {"gnuplot", DOCTOR_FOR_EXTRA, "figures of reports (report --figures)", gnuplot, version_of(arena, gnuplot),
         "apt-get install gnuplot-nox"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        add_present(arena, report, doctor_check_new("toolchain", rows[i].name, rows[i].need, rows[i].purpose),
                    rows[i].path, rows[i].version, rows[i].remedy);
}

/* A cache or scratch folder need not exist yet: its nearest existing parent must be writable. */
static void check_folder(struct arena *arena, struct doctor_report *report, const char *name, const char *path,
                         const char *variable, const char *purpose)
{
    struct doctor_check check = doctor_check_new("machine", name, DOCTOR_FOR_COMPILE, purpose);
    char *existing = arena_strdup(arena, path);
    struct statvfs space;

    for (char *slash; !file_exists(existing) && (slash = strrchr(existing, '/')) && slash != existing;)
        *slash = '\0';
    if (!file_is_folder(existing)) {
        check.status = DOCTOR_BROKEN;
        check.detail = arena_printf(arena, "%s: %s is not a folder", path, existing);
        check.remedy = arena_printf(arena, "set %s to a folder that you may write to", variable);
    } else if (access(existing, W_OK | X_OK) || statvfs(existing, &space)) {
        check.status = DOCTOR_BROKEN;
        check.detail = arena_printf(arena, "%s: %s", path, strerror(errno));
        check.remedy = arena_printf(arena, "set %s to a folder that you may write to", variable);
    } else {
        double free_gib = (double)space.f_bavail * (double)space.f_frsize / GIB;
        check.detail = arena_printf(arena, "%s, %.1f GiB free", path, free_gib);
        if (free_gib < 0.25) {
            check.status = DOCTOR_BROKEN;
            check.remedy = arena_printf(arena, "free disk space, or set %s to another folder", variable);
        }
    }
    doctor_add(report, &check);
}

static void check_sandbox(struct doctor_report *report)
{
    struct doctor_check files =
        doctor_check_new("machine", "landlock", DOCTOR_FOR_EXTRA, "keep candidates away from your files");
    struct doctor_check calls =
        doctor_check_new("machine", "seccomp", DOCTOR_FOR_EXTRA, "deny system calls that candidates do not need");

    files.detail = process_sandbox_text();
    calls.detail = "available";
    if (!strncmp(files.detail, "none", 4)) {
        files.status = DOCTOR_MISSING;
        files.remedy = "use Linux 5.13 or newer with Landlock; until then judge only kernels that you trust, or use a "
                       "container";
    }
    doctor_add(report, &files);
    if (!file_exists("/proc/sys/kernel/seccomp/actions_avail")) {
        calls.status = DOCTOR_MISSING;
        calls.detail = "the kernel has no seccomp filters";
        calls.remedy = "use a kernel with CONFIG_SECCOMP_FILTER";
    }
    doctor_add(report, &calls);
}

/* Value behind "KEY" and a colon in a file below /proc, in `base`; false when there is none. */
static bool read_proc_number(const char *path, const char *key, int base, unsigned long long *value)
{
    AUTO_FREE char *text = NULL;
    size_t length;
    struct error error;

    if (!file_read(path, PROC_FILE_BYTES, &text, &length, &error))
        return false;
    const char *at = strstr(text, key);
    if (!at || at[strlen(key)] != ':')
        return false;
    *value = strtoull(at + strlen(key) + 1, NULL, base);
    return true;
}

/* Since driver 418 the counters are for administrators unless the module says otherwise. */
static void check_counters(struct doctor_report *report)
{
    struct doctor_check check =
        doctor_check_new("machine", "counters", DOCTOR_FOR_EXTRA, "count executed target instructions");
    unsigned long long admin_only = 0;
    unsigned long long capabilities = 0;
    bool admin =
        read_proc_number("/proc/self/status", "CapEff", 16, &capabilities) && capabilities >> CAP_SYS_ADMIN_BIT & 1;

    if (!read_proc_number("/proc/driver/nvidia/params", "RmProfilingAdminOnly", 10, &admin_only)) {
        check.status = DOCTOR_MISSING;
        check.detail = "no NVIDIA kernel module (/proc/driver/nvidia/params)";
        check.remedy = "use a machine with an NVIDIA GPU and driver";
    } else if (admin_only && !admin) {
        check.status = DOCTOR_MISSING;
        check.detail = "the driver allows them to administrators only";
        check.remedy = "load the module with NVreg_RestrictProfilingToAdminUsers=0, or run with CAP_SYS_ADMIN";
    } else {
        check.detail = admin_only ? "allowed by CAP_SYS_ADMIN" : "allowed to every user";
    }
    doctor_add(report, &check);
}

void doctor_check_machine(struct arena *arena, struct doctor_report *report)
{
    add_present(arena, report,
                doctor_check_new("machine", "tasks", DOCTOR_FOR_EMULATION, "the tasks that ship with the program"),
                resource_find(arena, "tasks"), NULL, "name a folder of tasks with --tasks, or set PTXBENCH_HOME");
    add_present(arena, report,
                doctor_check_new("machine", "runner", DOCTOR_FOR_EMULATION, "run candidates in a process of their own"),
                resource_find(arena, "ptxbench-runner"), NULL,
                "keep ptxbench-runner in the folder of ptxbench (rebuild, or copy both)");
    check_folder(arena, report, "cache", file_cache_root(arena), "PTXBENCH_CACHE", "keep compiled kernels");
    check_folder(arena, report, "scratch", file_temporary_root(), "PTXBENCH_TMPDIR", "compile in an empty folder");
    check_sandbox(report);
    check_counters(report);
}
