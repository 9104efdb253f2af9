#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/channel.h"

struct fixture {
    int worker;
    int runner;
    int descriptors_before;
};

static int count_descriptors(void)
{
    char name[64];
    int count = 0;

    for (int fd = 0; fd < 1024; fd++) {
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        count += !access(name, F_OK);
    }
    return count;
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error error;

    fixture->descriptors_before = count_descriptors();
    assert_true(channel_pair(&fixture->worker, &fixture->runner, &error));
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    if (fixture->worker >= 0)
        (void)close(fixture->worker);
    if (fixture->runner >= 0)
        (void)close(fixture->runner);
    assert_int_equal(count_descriptors(), fixture->descriptors_before);
    free(fixture);
    return 0;
}

static enum channel_result receive(struct fixture *fixture, struct message *message)
{
    int descriptors[CHANNEL_MAX_DESCRIPTORS];
    int count;
    enum channel_result result = channel_receive(fixture->worker, false, message, descriptors, &count);

    assert_int_equal(count, 0);
    return result;
}

static void test_ends_close_on_exec(void **state)
{
    struct fixture *fixture = *state;

    assert_int_equal(fcntl(fixture->worker, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(fcntl(fixture->runner, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

static void test_round_trip(void **state)
{
    static const enum message_type types[] = {MESSAGE_READY,  MESSAGE_LOAD,   MESSAGE_LOADED,
                                              MESSAGE_RUN,    MESSAGE_DONE,   MESSAGE_TIMES,
                                              MESSAGE_COUNTS, MESSAGE_FAILED, MESSAGE_VIOLATION};
    struct fixture *fixture = *state;
    struct message message = {0}, got;

    assert_int_equal(receive(fixture, &got), CHANNEL_EMPTY);
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        memset(&message, 0, sizeof message);
        assert_int_equal(channel_send(fixture->runner, &message, types[i], NULL, 0), CHANNEL_OK);
        assert_int_equal(receive(fixture, &got), CHANNEL_OK);
        assert_int_equal(got.type, types[i]);
    }
    message.body.failed = (struct message_failed){.stage = FAILURE_CALL, .code = -7, .iteration = 3, .text = "why"};
    assert_int_equal(channel_send(fixture->runner, &message, MESSAGE_FAILED, NULL, 0), CHANNEL_OK);
    assert_int_equal(receive(fixture, &got), CHANNEL_OK);
    assert_int_equal(got.body.failed.code, -7);
    assert_string_equal(got.body.failed.text, "why");
}

static bool is_same_file(int left, int right)
{
    struct stat a, b;

    return !fstat(left, &a) && !fstat(right, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void test_descriptors(void **state)
{
    struct fixture *fixture = *state;
    struct message message = {0}, got;
    int sent[CHANNEL_MAX_DESCRIPTORS], received[CHANNEL_MAX_DESCRIPTORS];
    int count;

    for (int i = 0; i < CHANNEL_MAX_DESCRIPTORS; i++)
        sent[i] = memfd_create("d", MFD_CLOEXEC);
    for (int wanted = 0; wanted <= CHANNEL_MAX_DESCRIPTORS; wanted++) {
        assert_int_equal(channel_send(fixture->runner, &message, MESSAGE_DONE, sent, wanted), CHANNEL_OK);
        assert_int_equal(channel_receive(fixture->worker, true, &got, received, &count), CHANNEL_OK);
        assert_int_equal(count, wanted);
        for (int i = 0; i < count; i++) {
            assert_true(is_same_file(sent[i], received[i]));
            assert_int_equal(fcntl(received[i], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
            (void)close(received[i]);
        }
    }
    for (int i = 0; i < CHANNEL_MAX_DESCRIPTORS; i++)
        (void)close(sent[i]);
}

/* As a hostile runner sends: any bytes, any number of descriptors. */
static void send_raw(int fd, const void *bytes, size_t length, int descriptor_count)
{
    union {
        char bytes[CMSG_SPACE(32 * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec data = {.iov_base = (void *)bytes, .iov_len = length};
    struct msghdr header = {.msg_iov = &data, .msg_iovlen = 1};

    if (descriptor_count) {
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE((size_t)descriptor_count * sizeof(int));
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        *rights = (struct cmsghdr){CMSG_LEN((size_t)descriptor_count * sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
        for (int i = 0; i < descriptor_count; i++)
            memcpy(CMSG_DATA(rights) + (size_t)i * sizeof(int), &fd, sizeof fd);
    }
    assert_int_equal(sendmsg(fd, &header, MSG_NOSIGNAL), length);
}

static void test_surplus_descriptors_are_closed(void **state)
{
    struct fixture *fixture = *state;
    struct message message = {0}, got;
    int received[CHANNEL_MAX_DESCRIPTORS];
    int count, before = count_descriptors();

    /* A message whose bytes are known to be right. */
    assert_int_equal(channel_send(fixture->runner, &message, MESSAGE_LOADED, NULL, 0), CHANNEL_OK);
    assert_int_equal(receive(fixture, &got), CHANNEL_OK);
    for (int sent = CHANNEL_MAX_DESCRIPTORS + 1; sent <= 32; sent++) {
        send_raw(fixture->runner, &got, offsetof(struct message, body), sent);
        enum channel_result result = channel_receive(fixture->worker, true, &message, received, &count);
        assert_true(result == CHANNEL_OK || result == CHANNEL_INVALID);
        assert_in_range(count, 0, CHANNEL_MAX_DESCRIPTORS);
        while (count)
            (void)close(received[--count]);
        assert_int_equal(count_descriptors(), before);
    }
    /* Descriptors on a bad message never reach the caller. */
    send_raw(fixture->runner, "garbage", 7, 2);
    assert_int_equal(receive(fixture, &got), CHANNEL_INVALID);
    assert_int_equal(count_descriptors(), before);
}

static void test_closed_peer(void **state)
{
    struct fixture *fixture = *state;
    struct message message = {0};

    assert_int_equal(channel_send(fixture->runner, &message, MESSAGE_DONE, NULL, 0), CHANNEL_OK);
    (void)close(fixture->runner);
    fixture->runner = -1;
    assert_int_equal(receive(fixture, &message), CHANNEL_OK); /* what was sent before still arrives */
    assert_int_equal(receive(fixture, &message), CHANNEL_CLOSED);
    assert_int_equal(channel_send(fixture->worker, &message, MESSAGE_RUN, NULL, 0),
                     CHANNEL_CLOSED); /* and no SIGPIPE */
    assert_int_equal(receive(fixture, &message), CHANNEL_CLOSED);
}

/* The bytes of a message of that type, taken off the wire. */
static size_t sample(struct fixture *fixture, enum message_type type, struct message *out)
{
    struct message message = {0};

    assert_int_equal(channel_send(fixture->runner, &message, type, NULL, 0), CHANNEL_OK);
    ssize_t length = recv(fixture->worker, out, sizeof *out, 0);
    assert_true(length > 0);
    assert_true(channel_message_is_valid(out, (size_t)length));
    return (size_t)length;
}

static void test_garbage(void **state)
{
    static const char zeros[sizeof(struct message) + 4096];
    struct fixture *fixture = *state;
    struct message got, ok = {0};

    for (size_t length = 1; length < sizeof zeros; length += length < 64 ? 1 : 509) {
        send_raw(fixture->runner, zeros, length, 0);
        assert_int_equal(receive(fixture, &got), CHANNEL_INVALID);
    }
    /* A right message with more behind it is none, also where the rest does not fit our struct. */
    char longer[sizeof(struct message) + 1] = {0};
    size_t length = sample(fixture, MESSAGE_LOAD, &got);
    assert_int_equal(length, sizeof got); /* the largest */
    memcpy(longer, &got, length);
    send_raw(fixture->runner, longer, length + 1, 0);
    assert_int_equal(receive(fixture, &got), CHANNEL_INVALID);
    /* One bad message does not spoil the next. */
    assert_int_equal(channel_send(fixture->runner, &ok, MESSAGE_DONE, NULL, 0), CHANNEL_OK);
    assert_int_equal(receive(fixture, &got), CHANNEL_OK);
}

static void test_header(void **state)
{
    struct fixture *fixture = *state;
    struct message message;
    size_t size = sample(fixture, MESSAGE_DONE, &message);

    message.magic ^= 1;
    assert_false(channel_message_is_valid(&message, size));
    message.magic ^= 1;
    assert_false(channel_message_is_valid(&message, size - 1));
    assert_false(channel_message_is_valid(&message, size + 1));
    assert_false(channel_message_is_valid(&message, 0));
    for (uint32_t type = 0; type < 32; type++) {
        message.type = type;
        assert_int_equal(channel_message_is_valid(&message, size), type == MESSAGE_DONE);
    }
    message.type = UINT32_MAX;
    assert_false(channel_message_is_valid(&message, size));
}

static void assert_range(struct message *message, size_t size, int32_t *member, int32_t most)
{
    const int32_t bad[] = {-1, INT32_MIN, most + 1, INT32_MAX};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        *member = bad[i];
        assert_false(channel_message_is_valid(message, size));
    }
    *member = most;
    assert_true(channel_message_is_valid(message, size));
    *member = 0;
    assert_true(channel_message_is_valid(message, size));
}

static void test_ranges(void **state)
{
    struct fixture *fixture = *state;
    struct message message;
    size_t size = sample(fixture, MESSAGE_RUN, &message);

    assert_range(&message, size, &message.body.run.count, CHANNEL_MAX_ITEMS);
    size = sample(fixture, MESSAGE_TIMES, &message);
    assert_range(&message, size, &message.body.times.count, CHANNEL_MAX_ITEMS);
    size = sample(fixture, MESSAGE_COUNTS, &message);
    assert_range(&message, size, &message.body.counts.count, 1 << 20);
    size = sample(fixture, MESSAGE_FAILED, &message);
    assert_range(&message, size, &message.body.failed.stage, FAILURE_STAGE_COUNT - 1);
    size = sample(fixture, MESSAGE_LOAD, &message);
    assert_range(&message, size, &message.body.load.argument_count, CHANNEL_MAX_ARGUMENTS);
    message.body.load.argument_count = CHANNEL_MAX_ARGUMENTS;
    struct message_argument *last = &message.body.load.arguments[CHANNEL_MAX_ARGUMENTS - 1];
    assert_range(&message, size, &last->rank, TENSOR_MAX_RANK);
    assert_range(&message, size, &last->dtype, DTYPE_COUNT - 1);
    assert_range(&message, size, &last->kind, ARGUMENT_SCALAR);
    message.body.load.argument_count = CHANNEL_MAX_ARGUMENTS - 1;
    last->rank = 99; /* beyond the count: not looked at */
    assert_true(channel_message_is_valid(&message, size));
}

static void assert_terminated(struct message *message, size_t size, char *text, size_t text_size)
{
    memset(text, 'x', text_size);
    assert_true(channel_message_is_valid(message, size));
    assert_int_equal(strnlen(text, text_size), text_size - 1);
}

static void test_texts_are_terminated(void **state)
{
    struct fixture *fixture = *state;
    struct message message;
    size_t size = sample(fixture, MESSAGE_READY, &message);

    assert_terminated(&message, size, message.body.ready.counters_text, sizeof message.body.ready.counters_text);
    assert_terminated(&message, size, message.body.ready.sandbox, sizeof message.body.ready.sandbox);
    size = sample(fixture, MESSAGE_LOAD, &message);
    assert_terminated(&message, size, message.body.load.entry, sizeof message.body.load.entry);
    size = sample(fixture, MESSAGE_COUNTS, &message);
    assert_terminated(&message, size, message.body.counts.text, sizeof message.body.counts.text);
    size = sample(fixture, MESSAGE_FAILED, &message);
    assert_terminated(&message, size, message.body.failed.text, sizeof message.body.failed.text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_ends_close_on_exec),
        TEST(test_round_trip),
        TEST(test_descriptors),
        TEST(test_surplus_descriptors_are_closed),
        TEST(test_closed_peer),
        TEST(test_garbage),
        TEST(test_header),
        TEST(test_ranges),
        TEST(test_texts_are_terminated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
