/* The hash of a key: XXH3 (64 bits, seeded; xxhash 0.8, https://github.com/Cyan4973/xxHash). */
#ifndef SHM_HASH_H
#define SHM_HASH_H

#include "shm_base.h"
#define XXH_INLINE_ALL
#define XXH_NO_INLINE_HINTS 0 /* Swift's importer defines __NO_INLINE__, from which xxhash would conclude otherwise */
#include <xxhash.h>

/* The long form is a call; the short one, which the compiler cuts down to what 16 bytes need, is not. */
uint64_t shm_hash_long(const void *key, size_t length, uint64_t seed);
#if defined(SHM_OUTLINE) && !defined(SHM_OUTLINE_DEFINE)
uint64_t shm_hash(const void *key, size_t length, uint64_t seed);
#else
#ifdef SHM_OUTLINE
#define SHM_HASH
#else
#define SHM_HASH static inline __attribute__((always_inline, flatten))
#endif
SHM_HASH uint64_t shm_hash(const void *key, size_t length, uint64_t seed) {
  return length <= 16 ? XXH3_64bits_withSeed(key, length, seed) : shm_hash_long(key, length, seed);
}
#endif

/* Of bytes that may be overwritten meanwhile: see shm_bytes.h. */
#ifdef SHM_OUTLINE
uint64_t shm_hash_racy(const void *key, size_t length, uint64_t seed);
#else
SHM_INLINE uint64_t shm_hash_racy(const void *key, size_t length, uint64_t seed) { return shm_hash(key, length, seed); }
#endif

#endif
