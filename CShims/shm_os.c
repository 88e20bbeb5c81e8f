#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_os.h"

#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "objects are larger than 2 GiB");

static int result(int r) { return r < 0 ? -errno : r; }

/* ---- Objects ---- */

int shmos_create(const char *name, uint32_t mode) {
  return result(shm_open(name, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR, (mode_t)mode));
}

int shmos_create_nameless(void) { return result(open("/dev/shm", O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600)); }

int shmos_open(const char *name, bool writable) {
  return result(shm_open(name, (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK, 0));
}

int shmos_unlink(const char *name) { return result(shm_unlink(name)); }

/* Not repeated on EINTR: Linux has released the descriptor by then, and another thread may already have its number. */
int shmos_close(int fd) { return result(close(fd)); }

static shmos_status status_of(const struct stat *s) {
  return (shmos_status){
      .device = (uint64_t)s->st_dev,
      .inode = (uint64_t)s->st_ino,
      .links = (uint64_t)s->st_nlink,
      .size = (uint64_t)s->st_size,
      .allocated = (uint64_t)s->st_blocks * 512,
      .owner = (uint32_t)s->st_uid,
      .group = (uint32_t)s->st_gid,
      .mode = (uint32_t)s->st_mode & 07777u,
      .kind = (uint32_t)s->st_mode & S_IFMT,
  };
}

int shmos_fstat(int fd, shmos_status *out) {
  struct stat s;
  if (fstat(fd, &s) != 0) return -errno;
  *out = status_of(&s);
  return 0;
}

int shmos_look(const char *name, shmos_status *out) {
  char path[sizeof "/dev/shm" + NAME_MAX + 1]; /* where glibc's shm_open looks */
  const int length = snprintf(path, sizeof path, "/dev/shm%s", name);
  if (length < 0 || (size_t)length >= sizeof path) return -ENAMETOOLONG;
  struct stat s;
  if (lstat(path, &s) != 0) return -errno;
  *out = status_of(&s);
  return 0;
}

/*
 * Beyond RLIMIT_FSIZE the kernel does not only fail with EFBIG, it sends the thread SIGXFSZ too, which ends the process
 * unless somebody thought of it. So the signal is blocked meanwhile, and taken back if it is ours.
 */
typedef struct {
  sigset_t mask;
  bool was_pending;
} size_signal;

static void size_signal_set(sigset_t *set) {
  sigemptyset(set);
  sigaddset(set, SIGXFSZ);
}

static void block_size_signal(size_signal *s) {
  sigset_t set, pending;
  size_signal_set(&set);
  pthread_sigmask(SIG_BLOCK, &set, &s->mask);
  s->was_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

static void restore_size_signal(const size_signal *s, int r) {
  if (r == -EFBIG && !s->was_pending) {
    sigset_t set;
    const struct timespec at_once = {0};
    size_signal_set(&set);
    while (sigtimedwait(&set, NULL, &at_once) < 0 && errno == EINTR) {}
  }
  pthread_sigmask(SIG_SETMASK, &s->mask, NULL);
}

int shmos_truncate(int fd, uint64_t size) {
  if (size > INT64_MAX) return -EFBIG;
  size_signal signal;
  block_size_signal(&signal);
  int r;
  do r = result(ftruncate(fd, (off_t)size));
  while (r == -EINTR);
  restore_size_signal(&signal, r);
  return r;
}

int shmos_allocate(int fd, uint64_t offset, uint64_t count) {
  if (offset > INT64_MAX || count > INT64_MAX) return -EFBIG;
  size_signal signal;
  block_size_signal(&signal);
  int r;
  do r = result(fallocate(fd, 0, (off_t)offset, (off_t)count));
  while (r == -EINTR);
  restore_size_signal(&signal, r);
  return r;
}

int shmos_punch(int fd, uint64_t offset, uint64_t count) {
  if (offset > INT64_MAX || count > INT64_MAX) return -EFBIG;
  int r;
  do r = result(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)count));
  while (r == -EINTR);
  return r;
}

/* Address space for `count` bytes at a multiple of SHMOS_HUGE_BYTES, or NULL: to be mapped over. */
static void *reserve_aligned(size_t count) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t pages = (count + page - 1) & ~(page - 1);
  if (count < SHMOS_HUGE_BYTES || pages < count || pages + SHMOS_HUGE_BYTES < pages) return NULL;
  char *start = mmap(NULL, pages + SHMOS_HUGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return NULL;
  const size_t before = -(uintptr_t)start & (SHMOS_HUGE_BYTES - 1);
  if (before > 0) munmap(start, before);
  munmap(start + before + pages, SHMOS_HUGE_BYTES - before); /* a page at least: `before` is less */
  return start + before;
}

int shmos_map(int fd, size_t count, bool writable, void **base) {
  void *place = reserve_aligned(count);
  const int flags = place != NULL ? MAP_SHARED | MAP_FIXED : MAP_SHARED;
  void *p = mmap(place, count, writable ? PROT_READ | PROT_WRITE : PROT_READ, flags, fd, 0);
  if (p == MAP_FAILED) {
    const int error = errno;
    if (place != NULL) munmap(place, count);
    return -error;
  }
  *base = p;
  return 0;
}

size_t shmos_collapse(void *from, size_t count) {
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
  size_t collapsed = 0;
  for (size_t at = 0; count - at >= SHMOS_HUGE_BYTES; at += SHMOS_HUGE_BYTES)
    if (madvise((char *)from + at, SHMOS_HUGE_BYTES, MADV_COLLAPSE) == 0) collapsed += SHMOS_HUGE_BYTES;
  return collapsed;
}

int shmos_unmap(void *base, size_t count) { return result(munmap(base, count)); }

int shmos_try_flock(int fd, bool exclusive) {
  int r;
  do r = result(flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB));
  while (r == -EINTR);
  return r;
}

int shmos_funlock(int fd) { return result(flock(fd, LOCK_UN)); }

int shmos_try_ofd_lock(int fd, bool exclusive) {
  struct flock whole = {.l_type = exclusive ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};
  int r;
  do r = result(fcntl(fd, F_OFD_SETLK, &whole));
  while (r == -EINTR);
  return r == -EACCES ? -EAGAIN : r;
}

int shmos_fchmod(int fd, uint32_t mode) { return result(fchmod(fd, (mode_t)mode)); }

int shmos_fchown(int fd, uint32_t owner, uint32_t group) { return result(fchown(fd, (uid_t)owner, (gid_t)group)); }

/* ---- Futexes ---- */

int shmos_futex_wait(const void *word, uint32_t expected, int64_t timeout_ns) {
  if (timeout_ns < 0) timeout_ns = 0;
  struct timespec t = {.tv_sec = (time_t)(timeout_ns / 1000000000), .tv_nsec = (long)(timeout_ns % 1000000000)};
  return result((int)syscall(SYS_futex, word, FUTEX_WAIT, expected, &t, NULL, 0));
}

int shmos_futex_wait_many(const void *const *words, const uint32_t *expected, int count, int64_t timeout_ns) {
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
  /* struct futex_waitv and FUTEX_32 of <linux/futex.h>, which older systems' headers lack. */
  struct {
    uint64_t value, address;
    uint32_t flags, reserved;
  } waiters[SHMOS_FUTEX_MANY];
  if (count < 1 || count > SHMOS_FUTEX_MANY) return -EINVAL;
  for (int i = 0; i < count; i++) {
    waiters[i].value = expected[i];
    waiters[i].address = (uint64_t)(uintptr_t)words[i];
    waiters[i].flags = 2;
    waiters[i].reserved = 0;
  }
  if (timeout_ns < 0) timeout_ns = 0;
  const uint64_t end = shmos_monotonic_ns() + (uint64_t)timeout_ns; /* absolute, unlike futex(2)'s; cannot wrap */
  struct timespec t = {.tv_sec = (time_t)(end / 1000000000u), .tv_nsec = (long)(end % 1000000000u)};
  return result((int)syscall(SYS_futex_waitv, waiters, count, 0, &t, CLOCK_MONOTONIC));
}

int shmos_futex_wake(const void *word, int count) {
  return result((int)syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0));
}

/* ---- Memory barriers ---- */

static int membarrier(int command) { return result((int)syscall(SYS_membarrier, command, 0, 0)); }

int shmos_membarrier_query(void) { return membarrier(MEMBARRIER_CMD_QUERY); }
int shmos_membarrier_register_global_expedited(void) { return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED); }
int shmos_membarrier_global_expedited(void) { return membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED); }

/* ---- Time ---- */

static uint64_t now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t); /* cannot fail for these clocks and a valid address */
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t shmos_realtime_ns(void) { return now(CLOCK_REALTIME); }
uint64_t shmos_monotonic_ns(void) { return now(CLOCK_MONOTONIC); }
uint64_t shmos_monotonic_coarse_ns(void) { return now(CLOCK_MONOTONIC_COARSE); }

void shmos_sleep(uint64_t ns) {
  struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* ---- Processes ---- */

int32_t shmos_pid(void) { return (int32_t)getpid(); }
int32_t shmos_tid(void) { return (int32_t)syscall(SYS_gettid); }

bool shmos_has_several_processors(void) {
  static int online; /* 0: not yet asked. Threads that ask at the same time store the same */
  int count = __atomic_load_n(&online, __ATOMIC_RELAXED);
  if (count == 0) {
    count = (int)sysconf(_SC_NPROCESSORS_ONLN);
    __atomic_store_n(&online, count, __ATOMIC_RELAXED);
  }
  return count > 1;
}

void shmos_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

int shmos_pid_namespace(uint64_t *inode) {
  struct stat s;
  if (stat("/proc/self/ns/pid", &s) != 0) return -errno;
  *inode = (uint64_t)s.st_ino;
  return 0;
}

/* Reads a small file of /proc and terminates it: its length, or -errno. */
static int read_small(const char *path, char *buffer, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  ssize_t n;
  do n = read(fd, buffer, size - 1);
  while (n < 0 && errno == EINTR);
  int r = n < 0 ? -errno : (int)n;
  close(fd);
  if (r >= 0) buffer[r] = 0;
  return r;
}

int shmos_process_start_time(int32_t pid, uint64_t *ticks) {
  char path[32], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  int n = read_small(path, text, sizeof text);
  if (n < 0) return n;
  /* Field 2 is the command in parentheses and may hold anything, so count from the last ')': field 3 follows. */
  char *p = strrchr(text, ')');
  for (int field = 2; p != NULL && field < 22; field++) p = strchr(p + 1, ' ');
  if (p == NULL) return -EIO;
  *ticks = strtoull(p + 1, NULL, 10);
  return 0;
}

static int read_command(const char *path, void *out16) {
  char text[32];
  memset(out16, 0, 16);
  int n = read_small(path, text, sizeof text);
  if (n < 0) return n;
  if (n > 0 && text[n - 1] == '\n') n--;
  memcpy(out16, text, n < 15 ? (size_t)n : 15);
  return 0;
}

int shmos_command_name_of(int32_t pid, void *out16) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
  return read_command(path, out16);
}

void shmos_command_name(void *out16) {
  /* The thread's own name is better than none where /proc is missing. */
  if (read_command("/proc/self/comm", out16) < 0) prctl(PR_GET_NAME, out16);
}

bool shmos_process_is_alive(int32_t pid) { return pid > 0 && (kill((pid_t)pid, 0) == 0 || errno == EPERM); }

/* ---- Layout ---- */

uint32_t shmos_mutex_size(void) { return sizeof(pthread_mutex_t); }
uint32_t shmos_rwlock_size(void) { return sizeof(pthread_rwlock_t); }
const char *shmos_libc_version(void) { return gnu_get_libc_version(); }

const char *shmos_architecture(void) {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
#error "Only x86_64 and aarch64 are supported; another machine needs its name here and a look at shm_atomics.h."
#endif
}

/* ---- Errors ---- */

const char *shmos_errno_name(int number) { return strerrorname_np(number); }
const char *shmos_errno_description(int number) { return strerrordesc_np(number); }
