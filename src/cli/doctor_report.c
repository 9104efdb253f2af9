#include "base/json.h"
#include "cli/doctor.h"

struct doctor_check doctor_check_new(const char *group, const char *name, enum doctor_need need, const char *purpose)
{
    return (struct doctor_check){.group = group, .name = name, .need = need, .purpose = purpose};
}

void doctor_add(struct doctor_report *report, const struct doctor_check *check)
{
    if (report->check_count < DOCTOR_CHECKS_MAX)
        report->checks[report->check_count++] = *check;
}

void doctor_examine(struct arena *arena, struct doctor_report *report)
{
    *report = (struct doctor_report){0};
    doctor_check_toolchain(arena, report);
    doctor_check_machine(arena, report);
    doctor_check_libraries(arena, report);
    doctor_check_devices(arena, report);
}

bool doctor_is_able(const struct doctor_report *report, enum doctor_need need)
{
    for (size_t i = 0; i < report->check_count; i++)
        if (report->checks[i].status != DOCTOR_OK && report->checks[i].need <= need)
            return false;
    return true;
}

const char *doctor_status_text(enum doctor_status status)
{
    static const char *const texts[] = {"ok", "missing", "broken"};

    return texts[status];
}

const char *doctor_need_text(enum doctor_need need)
{
    static const char *const texts[] = {"compile", "emulation", "eval", "extra"};

    return texts[need];
}

static json_object *check_to_json(const struct doctor_check *check)
{
    json_object *object = json_object_new_object();

    json_put_string(object, "name", check->name);
    json_put_string(object, "group", check->group);
    json_put_string(object, "status", doctor_status_text(check->status));
    json_put_string(object, "needed_for", doctor_need_text(check->need));
    json_put_string(object, "purpose", check->purpose);
    json_put_string(object, "detail", check->detail);
    json_put_string(object, "remedy", check->remedy);
    return object;
}

static json_object *device_to_json(const struct doctor_device *device)
{
    json_object *object = json_object_new_object();
    char text[32];

    (void)snprintf(text, sizeof text, "cuda:%d", device->ordinal);
    json_put_string(object, "device", text);
    json_put_string(object, "name", device->name);
    json_put_string(object, "uuid", device->uuid);
    (void)snprintf(text, sizeof text, "%d.%d", device->major, device->minor);
    json_put_string(object, "compute_capability", text);
    json_put_u64(object, "memory_bytes", device->memory_bytes);
    json_put_string(object, "target", device->target);
    return object;
}

json_object *doctor_report_to_json(const struct doctor_report *report)
{
    json_object *root = json_object_new_object();
    json_object *able = json_object_new_object();
    json_object *devices = json_object_new_array();
    json_object *checks = json_object_new_array();

    json_put_string(root, "schema", "ptxbench.doctor.v1");
    json_put_string(root, "version", PTXBENCH_VERSION);
    json_put_bool(able, "compile", doctor_is_able(report, DOCTOR_FOR_COMPILE));
    json_put_bool(able, "eval", doctor_is_able(report, DOCTOR_FOR_EVAL));
    json_put_bool(able, "emulation", doctor_is_able(report, DOCTOR_FOR_EMULATION));
    json_put(root, "able", able);
    if (report->driver_cuda_version)
        json_put_i64(root, "driver_cuda_version", report->driver_cuda_version);
    else
        json_put(root, "driver_cuda_version", NULL);
    for (size_t i = 0; i < report->device_count; i++)
        json_object_array_add(devices, device_to_json(&report->devices[i]));
    json_put(root, "devices", devices);
    for (size_t i = 0; i < report->check_count; i++)
        json_object_array_add(checks, check_to_json(&report->checks[i]));
    json_put(root, "checks", checks);
    return root;
}
