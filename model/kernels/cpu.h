/*
 * What the CPU and the operating system let this process use.
 */
#ifndef MT_MODEL_KERNELS_CPU_H
#define MT_MODEL_KERNELS_CPU_H

#include <stdbool.h>

struct mt_cpu {
    bool has_avx2;       /* with FMA and F16C */
    bool has_avxvnni;    /* and AVX2 */
    bool has_avx512vnni; /* with F, BW, VL, and AVX2 */
    bool has_amx_int8;   /* and AVX512-VNNI; permission to use tiles has been asked for and given */
};

/* Asks the CPU (cpuid), the registers that the operating system saves (xgetbv), and Linux for
 * permission to use AMX tiles, which holds for the whole process. All false on other machines than
 * x86-64. */
struct mt_cpu mt_cpu_detect(void);

#endif
