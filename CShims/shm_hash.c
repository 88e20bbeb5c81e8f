#include "shm_hash.h"

uint64_t shm_hash_long(const void *key, size_t length, uint64_t seed) {
  return XXH3_64bits_withSeed(key, length, seed);
}
