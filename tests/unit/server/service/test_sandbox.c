#include "server/service/sandbox.h"

#include "base/confined.h"
#include "base/file.h"
#include "base/sanitized.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <netinet/in.h>
#include <pthread.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/mt_test_sandbox.XXXXXX";

static void make_directory(void)
{
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    ck_assert_int_eq(system(command), 0);
}

static const char *inside(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int landlock_abi(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/* Each case runs in a process of its own (CK_FORK), which the sandbox dies with. A child enters
 * it, so that check's own process can still write its results. */
static void in_child(void (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        body();
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child ended with %x", status);
}

/* check's own assertions report through a pipe file, and longjmp:
 * in a child, the exit code does. */
#define EXPECT(condition)                                                        \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "%d: %s (errno %d)\n", __LINE__, #condition, errno); \
            _exit(1);                                                            \
        }                                                                        \
    } while (0)

static bool writes_only_in(const char *cache)
{
    return mt_sandbox_restrict_files(&(struct mt_sandbox_files){.writable = {cache}});
}

static void files_are_restricted(void)
{
    char cache[256];
    int mine = open(inside("mine"), O_CREAT | O_WRONLY, 0600);
    snprintf(cache, sizeof cache, "%s", inside("a/b/cache"));
    EXPECT(writes_only_in(cache));

    EXPECT(open(inside("new"), O_CREAT | O_WRONLY, 0600) < 0 && errno == EACCES);
    EXPECT(open(inside("mine"), O_WRONLY) < 0 && errno == EACCES);
    EXPECT(mkdir(inside("directory"), 0700) < 0 && errno == EACCES);
    EXPECT(unlink(inside("mine")) < 0 && errno == EACCES);
    EXPECT(symlink("mine", inside("link")) < 0 && errno == EACCES);
    EXPECT(open(inside("mine"), O_RDONLY) >= 0);
    EXPECT(write(mine, "x", 1) == 1); /* what is open stays open */
    EXPECT(landlock_abi() < 3 || (truncate(inside("mine"), 0) < 0 && errno == EACCES));
    char *const arguments[] = {(char[]){"true"}, NULL};
    EXPECT(execv("/bin/true", arguments) < 0 && errno == EACCES);

    EXPECT(open(inside("a/b/cache/one"), O_CREAT | O_WRONLY, 0600) >= 0);
    char from[256];
    snprintf(from, sizeof from, "%s", inside("a/b/cache/one"));
    EXPECT(rename(from, inside("a/b/cache/two")) == 0);
    EXPECT(unlink(inside("a/b/cache/two")) == 0);

    if (landlock_abi() >= 4) {
        struct sockaddr_in address = {
            .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(9)};
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        EXPECT(connect(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno == EACCES);
        EXPECT(bind(fd, (struct sockaddr *)&address, sizeof address) < 0 && errno == EACCES);
    }
}

START_TEST(files_can_be_read_and_one_directory_written)
{
    if (landlock_abi() >= 1)
        in_child(files_are_restricted);
}
END_TEST

static int connect_error(uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT(fd >= 0);
    return connect(fd, (struct sockaddr *)&address, sizeof address) == 0 ? 0 : errno;
}

/* Where nobody listens. */
static void ports_are_restricted(void)
{
    static const uint16_t ports[] = {9, 11};
    EXPECT(mt_sandbox_restrict_files(&(struct mt_sandbox_files){.ports = ports, .n_ports = 2}));
    mt_sandbox_restrict_calls(true);
    EXPECT(connect_error(9) == ECONNREFUSED && connect_error(11) == ECONNREFUSED);
    EXPECT(connect_error(10) == EACCES);
    EXPECT(open(inside("new"), O_CREAT | O_WRONLY, 0600) < 0 && errno == EACCES);
}

START_TEST(ports_that_are_named_can_be_connected_to)
{
    if (landlock_abi() >= 4)
        in_child(ports_are_restricted);
}
END_TEST

static void no_directory_is_writable(void)
{
    EXPECT(writes_only_in(NULL));
    EXPECT(open(inside("new"), O_CREAT | O_WRONLY, 0600) < 0 && errno == EACCES);
}

static void a_missing_directory_is_no_failure(void)
{
    EXPECT(writes_only_in("/proc/none/of/this"));
    EXPECT(open(inside("new"), O_CREAT | O_WRONLY, 0600) < 0 && errno == EACCES);
}

static void a_file_is_no_directory(void)
{
    int mine = open(inside("mine"), O_CREAT | O_WRONLY, 0600);
    EXPECT(mine >= 0 && writes_only_in(inside("mine")));
    EXPECT(open(inside("mine"), O_WRONLY) < 0 && errno == EACCES);
}

START_TEST(without_a_directory_nothing_is_written)
{
    if (landlock_abi() < 1)
        return;
    in_child(no_directory_is_writable);
    in_child(a_missing_directory_is_no_failure);
    in_child(a_file_is_no_directory);
}
END_TEST

static bool can_read(const char *name)
{
    int fd = open(inside(name), O_RDONLY);
    EXPECT(fd >= 0 || errno == EACCES);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void make(const char *name)
{
    int fd = open(inside(name), O_CREAT | O_WRONLY, 0600);
    EXPECT(fd >= 0);
    close(fd);
}

static void only_what_is_named_is_read(void)
{
    char named[256], file[256], cache[256], from[256];
    snprintf(named, sizeof named, "%s", inside("named"));
    snprintf(file, sizeof file, "%s", inside("file"));
    snprintf(cache, sizeof cache, "%s", inside("cache"));
    char *readable[] = {named, file, (char[]){"/none/of/this"}};
    EXPECT(mkdir(named, 0700) == 0 && mkdir(inside("others"), 0700) == 0);
    make("file");
    make("secret");
    make("others/secret");
    EXPECT(symlink("../secret", inside("named/link")) == 0);
    EXPECT(mt_sandbox_restrict_files(
        &(struct mt_sandbox_files){.writable = {cache}, .readable = readable, .n_readable = 3}));
    EXPECT(can_read("file") && can_read("named") && can_read("cache"));
    EXPECT(!can_read("secret") && !can_read("others/secret") && !can_read("others"));
    EXPECT(!can_read("named/link") && !can_read("."));
    EXPECT(open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES);
    make("cache/one");
    snprintf(from, sizeof from, "%s", inside("cache/one"));
    EXPECT(can_read("cache/one") && rename(from, inside("cache/two")) == 0);
    EXPECT(can_read("cache/two"));
}

START_TEST(root_reads_only_what_is_named)
{
    if (landlock_abi() >= 1)
        in_child(only_what_is_named_is_read);
}
END_TEST

static void roots_rights_are_gone(void)
{
    char file[256];
    snprintf(file, sizeof file, "%s", inside("theirs"));
    make("theirs");
    EXPECT(chown(file, 1, 1) == 0 && chmod(file, 0600) == 0);
    EXPECT(can_read("theirs"));
    mt_sandbox_drop_privileges();
    EXPECT(!can_read("theirs"));
    EXPECT(open(file, O_WRONLY) < 0 && errno == EACCES);
    EXPECT(chown(file, 0, 0) < 0 && errno == EPERM);
}

START_TEST(root_reads_of_others_what_they_let_all_read)
{
    if (geteuid() == 0)
        in_child(roots_rights_are_gone);
}
END_TEST

static void *answer(void *argument)
{
    *(int *)argument = 42;
    return NULL;
}

static void dangerous_calls_are_refused(void)
{
    EXPECT(mt_sandbox_restrict_calls(false));
    char *const arguments[] = {(char[]){"true"}, NULL};
    EXPECT(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
    EXPECT(execv("/bin/true", arguments) < 0 && errno == EPERM);
    EXPECT(syscall(SYS_clone, 0x10000000 | SIGCHLD, NULL, NULL, NULL, NULL) < 0); /* NEWUSER */
    pid_t child = fork(); /* as base/confined.c does; it stays under the same rules */
    if (child == 0)
        _exit(execv("/bin/true", arguments) < 0 && errno == EPERM ? 7 : 0);
    int status = 0;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
    EXPECT(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM);
    EXPECT(ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 && errno == EPERM);
    EXPECT(kill(getppid(), 0) < 0 && errno == EPERM);
    EXPECT(setuid(0) < 0 && errno == EPERM);
    EXPECT(unshare(0x10000000) < 0 && errno == EPERM);
    EXPECT(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
               MAP_FAILED &&
           errno == EPERM);
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT(page != MAP_FAILED);
    EXPECT(mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0 && errno == EPERM);
    EXPECT(syscall(SYS_swapon, "", 0) < 0 && errno == EPERM);
    EXPECT(syscall(SYS_vhangup) < 0 && errno == ENOSYS); /* on neither list */
}

static void modes_are_those_of_data(void)
{
    struct mt_error err;
    struct stat st;
    char path[256], file[256];
    int mine = open(inside("mine"), O_CREAT | O_WRONLY, 0600);
    EXPECT(mine >= 0 && mt_sandbox_restrict_calls(false));
    EXPECT(fchmod(mine, 04755) < 0 && errno == EPERM);
    EXPECT(fchmod(mine, 0666) < 0 && errno == EPERM);
    EXPECT(syscall(SYS_fchmod, mine, 0644 | 1LL << 32) < 0 && errno == EPERM);
    EXPECT(fchmod(mine, 0644) == 0);
    const mode_t special[] = {04755, 02755, 01755, 06755, 07777};
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        EXPECT(open(inside("new"), O_CREAT | O_WRONLY, special[i]) < 0 && errno == EPERM);
        EXPECT(mkdir(inside("new"), special[i]) < 0 && errno == EPERM);
        EXPECT(mkdirat(AT_FDCWD, inside("new"), special[i]) < 0 && errno == EPERM);
#ifdef SYS_open
        EXPECT(syscall(SYS_open, inside("new"), O_CREAT | O_WRONLY, special[i]) < 0 &&
               errno == EPERM);
#endif
    }
    EXPECT(stat(inside("new"), &st) < 0 && errno == ENOENT);
    EXPECT(open(inside("program"), O_CREAT | O_WRONLY, 0755) >= 0); /* nobody's but its owner's */
    EXPECT(mkdir(inside("folder"), 0755) == 0);
    EXPECT(opendir(directory));
    snprintf(path, sizeof path, "%s", inside("temporary.XXXXXX"));
    EXPECT(mkostemp(path, O_CLOEXEC) >= 0);
    snprintf(file, sizeof file, "%s", inside("packed"));
    EXPECT(mt_file_write(file, "x", 1, &err) == MT_OK);
    EXPECT(stat(file, &st) == 0 && (st.st_mode & 07777) == 0644);
}

static void others_are_out_of_reach(void)
{
    struct rlimit limit;
    const struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = getppid()};
    int ends[2];
    EXPECT(pipe2(ends, O_CLOEXEC) == 0 && getrlimit(RLIMIT_CPU, &limit) == 0);
    EXPECT(mt_sandbox_restrict_calls(false));
    EXPECT(prlimit(getppid(), RLIMIT_CPU, &limit, NULL) < 0 && errno == EPERM);
    EXPECT(prlimit(getppid(), RLIMIT_CPU, NULL, &limit) < 0 && errno == EPERM);
    EXPECT(syscall(SYS_prlimit64, 1LL << 32 | getppid(), RLIMIT_CPU, NULL, &limit) < 0 &&
           errno == EPERM);
    EXPECT(prlimit(0, RLIMIT_CPU, NULL, &limit) == 0);
    EXPECT(getrlimit(RLIMIT_NOFILE, &limit) == 0 && setrlimit(RLIMIT_NOFILE, &limit) == 0);
    EXPECT(fcntl(ends[0], F_SETOWN, getppid()) < 0 && errno == EPERM);
    EXPECT(fcntl(ends[0], F_SETOWN_EX, &owner) < 0 && errno == EPERM);
    EXPECT(fcntl(ends[0], F_SETSIG, SIGKILL) < 0 && errno == EPERM);
    EXPECT(syscall(SYS_fcntl, ends[0], 1LL << 32 | F_SETOWN, getppid()) < 0);
    EXPECT(fcntl(ends[0], F_SETFL, fcntl(ends[0], F_GETFL) | O_NONBLOCK) == 0);
    EXPECT(fcntl(ends[0], F_DUPFD_CLOEXEC, 3) >= 3 && fcntl(ends[0], F_GETFD) == FD_CLOEXEC);
    int copy = memfd_create("x", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT(fcntl(copy, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
}

static void what_the_daemon_needs_works(void)
{
    EXPECT(mt_sandbox_restrict_calls(false));
    int value = 0;
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, answer, &value) == 0);
    EXPECT(pthread_join(thread, NULL) == 0 && value == 42);
    EXPECT(memfd_create("x", MFD_CLOEXEC) >= 0);
    EXPECT(open("/proc/self/statm", O_RDONLY) >= 0);
    EXPECT(isatty(STDIN_FILENO) || errno == ENOTTY || errno == EBADF || errno == EINVAL);
    free(malloc((size_t)64 << 20));
}

static enum mt_status wait_for_ever(void *context, int fd, struct mt_error *err)
{
    pthread_mutex_lock(context);
    return mt_fail(err, MT_INVALID, "descriptor %d was not waited for", fd);
}

static void confined_work_is_ended(void)
{
    pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
    const struct mt_confined confined = {.work = wait_for_ever,
                                         .context = &held,
                                         .what = "model",
                                         .max_memory_bytes = (size_t)64 << 20,
                                         .max_seconds = 20,
                                         .max_elapsed_seconds = 1};
    struct mt_mapping result = {0};
    struct mt_error err;
    pthread_mutex_lock(&held);
    EXPECT(mt_sandbox_restrict_calls(false));
    EXPECT(mt_confined_run(&confined, &result, &err) == MT_LIMIT);
}

START_TEST(calls_are_filtered)
{
    if (MT_IS_SANITIZED || prctl(PR_GET_SECCOMP) < 0)
        return;
    in_child(dangerous_calls_are_refused);
    in_child(others_are_out_of_reach);
    in_child(modes_are_those_of_data);
    in_child(what_the_daemon_needs_works);
    in_child(confined_work_is_ended);
}
END_TEST

static volatile int is_over;
static int refused_in_thread;

static void *try_later(void *argument)
{
    (void)argument;
    while (!is_over)
        usleep(1000);
    refused_in_thread = socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM;
    return NULL;
}

static void older_threads_are_reached(void)
{
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, try_later, NULL) == 0);
    EXPECT(mt_sandbox_restrict_calls(false));
    is_over = 1;
    EXPECT(pthread_join(thread, NULL) == 0 && refused_in_thread);
}

START_TEST(threads_that_were_there_before_are_under_it_too)
{
    if (!MT_IS_SANITIZED && prctl(PR_GET_SECCOMP) >= 0)
        in_child(older_threads_are_reached);
}
END_TEST

/* As in a container whose own filter knows nothing of either. */
static void nothing_is_offered(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    const uint32_t no = SCMP_ACT_ERRNO(EPERM);
    EXPECT(filter);
    EXPECT(seccomp_rule_add(filter, no, SYS_landlock_create_ruleset, 0) == 0);
    EXPECT(seccomp_rule_add(filter, no, SCMP_SYS(capset), 0) == 0);
    EXPECT(seccomp_rule_add(filter, no, SCMP_SYS(seccomp), 0) == 0);
    EXPECT(seccomp_rule_add(filter, no, SCMP_SYS(prctl), 1,
                            SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP, 0)) == 0);
    EXPECT(seccomp_load(filter) == 0);
    seccomp_release(filter);
    EXPECT(!writes_only_in(directory));
    EXPECT(!mt_sandbox_restrict_calls(false));
    EXPECT(open(inside("new"), O_CREAT | O_WRONLY, 0600) >= 0);
}

START_TEST(what_is_not_offered_is_done_without)
{
    if (!MT_IS_SANITIZED && prctl(PR_GET_SECCOMP) >= 0)
        in_child(nothing_is_offered);
}
END_TEST

Suite *suite_sandbox(void)
{
    Suite *suite = suite_create("sandbox");
    TCase *tcase = tcase_create("sandbox");
    tcase_add_checked_fixture(tcase, make_directory, remove_directory);
    tcase_add_test(tcase, files_can_be_read_and_one_directory_written);
    tcase_add_test(tcase, ports_that_are_named_can_be_connected_to);
    tcase_add_test(tcase, without_a_directory_nothing_is_written);
    tcase_add_test(tcase, root_reads_only_what_is_named);
    tcase_add_test(tcase, root_reads_of_others_what_they_let_all_read);
    tcase_add_test(tcase, calls_are_filtered);
    tcase_add_test(tcase, threads_that_were_there_before_are_under_it_too);
    tcase_add_test(tcase, what_is_not_offered_is_done_without);
    suite_add_tcase(suite, tcase);
    return suite;
}
