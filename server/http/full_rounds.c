/*
 * Keeps libmicrohttpd from sleeping on work that it has been told of.
 *
 * Its epoll thread asks for at most 128 events, and asks again where it got as many, with the same
 * timeout: where 128 connections had something to read and nothing else happens, it sleeps, without
 * a limit, before it has looked at any of them. (0.9.75, MHD_epoll in daemon.c. Seen with 128
 * clients on a machine whose processors were busy: none was answered until another one connected.)
 *
 * So the program brings an epoll_wait of its own, which the library's calls find before the C
 * library's: behind a round that was full, it does not wait.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>

int epoll_wait(int fd, struct epoll_event *events, int n_most, int timeout_ms)
{
    static _Thread_local bool was_full;
    int n = epoll_pwait(fd, events, n_most, was_full ? 0 : timeout_ms, NULL);
    was_full = n == n_most;
    return n;
}
