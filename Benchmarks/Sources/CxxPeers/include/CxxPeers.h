/*
 * Boost.Interprocess: a map in a managed shared memory segment, behind its sharable mutex. The same calls as in CPeers.
 */
#ifndef CXX_PEERS_H
#define CXX_PEERS_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin
#ifdef __cplusplus
extern "C" {
#endif

typedef struct boost_table boost_table;
/* Values of 100 bytes. NULL if the segment cannot be made. */
boost_table *_Nullable boost_create(const char *name, size_t capacity_bytes);
/* Unmaps it and removes its name. */
void boost_destroy(boost_table *t);
void boost_put(boost_table *t, const void *key, const void *value);
uint64_t boost_get_all(boost_table *t, const void *keys, size_t count, void *buffer);

#ifdef __cplusplus
}
#endif
#pragma clang assume_nonnull end
#endif
