/* wait.pml: waiting for a commit (Liveness/CommitSignal.swift), with a futex on `committed` and a hint for the committer.
 *
 * Waiter: sees c; raises `awaited` to c+1; fence; looks again; sleeps if `committed` is still c (the kernel compares and
 * goes to sleep in one step). Committer: commits under W; unlocks W, a full fence; finds `awaited` not 0: clears it by
 * compare-and-swap if that version is there already; wakes all.
 * Asserted, as the absence of invalid end states: nobody sleeps on while there is a version he has not seen. A committer
 * that dies before its wake-up costs those who sleep at that moment their slice, and nobody later.
 * Parameters: WAITERS, COMMITTERS, COMMITS each, CRASHES. Other -D: see README.md.
 */
#ifndef WAITERS
#define WAITERS 2
#endif
#ifndef COMMITTERS
#define COMMITTERS 2
#endif
#ifndef COMMITS
#define COMMITS 2
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#define LAST (COMMITTERS*COMMITS)

byte committed, awaited, crashes = CRASHES;
bool locked, asleep[WAITERS], due[WAITERS];

proctype waiter(byte me) { byte seen, c, a;
again:
  skip;
  do :: seen<LAST -> break :: else -> goto finished od;
  c = committed;
  if
  :: c>seen -> seen = c; goto again
  :: else -> skip
  fi;
#ifdef LOWER
  awaited = c+1;
#else
announce:
  a = awaited;
  if
  :: a>c -> a = 0
  :: else ->
     atomic {
       if
       :: awaited==a -> awaited = c+1; a = 0
       :: else -> goto announce
       fi }
  fi;
#endif
#ifndef NORECHECK
  if                                               /* PAIR commit-wait: the fence, then the second look */
  :: committed!=c -> goto again
  :: else -> skip
  fi;
#endif
  atomic {
    if
    :: committed==c -> asleep[me] = 1
    :: else -> skip
    fi };
  do
  :: atomic { !asleep[me] -> due[me] = 0; break }
  :: atomic { due[me] -> asleep[me] = 0; due[me] = 0; break }     /* the slice is over */
  od;
  goto again;
finished: skip }

#define EACH(what) atomic { i = 0; do :: i<WAITERS -> what; i++ :: else -> break od; i = 0 }
#define DIE if :: atomic { crashes>0 -> crashes--; }; EACH(due[i] = asleep[i]); goto died :: true fi

proctype committer() { byte n = COMMITS, a, c, i;
  do
  :: n>0 -> n--;
     atomic { !locked -> locked = 1 };
#ifdef NOFENCE
     a = awaited;                                  /* the load goes ahead of the store that waits in the store buffer */
     atomic { committed++; locked = 0 };
#else
     atomic { committed++; locked = 0 };
     DIE;
     a = awaited;                                  /* PAIR commit-wait */
#endif
     if
     :: a!=0 ->
#ifdef WAKE_FIRST
        EACH(asleep[i] = 0);
        DIE;
#endif
        c = committed;
        if
#ifdef CLEAR_ALWAYS
        :: true ->
#else
        :: a>c -> skip
        :: a<=c ->
#endif
#ifdef CLEAR_STORE
           awaited = 0
#else
           atomic { if :: awaited==a -> awaited = 0 :: else -> skip fi }
#endif
        fi;
        DIE;
#ifdef WAKE_ONE
        atomic { i = 0; do :: i<WAITERS && !asleep[i] -> i++ :: else -> break od;
                 if :: i<WAITERS -> asleep[i] = 0 :: else -> skip fi; i = 0 }
#elif !defined(WAKE_FIRST)
        EACH(asleep[i] = 0)
#endif
     :: else -> skip
     fi;
died:
     a = 0; c = 0
  :: else -> break
  od }

init { byte i;
  atomic {
    i = 0; do :: i<WAITERS -> run waiter(i); i++ :: else -> break od;
    i = 0; do :: i<COMMITTERS -> run committer(); i++ :: else -> break od } }
