#include "base/cores.h"

#include "base/file.h"

#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char root[] = "/tmp/attentiond-test-cores-XXXXXX";

static void make_root(void)
{
    strcpy(root + strlen(root) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static void remove_root(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    ck_assert_int_eq(system(command), 0);
}

static void put(const char *name, const char *text)
{
    char path[256];
    struct mt_error err;
    snprintf(path, sizeof path, "%s/%s", root, name);
    *strrchr(path, '/') = '\0';
    mt_make_directories(path);
    path[strlen(path)] = '/';
    ck_assert_msg(mt_file_write(path, text, strlen(text), &err) == MT_OK, "%s", err.message);
}

static const struct {
    const char *groups;      /* proc/self/cgroup */
    const char *files[4][2]; /* under sys/fs/cgroup */
    size_t n;
} cases[] = {
    {"0::/\n", {{"cpu.max", "max 100000\n"}}, 0},
    {"0::/\n", {{"cpu.max", "200000 100000\n"}}, 2},
    {"0::/\n", {{"cpu.max", "150000 100000\n"}}, 2},
    {"0::/\n", {{"cpu.max", "5000 100000\n"}}, 1},
    {"0::/a/b\n", {{"a/b/cpu.max", "max 100000\n"}, {"a/cpu.max", "300000 100000\n"}}, 3},
    {"0::/a/b\n", {{"a/b/cpu.max", "400000 100000\n"}, {"a/cpu.max", "300000 100000\n"}}, 3},
    {"0::/a\n", {{"a/cpu.max", "100000 50000\n"}, {"cpu.max", "max 100000\n"}}, 2},
    /* The path is the host's: only the mount is there. */
    {"0::/docker/0123\n", {{"cpu.max", "200000 100000\n"}}, 2},
    {"0::/../../other\n", {{"cpu.max", "200000 100000\n"}}, 2},
    {"4:cpu,cpuacct:/x\n0::/\n",
     {{"cpu/x/cpu.cfs_quota_us", "250000\n"}, {"cpu/x/cpu.cfs_period_us", "100000\n"}},
     3},
    {"3:cpuacct,cpu:/docker/0123\n",
     {{"cpu/cpu.cfs_quota_us", "100000\n"}, {"cpu/cpu.cfs_period_us", "100000\n"}},
     1},
    {"1:cpu:/\n", {{"cpu/cpu.cfs_quota_us", "-1\n"}, {"cpu/cpu.cfs_period_us", "100000\n"}}, 0},
    {"3:cpuset:/x\n2:cpuacct:/x\n",
     {{"cpu/x/cpu.cfs_quota_us", "250000\n"}, {"cpu/x/cpu.cfs_period_us", "100000\n"}},
     0},
    {"0::/\n", {{"cpu.max", ""}}, 0},
    {"0::/\n", {{"cpu.max", "nonsense\n"}}, 0},
    {"0::/\n", {{"cpu.max", "100000 0\n"}}, 0},
    {"0::/\n", {{"cpu.max", "inf 1\n"}}, 0},
    {"0::/\n", {{"cpu.max", "nan 1\n"}}, 0},
    {"nonsense\n::\n", {{"cpu.max", "200000 100000\n"}}, 2},
    {"", {{"cpu.max", "200000 100000\n"}}, 0},
};

START_TEST(the_smallest_quota_counts)
{
    make_root();
    put("proc/self/cgroup", cases[_i].groups);
    for (size_t i = 0; i < 4 && cases[_i].files[i][0]; i++) {
        char name[128];
        snprintf(name, sizeof name, "sys/fs/cgroup/%s", cases[_i].files[i][0]);
        put(name, cases[_i].files[i][1]);
    }
    size_t n = mt_cores_in_quota(root);
    remove_root();
    ck_assert_uint_eq(n, cases[_i].n);
}
END_TEST

START_TEST(without_control_groups_there_is_no_quota)
{
    make_root();
    size_t n = mt_cores_in_quota(root);
    remove_root();
    ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(there_are_no_more_than_the_affinity_mask_allows)
{
    cpu_set_t allowed;
    ck_assert_int_eq(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    ck_assert_uint_ge(mt_cores_available(), 1);
    ck_assert_uint_le(mt_cores_available(), (size_t)CPU_COUNT(&allowed));
}
END_TEST

Suite *suite_cores(void)
{
    Suite *suite = suite_create("cores");
    TCase *tcase = tcase_create("all");
    tcase_add_loop_test(tcase, the_smallest_quota_counts, 0, sizeof cases / sizeof *cases);
    tcase_add_test(tcase, without_control_groups_there_is_no_quota);
    tcase_add_test(tcase, there_are_no_more_than_the_affinity_mask_allows);
    suite_add_tcase(suite, tcase);
    return suite;
}
