#include "llm/curl_api.h"

#include <dlfcn.h>

static bool load(struct curl_api *api, struct error *error)
{
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return error_set(error, ERROR_UNSUPPORTED, "cannot call models over HTTP: %s", dlerror()) ||
               error_hint(error, "install libcurl (Debian and Ubuntu: apt-get install libcurl4)");
#define X(name)                                                                                                        \
    api->name = (__typeof__(api->name))dlsym(library, "curl_" #name);                                                  \
    if (!api->name)                                                                                                    \
        return error_set(error, ERROR_UNSUPPORTED, "libcurl.so.4 has no curl_" #name) ||                               \
               error_hint(error, "install libcurl 7.85 or newer");
    CURL_FUNCTIONS(X)
#undef X
    if (api->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return error_set(error, ERROR_SYSTEM, "libcurl cannot be initialised");
    return true;
}

const struct curl_api *curl_api_get(struct error *error)
{
    static struct curl_api api;
    static bool loaded;

    if (!loaded && !load(&api, error))
        return NULL;
    loaded = true;
    return &api;
}
