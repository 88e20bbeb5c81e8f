/* What must hold of the format, and the table of all of it that the layout hash is computed from. */
#include "shm_format_offsets.h"
#include "shm_size_classes.h"
#include "shm_robust_mutex.h"
#include "shm_rwlock.h"
#include <string.h>

/* The list is complete: the fields' sizes add up to the struct's, which so has no padding either. */
#define FIELD_SIZE(s, f) sizeof(((struct s *)0)->f)
#define PLUS_FIELD_SIZE(s, f) +FIELD_SIZE(s, f)
#define STRUCT_IS_LISTED(s, fields)                                                                                    \
  _Static_assert(fields(PLUS_FIELD_SIZE, s) == sizeof(struct s), "a field of struct " #s " is not in its list");
SHM_FORMAT_STRUCTS(STRUCT_IS_LISTED)

/* What the protocol needs of the layout. */
#define LINE 64
#define PAGE 4096
#define IS_AT(s, f, offset, why) _Static_assert(offsetof(struct s, f) == (offset), #s "." #f ": " why)
#define HAS_SIZE(s, size, why) _Static_assert(sizeof(struct s) == (size), #s ": " why)
#define BEGINS_LINE(s, f, why) _Static_assert(offsetof(struct s, f) % LINE == 0, #s "." #f ": " why)
#define ARE_ON_ONE_LINE(s, f, g, why)                                                                                  \
  _Static_assert(offsetof(struct s, f) / LINE == offsetof(struct s, g) / LINE, #s "." #f ", " #g ": " why)
/* The field and what is unused behind it are a line, or lines. */
#define IS_ALONE(s, f, rest, why)                                                                                      \
  BEGINS_LINE(s, f, why);                                                                                              \
  _Static_assert(offsetof(struct s, rest) == offsetof(struct s, f) + FIELD_SIZE(s, f) &&                               \
                   (FIELD_SIZE(s, f) + FIELD_SIZE(s, rest)) % LINE == 0, #s "." #f ": " why)

/* Words are aligned: an access to one that is not is not atomic. Both objects are mapped at a page's beginning. */
#define FIELD_IS_ALIGNED(s, f)                                                                                         \
  _Static_assert(offsetof(struct s, f) % (FIELD_SIZE(s, f) < 4 ? 1 : FIELD_SIZE(s, f) < 8 ? 4 : 8) == 0,               \
                 #s "." #f " is not aligned");
#define STRUCT_IS_ALIGNED(s, fields)                                                                                   \
  fields(FIELD_IS_ALIGNED, s) _Static_assert(sizeof(struct s) % 8 == 0, #s " leaves what follows it unaligned");
SHM_FORMAT_STRUCTS(STRUCT_IS_ALIGNED)

IS_AT(shm_data_header, identity, 0, "a peer of any build must find who it deals with");
IS_AT(shm_ctl_header, identity, 0, "as in data");
IS_AT(shm_identity, magic, 0, "as in every build");
IS_AT(shm_identity, version_and_variant, 8, "as in every build");
IS_AT(shm_identity, layout_hash, 16, "as in every build");
IS_ALONE(shm_data_header, committed, unused1, "every reader loads it: a store beside it would cost all of them a miss");
IS_ALONE(shm_data_header, reclaimed, unused2, "observers load it after each read");
IS_ALONE(shm_data_header, wseq, unused3, "changes twice a barrier");
IS_ALONE(shm_data_header, published_bytes, unused4, "observers load it in each read");
IS_AT(shm_data_header, root, PAGE, "a reader's lookup adds one constant");
HAS_SIZE(shm_data_header, 4 * PAGE, "the change log begins at a page");

HAS_SIZE(shm_ctl_header, PAGE, "who drops a table maps this page alone");
HAS_SIZE(shm_writer_area, PAGE, "writers' stores stay out of readers' pages");
HAS_SIZE(shm_rw_area, PAGE, "as the writer area");
BEGINS_LINE(shm_writer_area, mutex, "W is contended: nothing of others on its line");
ARE_ON_ONE_LINE(shm_writer_area, room_wanted, key_lock_sleepers, "every barrier loads these: one miss");
IS_ALONE(shm_writer_area, awaited_version, unused3, "every commit loads it, and few store it");
IS_ALONE(shm_rw_instance, lock, unused1, "readers store to their instance: two of them share no line");
IS_ALONE(shm_rw_area, generation, unused1, "every reader of the rwlock variant loads it");
BEGINS_LINE(shm_rw_area, writer_waiting, "apart from the generation");
BEGINS_LINE(shm_rw_area, sleepers, "apart from what readers load each time");

HAS_SIZE(shm_slot, 8 * LINE, "slots share no line: a reader stores to its own in each section");
BEGINS_LINE(shm_ctl, slots, "as the slots themselves");
IS_AT(shm_slot, mutex, LINE, "apart from what its thread announces, which scans load");

HAS_SIZE(shm_bucket, LINE, "a lookup reads one line");
HAS_SIZE(shm_sub_table, SHM_SLAB_BYTES, "a superframe: found without a search");
HAS_SIZE(shm_lock_place, SHM_MUTEX_BYTES, "what shm_robust_mutex.h promises a mutex to need");
HAS_SIZE(shm_lock_place, SHM_RWLOCK_BYTES, "what shm_rwlock.h promises a rwlock to need");

IS_AT(shm_entry, value_length, 16, "with what follows it one word, the entry's meta");
IS_AT(shm_entry, key_length_less_1, 20, "its bits 32 to 47");
IS_AT(shm_entry, flags, 22, "its bits 48 to 55");
IS_AT(shm_entry, type, 23, "its bits 56 to 63");
HAS_SIZE(shm_entry, 24, "that word ends the header");
IS_AT(shm_log_record, byte_count, 8, "with what follows it one word, the record's header");
IS_AT(shm_log_record, operation, 12, "its bits 32 to 39");
IS_AT(shm_log_record, ordinal, 13, "its bits 40 to 63");
HAS_SIZE(shm_journal_record, 16, "a power of two");
IS_AT(shm_limbo_record, stamp, 8, "as in *superseded*: Ring.stamp reads both");
IS_AT(shm_superseded_record, stamp, 8, "as in limbo");
IS_AT(shm_retained_record, stamp, 8, "as in limbo");

/* A block fits into its unit, a unit's bits into its descriptor. */
_Static_assert(SHM_UNIT_BYTES == SHM_FRAMES_PER_UNIT * SHM_FRAME_BYTES, "frames fill a unit");
_Static_assert(SHM_SLAB_BYTES == SHM_FRAMES_PER_SUPERFRAME * SHM_FRAME_BYTES, "frames fill a superframe");
_Static_assert(SHM_UNIT_BYTES == SHM_SUPERFRAMES_PER_UNIT * SHM_SLAB_BYTES, "superframes fill a unit");
_Static_assert(SHM_SLAB_BYTES / 32 <= 8 * sizeof(((struct shm_unit *)0)->used[0]), "a bit for each small block");
_Static_assert(SHM_RUN_CODE == SHM_CLASSES_AT_MOST, "codes of runs follow those of classes");
_Static_assert(SHM_SUMMARY_FREE_SUPERFRAME == SHM_CLASSES_AT_MOST, "the first summaries are the classes'");
_Static_assert(SHM_BUCKETS == 1 << SHM_TAG_HASH_SHIFT, "bucket and tag are other bits of the hash");
_Static_assert(SHM_DEPTH_AT_MOST + SHM_TAG_HASH_SHIFT + 16 <= 64, "so are tag and directory");
_Static_assert((int)SHM_SIZE_CLASS_COUNT <= (int)SHM_CLASSES_AT_MOST, "there is room for each class in a descriptor");

#define FIELD_ITEM(s, f) {#s, #f, offsetof(struct s, f), FIELD_SIZE(s, f)},
#define STRUCT_ITEMS(s, fields) fields(FIELD_ITEM, s) {#s, "", 0, sizeof(struct s)},
#define CONSTANT_ITEM(name, value) {"constant", #name, (uint64_t)(value), 0},
#define CLASS_ITEM(size) {"size class", #size, size, 0},

static const struct shm_format_item items[] = {
  SHM_FORMAT_STRUCTS(STRUCT_ITEMS)
  SHM_FORMAT_CONSTANTS(CONSTANT_ITEM)
  SHM_SIZE_CLASSES(CLASS_ITEM)
};

const struct shm_format_item *shm_format_items(size_t *count) {
  *count = sizeof(items) / sizeof(items[0]);
  return items;
}

static uint64_t fold(uint64_t hash, const void *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
  return hash;
}

uint64_t shm_format_hash(uint64_t hash, const struct shm_format_item *items, size_t count) {
  for (const struct shm_format_item *item = items; item != items + count; item++) {
    /* With their final zeros: "a", "bc" must not give the same hash as "ab", "c". */
    hash = fold(hash, item->owner, strlen(item->owner) + 1);
    hash = fold(hash, item->name, strlen(item->name) + 1);
    hash = fold(hash, &item->value, sizeof(item->value));
    hash = fold(hash, &item->size, sizeof(item->size));
  }
  return hash;
}
