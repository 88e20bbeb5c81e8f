/* The hash of keys that are longer than 16 bytes; of the others, and which is which: include/shm_hash.h. */
#include "shm_hash.h"

uint64_t shm_hash_long(const void *key, size_t length, uint64_t seed) {
  return XXH3_64bits_withSeed(key, length, seed);
}
