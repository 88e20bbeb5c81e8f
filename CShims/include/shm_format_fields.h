/*
 * The list of all fields of the format, and what is made of it: their offsets, as shm_STRUCT_FIELD_offset, the structs'
 * sizes, as shm_STRUCT_size, and the layout hash's input (shm_format.c).
 *
 * To add a field: take the room from an `unused` field beside it in shm_format.h, say there who stores to it and what a
 * crash leaves, name it in the list here, and give it a name in TableEngine/Format. To add a constant, put it into a list of
 * shm_format_constants.h; to add a struct, name it in SHM_FORMAT_STRUCTS too. If something is forgotten, or a byte moves that
 * should not, the assertions below do not compile. The hash changes by itself: peers of another build are refused.
 */
#ifndef SHM_FORMAT_FIELDS_H
#define SHM_FORMAT_FIELDS_H

#include "shm_base.h"
#include "shm_format.h"

#define SHM_LOCK_PLACE_FIELDS(F, s)                                                                                    \
  F(s, words)
#define SHM_IDENTITY_FIELDS(F, s)                                                                                      \
  F(s, magic) F(s, version_and_variant) F(s, layout_hash) F(s, uuid) F(s, capacity)
#define SHM_DATA_HEADER_FIELDS(F, s)                                                                                   \
  F(s, identity) F(s, hash_seed) F(s, features) F(s, committed) F(s, unused1) F(s, reclaimed) F(s, unused2)            \
  F(s, wseq) F(s, unused3) F(s, published_bytes) F(s, unused4) F(s, log_end_position) F(s, log_end_ordinal)            \
  F(s, log_tail_position) F(s, unused5) F(s, key_counts) F(s, unused6) F(s, root) F(s, unused7)
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
  F(s, limbo_budget) F(s, stalled_reader_policy) F(s, unused1) F(s, creator_pid) F(s, created_nanoseconds)             \
  F(s, dropped) F(s, poisons_freed_blocks) F(s, unused2)
#define SHM_RING_FIELDS(F, s)                                                                                          \
  F(s, head) F(s, tail) F(s, mask) F(s, free_end) F(s, bytes_pushed) F(s, bytes_popped) F(s, bytes_popped_after)       \
  F(s, unused1)
#define SHM_JOURNAL_HEADER_FIELDS(F, s)                                                                                \
  F(s, version) F(s, count) F(s, limbo_tail) F(s, limbo_bytes) F(s, superseded_tail) F(s, superseded_head_after)       \
  F(s, retained_tail) F(s, retained_head_after) F(s, log_end_position) F(s, log_end_ordinal) F(s, garbage_bytes)       \
  F(s, unused1)
#define SHM_WRITER_AREA_FIELDS(F, s)                                                                                   \
  F(s, mutex) F(s, writer_slot) F(s, writer_since) F(s, barriers_unwaited) F(s, unused1) F(s, journal) F(s, limbo)     \
  F(s, superseded) F(s, retained) F(s, units) F(s, retained_signature) F(s, chains_cut_at) F(s, recovery_count)        \
  F(s, journal_allocated) F(s, slots_high_water) F(s, garbage_bytes) F(s, retained_rescan_end)                         \
  F(s, collection_wanted) F(s, key_locks) F(s, key_lock_stamp) F(s, key_lock_event) F(s, key_lock_sleepers)            \
  F(s, unused2) F(s, awaited_version) F(s, unused3) F(s, barrier_waits) F(s, label_version) F(s, label_hash)           \
  F(s, label_byte_count) F(s, label_words) F(s, unused4)
#define SHM_RW_INSTANCE_FIELDS(F, s)                                                                                   \
  F(s, lock) F(s, unused1)
#define SHM_RW_AREA_FIELDS(F, s)                                                                                       \
  F(s, instances) F(s, generation) F(s, unused1) F(s, writer_waiting) F(s, hint) F(s, abandoned) F(s, drained)         \
  F(s, unused2) F(s, sleepers) F(s, event) F(s, unused3)
#define SHM_SLOT_FIELDS(F, s)                                                                                          \
  F(s, snapshot) F(s, pin) F(s, rw) F(s, wait) F(s, unused1) F(s, mutex) F(s, pid) F(s, tid) F(s, start_time)          \
  F(s, command) F(s, purpose) F(s, since) F(s, light) F(s, in_the_way_version) F(s, in_the_way_since) F(s, key_lock)   \
  F(s, key_lock_counts) F(s, key_lock_hashes)
#define SHM_UNIT_FIELDS(F, s)                                                                                          \
  F(s, frame_free) F(s, kind) F(s, partial) F(s, used)
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

/* The list is complete: the fields' sizes add up to the struct's, which so has no padding either. */
#define SHM_FIELD_SIZE(s, f) sizeof(((struct s *)0)->f)
#define SHM_PLUS_FIELD_SIZE(s, f) +SHM_FIELD_SIZE(s, f)
#define SHM_STRUCT_IS_LISTED(s, fields)                                                                                \
  _Static_assert(fields(SHM_PLUS_FIELD_SIZE, s) == sizeof(struct s), "a field of struct " #s " is not in its list");
SHM_FORMAT_STRUCTS(SHM_STRUCT_IS_LISTED)

/* What the protocol needs of the layout. */
#define SHM_LINE 64
#define SHM_PAGE 4096
#define SHM_IS_AT(s, f, offset, why) _Static_assert(offsetof(struct s, f) == (offset), #s "." #f ": " why)
#define SHM_HAS_SIZE(s, size, why) _Static_assert(sizeof(struct s) == (size), #s ": " why)
#define SHM_BEGINS_LINE(s, f, why) _Static_assert(offsetof(struct s, f) % SHM_LINE == 0, #s "." #f ": " why)
#define SHM_ARE_ON_ONE_LINE(s, f, g, why)                                                                              \
  _Static_assert(offsetof(struct s, f) / SHM_LINE == offsetof(struct s, g) / SHM_LINE, #s "." #f ", " #g ": " why)
/* The field and what is unused behind it are a line, or lines. */
#define SHM_IS_ALONE(s, f, rest, why)                                                                                  \
  SHM_BEGINS_LINE(s, f, why);                                                                                          \
  _Static_assert(offsetof(struct s, rest) == offsetof(struct s, f) + SHM_FIELD_SIZE(s, f) &&                           \
                   (SHM_FIELD_SIZE(s, f) + SHM_FIELD_SIZE(s, rest)) % SHM_LINE == 0, #s "." #f ": " why)

/* Words are aligned: an access to one that is not is not atomic. Both objects are mapped at a page's beginning. */
#define SHM_FIELD_IS_ALIGNED(s, f)                                                                                     \
  _Static_assert(offsetof(struct s, f) % (SHM_FIELD_SIZE(s, f) < 4 ? 1 : SHM_FIELD_SIZE(s, f) < 8 ? 4 : 8) == 0,       \
                 #s "." #f " is not aligned");
#define SHM_STRUCT_IS_ALIGNED(s, fields)                                                                               \
  fields(SHM_FIELD_IS_ALIGNED, s) _Static_assert(sizeof(struct s) % 8 == 0, #s " leaves what follows it unaligned");
SHM_FORMAT_STRUCTS(SHM_STRUCT_IS_ALIGNED)

SHM_IS_AT(shm_data_header, identity, 0, "a peer of any build must find who it deals with");
SHM_IS_AT(shm_ctl_header, identity, 0, "as in data");
SHM_IS_AT(shm_identity, magic, 0, "as in every build");
SHM_IS_AT(shm_identity, version_and_variant, 8, "as in every build");
SHM_IS_AT(shm_identity, layout_hash, 16, "as in every build");
SHM_IS_ALONE(shm_data_header, committed, unused1, "every reader loads it: a store beside it would cost all of them a miss");
SHM_IS_ALONE(shm_data_header, reclaimed, unused2, "observers load it after each read");
SHM_IS_ALONE(shm_data_header, wseq, unused3, "changes twice a barrier");
SHM_IS_ALONE(shm_data_header, published_bytes, unused4, "observers load it in each read");
SHM_IS_AT(shm_data_header, root, SHM_PAGE, "a reader's lookup adds one constant");
SHM_HAS_SIZE(shm_data_header, 4 * SHM_PAGE, "the change log begins at a page");

SHM_HAS_SIZE(shm_ctl_header, SHM_PAGE, "who drops a table maps this page alone");
SHM_HAS_SIZE(shm_writer_area, SHM_PAGE, "writers' stores stay out of readers' pages");
SHM_HAS_SIZE(shm_rw_area, SHM_PAGE, "as the writer area");
SHM_BEGINS_LINE(shm_writer_area, mutex, "W is contended: nothing of others on its line");
SHM_ARE_ON_ONE_LINE(shm_writer_area, collection_wanted, key_lock_sleepers, "every barrier loads these: one miss");
SHM_IS_ALONE(shm_writer_area, awaited_version, unused3, "every commit loads it, and few store it");
SHM_IS_ALONE(shm_rw_instance, lock, unused1, "readers store to their instance: two of them share no line");
SHM_IS_ALONE(shm_rw_area, generation, unused1, "every reader of the rwlock variant loads it");
SHM_BEGINS_LINE(shm_rw_area, writer_waiting, "apart from the generation");
SHM_BEGINS_LINE(shm_rw_area, sleepers, "apart from what readers load each time");

SHM_HAS_SIZE(shm_slot, 8 * SHM_LINE, "slots share no line: a reader stores to its own in each section");
SHM_BEGINS_LINE(shm_ctl, slots, "as the slots themselves");
SHM_IS_AT(shm_slot, mutex, SHM_LINE, "apart from what its thread announces, which scans load");

SHM_HAS_SIZE(shm_bucket, SHM_LINE, "a lookup reads one line");
SHM_HAS_SIZE(shm_sub_table, SHM_SLAB_BYTES, "a superframe: found without a search");
SHM_IS_AT(shm_entry, value_length, 16, "with what follows it one word, the entry's meta");
SHM_HAS_SIZE(shm_entry, 24, "that word ends the header");
SHM_HAS_SIZE(shm_journal_record, 16, "a power of two");
SHM_IS_AT(shm_limbo_record, stamp, 8, "as in *superseded*: Ring.stamp reads both");
SHM_IS_AT(shm_superseded_record, stamp, 8, "as in limbo");
SHM_IS_AT(shm_retained_record, stamp, 8, "as in limbo");

/* A block fits into its unit, a unit's bits into its descriptor. */
_Static_assert(SHM_UNIT_BYTES == SHM_FRAMES_PER_UNIT * SHM_FRAME_BYTES, "frames fill a unit");
_Static_assert(SHM_UNIT_BYTES == SHM_SUPERFRAMES_PER_UNIT * SHM_SLAB_BYTES, "superframes fill a unit");
_Static_assert(SHM_SLAB_BYTES / 32 <= 8 * sizeof(((struct shm_unit *)0)->used[0]), "a bit for each of the smallest blocks");
_Static_assert(SHM_RUN_CODE == SHM_CLASSES_AT_MOST, "codes of runs follow those of classes");
_Static_assert(SHM_SUMMARY_FREE_SUPERFRAME == SHM_CLASSES_AT_MOST, "the first summaries are the classes'");
_Static_assert(SHM_BUCKETS == 1 << SHM_TAG_HASH_SHIFT, "bucket and tag are other bits of the hash");
_Static_assert(SHM_DEPTH_AT_MOST + SHM_TAG_HASH_SHIFT + 16 <= 64, "so are tag and directory");

#define SHM_COUNT_CLASS(size) +1
enum { SHM_SIZE_CLASS_COUNT = SHM_SIZE_CLASSES(SHM_COUNT_CLASS) };
_Static_assert((int)SHM_SIZE_CLASS_COUNT <= (int)SHM_CLASSES_AT_MOST, "there is room for each class in a descriptor");

/* A class's block size, 0 for one that there is not. Inlined into a load from constant data. */
#define SHM_CLASS_SIZE(size) size,
SHM_INLINE uint32_t shm_size_class_bytes(size_t size_class) {
  static const uint16_t sizes[SHM_CLASSES_AT_MOST] = {SHM_SIZE_CLASSES(SHM_CLASS_SIZE)};
  return sizes[size_class];
}

SHM_NONNULL_BEGIN

/* One thing that peers must agree on. */
struct shm_format_item {
  const char *owner; /* a struct's name, "constant" or "size class" */
  const char *name;  /* of the field, the constant; "" for the struct itself */
  uint64_t value;    /* its offset; the constant's value */
  uint64_t size;     /* of the field or the struct; 0 for a constant */
};

/* All fields, structs and constants: `*count` of them. */
const struct shm_format_item *shm_format_items(size_t *count);

SHM_NONNULL_END

#endif
