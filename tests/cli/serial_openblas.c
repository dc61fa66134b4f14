/* Stands for an OpenBLAS that is built for one thread, as in Debian's libopenblas0-serial. */

void cblas_sgemm(void);
int openblas_get_parallel(void);

void cblas_sgemm(void)
{
}

int openblas_get_parallel(void)
{
    return 0;
}
