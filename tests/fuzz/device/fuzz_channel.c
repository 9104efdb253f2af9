/* A message as a runner may forge it: what is called valid has counts in range and terminated texts. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "device/channel.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

#define REQUIRE_TEXT(member) require(memchr(member, '\0', sizeof(member)) != NULL)

static void check_load(const struct message_load *load)
{
    REQUIRE_TEXT(load->entry);
    require(load->argument_count >= 0 && load->argument_count <= CHANNEL_MAX_ARGUMENTS);
    for (int i = 0; i < load->argument_count; i++)
        require(dtype_bits((enum dtype)load->arguments[i].dtype) > 0 && load->arguments[i].rank <= TENSOR_MAX_RANK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct message message;

    memset(&message, 0, sizeof message);
    memcpy(&message, data, size < sizeof message ? size : sizeof message);
    if (!channel_message_is_valid(&message, size))
        return 0;
    require(size <= sizeof message);
    switch ((enum message_type)message.type) {
    case MESSAGE_READY:
        REQUIRE_TEXT(message.body.ready.counters_text);
        REQUIRE_TEXT(message.body.ready.sandbox);
        break;
    case MESSAGE_LOAD:
        check_load(&message.body.load);
        break;
    case MESSAGE_RUN:
        require(message.body.run.count >= 0 && message.body.run.count <= CHANNEL_MAX_ITEMS);
        break;
    case MESSAGE_TIMES:
        require(message.body.times.count >= 0 && message.body.times.count <= CHANNEL_MAX_ITEMS);
        break;
    case MESSAGE_COUNTS:
        REQUIRE_TEXT(message.body.counts.text);
        break;
    case MESSAGE_FAILED:
        REQUIRE_TEXT(message.body.failed.text);
        require(message.body.failed.stage >= 0 && message.body.failed.stage < FAILURE_STAGE_COUNT);
        break;
    case MESSAGE_LOADED:
    case MESSAGE_DONE:
    case MESSAGE_VIOLATION:
        break;
    }
    return 0;
}
