/* kept.pml: what a barrier of some keys keeps without a pin (Sources/TableEngine/Writers/KeyedBarriers.swift), beside writers that move the
 * entry to another block (Compaction/Evacuation.swift) and may die.
 *
 * One key. MOVERS move its entry, a step for each store; a mover is a writer of the table, too, that makes room before it moves. HOLDERS lock the
 * key, give W back, look once where the entry is, and use that place until they release the key. Any of them may die anywhere
 * (CRASHES). A block is free, holds the entry, holds a copy of a move in the journal, or waits to be freed: by a stamp, as readers with a pin keep
 * it longer. Here nobody has a pin, and so whoever comes next may free it.
 * Asserted: the place that a holder uses is never free, and the key's word leads to no free block.
 * Every -D but the numbers is an injected bug: README.md.
 */
#ifndef MOVERS
#define MOVERS 1
#endif
#ifndef HOLDERS
#define HOLDERS 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#define NB 3
#define NOBODY 255
#define FREE 0
#define USED 1
#define LIMBO 2

byte owner = NOBODY, crashes = CRASHES;
byte block[NB], word;                            /* the entry is in block[word] */
bool open;                                       /* the journal has a move: from `old` to `copy` */
byte old, copy;
byte held[MOVERS + HOLDERS];                     /* by each process: 1 if it has locked the key, 2 if it died with it */

#define DIE if :: atomic { crashes>0 -> crashes--; \
                   if :: owner==me -> owner = NOBODY :: else -> skip fi; \
                   if :: held[me]==1 -> held[me] = 2 :: else -> skip fi; goto died } :: true fi

/* Recoverer.recover: the owner of W, before anything else. It may die in it, and the next one does it again. */
inline undo() {
  if
  :: open -> word = old; DIE; block[copy] = LIMBO; DIE; open = 0
  :: else -> skip
  fi }

/* Collector: no reader has a pin. */
inline reclaim() {
  i = 0;
  do :: i<NB -> if :: block[i]==LIMBO -> block[i] = FREE :: else -> skip fi; i++ :: else -> break od;
  i = 0;
  assert(block[word]!=FREE) }

inline look_for_locks() {
  i = 0; isLocked = 0;
  do :: i<MOVERS+HOLDERS -> if :: held[i]==1 -> isLocked = 1 :: else -> skip fi; i++ :: else -> break od;
  i = 0 }

proctype mover(byte me) {
  byte round, i;
  bool isLocked;
next:
  if :: round==ROUNDS -> goto died :: else -> round++ fi;
  atomic { owner==NOBODY -> owner = me };
  DIE;
  undo();
  reclaim();
  DIE;
#ifndef MOVES_LOCKED
  look_for_locks();
#endif
  if
  :: isLocked -> skip
  :: else ->
     i = 0;
     do :: i<NB && block[i]!=FREE -> i++ :: else -> break od;
     if
     :: i<NB ->
        old = word; copy = i;
        open = 1; DIE; block[i] = USED; DIE; word = i;
        DIE;
        atomic { open = 0; block[old] = LIMBO }        /* the commit, which retires what the journal names */
     :: else -> skip
     fi;
     i = 0
  fi;
  DIE;
  owner = NOBODY;
  goto next;
died:
  i = 0; isLocked = 0 }

proctype holder(byte me) {
  byte round, place, i;
  bool isLocked;
next:
  if :: round==ROUNDS -> goto died :: else -> round++ fi;
  atomic { owner==NOBODY -> owner = me };
  DIE;
#ifndef KEYS_FIRST
  undo();
#endif
  look_for_locks();
  if
  :: isLocked -> owner = NOBODY; goto next
  :: else -> held[me] = 1
  fi;
  owner = NOBODY;
  DIE;
  place = word;                                  /* in a section as short as the look */
  DIE;
  assert(block[place]!=FREE);
  assert(block[place]!=FREE);                    /* again, whoever ran in between */
#ifdef RELEASED_EARLY
  held[me] = 0;
  assert(block[place]!=FREE);
#endif
  held[me] = 0;
  goto next;
died:
  place = 0; i = 0; isLocked = 0 }

init { byte i;
  atomic {
    block[0] = USED;
    i = 0; do :: i<MOVERS -> run mover(i); i++ :: else -> break od;
    i = MOVERS; do :: i<MOVERS+HOLDERS -> run holder(i); i++ :: else -> break od } }
