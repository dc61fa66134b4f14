#include "server/signals.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The main thread's id is the process's. */
static void pass_to_main(int number)
{
    int reason = errno;
    syscall(SYS_tgkill, getpid(), getpid(), number);
    errno = reason;
}

void mt_signals_catch(sigset_t *stopping)
{
    const struct sigaction action = {.sa_handler = pass_to_main, .sa_flags = SA_RESTART};
    sigemptyset(stopping);
    sigaddset(stopping, SIGTERM);
    sigaddset(stopping, SIGINT);
    pthread_sigmask(SIG_BLOCK, stopping, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}
