#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_object.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(off_t) == 8, "objects are larger than 2 GiB");

int shmos_create(const char *name, uint32_t mode) {
  return shm_result(shm_open(name, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR, (mode_t)mode));
}

int shmos_create_nameless(void) { return shm_result(open("/dev/shm", O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600)); }

int shmos_open(const char *name, bool writable) {
  return shm_result(shm_open(name, (writable ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK, 0));
}

int shmos_open_owned(const char *name) {
  return shm_result(shm_open(name, O_RDONLY | O_NOATIME | O_NOFOLLOW | O_NONBLOCK, 0));
}

int shmos_unlink(const char *name) { return shm_result(shm_unlink(name)); }

/* Not repeated on EINTR: Linux has released the descriptor by then, and another thread may already have its number. */
int shmos_close(int fd) { return shm_result(close(fd)); }

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
 * unless the program handles or ignores it. So the signal is blocked meanwhile, and discarded if this call caused it.
 *
 * So are all others. A signal that is pending has kernels such as 6.1 undo what fallocate has claimed: one that comes every
 * millisecond, as a profiler's, would undo each attempt at a long range, and it is mostly W's owner who claims.
 */
typedef struct {
  sigset_t mask;
  bool was_pending;
} held_signals;

static void size_signal_set(sigset_t *set) {
  sigemptyset(set);
  sigaddset(set, SIGXFSZ);
}

static void block_signals(held_signals *s) {
  sigset_t set, pending;
  sigfillset(&set);
  pthread_sigmask(SIG_BLOCK, &set, &s->mask);
  s->was_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

static void restore_signals(const held_signals *s, int r) {
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
  held_signals signals;
  block_signals(&signals);
  int r;
  do r = shm_result(ftruncate(fd, (off_t)size));
  while (r == -EINTR);
  restore_signals(&signals, r);
  return r;
}

int shmos_allocate(int fd, uint64_t offset, uint64_t count) {
  if (offset > INT64_MAX || count > INT64_MAX) return -EFBIG;
  held_signals signals;
  block_signals(&signals);
  int r;
  do r = shm_result(fallocate(fd, 0, (off_t)offset, (off_t)count));
  while (r == -EINTR);
  restore_signals(&signals, r);
  return r;
}

int shmos_punch(int fd, uint64_t offset, uint64_t count) {
  if (offset > INT64_MAX || count > INT64_MAX) return -EFBIG;
  int r;
  do r = shm_result(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)count));
  while (r == -EINTR);
  return r;
}

int shmos_try_flock(int fd, bool exclusive) {
  int r;
  do r = shm_result(flock(fd, (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB));
  while (r == -EINTR);
  return r;
}

int shmos_funlock(int fd) { return shm_result(flock(fd, LOCK_UN)); }

int shmos_try_ofd_lock(int fd, bool exclusive) {
  struct flock whole = {.l_type = exclusive ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET};
  int r;
  do r = shm_result(fcntl(fd, F_OFD_SETLK, &whole));
  while (r == -EINTR);
  return r == -EACCES ? -EAGAIN : r;
}

int shmos_ofd_unlock(int fd) {
  struct flock whole = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  return shm_result(fcntl(fd, F_OFD_SETLK, &whole));
}

int shmos_reopen(int fd) {
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return shm_result(open(path, O_RDWR | O_CLOEXEC));
}

int shmos_fchmod(int fd, uint32_t mode) { return shm_result(fchmod(fd, (mode_t)mode)); }

int shmos_fchown(int fd, uint32_t owner, uint32_t group) { return shm_result(fchown(fd, (uid_t)owner, (gid_t)group)); }
