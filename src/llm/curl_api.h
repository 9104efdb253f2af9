/*
 * libcurl, opened when the first model is called over HTTP: with it come some thirty libraries, which would cost every
 * start of every command 4 ms. The table is process-wide and constant once it is filled.
 */
#ifndef PTXBENCH_LLM_CURL_API_H
#define PTXBENCH_LLM_CURL_API_H

#include <curl/curl.h>

#include "base/error.h"

/* curl_NAME becomes member NAME. */
#define CURL_FUNCTIONS(X)                                                                                              \
    X(global_init)                                                                                                     \
    X(easy_init)                                                                                                       \
    X(easy_cleanup)                                                                                                    \
    X(easy_setopt)                                                                                                     \
    X(easy_getinfo)                                                                                                    \
    X(easy_strerror)                                                                                                   \
    X(multi_init)                                                                                                      \
    X(multi_cleanup)                                                                                                   \
    X(multi_add_handle)                                                                                                \
    X(multi_remove_handle)                                                                                             \
    X(multi_socket_action)                                                                                             \
    X(multi_setopt)                                                                                                    \
    X(multi_assign)                                                                                                    \
    X(multi_info_read)                                                                                                 \
    X(multi_strerror)                                                                                                  \
    X(slist_append)                                                                                                    \
    X(slist_free_all)

struct curl_api {
#define X(name) __typeof__(curl_##name) *name;
    CURL_FUNCTIONS(X)
#undef X
};

/* Borrowed; NULL with ERROR_UNSUPPORTED when the machine has no libcurl. Not thread-safe. */
const struct curl_api *curl_api_get(struct error *error);

#endif
