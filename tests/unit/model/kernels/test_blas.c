#include "model/kernels/cpu.h"
#include "model/kernels/kernels.h"

#include <check.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* An OpenBLAS that does not know the processor takes kernels of 2004 when nobody says otherwise. */
START_TEST(a_processor_with_avx2_never_gets_the_oldest_kernels)
{
    if (!mt_cpu_detect().has_avx2)
        return;
    unsetenv("OPENBLAS_CORETYPE");
    struct mt_error err;
    ck_assert_msg(!mt_blas_open(&err), "%s", err.message);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD);
    ck_assert_ptr_nonnull(library);
    char *(*get_corename)(void);
    void *symbol = dlsym(library, "openblas_get_corename");
    ck_assert_ptr_nonnull(symbol);
    memcpy(&get_corename, &symbol, sizeof get_corename);
    ck_assert_str_ne(get_corename(), "Prescott");
}
END_TEST

START_TEST(kernels_that_the_environment_names_are_kept)
{
    setenv("OPENBLAS_CORETYPE", "Prescott", 1);
    struct mt_error err;
    ck_assert_msg(!mt_blas_open(&err), "%s", err.message);
    ck_assert_str_eq(getenv("OPENBLAS_CORETYPE"), "Prescott");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("blas");
    TCase *tcase = tcase_create("all");
    tcase_add_test(tcase, a_processor_with_avx2_never_gets_the_oldest_kernels);
    tcase_add_test(tcase, kernels_that_the_environment_names_are_kept);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? 1 : 0;
}
