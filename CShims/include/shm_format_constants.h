/*
 * The format's constants: what numbers and bits mean to everyone who maps a table. Each is in one of the lists below,
 * which become an enum at the end of this file and a part of the layout hash (shm_format.c): a constant stands here
 * once.
 *
 * A name that ends in _BIT is the number of a bit, in _SHIFT of the lowest bit of a field.
 */
#ifndef SHM_FORMAT_CONSTANTS_H
#define SHM_FORMAT_CONSTANTS_H

#define SHM_IDENTITY_CONSTANTS(C)                                                                                      \
  C(SHM_MAGIC, 0x656c6261546d6853) /* "ShmTable" */                                                                    \
  /* Raised by every change of layout or protocol that a peer of the previous version would misread. */                \
  C(SHM_LAYOUT_VERSION, 1)                                                                                             \
  C(SHM_VARIANT_RCU, 1)    /* readers never wait: versions, snapshots, deferred reclamation */                         \
  C(SHM_VARIANT_RWLOCK, 2) /* readers and the barrier exclude each other; memory is reused at once */

/* How many there are of what. */
#define SHM_SIZE_CONSTANTS(C)                                                                                          \
  C(SHM_KEY_COUNTS, 64)      /* newest versions whose number of keys is known */                                       \
  C(SHM_BARRIER_WAITS, 40)   /* classes of how long W was waited for */                                                \
  C(SHM_LABEL_BYTES, 200)    /* of a barrier's label, at most */                                                       \
  C(SHM_RW_INSTANCES, 8)     /* generations of the rwlock that lie side by side */                                     \
  C(SHM_SLOTS, 1024)         /* threads and long snapshots at a time */                                                \
  C(SHM_KEY_LOCK_HASHES, 36) /* what is left of a slot's 512 bytes */

/* Units, the blocks in them, and their names. */
#define SHM_BLOCK_CONSTANTS(C)                                                                                         \
  C(SHM_UNIT_BYTES, 1 << 20)                                                                                           \
  C(SHM_SLAB_BYTES, 1 << 14) /* and a superframe's, which a slab is made of */                                         \
  C(SHM_FRAME_BYTES, 1 << 10)                                                                                          \
  C(SHM_FRAMES_PER_SUPERFRAME, 16)                                                                                     \
  C(SHM_FRAMES_PER_UNIT, 1024)                                                                                         \
  C(SHM_SUPERFRAMES_PER_UNIT, 64)                                                                                      \
  C(SHM_CLASSES_AT_MOST, 64) /* for which a descriptor has room; how many there are: SHM_SIZE_CLASSES */               \
  /* A block's name: offset / 16 above, below its size code: a class, or SHM_RUN_CODE + a number of frames. */         \
  C(SHM_BLOCK_CODE_BITS, 24)                                                                                           \
  C(SHM_RUN_CODE, 64)                                                                                                  \
  /* The last superframes of the last unit: for tombstones alone. */                                                   \
  C(SHM_RESERVED_SUPERFRAMES, 5)                                                                                       \
  C(SHM_ROOM_REPLACEMENT_BIT, 63) /* of room_wanted: the reserve had no block for what was to replace a value */

/*
 * From the hash of a key to its entry:
 *
 *   63            54 53                       24 23              8 7            0
 *   [ root's word  ] [ nodes, depth of 11..22  ] [ tag            ] [ bucket     ]
 */
#define SHM_INDEX_CONSTANTS(C)                                                                                         \
  C(SHM_ROOT_BITS, 10)                                                                                                 \
  C(SHM_DEPTH_AT_MOST, 22) /* bits of the hash that tell sub-tables apart */                                           \
  C(SHM_BUCKETS, 256)      /* of a sub-table */                                                                        \
  C(SHM_BUCKET_WINDOW, 4)  /* a key is in its home bucket or one of the next three, if its sub-table is not deep */    \
  C(SHM_TAG_HASH_SHIFT, 8) /* the tag is 16 bits of the hash from here on, with SHM_TAG_ALWAYS set */                  \
  C(SHM_TAG_ALWAYS, 2)     /* so tags 0 and 1 are no key's */                                                          \
  C(SHM_TAG_DELETED, 1)    /* of a word that held a key once */                                                        \
  C(SHM_OFFSET_BITS, 48)   /* the lower part of bucket and directory words; above it in a bucket word: the tag */      \
  /* A directory word: above the offset the local depth of a sub-table, or the k of a node of 2^k words. */            \
  C(SHM_DIRECTORY_BITS_SHIFT, 56)                                                                                      \
  C(SHM_DIRECTORY_DEEP_BIT, 62)                                                                                        \
  C(SHM_DIRECTORY_NODE_BIT, 63)

/* An entry's flags. */
#define SHM_ENTRY_CONSTANTS(C)                                                                                         \
  C(SHM_ENTRY_TOMBSTONE, 1)                                                                                            \
  C(SHM_ENTRY_EXPIRY, 2)          /* 8 bytes behind the header: nanoseconds since 1970 */                              \
  C(SHM_ENTRY_ALIGNMENT_SHIFT, 2) /* three bits: the base-2 logarithm of what the value is aligned to */               \
  C(SHM_ENTRY_FINGERPRINT, 32)    /* 8 bytes behind the header, and behind the expiry */                               \
  C(SHM_ENTRY_SLACK, 64)          /* its block is larger than it needs: behind the value lies the block's size code */ \
  C(SHM_KEY_BYTES_AT_MOST, 65536)

/* What a change log's record is about. */
#define SHM_LOG_CONSTANTS(C)                                                                                           \
  C(SHM_LOG_PADDING, 0) /* nothing: the ring's end */                                                                  \
  C(SHM_LOG_SET, 1)                                                                                                    \
  C(SHM_LOG_REMOVE, 2)                                                                                                 \
  /* It is noted which records were pushed out, by hashes, of so many bits, of their keys' first 3 and 7 bytes. */     \
  C(SHM_LOST_PREFIX_LENGTHS, 2)                                                                                        \
  C(SHM_LOST_PREFIX_HASH_BITS, 7)

/* What becomes of versions above `durable`. */
#define SHM_KEEPING_CONSTANTS(C)                                                                                       \
  C(SHM_KEEPING_NONE, 0)   /* no store follows the table, nor is one to */                                             \
  C(SHM_KEEPING_KEPT, 1)   /* a store follows it, or did so when its keeper ended */                                   \
  C(SHM_KEEPING_FAILED, 2) /* the table is to be stored and is not: its keeper cannot, or none could begin */          \
  C(SHM_KEEPING_BROKEN, 3) /* the same, and its file is not trusted: until a new one is written, by whatever keeper */

/*
 * The journal's records, what an undo does and what a commit does. (V: the transaction's version.)
 */
#define SHM_JOURNAL_KINDS(C)                                                                                           \
  C(SHM_JOURNAL_ALLOCATE, 1)           /* value: a block. Undo: set its bits, push it onto limbo */                    \
  C(SHM_JOURNAL_ALLOCATE_TOMBSTONE, 2) /* the same. Commit: push the entry onto *superseded*, after the next put's */  \
  C(SHM_JOURNAL_PUT, 3)                /* offset and old value of a word. Undo: store it. Commit: push its entry */    \
  C(SHM_JOURNAL_FILL, 4)               /* offset, count, value of all words before. Undo: store it */                  \
  C(SHM_JOURNAL_RETIRE, 5)             /* value: a block; count 1: of garbage_bytes. Commit: onto limbo, stamp V */    \
  C(SHM_JOURNAL_RETAIN, 6)             /* offset of an entry; count 1: a tombstone; value: stamp. Commit: *retained* */\
  C(SHM_JOURNAL_VOID, 7)               /* was rolled back: nothing */                                                  \
  C(SHM_JOURNAL_DISCARD, 8)            /* an allocation that was rolled back: onto limbo with stamp V in any case */

#define SHM_JOURNAL_CONSTANTS(C)                                                                                       \
  C(SHM_JOURNAL_KIND_SHIFT, 60)                                                                                        \
  C(SHM_JOURNAL_COUNT_SHIFT, 44) /* 16 bits; below: offset / 8 */

/* What rings' records say besides, and how many records a ring has room for at first: four times as many as a pass
   waits for, so that one is due before a ring that cannot grow refuses a removal. */
#define SHM_RING_CONSTANTS(C)                                                                                          \
  C(SHM_RING_TOMBSTONE, 1) /* in the offset of an entry: it is a tombstone */                                          \
  C(SHM_RING_UNSETTLED_BIT, 62) /* the stamp of a tombstone while it is not known when its block may go */             \
  C(SHM_RING_INITIAL_RECORDS, 4096)

/* What a slot's words say. */
#define SHM_SLOT_CONSTANTS(C)                                                                                          \
  C(SHM_SNAPSHOT_EXACT_BIT, 63)   /* has fixed this version; without it: pending, any version from this one on */      \
  C(SHM_SNAPSHOT_EVICTED_BIT, 62) /* and a writer has ended the snapshot */                                            \
  C(SHM_RW_INTENT, 1)             /* about to lock the generation's instance */                                        \
  C(SHM_RW_HELD, 2)               /* holds it */                                                                       \
  C(SHM_RW_GENERATION_SHIFT, 2)                                                                                        \
  C(SHM_WAIT_GIVEN_UP_BIT, 63) /* a writer waited in vain, and none does again for this stamp */                       \
  C(SHM_KEY_LOCK_HELD, 1)                                                                                              \
  C(SHM_KEY_LOCK_STAMP_SHIFT, 1)                                                                                       \
  C(SHM_FOREMOST_SLOT_BITS, 16) /* 1 + a waiter's slot; 0: whoever is woken and comes first */                         \
  C(SHM_FOREMOST_SLEEPERS_BIT, 16) /* others sleep until this word changes */                                          \
  C(SHM_FOREMOST_DUE_BIT, 17) /* it has waited for a slice */                                                          \
  C(SHM_FOREMOST_SINCE_SHIFT, 18) /* `turns` when its wait began */                                                    \
  C(SHM_SLOT_THREAD, 0) /* purposes: a thread's sections, */                                                           \
  C(SHM_SLOT_SNAPSHOT, 1) /* a long snapshot, */                                                                       \
  C(SHM_SLOT_PRESENCE, 2) /* a process's sign of life */

/* What writers do when readers keep more than the limbo budget. */
#define SHM_POLICY_CONSTANTS(C)                                                                                        \
  C(SHM_POLICY_EVICT, 0)  /* end snapshots that no pin protects, the oldest first */                                   \
  C(SHM_POLICY_REFUSE, 1) /* fail */                                                                                   \
  C(SHM_POLICY_WAIT, 2)   /* wait, and fail in the end */

/* The summaries above the units' descriptors, each a bit for a unit: one for each class, and one more. */
#define SHM_SUMMARY_CONSTANTS(C)                                                                                       \
  C(SHM_SUMMARY_FREE_SUPERFRAME, 64)                                                                                   \
  C(SHM_SUMMARIES, 65)

#define SHM_OTHER_CONSTANTS(C)                                                                                         \
  SHM_SIZE_CONSTANTS(C)                                                                                                \
  SHM_BLOCK_CONSTANTS(C)                                                                                               \
  SHM_INDEX_CONSTANTS(C)                                                                                               \
  SHM_ENTRY_CONSTANTS(C)                                                                                               \
  SHM_LOG_CONSTANTS(C)                                                                                                 \
  SHM_KEEPING_CONSTANTS(C)                                                                                             \
  SHM_JOURNAL_KINDS(C)                                                                                                 \
  SHM_JOURNAL_CONSTANTS(C)                                                                                             \
  SHM_RING_CONSTANTS(C)                                                                                                \
  SHM_SLOT_CONSTANTS(C)                                                                                                \
  SHM_POLICY_CONSTANTS(C)                                                                                              \
  SHM_SUMMARY_CONSTANTS(C)

#define SHM_FORMAT_CONSTANTS(C) SHM_IDENTITY_CONSTANTS(C) SHM_OTHER_CONSTANTS(C)

/* Two enums: the magic number makes its own one of 64 bits, which Swift takes for UInt; the others are Int there. */
#define SHM_CONSTANT(name, value) name = value,
enum { SHM_IDENTITY_CONSTANTS(SHM_CONSTANT) };
enum { SHM_OTHER_CONSTANTS(SHM_CONSTANT) };

#endif
