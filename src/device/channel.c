#define _GNU_SOURCE
#include "device/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { MESSAGE_MAGIC = 0x70746231 };

bool channel_pair(int *left, int *right, struct error *error)
{
    int fds[2];
    int size = 1 << 20;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
        return error_system(error, errno, "cannot create the runner's socket");
    for (int i = 0; i < 2; i++)
        (void)setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    *left = fds[0];
    *right = fds[1];
    return true;
}

/* Bytes of a message of that type; 0 for an unknown type. */
static size_t message_size(uint32_t type)
{
    size_t header = offsetof(struct message, body);

    switch ((enum message_type)type) {
    case MESSAGE_READY:
        return header + sizeof(struct message_ready);
    case MESSAGE_LOAD:
        return header + sizeof(struct message_load);
    case MESSAGE_LOADED:
        return header;
    case MESSAGE_RUN:
        return header + sizeof(struct message_run);
    case MESSAGE_DONE:
        return header + sizeof(struct message_done);
    case MESSAGE_TIMES:
        return header + sizeof(struct message_times);
    case MESSAGE_COUNTS:
        return header + sizeof(struct message_counts);
    case MESSAGE_FAILED:
        return header + sizeof(struct message_failed);
    case MESSAGE_VIOLATION:
        return header + sizeof(struct message_violation);
    }
    return 0;
}

enum channel_result channel_send(int fd, struct message *message, enum message_type type, const int *descriptors,
                                 int descriptor_count)
{
    union {
        char bytes[CMSG_SPACE(CHANNEL_MAX_DESCRIPTORS * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec data = {.iov_base = message, .iov_len = message_size(type)};
    struct msghdr header = {.msg_iov = &data, .msg_iovlen = 1};
    ssize_t sent;

    message->magic = MESSAGE_MAGIC;
    message->type = type;
    if (descriptor_count) {
        size_t bytes = (size_t)descriptor_count * sizeof(int);
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(bytes);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(bytes);
        memcpy(CMSG_DATA(rights), descriptors, bytes);
    }
    do
        sent = sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)data.iov_len ? CHANNEL_OK : CHANNEL_CLOSED;
}

static bool count_is_valid(int32_t count, int32_t most)
{
    return count >= 0 && count <= most;
}

static bool load_is_valid(struct message_load *load)
{
    load->entry[sizeof load->entry - 1] = '\0';
    if (!count_is_valid(load->argument_count, CHANNEL_MAX_ARGUMENTS))
        return false;
    for (int i = 0; i < load->argument_count; i++) {
        const struct message_argument *argument = &load->arguments[i];
        if (!count_is_valid(argument->rank, TENSOR_MAX_RANK) || argument->dtype < 0 || argument->dtype >= DTYPE_COUNT ||
            argument->kind < 0 || argument->kind > ARGUMENT_SCALAR)
            return false;
    }
    return true;
}

bool channel_message_is_valid(struct message *message, size_t size)
{
    if (size < offsetof(struct message, body) || message->magic != MESSAGE_MAGIC || size != message_size(message->type))
        return false;
    switch ((enum message_type)message->type) {
    case MESSAGE_READY:
        message->body.ready.counters_text[sizeof message->body.ready.counters_text - 1] = '\0';
        message->body.ready.sandbox[sizeof message->body.ready.sandbox - 1] = '\0';
        return true;
    case MESSAGE_LOAD:
        return load_is_valid(&message->body.load);
    case MESSAGE_RUN:
        return count_is_valid(message->body.run.count, CHANNEL_MAX_ITEMS);
    case MESSAGE_TIMES:
        return count_is_valid(message->body.times.count, CHANNEL_MAX_ITEMS);
    case MESSAGE_COUNTS:
        message->body.counts.text[sizeof message->body.counts.text - 1] = '\0';
        return count_is_valid(message->body.counts.count, 1 << 20);
    case MESSAGE_FAILED:
        message->body.failed.text[sizeof message->body.failed.text - 1] = '\0';
        return message->body.failed.stage >= 0 && message->body.failed.stage < FAILURE_STAGE_COUNT;
    case MESSAGE_LOADED:
    case MESSAGE_DONE:
    case MESSAGE_VIOLATION:
        return true;
    }
    return false;
}

static int take_descriptors(struct msghdr *header, int descriptors[CHANNEL_MAX_DESCRIPTORS])
{
    int count = 0;

    for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part; part = CMSG_NXTHDR(header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        size_t received = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < received; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
            if (count < CHANNEL_MAX_DESCRIPTORS)
                descriptors[count++] = fd;
            else
                (void)close(fd);
        }
    }
    return count;
}

enum channel_result channel_receive(int fd, bool wait, struct message *message,
                                    int descriptors[CHANNEL_MAX_DESCRIPTORS], int *descriptor_count)
{
    union {
        char bytes[CMSG_SPACE(CHANNEL_MAX_DESCRIPTORS * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec data = {.iov_base = message, .iov_len = sizeof *message};
    struct msghdr header = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t got;

    *descriptor_count = 0;
    memset(message, 0, sizeof *message);
    do
        got = recvmsg(fd, &header, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? CHANNEL_EMPTY : CHANNEL_CLOSED;
    *descriptor_count = take_descriptors(&header, descriptors); /* an empty packet can carry some, too */
    if (got > 0 && !(header.msg_flags & MSG_TRUNC) && channel_message_is_valid(message, (size_t)got))
        return CHANNEL_OK;
    while (*descriptor_count)
        (void)close(descriptors[--*descriptor_count]);
    return got ? CHANNEL_INVALID : CHANNEL_CLOSED;
}
