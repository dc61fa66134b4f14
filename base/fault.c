#include "base/fault.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* begin is FREE, TAKEN while a range is being written, or the address. */
#define FREE ((uintptr_t)0)
#define TAKEN ((uintptr_t)1)

struct range {
    _Atomic uintptr_t begin, end;
    atomic_bool has_faulted;
};

/* A signal handler gets only an address from the kernel, so this list is global. */
static struct range ranges[MT_MAX_FAULT_RANGES];
/* No range behind these was ever taken. */
static atomic_size_t n_used;
static size_t page_bytes;

static struct range *find(uintptr_t address)
{
    size_t n = atomic_load(&n_used);
    for (size_t i = 0; i < n; i++) {
        uintptr_t begin = atomic_load(&ranges[i].begin);
        if (begin > TAKEN && address >= begin && address < atomic_load(&ranges[i].end))
            return &ranges[i];
    }
    return NULL;
}

/* Makes the system call directly, because libc's function may not be called by a signal handler. */
static bool map_zeros(uintptr_t begin, uintptr_t end)
{
#ifdef __s390x__
    /* On this architecture the kernel takes the address of the arguments. */
    const unsigned long arguments[] = {
        begin, end - begin, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, (unsigned long)-1,
        0};
    return syscall(SYS_mmap, arguments) != -1;
#else
    return syscall(SYS_mmap, begin, end - begin, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                   -1, 0) != -1;
#endif
}

/* A truncated file has lost everything behind the fault, so one mapping replaces all of it. The
 * mark is set first, so that no result of the zeros can be finished before. */
static void handle(int number, siginfo_t *info, void *context)
{
    (void)context;
    int reason = errno;
    uintptr_t address = (uintptr_t)info->si_addr;
    struct range *range = find(address);
    if (range) {
        atomic_store(&range->has_faulted, true);
        uintptr_t page = address - address % page_bytes;
        if (map_zeros(page, atomic_load(&range->end))) {
            errno = reason;
            return;
        }
    }
    /* The fault is not in a registered mapping: the access is repeated, and ends the process. */
    signal(number, SIG_DFL);
    errno = reason;
}

enum mt_status mt_fault_install(struct mt_error *err)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (sigaction(SIGBUS, &action, NULL) != 0)
        return mt_fail(err, MT_IO, "cannot handle SIGBUS: %s", strerror(errno));
    return MT_OK;
}

void mt_fault_block_others(sigset_t *old)
{
    sigset_t blocked;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGSYS);
    pthread_sigmask(SIG_SETMASK, &blocked, old);
}

static void use_up_to(size_t n)
{
    size_t known = atomic_load(&n_used);
    while (known < n && !atomic_compare_exchange_weak(&n_used, &known, n)) {
    }
}

enum mt_status mt_fault_add(const void *bytes, size_t length, size_t *out, struct mt_error *err)
{
    for (size_t i = 0; i < MT_MAX_FAULT_RANGES; i++) {
        uintptr_t expected = FREE;
        if (!atomic_compare_exchange_strong(&ranges[i].begin, &expected, TAKEN))
            continue;
        use_up_to(i + 1);
        atomic_store(&ranges[i].has_faulted, false);
        atomic_store(&ranges[i].end, (uintptr_t)bytes + length);
        atomic_store(&ranges[i].begin, (uintptr_t)bytes);
        *out = i;
        return MT_OK;
    }
    return mt_fail(err, MT_LIMIT, "more than %d mapped files at once", MT_MAX_FAULT_RANGES);
}

void mt_fault_remove(size_t number)
{
    atomic_store(&ranges[number].begin, FREE);
}

bool mt_fault_happened(size_t number)
{
    return atomic_load(&ranges[number].has_faulted);
}
