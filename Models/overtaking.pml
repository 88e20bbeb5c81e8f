/* overtaking.pml: waiting for the writer lock (Writers/WriterLockWait+Overtaking.swift), with the word that names the foremost waiter.
 *
 * A thread that comes looks whether the foremost waiter is due, and tries W if not. A waiter names itself unless an older one
 * is named; tries W, unless another is named and due; sleeps for W if it is named, else until the word changes. Who has W
 * takes its name away; if others sleep, it leaves the word vacant as of that turn, and wakes them.
 * A slice of sleep passes only when nobody can do anything else: so who is alive always comes within one, and who does
 * not come is dead. Being stopped is the same as far as it goes.
 * Asserted: while a thread is named, others have at most N turns, and one each that were past their look; no one ever sleeps
 * for a slice if nobody dies, and at most once and once more for each death. That is also that no one waits for ever.
 * Parameters: THREADS, ROUNDS of the first and one of each other, N, CRASHES. Other -D: see README.md.
 */
#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef N
#define N 1
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#define NONE   9
#define VACANT 8

byte owner = NONE, turns, crashes = CRASHES, deaths;
byte fore = NONE, since; bool sleepers;          /* the word: always stored as a whole */
bool forW[THREADS], forWord[THREADS];            /* asleep */
byte passed[THREADS];                            /* ghost: turns of others while it was named */

#ifdef NEVER_DUE
#define DUE 0
#else
#define DUE (fore!=NONE && turns-since >= N)
#endif
#define TAKE owner = me; turns++; i = 0; do :: i<THREADS -> if :: i!=me && fore==i -> passed[i]++; assert(passed[i] <= N+THREADS-1) :: else fi; i++ :: else -> break od; i = 0
#define WAKE_ONE if :: forW[0] -> forW[0] = 0 :: forW[1] -> forW[1] = 0 :: THREADS>2 && forW[THREADS-1] -> forW[THREADS-1] = 0 :: else fi
#define DIE if :: atomic { crashes>0 -> crashes--; goto died } :: true fi
#define NAME fore = me; since = began; passed[me] = 0

proctype thread(byte me) { byte n = (me==0 -> ROUNDS : 1), i, began, seen, seenSince, turn, slices; bool free, late, woken;
come:
  do :: n>0 -> n--; break :: n==0 -> goto finished od;
#ifdef TRY_REGARDLESS
  late = 0;
#else
  late = DUE;
#endif
  if
  :: late -> late = 0
  :: else -> atomic { if :: owner==NONE -> TAKE; goto mine :: else -> skip fi }
  fi;
  DIE;
  began = turns;
wait:
  atomic {
    if
    :: fore==me && since==began -> skip
    :: fore==NONE || since>began || (since==began && fore==VACANT) -> NAME
    :: else -> skip
    fi;
    seen = fore; seenSince = since };
  DIE;
  if
  :: seen==me -> skip
  :: else -> atomic { late = DUE && fore==seen && since==seenSince }
  fi;
  if
  :: late -> late = 0
  :: else ->
     if                                            /* while others have turn after turn it does not try */
     :: atomic { owner==NONE -> TAKE; goto mine }
     :: skip
     fi
  fi;
  if
  :: seen==me ->
     atomic { if :: fore==me && since==began -> skip :: else -> seen = 0; seenSince = 0; goto wait fi };
     DIE;
sleepForW:
     atomic { if :: owner==NONE -> TAKE; goto mine :: else -> forW[me] = 1 fi };
     if
     :: atomic { !forW[me] -> goto sleepForW }
     :: atomic { timeout -> forW[me] = 0; slices++; assert(slices <= deaths + (deaths>0)); goto wait }
     :: atomic { forW[me] && crashes>0 -> crashes--; goto died }
     fi
  :: else ->
     atomic { turn = turns; free = (owner==NONE) };
     atomic {
       if
       :: fore==seen && since==seenSince -> 
#ifdef UNMARKED
          skip
#else
          sleepers = 1
#endif
       :: else -> goto wait
       fi };
     DIE;
     atomic {                                      /* the kernel compares */
       if
       :: fore==seen && since==seenSince && sleepers -> forWord[me] = 1
#ifdef UNMARKED
       :: fore==seen && since==seenSince && !sleepers -> forWord[me] = 1
#endif
       :: else -> goto wait
       fi };
     if
     :: atomic { !forWord[me] -> turn = 0; free = 0; goto wait }
     :: atomic { timeout -> forWord[me] = 0; slices++; assert(slices <= deaths + (deaths>0)) }
#ifndef NO_TAKEOVER
        atomic {
          if
          :: free && owner==NONE && turn==turns && fore==seen && since==seenSince -> NAME
          :: else -> skip
          fi };
#endif
        atomic { turn = 0; free = 0; goto wait }
     :: atomic { forWord[me] && crashes>0 -> crashes--; goto died }
     fi
  fi;
mine:
  seen = 0; seenSince = 0; turn = 0; free = 0; slices = 0;
  DIE;
  /* has W */
#ifdef NAME_STAYS
  skip;
#else
  atomic {
    if
    :: fore==me && since==began && began<turns ->
       if
#ifdef WAKES_NOBODY
       :: sleepers -> fore = NONE; since = 0; sleepers = 0; woken = 0
#else
       :: sleepers -> fore = VACANT; since = turns; sleepers = 0; woken = 1
#endif
       :: else -> fore = NONE; since = 0
       fi
    :: else -> skip
    fi };
  if
  :: woken ->
     turn = turns;
     DIE;
     atomic {
       free = 0; i = 0;
       do :: i<THREADS -> if :: forWord[i] -> forWord[i] = 0; free = 1 :: else fi; i++ :: else -> break od; i = 0 };
#ifndef VACANT_STAYS
     atomic {
       if
       :: !free && fore==VACANT && since==turn && !sleepers -> fore = NONE; since = 0
       :: else -> skip
       fi };
#endif
     woken = 0
  :: else -> skip
  fi;
#endif
  atomic { owner = NONE; turn = 0; free = 0; began = 0 };
  DIE;
  atomic { WAKE_ONE };
  goto come;
died:
  atomic {
    deaths++; forW[me] = 0; forWord[me] = 0; n = 0; began = 0; seen = 0; seenSince = 0; turn = 0; free = 0; slices = 0; woken = 0;
    if :: owner==me -> owner = NONE; WAKE_ONE :: else -> skip fi };   /* the kernel does that */
  goto gone;
finished:
  skip;
gone: skip }

init { byte i;
  atomic {
    i = 0; do :: i<THREADS -> run thread(i); i++ :: else -> break od } }
