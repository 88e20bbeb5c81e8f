#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

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
