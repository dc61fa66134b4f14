#include "server/commands/signals.h"

#include <pthread.h>
#include <stddef.h>

void mt_signals_catch(sigset_t *stopping)
{
    sigemptyset(stopping);
    sigaddset(stopping, SIGTERM);
    sigaddset(stopping, SIGINT);
    pthread_sigmask(SIG_BLOCK, stopping, NULL);
    signal(SIGTERM, SIG_DFL); /* an ignored signal would not be delivered */
    signal(SIGINT, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
}
