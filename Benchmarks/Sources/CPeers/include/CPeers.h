/*
 * What people use instead of SharedTable, each behind the same few calls, so that a round of any of them is one loop
 * in C: no cost of crossing a language border falls on a peer.
 *
 * Keys are 16 bytes and lie one behind the other; values are all of the length given at creation. get_all copies
 * each value found into `buffer` and returns the sum of their lengths, which the caller checks. Whatever cannot be
 * set up ends the program with one line that says why: there is nothing to measure then.
 */
#ifndef PEERS_H
#define PEERS_H

#include <stddef.h>
#include <stdint.h>

#include "../../../../Reliability/Floor/CFloor/include/floor.h"

#pragma clang assume_nonnull begin

#define PEER_KEY_BYTES 16

/* Says what could not be set up, and exits with status 2. */
_Noreturn void peer_fail(const char *what, const char *why);

/* liburcu's hash table, in one process, in three flavours of RCU. A thread of qsbr must say when it is quiescent:
 * it does so after each round. */
typedef struct urcu_table urcu_table;
#define PEER_URCU(flavour)                                                                                     \
  urcu_table *urcu_##flavour##_create(size_t keys, size_t value_bytes);                                       \
  void urcu_##flavour##_put(urcu_table *t, const void *key, const void *value);                               \
  uint64_t urcu_##flavour##_get_all(urcu_table *t, const void *keys, size_t count, void *buffer);
PEER_URCU(memb)
PEER_URCU(qsbr)
PEER_URCU(bp)

/* LMDB: NOSYNC, WRITEMAP, in a directory that the caller makes on a tmpfs. */
typedef struct lmdb_table lmdb_table;
lmdb_table *lmdb_create(const char *directory, size_t capacity_bytes);
void lmdb_destroy(lmdb_table *t);
void lmdb_load(lmdb_table *t, const void *keys, size_t count, const void *value, size_t value_bytes);
/* A transaction for every `batch` gets, by renew and reset. */
uint64_t lmdb_get_all(lmdb_table *t, const void *keys, size_t count, void *buffer, size_t batch);
/* A transaction for every `batch` puts. */
void lmdb_set_all(lmdb_table *t, const void *keys, size_t count, const void *value, size_t value_bytes, size_t batch);
uint64_t lmdb_used_bytes(lmdb_table *t);

/* Servers on a Unix socket, which the caller starts. `batch` requests are sent before the first answer is read. */
typedef struct redis_client redis_client;
redis_client *redis_connect(const char *socket);
void redis_destroy(redis_client *c);
uint64_t redis_get_all(redis_client *c, const void *keys, size_t count, void *buffer, size_t batch);
void redis_set_all(redis_client *c, const void *keys, size_t count, const void *value, size_t value_bytes, size_t batch);
/* used_memory of INFO. */
uint64_t redis_used_bytes(redis_client *c);

typedef struct memcached_client memcached_client;
memcached_client *memcached_connect(const char *socket);
void memcached_destroy(memcached_client *c);
uint64_t memcached_get_all(memcached_client *c, const void *keys, size_t count, void *buffer, size_t batch);
void memcached_set_all(memcached_client *c, const void *keys, size_t count, const void *value, size_t value_bytes);

/* DPDK's rte_hash, lock-free readers. Memory comes from ordinary pages. */
typedef struct rte_table rte_table;
rte_table *rte_create(size_t keys, size_t value_bytes);
void rte_put(rte_table *t, const void *key, const void *value);
uint64_t rte_get_all(rte_table *t, const void *keys, size_t count, void *buffer);
/* In bulks of 32. */
uint64_t rte_get_bulk(rte_table *t, const void *keys, size_t count, void *buffer);

/* The price of a lock alone: `count` pairs of lock and unlock of a robust process-shared mutex, uncontended. */
void robust_lock_pairs(size_t count);

/* floor_set_all with each store under such a lock, as another process's store would have to be. */
uint64_t floor_set_all_locked(floor_table *t, const void *keys, size_t count, const void *value);

#pragma clang assume_nonnull end
#endif
