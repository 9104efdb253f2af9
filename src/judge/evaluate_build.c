/* Steps that need no device: compile, screen, machine code. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "judge/verdict_toolchain.h"
#include "judge/worker_internal.h"
#include "toolchain/screen.h"

enum { OBJECT_LIMIT = 512 << 20 };

static struct compile_request compile_request_of(const struct evaluation_run *run)
{
    const struct judge_request *request = run->request;
    const char *device_arch = worker_arch(run->worker);

    return (struct compile_request){
        .sources = request->sources,
        .source_count = request->source_count,
        .entry = request->entry_file,
        .binding = request->binding,
        .arch = request->arch ? request->arch
                : device_arch ? device_arch
                              : "sm_90a",
        .cache_root = request->cache_root,
        .timeout_ns = request->compile_timeout_ns,
    };
}

/* An object for another architecture would fail to launch, which is not the candidate's fault. */
static bool check_arch(const struct evaluation_run *run, struct error *error)
{
    const char *asked = run->request->arch;
    const char *device_arch = worker_arch(run->worker);

    if (!asked || !device_arch || !strcmp(asked, device_arch))
        return true;
    (void)error_set(error, ERROR_USAGE, "--arch %s: %s runs %s", asked, run->worker->options.device, device_arch);
    return error_hint(error, "leave --arch out, or use 'ptxbench compile' to look at another architecture");
}

static void hash_sources(struct evaluation_run *run)
{
    struct hash *hash = hash_new();
    char text[HASH_TEXT_BYTES];

    for (size_t i = 0; i < run->request->source_count; i++) {
        hash_add_text(hash, run->request->sources[i].path);
        hash_add(hash, run->request->sources[i].content, run->request->sources[i].length);
    }
    hash_finish(hash, text);
    run->verdict->provenance.source_sha256 = arena_strdup(run->arena, text);
}

/* Keeps the object as a sealed memory file: what was screened is what runs, and the runner needs no path to it. */
static bool hold_object(struct evaluation_run *run, struct error *error)
{
    AUTO_FREE char *bytes = NULL;
    char text[HASH_TEXT_BYTES];
    size_t length;

    if (!file_read(run->compile.object_path, OBJECT_LIMIT, &bytes, &length, error))
        return false;
    hash_bytes(bytes, length, text);
    run->verdict->provenance.object_sha256 = arena_strdup(run->arena, text);
    run->object_fd = memfd_create("candidate", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (run->object_fd < 0)
        return error_system(error, errno, "cannot hold the object in memory");
    for (size_t at = 0; at < length;) {
        ssize_t put = write(run->object_fd, bytes + at, length - at);
        if (put <= 0)
            return error_system(error, errno, "cannot hold the object in memory");
        at += (size_t)put;
    }
    (void)fcntl(run->object_fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return true;
}

static void analyse_machine_code(struct evaluation_run *run)
{
    struct error error;

    run->sass_known = sass_analyze(&run->worker->toolchain, run->compile.object_path, run->compile.arch,
                                   run->compile.folder, run->arena, &run->sass, &error);
    if (!run->sass_known)
        run->sass_reason = arena_strdup(run->arena, error.message);
}

static const char *first_error(const struct compile_result *result)
{
    for (size_t i = 0; i < result->diagnostics.count; i++)
        if (result->diagnostics.items[i].severity == DIAGNOSTIC_ERROR)
            return result->diagnostics.items[i].message;
    return result->summary;
}

bool evaluate_build(struct evaluation_run *run)
{
    const struct judge_request *request = run->request;
    struct screen_policy policy = {.allow_libraries = request->allow_libraries};
    struct screen_report screen = {0};
    struct error error;

    /* The device warms up while the compiler runs; without one, bad candidates still get their verdict. */
    if (!worker_open_device(run->worker, &error))
        log_message(LOG_INFO, "%s", error.message);
    if (!check_arch(run, &error))
        return evaluate_trouble(run, &error);
    struct compile_request compile = compile_request_of(run);
    run->verdict->task.arch = compile.arch;
    hash_sources(run);
    evaluate_progress(run, "compiling");
    if (!compile_run(&run->worker->toolchain, &compile, run->arena, &run->compile, &error))
        return evaluate_trouble(run, &error);
    run->verdict->task.binding = compile_binding_text(run->compile.binding);
    verdict_take_compile(run->verdict, run->arena, &run->compile);
    if (!screen_candidate(run->arena, &run->worker->toolchain, &compile, &run->compile, &policy, &screen, &error))
        return evaluate_trouble(run, &error);
    bool offence = verdict_take_screen(run->verdict, run->arena, &screen);
    if (run->compile.status != COMPILE_OK || offence) {
        run->failed = true;
        verdict_set_status(run->verdict, run->arena, VERDICT_COMPILE_ERROR, "%s",
                           run->compile.status == COMPILE_FAILED ? first_error(&run->compile)
                           : offence                             ? "the candidate uses what the task forbids"
                                                                 : run->compile.summary);
        return false;
    }
    analyse_machine_code(run);
    return hold_object(run, &error) || evaluate_trouble(run, &error);
}
