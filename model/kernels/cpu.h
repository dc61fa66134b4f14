/*
 * The instructions that the CPU and the operating system allow this process to use.
 */
#ifndef MT_MODEL_KERNELS_CPU_H
#define MT_MODEL_KERNELS_CPU_H

#include <stdbool.h>

struct mt_cpu {
    bool has_sse41;      /* and SSSE3 */
    bool has_avx2;       /* with FMA and F16C */
    bool has_avxvnni;    /* and AVX2 */
    bool has_avx512vnni; /* with F, BW, VL, and AVX2 */
    bool has_amx_int8;   /* and AVX512-VNNI; the system has granted the use of tiles */
    bool has_neon;       /* 64-bit ARM */
    bool has_dotprod;    /* sdot; and NEON */
    bool has_i8mm;       /* usmmla; and sdot */
};

/* Asks the CPU (cpuid), the registers that the operating system saves (xgetbv), and Linux for
 * permission to use AMX tiles, which holds for the whole process. On 64-bit ARM it asks Linux
 * (getauxval). All are false on other machines. */
struct mt_cpu mt_cpu_detect(void);

#endif
