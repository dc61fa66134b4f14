/* Preloaded into the daemon: the FAILING_THREAD-th pthread_create fails. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                   void *(*start)(void *), void *restrict argument)
{
    static atomic_int n_created;
    const char *number = getenv("FAILING_THREAD");
    if (number && atomic_fetch_add(&n_created, 1) + 1 == atoi(number))
        return EAGAIN;
    union {
        void *object;
        create_function *function;
    } next = {.object = dlsym(RTLD_NEXT, "pthread_create")};
    return next.function(thread, attributes, start, argument);
}
