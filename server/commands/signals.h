/*
 * Lets the main thread wait for SIGINT and SIGTERM.
 *
 * Both are blocked in every thread that is started afterwards, and are received by sigtimedwait or
 * a signalfd.
 */
#ifndef MT_SERVER_COMMANDS_SIGNALS_H
#define MT_SERVER_COMMANDS_SIGNALS_H

#include <signal.h>

/* Fills *stopping with the two signals, and ignores SIGPIPE. It has to be called from the main
 * thread before others start; only the main thread may wait for the signals. */
void mt_signals_catch(sigset_t *stopping);

#endif
