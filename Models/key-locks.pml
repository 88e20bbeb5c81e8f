/* key-locks.pml: keys locked for the time of a closure (Sources/TableEngine/Writers/KeyLocks.swift), under and without W.
 *
 * KEYED threads lock a key each (the first two the same one, the others another), SETTERS write the first key under W at once,
 * PLAIN ones everything. Each does so ROUNDS times. Looking at each slot, and every store, is a step of its own.
 * A thread may die anywhere (CRASHES): W and the slot's mutex are robust, and who sleeps then, or is about to, ends its
 * slice once.
 * One that waits may give up (QUITS), or be put aside by another that waits for it (ASIDE), if nothing that is held is in its way:
 * it may be stopped. It takes its place again when it comes.
 * Asserted: of those inside at a time no two meet; nobody is granted a key lock while an older one that meets it waits
 * and lives; and, as the absence of invalid end states, that nobody sleeps on while nothing is in the way.
 * A store that passes a later load of the same thread is that load done first. Every other -D is an injected bug: README.md.
 */
#ifndef KEYED
#define KEYED 2
#endif
#ifndef SETTERS
#define SETTERS 0
#endif
#ifndef PLAIN
#define PLAIN 1
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#define N (KEYED+SETTERS+PLAIN)
#define NOBODY 255
#define NONE 0
#define WAITING 1
#define HELD 2
#define MEET(a,b) ((a)&(b))

byte owner = NOBODY, state[N], stamp[N], mask[N], stamps, event, crashes = CRASHES;
bool hint, sleepers;
bool dead[N], asleep[N], due[N];
byte inside[N];                                  /* the mask of who is inside; for the assertions */

/* No key lock that is held meets that of slot s. */
#define OTHERS_FREE(s, j) ((j)==(s) || state[j]!=HELD || !MEET(mask[j], mask[s]))
#if N==2
#define FREE(s) (OTHERS_FREE(s,0) && OTHERS_FREE(s,1))
#else
#define FREE(s) (OTHERS_FREE(s,0) && OTHERS_FREE(s,1) && OTHERS_FREE(s,2))
#endif

#define EACH(what) i = 0; do :: i<N -> what; i++ :: else -> break od; i = 0
#define DIE if :: atomic { crashes>0 -> crashes--; dead[me] = 1; inside[me] = 0; \
                   if :: owner==me -> owner = NOBODY :: else -> skip fi; \
                   EACH(due[i] = 1); goto died } :: true fi

inline enter() {
  atomic {
    EACH(if :: i!=me && !dead[i] -> assert(!MEET(inside[i], mine)) :: else -> skip fi);
    inside[me] = mine } }
inline leave() { inside[me] = 0 }

/* KeyLocks.findObstacle */
inline look() {
  isInWay = 0; isAny = (mystamp!=0);
  slot = 0;
  do
  :: slot==N -> break
  :: slot<N && slot==me -> slot++
  :: slot<N && slot!=me ->
     word = state[slot];                         /* PAIR key-lock-release */
     if
     :: word!=NONE ->
        isAny = 1;
        if
#ifdef OVERTAKE
        :: word==HELD && MEET(mask[slot], mine) ->
#else
        :: MEET(mask[slot], mine) && (word==HELD || (keyed && (mystamp==0 || stamp[slot]<mystamp))) ->
#endif
#ifdef DEAD_STAY
           isInWay = 1; break
#else
           atomic {
             if
             :: dead[slot] -> state[slot] = NONE; slot++
             :: !dead[slot] -> isInWay = 1; break
#ifdef ASIDE
             :: !dead[slot] && word==WAITING && state[slot]==WAITING && mystamp!=0 && FREE(slot) ->
                state[slot] = NONE; slot++
#endif
             fi }
#endif
        :: else -> slot++
        fi
     :: else -> slot++
     fi
  od;
#ifdef LOWERED_BY_WAITERS
  if :: !isInWay -> hint = 0 :: else -> skip fi;
#else
  if :: !isInWay && !isAny -> hint = 0 :: else -> skip fi;
#endif
  slot = 0; word = 0 }

inline take_stamp() { hint = 1; stamps++; mystamp = stamps; mask[me] = mine; stamp[me] = mystamp }

/* KeyLocks.release, by a waiter */
inline withdraw() {
#ifdef NOFENCE_WITHDRAW
  told = sleepers; state[me] = NONE;
#else
  state[me] = NONE;                              /* PAIR key-lock-release */
  DIE;
  told = sleepers;                               /* PAIR key-lock-wait */
#endif
#ifdef UNTOLD
  told = 0;
#endif
  if
  :: told -> sleepers = 0; DIE; atomic { event++; EACH(asleep[i] = 0) }
  :: else -> skip
  fi;
  told = 0; mystamp = 0 }

proctype thread(byte me; bool keyed; byte mine) {
  byte round, slot, word, mystamp, seen, i;
  bool isInWay, isAny, told;
next:
  if :: round==ROUNDS -> goto finished :: else -> round++ fi;
again:
  atomic { owner==NOBODY -> owner = me };
  DIE;
  if
#ifdef PLAIN_BLIND
  :: !keyed -> isInWay = 0
#endif
  :: !keyed && !hint -> isInWay = 0
  :: keyed || hint -> look()
  fi;
  if
  :: isInWay ->
     if
     :: mystamp==0 -> take_stamp(); state[me] = WAITING
     :: mystamp!=0 && state[me]==NONE -> hint = 1; state[me] = WAITING
     :: else -> skip
     fi;
     DIE;
#ifdef SLEEPERS_FIRST
     sleepers = 1; seen = event;
     look();
#elif defined(NOFENCE_GRANT)
     look();
     seen = event; sleepers = 1;
#elif defined(NO_SECOND_LOOK)
     seen = event; sleepers = 1;
#else
     seen = event; sleepers = 1;
     look();                                     /* PAIR key-lock-wait: the fence, then the second look */
#endif
     if
     :: isInWay ->
        owner = NOBODY;
        atomic { if :: event==seen -> asleep[me] = 1 :: else -> skip fi };
        do
        :: atomic { !asleep[me] -> due[me] = 0; break }
        :: atomic { due[me] -> asleep[me] = 0; due[me] = 0; break }
#ifdef QUITS
        :: asleep[me] -> asleep[me] = 0; due[me] = 0; withdraw(); goto next
#endif
        od;
        DIE;
        isInWay = 0; isAny = 0; seen = 0;
        goto again
     :: else -> skip
     fi
  :: else -> skip
  fi;
  seen = 0; isAny = 0;
  if
  :: keyed ->
     if
     :: mystamp==0 -> take_stamp()
#ifndef ASIDE_WITHOUT_HINT
     :: mystamp!=0 -> hint = 1
#else
     :: else -> skip
#endif
     fi;
     DIE;
     atomic {
       EACH(if :: i!=me && !dead[i] && state[i]==WAITING && MEET(mask[i], mine) && i<KEYED -> assert(stamp[i]>mystamp)
               :: else -> skip fi);
       state[me] = HELD };
#ifdef HINT_ONCE
     hint = 0;
#endif
     owner = NOBODY;
     DIE;
     enter();
     DIE;
     atomic { owner==NOBODY -> owner = me };     /* the commit */
     leave();
     owner = NOBODY;
     DIE;
     withdraw()
  :: else ->
#ifdef ENTER_AFTER_UNLOCK
     owner = NOBODY;
#endif
     if :: mystamp!=0 -> withdraw() :: else -> skip fi;
     enter();
     DIE;
     leave();
     if :: owner==me -> owner = NOBODY :: else -> skip fi
  fi;
  goto next;
finished: skip;
died:
  round = 0; slot = 0; word = 0; mystamp = 0; seen = 0; i = 0; isInWay = 0; isAny = 0; told = 0 }

init { byte i;
  atomic {
    i = 0;
    do
    :: i<KEYED && i<2 -> run thread(i, 1, 1); i++
    :: i<KEYED && i>=2 -> run thread(i, 1, 2); i++
    :: i>=KEYED && i<KEYED+SETTERS -> run thread(i, 0, 1); i++
    :: i>=KEYED+SETTERS && i<N -> run thread(i, 0, 3); i++
    :: i==N -> break
    od } }
