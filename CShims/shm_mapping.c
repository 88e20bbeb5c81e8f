#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "shm_mapping.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

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

int shmos_unmap(void *base, size_t count) { return shm_result(munmap(base, count)); }
