#include "model/kernels/cpu.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct registers {
    uint32_t eax, ebx, ecx, edx;
};

static struct registers cpuid(uint32_t leaf, uint32_t subleaf)
{
    struct registers r = {0};
    if (!__get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx))
        return (struct registers){0};
    return r;
}

/* Which registers the operating system saves: Intel's manual, volume 1, section 13.3. */
static uint64_t saved_state(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static bool has_all(uint64_t value, uint64_t bits)
{
    return (value & bits) == bits;
}

#define BIT(n) ((uint64_t)1 << (n))

#define STATE_YMM (BIT(1) | BIT(2))
#define STATE_ZMM (STATE_YMM | BIT(5) | BIT(6) | BIT(7))
#define STATE_TILES (BIT(17) | BIT(18))
#define TILE_DATA 18 /* the number of the state component */

/* Linux gives a process the 8 KB of tile data only if it asks (since 5.16). */
static bool may_use_tiles(void)
{
    enum { ARCH_REQ_XCOMP_PERM = 0x1023 };
    return syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0;
}

struct mt_cpu mt_cpu_detect(void)
{
    struct mt_cpu cpu = {0};
    struct registers one = cpuid(1, 0), seven = cpuid(7, 0), seven_one = {0};
    cpu.has_sse41 = has_all(one.ecx, BIT(9) | BIT(19)); /* SSSE3 */
    if (!has_all(one.ecx, BIT(27)))                     /* OSXSAVE: xgetbv exists */
        return cpu;
    if (seven.eax >= 1)
        seven_one = cpuid(7, 1);
    uint64_t state = saved_state();
    bool has_avx = has_all(one.ecx, BIT(28)), has_fma = has_all(one.ecx, BIT(12)),
         has_f16c = has_all(one.ecx, BIT(29));
    cpu.has_avx2 =
        has_all(state, STATE_YMM) && has_avx && has_fma && has_f16c && has_all(seven.ebx, BIT(5));
    cpu.has_avxvnni = cpu.has_avx2 && has_all(seven_one.eax, BIT(4));
    cpu.has_avx512vnni = cpu.has_avx2 && has_all(state, STATE_ZMM) &&
                         has_all(seven.ebx, BIT(16) | BIT(30) | BIT(31)) && /* F, BW, VL */
                         has_all(seven.ecx, BIT(11));                       /* VNNI */
    cpu.has_amx_int8 = cpu.has_avx512vnni && has_all(state, STATE_TILES) &&
                       has_all(seven.edx, BIT(24) | BIT(25)) && may_use_tiles(); /* TILE, INT8 */
    return cpu;
}

#elif defined(__aarch64__)

#include <asm/hwcap.h>
#include <sys/auxv.h>

struct mt_cpu mt_cpu_detect(void)
{
    struct mt_cpu cpu = {.has_neon = true};
    cpu.has_dotprod = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
    cpu.has_i8mm = cpu.has_dotprod && (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0;
    return cpu;
}

#else

struct mt_cpu mt_cpu_detect(void)
{
    return (struct mt_cpu){0};
}

#endif
