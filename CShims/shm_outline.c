/* The functions that access memory plainly, out of line under SHM_OUTLINE; see shm_base.h. Empty otherwise. */
#define SHM_OUTLINE_DEFINE 1
#include "shm_bytes.h"
#include "shm_hash.h"

#ifdef SHM_OUTLINE
#include <stdlib.h>

/* No memcpy here: the sanitizer sees each call of it, wherever it is made. The address sanitizer sees these loops. */
#define UNSEEN_BY_TSAN __attribute__((no_sanitize("thread")))

UNSEEN_BY_TSAN void shm_copy_racy(void *to, const void *from, size_t length) {
  volatile unsigned char *t = (volatile unsigned char *)to;
  const volatile unsigned char *f = (const volatile unsigned char *)from;
  for (size_t i = 0; i < length; i++) t[i] = f[i];
}

UNSEEN_BY_TSAN bool shm_equal_racy(const void *x, const void *y, size_t length) {
  const volatile unsigned char *a = (const volatile unsigned char *)x;
  const volatile unsigned char *b = (const volatile unsigned char *)y;
  for (size_t i = 0; i < length; i++)
    if (a[i] != b[i]) return false;
  return true;
}

uint64_t shm_hash_racy(const void *key, size_t length, uint64_t seed) {
  void *copy = malloc(length);
  if (copy == NULL) abort();
  shm_copy_racy(copy, key, length);
  const uint64_t hash = shm_hash(copy, length, seed);
  free(copy);
  return hash;
}
#endif

typedef int shm_outline_is_not_empty;
