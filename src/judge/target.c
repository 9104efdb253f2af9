#include "judge/target.h"

#include <stdio.h>
#include <string.h>

#define LOW_TENSOR_SHARE 0.5

/* Families that the task asks for, as listed in table 5 of the paper. */
static const struct {
    const char *arch_prefix;
    const char *name;
    enum sass_family families[3]; /* ends with SASS_OTHER */
} architectures[] = {
    {"sm_90", "hopper", {SASS_GMMA, SASS_TMA, SASS_OTHER}},
    {"sm_100", "blackwell", {SASS_TCGEN, SASS_OTHER}},
    {"sm_103", "blackwell", {SASS_TCGEN, SASS_OTHER}},
};

static int find_architecture(const char *arch)
{
    for (size_t i = 0; i < ARRAY_LEN(architectures); i++)
        if (arch && strncmp(arch, architectures[i].arch_prefix, strlen(architectures[i].arch_prefix)) == 0)
            return (int)i;
    return -1;
}

const char *target_family_of_arch(const char *arch)
{
    int index = find_architecture(arch);

    return index < 0 ? NULL : architectures[index].name;
}

/* What the counting run says, before it is judged. */
struct tally {
    uint64_t warps[SASS_FAMILY_COUNT];
    uint64_t threads[SASS_FAMILY_COUNT];
    double target_flops;
    double legacy_flops;
    const char *work_unknown; /* why the flops are incomplete */
    size_t foreign;           /* counts of functions that the object does not hold */
    size_t unresolved;        /* counts at offsets where the object has no instruction */
    const char *unresolved_function;
    bool scaled; /* from a part of the grid */
};

static bool is_listed(int architecture, enum sass_family family)
{
    const enum sass_family *families = architectures[architecture].families;

    for (size_t i = 0; families[i] != SASS_OTHER; i++)
        if (families[i] == family)
            return true;
    return false;
}

static struct verdict_family *family_entry(struct arena *arena, struct verdict_kernel *kernel, enum sass_family family)
{
    const char *name = sass_family_text(family);
    struct verdict_family *entry;

    for (size_t i = 0; i < kernel->families.count; i++)
        if (strcmp(kernel->families.items[i].name, name) == 0)
            return &kernel->families.items[i];
    entry = LIST_APPEND(arena, &kernel->families);
    entry->name = name;
    entry->target = sass_family_is_target(family);
    entry->warps = count_of(0);
    entry->threads = count_of(0);
    return entry;
}

static struct verdict_kernel *kernel_entry(struct arena *arena, struct verdict_target *out,
                                           const struct sass_function *function)
{
    struct verdict_kernel *entry;

    for (size_t i = 0; i < out->kernels.count; i++)
        if (strcmp(out->kernels.items[i].name, function->name) == 0)
            return &out->kernels.items[i];
    entry = LIST_APPEND(arena, &out->kernels);
    entry->name = arena_strdup(arena, function->name);
    for (int family = SASS_OTHER + 1; family < SASS_FAMILY_COUNT; family++)
        if (function->family_count[family])
            family_entry(arena, entry, (enum sass_family)family)->in_object =
                count_of((int64_t)function->family_count[family]);
    return entry;
}

static void add_work(struct tally *tally, const char *opcode, enum sass_family family, uint64_t warps)
{
    const char *unknown = NULL;
    uint64_t work = sass_mma_work(opcode, &unknown);

    if (unknown && warps)
        tally->work_unknown = unknown;
    if (sass_family_is_target(family))
        tally->target_flops += (double)work * (double)warps;
    else
        tally->legacy_flops += (double)work * (double)warps;
}

static void add_count(struct arena *arena, const struct target_input *input, const struct target_count *count,
                      struct verdict_target *out, struct tally *tally)
{
    const struct sass_function *function = sass_find_function(input->sass, count->function);
    const char *opcode = function ? sass_opcode_at(input->sass, count->function, count->offset) : NULL;
    struct verdict_kernel *kernel;
    struct verdict_family *entry;
    enum sass_family family;

    if (!function) {
        tally->foreign++;
        return;
    }
    if (!opcode) {
        if (count->warps) {
            tally->unresolved++;
            tally->unresolved_function = count->function;
        }
        return;
    }
    kernel = kernel_entry(arena, out, function);
    family = sass_family(opcode, input->arch);
    if (family == SASS_OTHER)
        return;
    tally->warps[family] += count->warps;
    tally->threads[family] += count->threads;
    entry = family_entry(arena, kernel, family);
    entry->warps.value += (int64_t)count->warps;
    entry->threads.value += (int64_t)count->threads;
    add_work(tally, opcode, family, count->warps);
}

/* Only whether a thread ran matters below, and a warp does not run without one. */
static void take_sums(const struct target_sums *sums, struct tally *tally)
{
    for (int family = SASS_OTHER + 1; family < SASS_FAMILY_COUNT; family++) {
        tally->warps[family] = (uint64_t)(sums->warps[family] + 0.5);
        tally->threads[family] = 32 * tally->warps[family];
    }
    tally->target_flops = sums->target_flops;
    tally->legacy_flops = sums->legacy_flops;
    tally->scaled = sums->scaled;
}

static void fill_families(struct arena *arena, const struct target_input *input, int architecture,
                          const struct tally *tally, struct verdict_target *out)
{
    for (int i = SASS_OTHER + 1; i < SASS_FAMILY_COUNT; i++) {
        enum sass_family family = (enum sass_family)i;
        struct verdict_family *entry;
        if (sass_family_is_target(family) && !is_listed(architecture, family))
            continue;
        entry = LIST_APPEND(arena, &out->counts);
        entry->name = sass_family_text(family);
        entry->target = sass_family_is_target(family);
        entry->in_object = count_of((int64_t)input->sass->family_count[family]);
        count_map_set(&out->in_object, arena, entry->name, entry->in_object.value);
        if (input->measured) {
            entry->warps = count_of((int64_t)tally->warps[family]);
            entry->threads = input->sums ? (struct count){0} : count_of((int64_t)tally->threads[family]);
        }
    }
}

static void decide(struct arena *arena, const struct target_input *input, int architecture, const struct tally *tally,
                   struct verdict_target *out)
{
    uint64_t in_object = 0;
    uint64_t threads = 0;

    for (int family = 0; family < SASS_FAMILY_COUNT; family++) {
        if (!is_listed(architecture, (enum sass_family)family))
            continue;
        in_object += input->sass->family_count[family];
        threads += tally->threads[family];
    }
    out->executed = EXECUTED_UNKNOWN;
    if (in_object == 0) {
        out->executed = EXECUTED_NEVER;
        out->reason = "no selected instruction in the object";
    } else if (input->undefined_reason) {
        out->reason = arena_strdup(arena, input->undefined_reason);
    } else if (!input->measured) {
        out->reason = arena_strdup(arena, input->unmeasured_reason ? input->unmeasured_reason : "no counting run");
    } else if (threads > 0) {
        out->executed = EXECUTED_YES;
    } else if (tally->unresolved) {
        out->reason = arena_printf(arena, "%zu counts of %s do not fit the disassembly", tally->unresolved,
                                   tally->unresolved_function);
    } else {
        out->executed = EXECUTED_NO;
        out->reason = "selected instructions are in the object, none ran with its predicate on";
    }
}

static void fill_share(const struct target_input *input, const struct tally *tally, struct verdict_target *out)
{
    out->required_flops = input->required_flops;
    if (out->executed == EXECUTED_NEVER) {
        out->mma_flops = number_of(0);
    } else if (!input->measured || input->undefined_reason) {
        out->tensor_share_reason = out->reason;
        return;
    } else if (tally->work_unknown) {
        out->tensor_share_reason = tally->work_unknown;
        return;
    } else if (tally->unresolved) {
        out->tensor_share_reason = "some counts do not fit the disassembly";
        return;
    } else {
        out->mma_flops = number_of(tally->target_flops);
    }
    if (input->measured)
        out->legacy_mma_flops = number_of(tally->legacy_flops);
    if (out->required_flops.known && out->required_flops.value > 0)
        out->tensor_share = number_of(out->mma_flops.value / out->required_flops.value);
    else
        out->tensor_share_reason = "the required arithmetic of this operation is not known";
}

static void add_findings(struct arena *arena, const struct verdict_target *target, const struct tally *tally,
                         struct finding_list *findings)
{
    if (target->executed == EXECUTED_NEVER)
        (void)finding_add(findings, arena, FINDING_TARGET_ABSENT,
                          "none of the target instructions of %s is in the object", target->family);
    if (target->executed == EXECUTED_NO)
        (void)finding_add(findings, arena, FINDING_TARGET_NOT_EXECUTED,
                          "target instructions are in the object, but none of them ran");
    if (target->executed == EXECUTED_YES && target->tensor_share.known &&
        target->tensor_share.value < LOW_TENSOR_SHARE && !tally->scaled) /* parts of a grid differ in their work */
        (void)finding_add(findings, arena, FINDING_TENSOR_SHARE_LOW,
                          "target instructions did %.1f %% of the required arithmetic",
                          100 * target->tensor_share.value);
    if (tally->unresolved) {
        struct finding *finding =
            finding_add(findings, arena, FINDING_TOOL_TROUBLE,
                        "%zu instruction counts do not fit the disassembly of the object", tally->unresolved);
        finding->kernel = arena_strdup(arena, tally->unresolved_function);
        finding->stage = STAGE_TARGET;
    }
}

void target_judge(struct arena *arena, const struct target_input *input, struct verdict_target *out,
                  struct finding_list *findings)
{
    int architecture = find_architecture(input->arch);
    struct tally tally = {0};

    *out = (struct verdict_target){.family = target_family_of_arch(input->arch)};
    if (architecture < 0) {
        out->reason = arena_printf(arena, "%s has no target instructions", input->arch ? input->arch : "the device");
        return;
    }
    if (!input->sass) {
        out->reason = arena_strdup(arena, input->sass_reason ? input->sass_reason : "the object was not inspected");
        return;
    }
    for (size_t i = 0; i < input->count_count && input->measured; i++)
        add_count(arena, input, &input->counts[i], out, &tally);
    if (input->measured && input->sums)
        take_sums(input->sums, &tally);
    if (input->measured) {
        out->measured_with = arena_strdup(arena, input->measured_with);
        out->foreign = count_of((int64_t)tally.foreign);
    }
    fill_families(arena, input, architecture, &tally, out);
    decide(arena, input, architecture, &tally, out);
    fill_share(input, &tally, out);
    add_findings(arena, out, &tally, findings);
}

bool target_verify(struct arena *arena, struct verdict_target *target, const char *tool, const struct count_map *warps,
                   const struct count_map *threads)
{
    for (size_t i = 0; i < target->counts.count; i++) {
        const struct verdict_family *family = &target->counts.items[i];
        const int64_t *other_warps = count_map_get(warps, family->name);
        const int64_t *other_threads = count_map_get(threads, family->name);
        if (!family->warps.known || !other_warps || !other_threads) {
            target->verified_with = arena_printf(arena, "%s: nothing to compare for %s", tool, family->name);
            return false;
        }
        if (family->warps.value != *other_warps || family->threads.value != *other_threads) {
            target->verified_with =
                arena_printf(arena, "%s: differs for %s: %lld warps, %lld threads against %lld and %lld", tool,
                             family->name, (long long)*other_warps, (long long)*other_threads,
                             (long long)family->warps.value, (long long)family->threads.value);
            return false;
        }
    }
    target->verified_with = arena_printf(arena, "%s: agrees", tool);
    return target->counts.count > 0;
}
