/*
 * SIGINT and SIGTERM as something to wait for.
 *
 * They are blocked in every thread started afterwards, and wait to be fetched with sigtimedwait or
 * a signalfd.
 */
#ifndef MT_SERVER_COMMANDS_SIGNALS_H
#define MT_SERVER_COMMANDS_SIGNALS_H

#include <signal.h>

/* Fills *stopping with the two signals. Also ignores SIGPIPE. Call from the main thread, before
 * others start; only the main thread may wait for the signals. */
void mt_signals_catch(sigset_t *stopping);

#endif
