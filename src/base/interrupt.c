#define _GNU_SOURCE
#include "base/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

static volatile sig_atomic_t received;
static int event = -1;

static void note(int signal_number)
{
    uint64_t one = 1;
    int kept = errno;

    received = signal_number;
    (void)!write(event, &one, sizeof one);
    errno = kept;
}

void interrupt_catch(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    struct sigaction old;

    if (event < 0)
        event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event < 0)
        return; /* no descriptor left: the signals keep ending the process at once */
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
            (void)sigaction(signals[i], &action, NULL);
}

bool interrupt_requested(void)
{
    return received != 0;
}

int interrupt_fd(void)
{
    return event;
}

void interrupt_finish(void)
{
    int signal_number = received;

    if (!signal_number)
        return;
    (void)fflush(NULL);
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
}
