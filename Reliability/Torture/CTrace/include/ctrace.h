/*
 * ptrace for Swift, which cannot call variadic functions: typed wrappers without policy.
 *
 * Every function returns 0 or more, or a negative errno. A tracee obeys only the thread that started it.
 * x86-64 works; aarch64 compiles and was never run; elsewhere ct_is_available() is false and all else -ENOSYS.
 */
#ifndef CTRACE_H
#define CTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h> /* SYS_mprotect and the rest, for Swift too */

#ifdef __clang__
#pragma clang assume_nonnull begin
#else
#define _Nullable
#define _Nonnull
#endif

enum {
  CT_EXITED = 1,   /* value: exit status. The process is reaped */
  CT_KILLED,      /* value: the signal that ended it. The process is reaped */
  CT_SIGNAL,      /* stopped before a signal is delivered. value: signal; code, address: of its siginfo */
  CT_STEPPED,     /* stopped after one instruction */
  CT_SYSCALL,     /* stopped at a system call's entry or exit: ct_syscall() tells which */
  CT_EVENT,       /* stopped at value = PTRACE_EVENT_*: see CT_EVENT_* below. message: its PTRACE_GETEVENTMSG */
  CT_GROUP_STOP,  /* stopped as by SIGSTOP, which was delivered. value: signal */
};

enum { CT_EVENT_FORK = 1, CT_EVENT_VFORK = 2, CT_EVENT_CLONE = 3, CT_EVENT_EXEC = 4, CT_EVENT_EXIT = 6 };

/* What a wait came to. */
struct ct_status {
  int32_t tid;
  int32_t kind;
  int32_t value;
  int32_t code;
  uint64_t address;
  uint64_t message;
};

/* A system call of a stopped tracee. */
struct ct_syscall {
  bool is_entry;
  bool is_exit;
  uint64_t number;       /* at entry and, where the machine keeps it, at exit */
  uint64_t arguments[6]; /* at entry */
  int64_t result;        /* at exit */
};

/* A thread's general registers, whole, as the kernel gives them; the rest names what a tracer needs of them. */
struct ct_registers {
  uint64_t words[64];
  uint64_t byte_count;
};

bool ct_is_available(void);

/*
 * The marker: a system call that fails and does nothing (prctl with an option that there is not), which a worker makes
 * at the beginning and the end of what is to be traced. The tracer runs it to the next system call until it sees
 * one, and recognizes it by ct_marker_code(). The value, such as an address, is arguments[2].
 */
void ct_mark(uint32_t code, uint64_t value);
/* The code of the marker at whose entry the tracee is stopped, or -1. */
int64_t ct_marker_code(const struct ct_syscall *call);

/*
 * Starts a program, traced from its first instruction: it is stopped there when this returns, in a process group of
 * its own, with PTRACE_O_EXITKILL, TRACESYSGOOD, TRACECLONE and TRACEEXEC, and what `options` adds. Its standard
 * streams are the descriptors given.
 */
enum { CT_TRACE_EXIT = 1, CT_TRACE_FORK = 2 };
int ct_start(const char *path, char *const _Nullable *_Nonnull argv, char *const _Nullable *_Nonnull envp, int input,
             int output, int errors, int options);

/* Waits for the next stop or end of `tid`, or with tid 0 of any thread or process in the group `group`. */
int ct_wait(int group, int tid, struct ct_status *status);

/* Resuming. `signal` is delivered, unless 0. */
int ct_continue(int tid, int signal);
int ct_continue_to_syscall(int tid, int signal);
int ct_step(int tid, int signal);
/* `count` steps, a system call being one, and the wait after each; ends early, with the status, at any other stop. */
int ct_step_many(int tid, long count, struct ct_status *status);
int ct_detach(int tid, int signal);
/* SIGKILL to the process; whoever traces it still has to wait for its end. */
int ct_kill(int pid);

int ct_get_registers(int tid, struct ct_registers *registers);
uint64_t ct_instruction_pointer(const struct ct_registers *registers);
uint64_t ct_stack_pointer(const struct ct_registers *registers);
uint64_t ct_argument(const struct ct_registers *registers, int index); /* of a function just called: 0 to 5 */
int ct_get_syscall(int tid, struct ct_syscall *call);
/* Is the next instruction of a thread a system call? Stepping over one shows neither entry nor exit. */
bool ct_is_at_syscall(int tid, const struct ct_registers *registers);

/*
 * Makes a stopped thread, which is not at a system call's entry, execute one more, and puts its registers back.
 * `gadget` is the address of a system call instruction: ct_syscall_instruction() of a thread at a call's entry or exit.
 * Returns 0 or the error of ptrace; what the call gave in `result`.
 */
int ct_inject(int tid, uint64_t gadget, uint64_t number, const uint64_t *arguments, int64_t *result);
uint64_t ct_syscall_instruction(const struct ct_registers *registers);

int64_t ct_read_memory(int pid, uint64_t address, void *bytes, size_t count);
/* Head of a thread's list of robust mutexes: an address in its memory. */
int ct_robust_list(int tid, uint64_t *head);

/* Keeps the calling thread, and what it starts, on the processor it runs on: a step costs a quarter then. */
int ct_stay_on_one_processor(bool one);

/* fork(), which Swift hides. For programs of one thread. */
int ct_fork(void);

#ifdef __clang__
#pragma clang assume_nonnull end
#endif
#endif
