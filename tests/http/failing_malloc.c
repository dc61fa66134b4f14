/*
 * Preloaded into the daemon: fails one allocation of the test's choice. Where FAILING_MALLOC names
 * a file of 32 bytes, four int64 in the machine's order:
 *
 *   [0] allocations until one fails; 0: none does
 *   [1] 1: only those that are asked for by the program itself, not by libraries but libc;
 *       2: those of libraries, too, but for the ones in C++ that throw or crash (exempt[])
 *   [2] what the failed one asked for, in bytes; [3] from where: an address for addr2line
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static int64_t none[4];
static int64_t *control = none;
/* Code whose allocations are the program's: its own, and libc's (strdup, fopen, qsort). */
static uintptr_t program;
static struct {
    uintptr_t begin, end;
} own[2], spared[8];
static size_t n_spared;
/* protobuf does not survive std::bad_alloc, and libstdc++ asks for its users (spm.h). ICU 76 copies a
 * language's name in uloc_addLikelySubtags and reads the copy that it has not got. */
static const char *const exempt[] = {"/libsentencepiece", "/libprotobuf", "/libstdc++",
                                     "/libicuuc.so.76"};

static bool is_exempt(const char *path)
{
    for (size_t i = 0; i < sizeof exempt / sizeof *exempt; i++)
        if (strstr(path, exempt[i]))
            return true;
    return false;
}

/* The first object is the program. */
static int find_own(struct dl_phdr_info *info, size_t size, void *context)
{
    bool *is_first = context;
    uintptr_t in_libc = (uintptr_t)&strdup;
    (void)size;
    if (*is_first)
        program = info->dlpi_addr;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + header->p_vaddr, end = begin + header->p_memsz;
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
            continue;
        if (*is_first || (in_libc >= begin && in_libc < end)) {
            own[!*is_first].begin = begin;
            own[!*is_first].end = end;
        }
        if (is_exempt(info->dlpi_name) && n_spared < sizeof spared / sizeof *spared) {
            spared[n_spared].begin = begin;
            spared[n_spared++].end = end;
        }
    }
    *is_first = false;
    return 0;
}

static bool is_own(uintptr_t caller)
{
    return (caller >= own[0].begin && caller < own[0].end) ||
           (caller >= own[1].begin && caller < own[1].end);
}

static bool is_spared(uintptr_t caller)
{
    for (size_t i = 0; i < n_spared; i++)
        if (caller >= spared[i].begin && caller < spared[i].end)
            return true;
    return false;
}

__attribute__((constructor)) static void start(void)
{
    const char *path = getenv("FAILING_MALLOC");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    bool is_first = true;
    void *bytes = mmap(NULL, sizeof none, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    dl_iterate_phdr(find_own, &is_first);
    if (bytes != MAP_FAILED)
        control = bytes;
}

static bool fails(size_t bytes, const void *caller)
{
    uintptr_t from = (uintptr_t)caller;
    if (__atomic_load_n(&control[0], __ATOMIC_RELAXED) <= 0)
        return false;
    if ((control[1] == 1 && !is_own(from)) || (control[1] == 2 && is_spared(from)))
        return false;
    if (__atomic_sub_fetch(&control[0], 1, __ATOMIC_RELAXED) != 0)
        return false;
    control[2] = (int64_t)bytes;
    control[3] = (int64_t)(from - program);
    errno = ENOMEM;
    return true;
}

#define FAILS(bytes) fails(bytes, __builtin_return_address(0))

void *malloc(size_t bytes)
{
    return FAILS(bytes) ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return FAILS(count * bytes) ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return FAILS(bytes) ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return FAILS(bytes) ? NULL : __libc_memalign(alignment, bytes);
}
