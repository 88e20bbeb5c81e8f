/* log.pml: the change log, a ring in *data* that is part of every commit, and a reader without a slot.
 *
 * Writer: a record's fields, then `tail`, before the commit; undo puts `tail` back before the tick. So an aborted
 * transaction leaves the ring as if it had never been, except that it has overwritten the oldest records. `high` is
 * therefore a second mark that only grows: how far the ring has ever been written, stored before the first byte.
 * Reader: committed, tail, the record's version (beyond S: stop), copy, acquire fence, high: overwritten -> missed.
 * Asserted: a delivered record is the one that a committed transaction put at that position. With LOST, records are of
 * two kinds, `lost` has the newest version of each kind that was pushed out, noted before `high`; and a reader of kind 0
 * that finds nothing newer there than what it had read has missed no committed record of its kind.
 * Parameters: N slots, MAXV, MAXR records in a transaction, CRASHES, ABORTS, READS. Other -D: see README.md.
 */
#ifndef N
#define N 3
#endif
#ifndef MAXV
#define MAXV 6
#endif
#ifndef MAXR
#define MAXR 2
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef ABORTS
#define ABORTS 1
#endif
#ifndef READS
#define READS 4
#endif
#define MAXP ((MAXV+1)*MAXR+1)

byte committed, tail, high;
byte version[N], body[N];
#ifdef LOST
byte kind[N], lost[2], kinds[MAXP];
#define NOTE if :: t>=N -> lost[kind[t%N]] = version[t%N]; CRASH :: else -> skip fi   /* PAIR lost-prefix */
#else
#define NOTE skip
#endif
/* ghost: the version of the committed record at each position; 0 none. A record's body is its version too. */
byte truth[MAXP];

active proctype reader() { byte p, S, end, v, copy, h, known, before, from, reads = READS;
  do
  :: reads>0 -> reads--;
     S = committed;                                /* PAIR pend-committed */
     end = tail;
     if
     :: p<end ->
#ifdef LOG_NOFENCE
        h = high;
#endif
        v = version[p%N];
        copy = body[p%N];
#ifdef CHECK_TAIL
        h = tail;
#elif !defined(LOG_NOFENCE)
        h = high;                                  /* PAIR log-tail */
#endif
        if
        :: h>p+N -> from = p; p = (h-N<end -> h-N : end)     /* missed some */
#ifdef LOST
           if
           :: lost[0]<=known -> d_step { before = from;
                do :: before<p -> assert(truth[before]==0 || kinds[before]!=0); before++
                   :: else -> break od }
           :: else -> skip                         /* told, and looks at the table */
           fi; before = 0
#endif
#ifndef NOVERSION
        :: h<=p+N && v>S -> skip                   /* not yet */
        :: h<=p+N && v<=S ->
#else
        :: h<=p+N ->
#endif
           atomic { assert(truth[p]!=0 && v==truth[p] && copy==v); p++ }
#ifdef LOST
#ifdef READ_WHOLE
           known = v
#else
           if :: v-1>known -> known = v-1 :: else -> skip fi
#endif
#endif
        fi
     :: else ->
#ifdef LOST
        if :: S>known -> known = S :: else -> skip fi
#else
        skip
#endif
     fi; S = 0; end = 0; v = 0; copy = 0; h = 0; from = 0
  :: else -> break
  od }

#define CRASH if :: crashes>0 -> crashes--; goto recover :: true fi

active proctype owner() { byte saved, t, n, i, V, crashes = CRASHES, aborts = ABORTS; bool open;
idle:
  skip;
  do :: committed<MAXV -> break :: goto finished od;
  V = committed+1; saved = tail; open = 1; CRASH;
  t = saved;
  if :: n = 1 :: n = MAXR fi;
  do
  :: n>0 -> n--;
#ifndef HIGH_LATE
#ifdef LOST_LATE
     if :: t+1>high -> high = t+1; CRASH; NOTE :: else -> skip fi;
#else
     if :: t+1>high -> NOTE; high = t+1; CRASH :: else -> skip fi;   /* PAIR log-tail: then a release fence */
#endif
#endif
     version[t%N] = V; CRASH; body[t%N] = V; CRASH;
#ifdef LOST
     if :: kind[t%N] = 0 :: kind[t%N] = 1 fi; kinds[t] = kind[t%N];
#endif
#ifdef HIGH_LATE
     if :: t+1>high -> high = t+1; CRASH :: else -> skip fi;
#endif
     t++; tail = t; CRASH              /* PAIR log-end */
  :: else -> break
  od;
  if
  :: aborts>0 -> aborts--; goto abort
  :: true
  fi; skip;
  d_step { i = saved; do :: i<tail -> truth[i] = V; i++ :: else -> break od; i = 0; committed = V };
  CRASH; open = 0;
  goto idle;
abort:
#ifdef TICK_BEFORE_TAIL
  committed = V; CRASH; tail = saved; CRASH;
#else
  tail = saved; CRASH;
#ifdef HIGH_BACK
  high = saved; CRASH;
#endif
  committed = V; CRASH;
#endif
  open = 0;
  goto idle;
recover:
  skip;
  t = 0; n = 0; i = 0;
  if
  :: open && committed!=V -> tail = saved; CRASH
  :: else -> skip
  fi;
  open = 0;
  if :: committed<MAXV -> committed = committed+1; CRASH :: else -> skip fi;
  goto idle;
finished: skip }
