/*
 * The list of all fields of the format, and what is made of it: their offsets, as shm_STRUCT_FIELD_offset, the structs'
 * sizes, as shm_STRUCT_size, and the layout hash's input (shm_format.c).
 *
 * To add a field: take its room from an `unused` field beside it in shm_format.h, say there who stores to it and what a
 * crash leaves, name it in the list here, and give it a name in TableEngine/Format. To add a constant: put it into a
 * list of shm_format_constants.h. To add a struct: name it in SHM_FORMAT_STRUCTS too.
 *
 * If a field is forgotten, or a byte moves that should not, the assertions in shm_format.c do not compile. The hash
 * changes by itself: peers of another build are refused.
 */
#ifndef SHM_FORMAT_OFFSETS_H
#define SHM_FORMAT_OFFSETS_H

#include "shm_base.h"
#include "shm_format.h"

#define SHM_LOCK_PLACE_FIELDS(F, s)                                                                                    \
  F(s, words)
#define SHM_IDENTITY_FIELDS(F, s)                                                                                      \
  F(s, magic) F(s, version_and_variant) F(s, layout_hash) F(s, uuid) F(s, capacity)
#define SHM_DATA_HEADER_FIELDS(F, s)                                                                                   \
  F(s, identity) F(s, hash_seed) F(s, features) F(s, committed) F(s, unused1) F(s, reclaimed) F(s, unused2)            \
  F(s, wseq) F(s, unused3) F(s, published_bytes) F(s, unused4) F(s, log_end_position) F(s, log_end_ordinal)            \
  F(s, log_tail_position) F(s, unused5) F(s, durable) F(s, keeping) F(s, unused8) F(s, key_counts) F(s, unused6)      \
  F(s, root) F(s, lost_prefixes) F(s, unused7)
#define SHM_LOG_RECORD_FIELDS(F, s)                                                                                    \
  F(s, version) F(s, byte_count) F(s, operation) F(s, ordinal) F(s, key_length)
#define SHM_ENTRY_FIELDS(F, s)                                                                                         \
  F(s, version) F(s, prev) F(s, value_length) F(s, key_length_less_1) F(s, flags) F(s, type)
#define SHM_BUCKET_FIELDS(F, s)                                                                                        \
  F(s, words)
#define SHM_SUB_TABLE_FIELDS(F, s)                                                                                     \
  F(s, buckets)
#define SHM_DEEP_SUB_TABLE_FIELDS(F, s)                                                                                \
  F(s, buckets) F(s, link) F(s, unused1)
#define SHM_CTL_HEADER_FIELDS(F, s)                                                                                    \
  F(s, identity) F(s, ready) F(s, fingerprint) F(s, pid_namespace) F(s, damaged) F(s, light_readers)                   \
  F(s, limbo_budget) F(s, stalled_reader_policy) F(s, keeps_memory) F(s, creator_pid) F(s, created_nanoseconds)        \
  F(s, dropped) F(s, poisons_freed_blocks) F(s, wants_huge_pages) F(s, huge_bytes) F(s, unused1)
#define SHM_RING_FIELDS(F, s)                                                                                          \
  F(s, head) F(s, tail) F(s, mask) F(s, free_end) F(s, bytes_pushed) F(s, bytes_popped) F(s, bytes_popped_after)       \
  F(s, unused1)
#define SHM_JOURNAL_HEADER_FIELDS(F, s)                                                                                \
  F(s, version) F(s, count) F(s, limbo_tail) F(s, limbo_bytes) F(s, superseded_tail) F(s, superseded_head_after)       \
  F(s, retained_tail) F(s, retained_head_after) F(s, log_end_position) F(s, log_end_ordinal) F(s, garbage_bytes)       \
  F(s, unused1)
#define SHM_WRITER_AREA_FIELDS(F, s)                                                                                   \
  F(s, mutex) F(s, writer_slot) F(s, writer_since) F(s, barriers_unwaited) F(s, turns) F(s, foremost_waiter)           \
  F(s, most_turns_waited) F(s, tried_superseded) F(s, tried_garbage_bytes) F(s, journal) F(s, limbo) F(s, superseded)  \
  F(s, retained) F(s, units) F(s, retained_signature) F(s, chains_cut_at) F(s, recovery_count)                         \
  F(s, journal_allocated) F(s, slots_high_water)                                                                       \
  F(s, garbage_bytes) F(s, retained_rescan_end) F(s, room_wanted) F(s, recyclable_up_to) F(s, key_locks)               \
  F(s, key_lock_stamp) F(s, key_lock_event) F(s, key_lock_sleepers) F(s, eviction_count) F(s, unfinished)              \
  F(s, awaited_version) F(s, unused3) F(s, barrier_waits) F(s, label_version) F(s, label_hash)                         \
  F(s, label_byte_count) F(s, label_words) F(s, unused4)
#define SHM_RW_INSTANCE_FIELDS(F, s)                                                                                   \
  F(s, lock) F(s, unused1)
#define SHM_RW_AREA_FIELDS(F, s)                                                                                       \
  F(s, instances) F(s, generation) F(s, unused1) F(s, writer_waiting) F(s, hint) F(s, abandoned) F(s, drained)         \
  F(s, unused2) F(s, sleepers) F(s, event) F(s, unused3)
#define SHM_SLOT_FIELDS(F, s)                                                                                          \
  F(s, snapshot) F(s, pin) F(s, rw) F(s, wait) F(s, unused1) F(s, mutex) F(s, pid) F(s, tid) F(s, unused2)             \
  F(s, command) F(s, purpose) F(s, since) F(s, light) F(s, in_the_way_version) F(s, in_the_way_since) F(s, key_lock)   \
  F(s, key_lock_counts) F(s, key_lock_hashes)
#define SHM_UNIT_FIELDS(F, s)                                                                                          \
  F(s, frame_free) F(s, run_start) F(s, kind) F(s, partial) F(s, used)
#define SHM_JOURNAL_RECORD_FIELDS(F, s)                                                                                \
  F(s, what) F(s, value)
#define SHM_LIMBO_RECORD_FIELDS(F, s)                                                                                  \
  F(s, block) F(s, stamp)
#define SHM_SUPERSEDED_RECORD_FIELDS(F, s)                                                                             \
  F(s, block) F(s, stamp) F(s, newer)
#define SHM_RETAINED_RECORD_FIELDS(F, s)                                                                               \
  F(s, entry) F(s, stamp)
#define SHM_CTL_FIELDS(F, s)                                                                                           \
  F(s, header) F(s, writer) F(s, rw) F(s, slots)

#define SHM_FORMAT_STRUCTS(S)                                                                                          \
  S(shm_lock_place, SHM_LOCK_PLACE_FIELDS)                                                                             \
  S(shm_identity, SHM_IDENTITY_FIELDS)                                                                                 \
  S(shm_data_header, SHM_DATA_HEADER_FIELDS)                                                                           \
  S(shm_log_record, SHM_LOG_RECORD_FIELDS)                                                                             \
  S(shm_entry, SHM_ENTRY_FIELDS)                                                                                       \
  S(shm_bucket, SHM_BUCKET_FIELDS)                                                                                     \
  S(shm_sub_table, SHM_SUB_TABLE_FIELDS)                                                                               \
  S(shm_deep_sub_table, SHM_DEEP_SUB_TABLE_FIELDS)                                                                     \
  S(shm_ctl_header, SHM_CTL_HEADER_FIELDS)                                                                             \
  S(shm_ring, SHM_RING_FIELDS)                                                                                         \
  S(shm_journal_header, SHM_JOURNAL_HEADER_FIELDS)                                                                     \
  S(shm_writer_area, SHM_WRITER_AREA_FIELDS)                                                                           \
  S(shm_rw_instance, SHM_RW_INSTANCE_FIELDS)                                                                           \
  S(shm_rw_area, SHM_RW_AREA_FIELDS)                                                                                   \
  S(shm_slot, SHM_SLOT_FIELDS)                                                                                         \
  S(shm_unit, SHM_UNIT_FIELDS)                                                                                         \
  S(shm_journal_record, SHM_JOURNAL_RECORD_FIELDS)                                                                     \
  S(shm_limbo_record, SHM_LIMBO_RECORD_FIELDS)                                                                         \
  S(shm_superseded_record, SHM_SUPERSEDED_RECORD_FIELDS)                                                               \
  S(shm_retained_record, SHM_RETAINED_RECORD_FIELDS)                                                                   \
  S(shm_ctl, SHM_CTL_FIELDS)

#define SHM_FIELD_OFFSET(s, f) s##_##f##_offset = offsetof(struct s, f),
#define SHM_STRUCT_OFFSETS(s, fields) fields(SHM_FIELD_OFFSET, s) s##_size = sizeof(struct s),
enum { SHM_FORMAT_STRUCTS(SHM_STRUCT_OFFSETS) };

SHM_NONNULL_BEGIN

/* One thing that peers must agree on: a field of a struct, a struct itself, a constant, ... */
struct shm_format_item {
  const char *owner; /* the struct's name, "constant", ... */
  const char *name;  /* the field's, the constant's; "" for a struct itself */
  uint64_t value;    /* the field's offset; the constant's value */
  uint64_t size;     /* the field's or the struct's; else 0 */
};

/* All fields, structs and constants: `*count` of them. */
const struct shm_format_item *shm_format_items(size_t *count);

/* Folds items into a hash that was begun with SHM_FORMAT_HASH_START: FNV-1a (Fowler, Noll, Vo). */
#define SHM_FORMAT_HASH_START 0xcbf29ce484222325ull
uint64_t shm_format_hash(uint64_t hash, const struct shm_format_item *items, size_t count);

SHM_NONNULL_END

#endif
