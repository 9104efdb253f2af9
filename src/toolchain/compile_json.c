#include <math.h>

#include "base/json.h"
#include "toolchain/compile.h"

json_object *compile_result_to_json(const struct compile_result *result)
{
    json_object *object = json_object_new_object();
    json_object *entries = json_object_new_array();

    for (size_t i = 0; i < result->entry_count; i++)
        (void)json_object_array_add(entries, json_object_new_string(result->entries[i]));
    json_put_string(object, "status", compile_status_text(result->status));
    json_put_string(object, "summary", result->summary);
    json_put_string(object, "binding", compile_binding_text(result->binding));
    json_put_string(object, "arch", result->arch);
    json_put_string(object, "key", result->key);
    json_put_string(object, "object", result->object_path);
    json_put(object, "entries", entries);
    json_put_double(object, "wall_ms", round((double)result->wall_ns * 1e-3) * 1e-3);
    json_put_bool(object, "cache_hit", result->cache_hit);
    json_put_string(object, "nvcc", result->nvcc_version);
    json_put_string(object, "tvm_ffi", result->tvm_ffi_version);
    json_put_string(object, "sandbox", result->sandbox);
    json_put(object, "diagnostics", diagnostics_to_json(&result->diagnostics));
    json_put(object, "kernels", diagnostics_kernels_to_json(&result->diagnostics));
    json_put_u64(object, "log_dropped_bytes", result->log_dropped_bytes);
    return object;
}
