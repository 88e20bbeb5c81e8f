/* Plain access to bytes, of keys and of values: equality and copies. An observer's is racy, and believed after
 * validation only. */
#ifndef SHM_BYTES_H
#define SHM_BYTES_H

#include "shm_base.h"
#include <string.h>

#if defined(SHM_OUTLINE) && !defined(SHM_OUTLINE_DEFINE)
bool shm_equal(const void *x, const void *y, size_t length);
void shm_copy(void *to, const void *from, size_t length);
void shm_copy_short(void *to, const void *from, size_t length);
void shm_copy_medium(void *to, const void *from, size_t length);
#else
#ifdef SHM_OUTLINE
#define SHM_PLAIN_ACCESS
#else
#define SHM_PLAIN_ACCESS SHM_INLINE
#endif

/* Equality of two keys of the same length: the first and the last 8 bytes, which may overlap, then what is between; of
 * 4 to 7 bytes the first and the last 4. */
SHM_PLAIN_ACCESS bool shm_equal(const void *x, const void *y, size_t length) {
  const unsigned char *a = (const unsigned char *)x, *b = (const unsigned char *)y;
  uint64_t p, q;
  if (__builtin_expect(length >= 8, 1)) {
    memcpy(&p, a, 8);
    memcpy(&q, b, 8);
    if (p != q) return false;
    memcpy(&p, a + length - 8, 8);
    memcpy(&q, b + length - 8, 8);
    if (p != q) return false;
    if (__builtin_expect(length <= 16, 1)) return true;
    for (size_t i = 8; i + 8 < length; i += 8) {
      memcpy(&p, a + i, 8);
      memcpy(&q, b + i, 8);
      if (p != q) return false;
    }
    return true;
  }
  if (length >= 4) {
    uint32_t r, s, t, u;
    memcpy(&r, a, 4);
    memcpy(&s, b, 4);
    memcpy(&t, a + length - 4, 4);
    memcpy(&u, b + length - 4, 4);
    return r == s && t == u;
  }
  for (size_t i = 0; i < length; i++)
    if (a[i] != b[i]) return false;
  return true;
}

SHM_PLAIN_ACCESS void shm_copy(void *to, const void *from, size_t length) {
  memcpy(to, from, length);
}

/* What one register holds: an array of as many bytes would be copied by way of the stack. */
typedef uint64_t shm_16_bytes __attribute__((vector_size(16)));

/* The same for what mostly has 8 to 32 bytes, as keys: two words, which may overlap, cost less than a call. */
SHM_PLAIN_ACCESS void shm_copy_short(void *to, const void *from, size_t length) {
  unsigned char *t = (unsigned char *)to;
  const unsigned char *f = (const unsigned char *)from;
  if (length - 8 <= 8) {
    uint64_t first, last;
    memcpy(&first, f, 8);
    memcpy(&last, f + length - 8, 8);
    memcpy(t, &first, 8);
    memcpy(t + length - 8, &last, 8);
  } else if (length - 16 <= 16) {
    shm_16_bytes first, last;
    memcpy(&first, f, 16);
    memcpy(&last, f + length - 16, 16);
    memcpy(t, &first, 16);
    memcpy(t + length - 16, &last, 16);
  } else {
    memcpy(t, f, length);
  }
}

/* The same for what mostly has up to 64 bytes, as values. */
SHM_PLAIN_ACCESS void shm_copy_medium(void *to, const void *from, size_t length) {
  unsigned char *t = (unsigned char *)to;
  const unsigned char *f = (const unsigned char *)from;
  shm_16_bytes w, x, y, z;
  if (length - 32 <= 32) {
    memcpy(&w, f, 16);
    memcpy(&x, f + 16, 16);
    memcpy(&y, f + length - 32, 16);
    memcpy(&z, f + length - 16, 16);
    memcpy(t, &w, 16);
    memcpy(t + 16, &x, 16);
    memcpy(t + length - 32, &y, 16);
    memcpy(t + length - 16, &z, 16);
  } else {
    shm_copy_short(to, from, length);
  }
}
#endif

/*
 * The same for an observer, whose source may be overwritten while it looks: what comes of it is believed only after
 * validation. A race by design, so the thread sanitizer is not shown it.
 */
#ifdef SHM_OUTLINE
bool shm_equal_racy(const void *x, const void *y, size_t length);
void shm_copy_racy(void *to, const void *from, size_t length);
#else
SHM_INLINE bool shm_equal_racy(const void *x, const void *y, size_t length) { return shm_equal(x, y, length); }
SHM_INLINE void shm_copy_racy(void *to, const void *from, size_t length) { shm_copy(to, from, length); }
#endif

#endif
