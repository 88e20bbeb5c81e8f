#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "ctrace.h"

#include <errno.h>
#include <linux/elf.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MARKER_OPTION = 0x6d61726b }; /* "mark": no option of prctl */

static long result(long r) { return r < 0 ? -errno : r; }

static long request(int what, int tid, unsigned long address, void *data) {
  return result(ptrace((enum __ptrace_request)what, tid, (void *)address, data));
}

void ct_mark(uint32_t code, uint64_t value) { (void)syscall(SYS_prctl, MARKER_OPTION, code, value, 0, 0); }

int64_t ct_marker_code(const struct ct_syscall *call) {
  bool is_marker = call->is_entry && call->number == SYS_prctl && (uint32_t)call->arguments[0] == MARKER_OPTION;
  return is_marker ? (int64_t)(uint32_t)call->arguments[1] : -1;
}

/* ---- Life ---- */

static void run_child(const char *path, char *const *argv, char *const *envp, int input, int output, int errors) {
  setpgid(0, 0);
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(errors, 2) < 0) _exit(127);
  if (ptrace(PTRACE_TRACEME, 0, 0, 0) < 0) _exit(126);
  execve(path, argv, envp);
  _exit(127);
}

int ct_start(const char *path, char *const *argv, char *const *envp, int input, int output, int errors, int options) {
  if (!ct_is_available()) return -ENOSYS;
  int pid = fork();
  if (pid < 0) return -errno;
  if (pid == 0) run_child(path, argv, envp, input, output, errors);
  setpgid(pid, pid); /* both do: whoever comes first */
  int status;
  int r;
  while ((r = waitpid(pid, &status, __WALL)) < 0 && errno == EINTR) {}
  if (r < 0) return -errno;
  if (!WIFSTOPPED(status)) return -ECHILD; /* it could not be started, and is reaped */
  unsigned long flags = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
  if (options & CT_TRACE_EXIT) flags |= PTRACE_O_TRACEEXIT;
  if (options & CT_TRACE_FORK) flags |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
  long set = request(PTRACE_SETOPTIONS, pid, 0, (void *)flags);
  if (set < 0) {
    kill(pid, SIGKILL);
    waitpid(pid, &status, __WALL);
    return (int)set;
  }
  return pid;
}

static void describe_signal(int tid, int signal, struct ct_status *status) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  status->value = signal;
  if (request(PTRACE_GETSIGINFO, tid, 0, &info) < 0) {
    status->kind = CT_GROUP_STOP; /* a group stop has no siginfo */
    return;
  }
  status->kind = CT_SIGNAL;
  status->code = info.si_code;
  status->address = (uint64_t)info.si_addr;
  if (signal == SIGTRAP && (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT || info.si_code == TRAP_HWBKPT)) {
    status->kind = CT_STEPPED;
  }
}

int ct_wait(int group, int tid, struct ct_status *status) {
  memset(status, 0, sizeof *status);
  int word;
  int r;
  while ((r = waitpid(tid ? tid : -group, &word, __WALL)) < 0 && errno == EINTR) {}
  if (r < 0) return -errno;
  status->tid = r;
  if (WIFEXITED(word)) {
    status->kind = CT_EXITED;
    status->value = WEXITSTATUS(word);
  } else if (WIFSIGNALED(word)) {
    status->kind = CT_KILLED;
    status->value = WTERMSIG(word);
  } else if (WSTOPSIG(word) == (SIGTRAP | 0x80)) {
    status->kind = CT_SYSCALL;
  } else if (word >> 16 != 0) {
    unsigned long message = 0;
    (void)request(PTRACE_GETEVENTMSG, r, 0, &message);
    status->kind = CT_EVENT;
    status->value = word >> 16;
    status->message = message;
  } else {
    describe_signal(r, WSTOPSIG(word), status);
  }
  return 0;
}

static int resume(int how, int tid, int signal) { return (int)request(how, tid, 0, (void *)(long)signal); }
int ct_continue(int tid, int signal) { return resume(PTRACE_CONT, tid, signal); }
int ct_continue_to_syscall(int tid, int signal) { return resume(PTRACE_SYSCALL, tid, signal); }
int ct_step(int tid, int signal) { return resume(PTRACE_SINGLESTEP, tid, signal); }
int ct_step_many(int tid, long count, struct ct_status *status) {
  memset(status, 0, sizeof *status);
  for (long i = 0; i < count; i++) {
    int word;
    if (ptrace(PTRACE_SINGLESTEP, tid, 0, 0) < 0) return -errno;
    while (waitpid(tid, &word, __WALL) < 0)
      if (errno != EINTR) return -errno;
    if (WIFSTOPPED(word) && WSTOPSIG(word) == SIGTRAP && word >> 16 == 0) continue;
    status->tid = tid;
    status->kind = WIFEXITED(word) ? CT_EXITED : WIFSIGNALED(word) ? CT_KILLED : CT_SIGNAL;
    status->value = WIFEXITED(word) ? WEXITSTATUS(word) : WIFSIGNALED(word) ? WTERMSIG(word) : WSTOPSIG(word);
    return 0;
  }
  return 0;
}
int ct_detach(int tid, int signal) { return resume(PTRACE_DETACH, tid, signal); }
int ct_kill(int pid) { return (int)result(kill(pid, SIGKILL)); }

/* ---- Registers ---- */

#if defined(__x86_64__)
typedef struct user_regs_struct registers_t;
#define REG_IP rip
#define REG_SP rsp
enum { SYSCALL_BYTES = 2 };
static bool is_syscall(uint64_t word) { return (word & 0xffff) == 0x050f; }
static uint64_t argument(const registers_t *r, int index) {
  const unsigned long long all[6] = {r->rdi, r->rsi, r->rdx, r->rcx, r->r8, r->r9};
  return all[index];
}
static void prepare_call(registers_t *r, uint64_t number, const uint64_t a[6]) {
  r->orig_rax = (unsigned long long)-1; /* this stop is no system call's, to be restarted */
  r->rax = number;
  r->rdi = a[0], r->rsi = a[1], r->rdx = a[2], r->r10 = a[3], r->r8 = a[4], r->r9 = a[5];
}
static int64_t call_result(const registers_t *r) { return (int64_t)r->rax; }
bool ct_is_available(void) { return true; }
#elif defined(__aarch64__)
typedef struct user_regs_struct registers_t;
#define REG_IP pc
#define REG_SP sp
enum { SYSCALL_BYTES = 4 };
static bool is_syscall(uint64_t word) { return (word & 0xffffffff) == 0xd4000001; } /* svc #0 */
static uint64_t argument(const registers_t *r, int index) { return r->regs[index]; }
static void prepare_call(registers_t *r, uint64_t number, const uint64_t a[6]) {
  r->regs[8] = number;
  for (int i = 0; i < 6; i++) r->regs[i] = a[i];
}
static int64_t call_result(const registers_t *r) { return (int64_t)r->regs[0]; }
bool ct_is_available(void) { return true; }
#else
typedef struct { uint64_t ip, sp; } registers_t;
#define REG_IP ip
#define REG_SP sp
enum { SYSCALL_BYTES = 0 };
static bool is_syscall(uint64_t word) { return (void)word, false; }
static uint64_t argument(const registers_t *r, int index) { return (void)r, (void)index, 0; }
static void prepare_call(registers_t *r, uint64_t number, const uint64_t a[6]) { (void)r, (void)number, (void)a; }
static int64_t call_result(const registers_t *r) { return (void)r, 0; }
bool ct_is_available(void) { return false; }
#endif

_Static_assert(sizeof(registers_t) <= sizeof(((struct ct_registers *)0)->words), "all registers fit");

int ct_get_registers(int tid, struct ct_registers *registers) {
  struct iovec area = {registers->words, sizeof registers->words};
  long r = request(PTRACE_GETREGSET, tid, NT_PRSTATUS, &area);
  registers->byte_count = area.iov_len;
  return (int)r;
}

static int set_registers(int tid, const struct ct_registers *registers) {
  struct iovec area = {(void *)registers->words, registers->byte_count};
  return (int)request(PTRACE_SETREGSET, tid, NT_PRSTATUS, &area);
}

static const registers_t *view(const struct ct_registers *registers) { return (const registers_t *)registers->words; }
uint64_t ct_instruction_pointer(const struct ct_registers *registers) { return view(registers)->REG_IP; }
uint64_t ct_stack_pointer(const struct ct_registers *registers) { return view(registers)->REG_SP; }
uint64_t ct_argument(const struct ct_registers *registers, int index) { return argument(view(registers), index); }
uint64_t ct_syscall_instruction(const struct ct_registers *registers) { return view(registers)->REG_IP - SYSCALL_BYTES; }

int ct_get_syscall(int tid, struct ct_syscall *call) {
  struct __ptrace_syscall_info info;
  memset(call, 0, sizeof *call);
  memset(&info, 0, sizeof info);
  long r = request(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info);
  if (r < 0) return (int)r;
  call->is_entry = info.op == PTRACE_SYSCALL_INFO_ENTRY;
  call->is_exit = info.op == PTRACE_SYSCALL_INFO_EXIT;
  if (call->is_entry) {
    call->number = info.entry.nr;
    for (int i = 0; i < 6; i++) call->arguments[i] = info.entry.args[i];
  } else if (call->is_exit) {
    call->result = info.exit.rval;
  }
  return 0;
}

bool ct_is_at_syscall(int tid, const struct ct_registers *registers) {
  errno = 0;
  long word = ptrace(PTRACE_PEEKTEXT, tid, (void *)ct_instruction_pointer(registers), 0);
  return errno == 0 && is_syscall((uint64_t)word);
}

int ct_inject(int tid, uint64_t gadget, uint64_t number, const uint64_t *arguments, int64_t *out) {
  struct ct_registers saved;
  int r = ct_get_registers(tid, &saved);
  if (r < 0) return r;
  struct ct_registers changed = saved;
  registers_t *registers = (registers_t *)changed.words;
  prepare_call(registers, number, arguments);
  registers->REG_IP = gadget;
  r = set_registers(tid, &changed);
  if (r < 0) return r;
  struct ct_status status;
  r = ct_step(tid, 0);
  if (r < 0) return r;
  r = ct_wait(0, tid, &status);
  if (r < 0) return r;
  if (status.kind != CT_STEPPED) return -EINTR;
  r = ct_get_registers(tid, &changed);
  if (r < 0) return r;
  *out = call_result((registers_t *)changed.words);
  return set_registers(tid, &saved);
}

/* ---- Memory and processors ---- */

int64_t ct_read_memory(int pid, uint64_t address, void *bytes, size_t count) {
  struct iovec here = {bytes, count};
  struct iovec there = {(void *)address, count};
  return result(process_vm_readv(pid, &here, 1, &there, 1, 0));
}

int ct_robust_list(int tid, uint64_t *head) {
  void *list = 0;
  size_t length = 0;
  long r = result(syscall(SYS_get_robust_list, tid, &list, &length));
  *head = (uint64_t)list;
  return (int)r;
}

int ct_stay_on_one_processor(bool one) {
  static __thread cpu_set_t before;
  static __thread bool is_pinned;
  if (one == is_pinned) return 0;
  cpu_set_t set;
  if (one) {
    if (sched_getaffinity(0, sizeof before, &before) < 0) return -errno;
    int here = sched_getcpu();
    if (here < 0) return -errno;
    CPU_ZERO(&set);
    CPU_SET(here, &set);
  } else {
    set = before;
  }
  if (sched_setaffinity(0, sizeof set, &set) < 0) return -errno;
  is_pinned = one;
  return 0;
}

int ct_fork(void) { return (int)result(fork()); }
