#include "server/service/sandbox.h"

#include "base/file.h"
#include "base/log.h"
#include "base/sanitized.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include <seccomp.h>

/* ---- files ---- */

/* These are newer than the header of Debian 12: linux/landlock.h of Linux 6.7. */
#define ACCESS_TRUNCATE (UINT64_C(1) << 14)
#define NET_BIND_TCP (UINT64_C(1) << 0)
#define NET_CONNECT_TCP (UINT64_C(1) << 1)

#define RULE_NET_PORT 2

struct port_rule {
    uint64_t access, port;
};

/* struct landlock_ruleset_attr since ABI 4; older kernels take it without the last member. */
struct ruleset {
    uint64_t files, network;
};

#define WRITING                                                                                    \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |                               \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | \
     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |   \
     LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM)
/* Rights for storing a packed model: a temporary file, which is renamed. */
#define CACHING \
    (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG)

#define READING (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

static int create_ruleset(const struct ruleset *ruleset, size_t n_bytes, unsigned flags)
{
    return (int)syscall(SYS_landlock_create_ruleset, ruleset, n_bytes, flags);
}

/* Allows access to everything in a directory, or to a file. */
static bool allow(int ruleset, const char *path, uint64_t access)
{
    struct stat st;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return true; /* it cannot be accessed anyway */
    if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
        access &= LANDLOCK_ACCESS_FS_READ_FILE;
    const struct landlock_path_beneath_attr rule = {.allowed_access = access, .parent_fd = fd};
    bool is_added =
        access == 0 || /* a rule must not have this value */
        syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    int reason = errno;
    close(fd);
    errno = reason;
    return is_added;
}

static bool allow_port(int ruleset, uint16_t port)
{
    const struct port_rule rule = {.access = NET_CONNECT_TCP, .port = port};
    return syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &rule, 0) == 0;
}

static bool without_landlock(const struct mt_sandbox_files *files)
{
    mt_log(MT_LOG_INFO, "sandbox: no Landlock here (%s): files can be written%s", strerror(errno),
           files->readable ? ", and all of root's read" : "");
    return false;
}

/* reading is 0 where everything can be read. */
static bool enter(int ruleset, const struct mt_sandbox_files *files, uint64_t writing,
                  uint64_t reading, bool has_ports)
{
    bool is_entered = true;
    for (size_t i = 0; i < 3 && is_entered; i++) {
        if (!files->writable[i] || files->writable[i][0] == '\0')
            continue;
        mt_make_directories(files->writable[i]);
        is_entered = allow(ruleset, files->writable[i], writing | reading);
    }
    for (size_t i = 0; i < files->n_readable && reading != 0 && is_entered; i++)
        is_entered = allow(ruleset, files->readable[i], reading);
    for (size_t i = 0; i < files->n_ports && has_ports && is_entered; i++)
        is_entered = allow_port(ruleset, files->ports[i]);
    return is_entered && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}

bool mt_sandbox_restrict_files(const struct mt_sandbox_files *files)
{
    int abi = create_ruleset(NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1)
        return without_landlock(files);
    uint64_t truncating = abi >= 3 ? ACCESS_TRUNCATE : 0;
    uint64_t reading = files->readable ? READING : 0;
    const struct ruleset rules = {
        .files = LANDLOCK_ACCESS_FS_EXECUTE | WRITING | truncating | reading |
                 (abi >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0),
        .network = NET_BIND_TCP | NET_CONNECT_TCP,
    };
    int ruleset = create_ruleset(&rules, abi >= 4 ? sizeof rules : sizeof rules.files, 0);
    if (ruleset < 0)
        return without_landlock(files);
    bool is_entered = enter(ruleset, files, CACHING | truncating, reading, abi >= 4);
    if (is_entered)
        mt_log(MT_LOG_DEBUG, "sandbox: files are read-only (Landlock %d)", abi);
    else
        without_landlock(files);
    close(ruleset);
    return is_entered;
}

/* ---- privileges ---- */

void mt_sandbox_drop_privileges(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
    if (syscall(SYS_capset, &header, none) != 0)
        mt_log(MT_LOG_INFO, "sandbox: privileges are kept: %s", strerror(errno));
}

/* ---- system calls ---- */

/* System calls of the daemon and its libraries, under the names that glibc gives them on the
 * various architectures. If libseccomp does not know a name, then the call does not exist here. */
// clang-format off
static const char *const allowed[] = {
    /* connections and descriptors */
    "accept", "accept4", "close", "close_range", "dup", "dup3", "epoll_create", "epoll_create1",
    "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd2", "getpeername",
    "getsockname", "getsockopt", "pipe2", "poll", "ppoll", "pselect6", "read", "readv", "recvfrom",
    "recvmsg", "select", "sendfile", "sendmsg", "sendto", "setsockopt", "shutdown", "write",
    "writev",
    /* files */
    "access", "faccessat", "faccessat2", "fadvise64", "fdatasync", "flock", "fstat", "fstatfs",
    "fsync", "ftruncate", "getcwd", "getdents64", "inotify_add_watch", "inotify_init1",
    "inotify_rm_watch", "lseek", "lstat", "newfstatat", "pread64", "pwrite64", "readlink",
    "readlinkat", "rename", "renameat", "renameat2", "stat", "statfs", "statx", "umask", "unlink",
    "unlinkat",
    /* memory */
    "brk", "madvise", "membarrier", "memfd_create", "mincore", "mremap", "msync", "munmap",
    /* threads, time and signals */
    "clock_getres", "clock_gettime", "clock_nanosleep", "exit", "exit_group", "futex",
    "get_robust_list", "getcpu", "getrandom", "getrusage", "gettid", "gettimeofday", "nanosleep",
    "restart_syscall", "rseq", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn",
    "rt_sigtimedwait", "sched_getaffinity", "sched_getparam", "sched_getscheduler",
    "sched_setaffinity", "sched_yield", "set_robust_list", "set_tid_address", "sigaltstack", "time",
    "times",
    /* facts about this process */
    "arch_prctl", "getegid", "geteuid", "getgid", "getpid", "getppid", "getrlimit", "getuid",
    "prctl", "seccomp", "setitimer", "setrlimit", "sysinfo", "uname", "wait4",
};
// clang-format on

/* Calls that are refused by name, so that an intruder gets "not permitted" instead of "no such
 * call". */
// clang-format off
static const char *const refused[] = {
    "acct", "add_key", "adjtimex", "bind", "bpf", "capset", "chmod", "chown", "chroot",
    "clock_settime", "delete_module", "execve", "execveat", "fchmodat", "fchown",
    "fchownat", "finit_module", "fork", "init_module", "io_uring_enter", "io_uring_register",
    "io_uring_setup", "ioperm", "iopl", "kcmp", "kexec_load", "keyctl", "kill", "lchown", "link",
    "linkat", "listen", "mknod", "mknodat", "modify_ldt", "mount", "move_mount",
    "name_to_handle_at", "open_by_handle_at", "open_tree", "perf_event_open", "personality",
    "pidfd_getfd", "pidfd_open", "pidfd_send_signal", "pivot_root", "process_vm_readv",
    "process_vm_writev", "ptrace", "quotactl", "reboot", "request_key", "rt_sigqueueinfo",
    "rt_tgsigqueueinfo", "setdomainname", "setfsgid", "setfsuid", "setgid", "setgroups",
    "sethostname", "setns", "setregid", "setresgid", "setresuid", "setreuid", "setsid",
    "settimeofday", "setuid", "swapoff", "swapon", "symlink", "symlinkat",
    "syslog", "tkill", "truncate", "umount2", "unshare", "userfaultfd", "vfork",
};
// clang-format on

/* Calls that are allowed or refused, depending on whether the process may connect. */
static const char *const connecting[] = {"connect", "sendmmsg", "socket", "socketpair"};

/* The flags of clone in glibc's fork(), on every architecture that we know. */
#define FORK (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

/* The conditions on arguments: clone must make a thread, or a process that stays in the sandbox
 * (base/confined.h); memory must not be executable; tgkill is for this process only, for abort;
 * sched_setscheduler is for the calling thread; ioctl is for isatty and for sockets; fchmod is for
 * a file in the cache; prlimit64 is for this process, since a limit can kill others as a signal
 * does; and fcntl must not make another process the owner of a descriptor, which would send it
 * signals. If an argument is narrower than its register, the kernel truncates it after the filter
 * has seen all of it. So values are listed, and no range is open at its upper end. */
static int add_conditions(scmp_filter_ctx filter)
{
    const uint32_t yes = SCMP_ACT_ALLOW, no = SCMP_ACT_ERRNO(EPERM);
    const scmp_datum_t self = (scmp_datum_t)getpid();
    const struct {
        uint32_t action;
        int call;
        struct scmp_arg_cmp condition;
    } rules[] = {
        {yes, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD)},
        {yes, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_EQ, FORK, 0)},
        {yes, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
        {no, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC)},
        {yes, SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
        {no, SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, PROT_EXEC)},
        {yes, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, self, 0)},
        {no, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_NE, self, 0)},
        {yes, SCMP_SYS(sched_setscheduler), SCMP_A0(SCMP_CMP_EQ, 0, 0)},
        {no, SCMP_SYS(sched_setscheduler), SCMP_A0(SCMP_CMP_NE, 0, 0)},
        {yes, SCMP_SYS(fchmod), SCMP_A1(SCMP_CMP_EQ, MT_FILE_MODE, 0)},
        {no, SCMP_SYS(fchmod), SCMP_A1(SCMP_CMP_NE, MT_FILE_MODE, 0)},
        {yes, SCMP_SYS(prlimit64), SCMP_A0(SCMP_CMP_EQ, 0, 0)},
        {no, SCMP_SYS(prlimit64), SCMP_A0(SCMP_CMP_NE, 0, 0)},
        {yes, SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_LT, F_SETOWN, 0)}, /* from F_DUPFD to F_SETLKW */
        {yes, SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_EQ, F_DUPFD_CLOEXEC, 0)},
        {yes, SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_EQ, F_ADD_SEALS, 0)},
        {yes, SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_EQ, F_GET_SEALS, 0)},
        {no, SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_EQ, F_SETOWN, 0)},
        {no, SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_EQ, F_SETSIG, 0)},
        {no, SCMP_SYS(fcntl), SCMP_A1(SCMP_CMP_EQ, F_SETOWN_EX, 0)},
        {yes, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, TCGETS, 0)},
        {yes, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, FIONREAD, 0)},
        {yes, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, FIONBIO, 0)},
        {yes, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, SIOCOUTQ, 0)},
    };
    int code = 0;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0] && code == 0; i++)
        code =
            seccomp_rule_add_array(filter, rules[i].action, rules[i].call, 1, &rules[i].condition);
    return code;
}

/* Files and directories may be created, but with no mode that gives root's rights to whoever runs
 * them after the daemon has ended. If nothing is created, glibc passes the mode 0. */
static int add_modes(scmp_filter_ctx filter)
{
    static const scmp_datum_t special[] = {S_ISUID, S_ISGID, S_ISVTX};
    const struct {
        int call;
        unsigned mode; /* index of the argument */
    } makers[] = {
        {SCMP_SYS(open), 2},
        {SCMP_SYS(openat), 3},
        {SCMP_SYS(mkdir), 1},
        {SCMP_SYS(mkdirat), 2},
    };
    int code = 0;
    for (size_t i = 0; i < sizeof makers / sizeof makers[0] && code == 0; i++) {
        struct scmp_arg_cmp plain = {makers[i].mode, SCMP_CMP_MASKED_EQ,
                                     S_ISUID | S_ISGID | S_ISVTX, 0};
        code = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, makers[i].call, 1, &plain);
        for (size_t k = 0; k < sizeof special / sizeof special[0] && code == 0; k++) {
            struct scmp_arg_cmp bit = {makers[i].mode, SCMP_CMP_MASKED_EQ, special[k], special[k]};
            code = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), makers[i].call, 1, &bit);
        }
    }
    return code;
}

static int add_calls(scmp_filter_ctx filter, uint32_t action, const char *const *names, size_t n)
{
    int code = 0;
    for (size_t i = 0; i < n && code == 0; i++) {
        int call = seccomp_syscall_resolve_name(names[i]);
        if (call != __NR_SCMP_ERROR)
            code = seccomp_rule_add_array(filter, action, call, 0, NULL);
    }
    return code;
}

/* Calls that are not listed return ENOSYS, which glibc understands: it then uses others (instead of
 * clone3, whose flags no filter can see, it calls clone). */
static int fill(scmp_filter_ctx filter, bool may_connect)
{
    int code = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (code == 0)
        code = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (code == 0)
        code = add_calls(filter, SCMP_ACT_ALLOW, allowed, sizeof allowed / sizeof allowed[0]);
    if (code == 0)
        code =
            add_calls(filter, SCMP_ACT_ERRNO(EPERM), refused, sizeof refused / sizeof refused[0]);
    if (code == 0)
        code = add_calls(filter, may_connect ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM), connecting,
                         sizeof connecting / sizeof connecting[0]);
    if (code == 0)
        code = add_conditions(filter);
    if (code == 0)
        code = add_modes(filter);
    return code;
}

/* valgrind preloads its core and its tools into the program. */
static bool is_under_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "/vgpreload_");
}

static bool without_seccomp(const char *reason)
{
    mt_log(MT_LOG_INFO, "sandbox: no seccomp here (%s): system calls are not filtered", reason);
    return false;
}

bool mt_sandbox_restrict_calls(bool may_connect)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return without_seccomp(strerror(errno));
    if (MT_IS_SANITIZED || is_under_valgrind())
        return without_seccomp("a tool watches the program, and needs the calls");
    /* A kernel with seccomp reports a bad address for a filter that it cannot read. */
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != 0 && errno != EFAULT)
        return without_seccomp(strerror(errno));
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    if (!filter)
        return without_seccomp("out of memory");
    int code = fill(filter, may_connect);
    if (code == 0)
        code = seccomp_load(filter);
    seccomp_release(filter);
    if (code != 0)
        return without_seccomp(strerror(-code));
    mt_log(MT_LOG_DEBUG, "sandbox: system calls are filtered (seccomp)");
    return true;
}
