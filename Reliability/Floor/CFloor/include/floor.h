/*
 * The floor: what a lookup costs that synchronises with nobody. Same hash, same buckets of eight tagged words, same
 * copy of the value, in one mapping of shared memory; but one table of fixed size instead of a directory, entries
 * of {version, lengths, key, value} packed, no snapshot, no versions, no expiry, no types.
 *
 * Values are all of the length given at creation; those of 100 bytes make entries of 128. Nothing but measurements use it.
 */
#ifndef FLOOR_H
#define FLOOR_H

#include <stddef.h>
#include <stdint.h>

#define FLOOR_KEY_BYTES 16
#define FLOOR_VALUE_BYTES 100

typedef struct floor_table floor_table;

/* Exits with a message when memory is short: there is nothing to measure then. */
floor_table *_Nonnull floor_create(size_t keys, size_t value_bytes);
void floor_destroy(floor_table *_Nonnull table);
void floor_put(floor_table *_Nonnull table, const void *_Nonnull key, const void *_Nonnull value);
/* Looks up `count` keys that lie one behind the other; returns the sum of the lengths found (0 for a miss). */
uint64_t floor_get_all(const floor_table *_Nonnull table, const void *_Nonnull keys, size_t count, void *_Nonnull buffer);
/* Overwrites values in place, with nobody to be careful of; returns the sum of the lengths written. */
uint64_t floor_set_all(floor_table *_Nonnull table, const void *_Nonnull keys, size_t count, const void *_Nonnull value);

#endif
