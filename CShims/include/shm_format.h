/*
 * The format: what lies where in the two shared objects of a table. The one definition of it: Swift takes its offsets
 * from here (shm_format_offsets.h), and so does the layout hash, by which a peer with another format is refused.
 *
 *   /shmtable.NAME.data                       /shmtable.NAME.ctl
 *   every reader maps it, most read-only      only participants map it, and trust it
 *   +---------------------------------+       +--------------------------------+
 *   | shm_data_header   0             |       | shm_ctl_header        0        |
 *   |   versions, root directory      |       | shm_writer_area       4096     |
 *   +---------------------------------+       |   W, journal's, rings' headers |
 *   | shm_log_record... 16384         |       | shm_rw_area           8192     |
 *   |   the change log: a ring        |       | shm_slot [1024]       12288    |
 *   +---------------------------------+       | summaries and bounds of units  |
 *   | units of 1 MiB, with blocks:    |       | shm_unit...                    |
 *   |   shm_entry                     |       | shm_journal_record...          |
 *   |   shm_sub_table                 |       | shm_limbo_record...            |
 *   |   directory nodes               |       | shm_superseded_record...       |
 *   +---------------------------------+       | shm_retained_record...         |
 *                                             +--------------------------------+
 *
 * Where the regions begin that depend on the capacity says TableEngine's Geometry, which the hash covers too.
 *
 * How to read the comments. W is the writer lock, a robust mutex. "Under W": only its owner stores to the field, and
 * others may load it meanwhile. "Once": the creator fills it, before it stores `ready`. "Release", "exchange" and
 * "compare-and-swap" are how it is stored to; without such a word the store is relaxed. All fields of 4 or 8 bytes are
 * accessed by atomics (shm_atomics.h). A process may die between any two stores: where that leaves more to say than
 * "the last value stored", the comment says it.
 *
 * An offset is a position in *data*, in bytes, 0 for none; a version is the number of a commit, below 2^61. Every field
 * is little-endian, as both supported machines are. `unused` fields are 0, and no one loads them.
 *
 * To change something, and what then checks it: see shm_format_offsets.h.
 */
#ifndef SHM_FORMAT_H
#define SHM_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "shm_format_constants.h"

/* A place for a pthread_mutex_t or a pthread_rwlock_t of whatever size the C library gives it: shm_robust_mutex.h and
 * shm_rwlock.h. */
struct shm_lock_place {
  uint64_t words[8];
};

/* ------------------------------------------------- both objects ------------------------------------------------- */

/* What both objects begin with. Once, by the creator; the same in both. */
struct shm_identity {
  uint64_t magic;               /* SHM_MAGIC. Stored last, release: 0 in an object that its creator left half-made */
  uint64_t version_and_variant; /* SHM_LAYOUT_VERSION | SHM_VARIANT_... << 32 */
  uint64_t layout_hash;         /* of everything in the list of shm_format_offsets.h */
  uint64_t uuid[2];             /* says that the two objects are of one table */
  uint64_t capacity;            /* bytes for entries and index: whole units */
};

/* ----------------------------------------------------- data ----------------------------------------------------- */

/*
 *     0 identity, seed, features: once
 *    64 committed        128 reclaimed        192 wseq        256 published_bytes: a cache line each
 *   320 change log: its ends
 *   384 durable, alone
 *   512 key_counts
 *  4096 root directory
 * 12288 lost_prefixes
 * 16384 end: the change log begins
 */
struct shm_data_header {
  struct shm_identity identity;
  uint64_t hash_seed; /* once */
  uint64_t features;  /* once: bits; a reader that does not know one of them leaves the table alone */

  /* Under W, release: the store that commits. The newest committed version; every reader loads it, and so its line
   * holds nothing else. Its low half is the futex that waiters for a commit sleep on. */
  uint64_t committed;
  uint64_t unused1[7];

  /* Under W, followed by a release fence. No snapshot below this is safe for an observer: raised before the first reuse
   * or unlink. Only grows. After a crash it may be ahead of what was reclaimed, which only makes an observer begin
   * anew. */
  uint64_t reclaimed;
  uint64_t unused2[7];

  /* Under W, release: odd while a transaction is in flight. A seqlock for observers of the rwlock variant; odd after a
   * crash, which tells the next owner of W to recover. */
  uint64_t wseq;
  uint64_t unused3[7];

  /* Under W, release: bytes of the object that are allocated and may be read. Lowered only while no one observes.
   * Never more than a unit below what `units` in ctl comes to, at any store: who attaches demands it. After a crash while the table grew or shrank it
   * is at most a unit away, after one in a repair it may be more too high. The next owner of W puts it right, lowering it beside observers too: the
   * pages are there then. */
  uint64_t published_bytes;
  uint64_t unused4[7];

  /* Under W. Positions are counters of bytes that never wrap. The end may be ahead of `committed` by a transaction in
   * flight: the journal has its values from before. The tail moves before the bytes that it leaves are overwritten, and
   * is never put back. */
  uint64_t log_end_position;  /* release */
  uint64_t log_end_ordinal;   /* how many records were ever appended; before the position */
  uint64_t log_tail_position; /* release, and followed by a release fence */
  uint64_t unused5[5];

  /* By the process that holds the keeper's lock, which is one at a time, without W: it keeps the table's store, or notes
   * in `keeping` that nobody does. A keeper that dies leaves both as they are: what was durable is so still, and the next
   * one goes on from there. */
  uint64_t durable; /* release: all up to this version is on the disk. Only grows. Its low half is a futex */
  uint64_t keeping; /* SHM_KEEPING_...: what becomes of versions above it */
  uint64_t unused8[14];

  /* Under W: how many keys there are at version v, in word v % 64. Stored before v is committed, so a crash leaves a
   * number that no one reads. */
  uint64_t key_counts[SHM_KEY_COUNTS];
  uint64_t unused6[384];

  /* Under W, release: directory words (SHM_DIRECTORY_...), by the hash's top ten bits. A split stores several; the
   * journal has the words from before. */
  uint64_t root[1 << SHM_ROOT_BITS];

  /* Under W, before the log's tail passes the record: the version of the newest record pushed out whose key begins with
   * n bytes of this hash (SHM_LOST_...), for each n. A crash before the tail moves leaves a loss that is none, which
   * only makes a reader look at the table anew. */
  uint64_t lost_prefixes[SHM_LOST_PREFIX_LENGTHS][1 << SHM_LOST_PREFIX_HASH_BITS];
  uint64_t unused7[256];
};

/*
 * A record of the change log: it lies at position % the ring's size, padded to 16 bytes, and never straddles the ring's
 * end. What is left there is a record of the operation SHM_LOG_PADDING, which may be as short as 16 bytes and then ends
 * before its key's length.
 * Under W, before the end moves past it; overwritten after the tail has moved past it. Readers copy, then look at the
 * tail.
 */
struct shm_log_record {
  uint64_t version; /* that the change was committed as, or will be */
  uint32_t byte_count;
  uint8_t operation; /* SHM_LOG_... */
  uint8_t ordinal[3]; /* the low 24 bits of its number */
  uint64_t key_length;
  /* the key */
};

/*
 * One version of one key, or its tombstone. Filled under W, before an offset leads to it; never changed afterwards, but
 * for `prev`. Aligned to 16 bytes.
 *
 *   0 version   8 prev   16 lengths, flags, type   24 [expiry 8] [fingerprint 8] key, zeroed padding, value
 *
 * Its lengths say how large its block is. One with slack is the exception: the next aligned word behind its value says it.
 */
struct shm_entry {
  uint64_t version;
  /* The offset of the next older version. Under W, release: set further back, or to 0, by those who unlink. Of an
   * entry whose version is at most `chains_cut_at`, only readers at an older snapshot may follow it. */
  uint64_t prev;
  uint32_t value_length;
  uint16_t key_length_less_1;
  uint8_t flags; /* SHM_ENTRY_... */
  uint8_t type;  /* the typed library's; the engine only keeps it */
};

/*
 * Eight words, each of a key: its tag in the upper 16 bits, in the lower 48 the offset of its newest entry. 0 is an
 * empty word and ends a search; SHM_TAG_DELETED without an offset is one that a search passes.
 * Under W, release, after a journal record with the word from before.
 */
struct shm_bucket {
  uint64_t words[8];
};

/* Where the keys of one prefix of the hash are. Built aside, then led to by directory words. */
struct shm_sub_table {
  struct shm_bucket buckets[SHM_BUCKETS];
};

/* A sub-table of the deepest level, with the offset of a further one or 0: under W, release. */
struct shm_deep_sub_table {
  struct shm_bucket buckets[SHM_BUCKETS];
  uint64_t link;
  uint64_t unused1[7];
};

/* ------------------------------------------------------ ctl ------------------------------------------------------ */

/* Once, but for the words that say otherwise. One page. */
struct shm_ctl_header {
  struct shm_identity identity;
  uint64_t ready;         /* 1 once both objects are whole. Release, last, by the creator, under flock */
  uint64_t fingerprint;   /* libc, machine, sizes of the locks: peers share pthread objects */
  uint64_t pid_namespace;
  /* Under W: 1 after damage that recovery cannot repair, and while a repair changes the table. 0 again once a repair is complete, or
   * was kept by a reader from changing more than was given up at its first tick, if the table was not marked before: writers may go on then */
  uint64_t damaged;
  uint64_t light_readers; /* by anybody who attaches, exchange: 1 once there were readers that rely on membarrier */
  uint64_t limbo_budget;  /* by whoever administers the table, at any time */
  uint64_t stalled_reader_policy; /* SHM_POLICY_..., by the same */
  uint64_t keeps_memory; /* 1 if all pages were claimed at creation: none is given back */
  uint64_t creator_pid;
  uint64_t created_nanoseconds; /* CLOCK_REALTIME */
  uint64_t dropped;             /* release, by the dropper, after it has removed the names: 1 */
  uint64_t poisons_freed_blocks; /* 1 if free passes overwrite what they free: for tests */
  uint64_t wants_huge_pages;     /* 1 if whoever grows or maintains the table is to back it by huge pages */
  /* By any participant, at any time: up to where the data object was backed by huge pages. A hint: a death, or two that
   * do it at once, or one beside a process that shrinks the table, leave it too low or too high; more than published_bytes means that */
  uint64_t huge_bytes;
  uint64_t unused1[492];
};

/*
 * A queue of records in ctl that grows by doubling. A record lies at its number & mask. Under W. `head` and `tail` move
 * last, each in one store, so a crash leaves records that do not count, and never half-counted ones.
 */
struct shm_ring {
  uint64_t head;         /* release */
  uint64_t tail;         /* release; the journal has the tail from before a transaction */
  uint64_t mask;         /* release: pages and copies of the records are there before */
  uint64_t free_end;     /* release: how far the pass that was begun frees; > head after a crash: to be done again */
  uint64_t bytes_pushed; /* of the records' blocks, ever */
  uint64_t bytes_popped;
  uint64_t bytes_popped_after; /* what bytes_popped will be when head has reached free_end */
  uint64_t unused1;
};

/*
 * What the transaction in flight, or a dead writer's, needs to be undone or finished. Under W. Filled before `wseq`
 * becomes odd; means nothing while `count` is 0.
 */
struct shm_journal_header {
  uint64_t version; /* that it commits as */
  uint64_t count;   /* of records. Follows the record and precedes its effect; 0: nothing to do */
  /* From before: */
  uint64_t limbo_tail;
  uint64_t limbo_bytes;
  uint64_t superseded_tail;
  uint64_t superseded_head_after; /* what the ring's head becomes with the commit */
  uint64_t retained_tail;
  uint64_t retained_head_after;
  uint64_t log_end_position;
  uint64_t log_end_ordinal;
  uint64_t garbage_bytes;
  uint64_t unused1[5];
};

/*
 *    0 W and who has it             128 journal       256, 320, 384 rings
 *  448 counters and marks           512 a line that every barrier loads
 *  576 awaited_version, alone       640 how long W was waited for        960 label
 */
struct shm_writer_area {
  struct shm_lock_place mutex; /* W itself. Robust: the kernel marks it when its owner's thread ends */
  /* Under W: 1 + the owner's slot; 0 when free, and stored last of all. After a crash the dead owner's: the next owner
   * sees by it that there may be something to recover */
  uint64_t writer_slot;
  uint64_t writer_since; /* under W, for people: CLOCK_MONOTONIC, since when */
  uint64_t barriers_unwaited; /* under W: how often W was free at once */
  uint64_t turns;        /* under W: how often W was had. A death between load and store costs a count */
  /* By anybody, compare-and-swap: the waiter for W that the others let pass: SHM_FOREMOST_...; 0: none. A futex in the
   * low half. Left by the dead: then a writer that finds it due waits 2 ms and takes its place */
  uint64_t foremost_waiter;
  uint64_t most_turns_waited; /* under W: the most turns of others that a thread waited for before it had W */
  /* Under W: from which position of *superseded*, and from which garbage_bytes, records count towards the next reclaiming pass. The last
   * pass stores where they end; or where they begin, if it left some that it could have freed. A death between the two
   * stores makes the next pass come earlier or later, once */
  uint64_t tried_superseded;
  uint64_t tried_garbage_bytes;

  struct shm_journal_header journal;
  struct shm_ring limbo;
  struct shm_ring superseded;
  struct shm_ring retained;

  /* Under W, release: how many there are. After the unit's pages and descriptor, before published_bytes */
  uint64_t units;
  uint64_t retained_signature; /* under W: of the snapshots at the last look at all of *retained* */
  /* Under W: what `prev` of an entry of this version or an older one named may be freed. Only grows, but for a
   * repair */
  uint64_t chains_cut_at;
  uint64_t recovery_count;     /* under W */
  uint64_t journal_allocated;  /* under W: bytes of the journal's region that have pages */
  uint64_t slots_high_water;   /* by anybody, compare-and-swap: slots ever claimed lie below. Only grows */
  /* Under W: of entries ever pushed onto *superseded*, less those that an unlink pass sent to limbo. The journal has it
   * from before */
  uint64_t garbage_bytes;
  uint64_t retained_rescan_end; /* under W: records of *retained* before this are to be looked at again */

  /* Under W: 1 + the size code of a block that was not found, and SHM_ROOM_...: the next barrier makes room first */
  uint64_t room_wanted;
  /* Under W: no reader, now or later, comes to a version that was superseded by this one or before. Only grows, but for
   * a repair */
  uint64_t recyclable_up_to;
  uint64_t key_locks;         /* under W: 1 if any slot may hold a key lock, or wait for one */
  uint64_t key_lock_stamp;    /* under W: of the youngest key lock */
  uint64_t key_lock_event;    /* by anybody: a futex in the low half, advanced by who releases a key lock */
  /* By anybody: 1 if someone may sleep on it. A crash wakes no one: sleepers look by themselves */
  uint64_t key_lock_sleepers;
  uint64_t eviction_count;    /* under W: of snapshots that were ended for what they kept */
  /* Under W: 1 from when an owner finds that the last one died as the owner, until its work is undone or finished */
  uint64_t unfinished;

  /* By anybody, compare-and-swap: someone sleeps until this version; 0: no one. Each commit loads it and few store it.
   * Left raised by the dead: then the next commit makes a system call for nothing and clears it. */
  uint64_t awaited_version;
  uint64_t unused3[7];

  /* Under W: how often W was waited for between 2^i and 2^(i+1) nanoseconds; the last counts longer waits too. */
  uint64_t barrier_waits[SHM_BARRIER_WAITS];

  /* Under W, for people: which barrier is in flight. To be believed if the version is the next one and the hash
   * fits. */
  uint64_t label_version;
  uint64_t label_hash;
  uint64_t label_byte_count;
  uint64_t label_words[SHM_LABEL_BYTES / 8];
  uint64_t unused4[364];
};

/* A rwlock that is only tried and unlocked, and not robust: its generation is abandoned when a holder died. */
struct shm_rw_instance {
  struct shm_lock_place lock;
  uint64_t unused1[8];
};

/* The rwlock variant's exclusion of readers and barriers. One page. */
struct shm_rw_area {
  struct shm_rw_instance instances[SHM_RW_INSTANCES]; /* the one of a generation is generation % 8 */
  /* Under W, exchange: of the instance that counts. After a crash it may be write-locked for ever */
  uint64_t generation;
  uint64_t unused1[7];
  /* Under W, release: 1 + slot of the writer that waits or writes; 0: none. Stale after a crash */
  uint64_t writer_waiting;
  uint64_t hint;           /* by anybody, release: 1 if some reader may wait */
  uint64_t abandoned; /* by anybody, compare-and-swap: the dead may hold instances of generations below. Only grows */
  uint64_t drained;   /* under W, release: no living reader is inside an older generation than this */
  uint64_t unused2[4];
  uint64_t sleepers; /* by anybody, release: 1 if someone may sleep on the event */
  uint64_t event;    /* by anybody: a futex in the low half */
  uint64_t unused3[366];
};

/*
 * One thread's place: it holds `mutex` from when it claims the slot until it gives it back or ends. Who finds the mutex
 * marked by the kernel may clear what the dead thread announced.
 *
 *    0 what it announces       64 mutex       128 who it is, for people       208 key lock
 */
struct shm_slot {
  /* By its thread, and by eviction's compare-and-swap: all ones, or a version and SHM_SNAPSHOT_... */
  uint64_t snapshot;
  uint64_t pin;      /* by its thread: all ones, or the version from which on nothing that it may reach may be reused */
  uint64_t rw;       /* by its thread, rwlock variant: 0, or a generation and SHM_RW_... */
  uint64_t wait;     /* by its thread, rwlock variant: 0, or 1 + barriers ended when its wait began; writers set
                      * bit SHM_WAIT_GIVEN_UP_BIT by compare-and-swap */
  uint64_t unused1[4];

  struct shm_lock_place mutex;

  /* By its thread when it claims the slot; the dead thread's until someone claims it again. */
  uint64_t pid;
  uint64_t tid;
  uint64_t unused2;
  uint64_t command[2]; /* the first 16 bytes of its name */
  uint64_t purpose;    /* SHM_SLOT_... */
  uint64_t since;      /* CLOCK_MONOTONIC */
  uint64_t light;      /* exchange: 1 if its fences are compiler barriers: it relies on the membarrier of others */

  /* Under W, for people: the announcement that the last scan found in the way, its pin or else its version, and since when. */
  uint64_t in_the_way_version;
  uint64_t in_the_way_since;
  uint64_t key_lock; /* 0, or stamp << 1 | 1 if it is held. Under W, release; back to 0 by its thread at any time */

  /* Under W, before key_lock says so. The low half counts the hashes of keys meant as a whole, the upper half those of
   * steps to them, which follow; all ones: everything. */
  uint64_t key_lock_counts;
  uint64_t key_lock_hashes[SHM_KEY_LOCK_HASHES];
};

/*
 * A unit of memory: 64 superframes of 16 KiB, each a slab of blocks of one class, or 16 frames of 1 KiB. Under W.
 * Setting and clearing a bit is idempotent; the journal or limbo names the block whose bits a crash leaves wrong.
 */
struct shm_unit {
  uint64_t frame_free[SHM_FRAMES_PER_UNIT / 64]; /* bit set: the frame is free (meaningful where kind is 0) */
  uint64_t run_start[SHM_FRAMES_PER_UNIT / 64];  /* bit set: a run of frames begins here (meaningful where not free) */
  /* 0: frames; c + 1: a slab of class c. One store makes or unmakes it */
  uint8_t kind[SHM_SUPERFRAMES_PER_UNIT];
  /* Hint, a superset: bit set: the superframe is a slab of this class with room */
  uint64_t partial[SHM_CLASSES_AT_MOST];
  uint64_t used[SHM_SUPERFRAMES_PER_UNIT][8];    /* bit set: this block of the slab is in use */
};

/*
 * One effect of the transaction in flight. Under W: filled before `count` covers it.
 *
 *   what: kind (4 bits) | count (16) | offset / 8 (44)          value: the old word, a block's name, an entry's offset
 */
struct shm_journal_record {
  uint64_t what; /* SHM_JOURNAL_... */
  uint64_t value;
};

/* Limbo: blocks that were unlinked and may still be looked at, in the order of their stamps. */
struct shm_limbo_record {
  uint64_t block; /* its name: offset / 16 in the upper 40 bits, size code in the lower 24 */
  uint64_t stamp; /* the version that unlinked it */
};

/* *superseded*: old versions, each named by the transaction that superseded it; a tombstone by its own. Only the stamp
   of a tombstone is stored to later: once, when it is settled. */
struct shm_superseded_record {
  uint64_t block;
  uint64_t stamp; /* the version that every reader must have come to before the block is free: the one that superseded
                     it; of a tombstone 1 << SHM_RING_UNSETTLED_BIT until it is out of the index, or was superseded */
  uint64_t newer; /* the offset of the next newer entry; or of a tombstone where its bucket word may be, | 1: the upper
                     52 bits of its key's hash, the word's number in the sub-table << 1. No one believes it without a
                     look at the word */
};

/* *retained*: old versions that some snapshot needed when they were looked at. */
struct shm_retained_record {
  uint64_t entry; /* its offset, | 1 for a tombstone */
  uint64_t stamp; /* as in *superseded*; of a tombstone that has the bit its own version */
};

/* The fixed part of ctl. */
struct shm_ctl {
  struct shm_ctl_header header;
  struct shm_writer_area writer;
  struct shm_rw_area rw;
  struct shm_slot slots[SHM_SLOTS];
};

#endif
