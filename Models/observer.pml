/* observer.pml: readers without a slot. They store nothing anywhere, so nobody waits for them: they read memory
 * that may be freed and reused under their eyes, and validate before they believe it.
 *
 * Default: the RCU variant. S = committed; walk; copy; acquire fence; reclaimed > S -> again.
 * SEQLOCK: the rwlock variant. s = wseq, even; walk; copy; acquire fence; wseq != s -> again.
 *
 * Every load of the observer and every store of the writer to *data* is a step of its own, also the fields of a
 * block that is reused. The writer dies (CRASH) between any two of them; the next owner of W recovers. Journal,
 * limbo and bits are atomic here: their crash discipline is transaction.pml's matter. There are no slots, so gc
 * keeps nothing for anybody: the worst case for an observer.
 * Parameters: NB blocks, NK keys (an iteration reads all under one S), MAXV, OPS, CRASHES, ABORTS, TRIES.
 * Every other -D is an injected bug; see README.md.
 */
#ifndef NB
#define NB 3
#endif
#ifndef NK
#define NK 1
#endif
#ifndef MAXV
#define MAXV 5
#endif
#ifndef OPS
#define OPS 1
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef ABORTS
#define ABORTS 1
#endif
#ifndef TRIES
#define TRIES 2
#endif

#define NV (2*(MAXV+CRASHES)+4)
#define EXP(k,v) expv[(k)*NV+(v)]

/* ---- the state of a block ---- */
#define FREE  0
#define LIVE  1
#define FRESH 2                        /* allocated by the transaction in flight */
#define GONE  3                        /* unlinked by it */
#define LIMBO 4

/* ---- data ---- */
byte committed, reclaimed, wseq;
byte word[NK], ver[NB+1], prev[NB+1], val[NB+1];
/* ---- ghost: key k's value in version v, and while wseq is v; 0 absent ---- */
byte expv[NK*NV];
#ifdef SEQLOCK
byte expw[NK*NV];
#define EXPECTED(k,v) expw[(k)*NV+(v)]
#else
#define EXPECTED(k,v) EXP(k,v)
#endif

#ifdef SEQLOCK
#define LOAD_R r = wseq
#else
#define LOAD_R r = reclaimed
#endif

proctype observer() {
  byte S, cur, v, r, k, steps, tries = TRIES, res[NK];
again:
  if :: tries==0 -> goto busy :: else -> tries-- fi;
#ifdef SEQLOCK
  S = wseq;
#ifndef OBS_ODD
  if :: S%2==1 -> goto again :: else -> skip fi;
#endif
#elif !defined(OBS_S_LATE)
  S = committed;                       /* PAIR pend-committed */
#endif
  do
  :: k<NK -> cur = word[k]; steps = 0;
#ifdef OBS_S_LATE
     S = committed;
#endif
     do
     :: cur!=0 && steps<=NB ->
#ifdef SEQLOCK
        v = 0;
#else
        v = ver[cur];
#endif
        if
#ifdef SEQLOCK
        :: true ->
#else
        :: v<=S ->
#endif
#ifdef OBS_NOFENCE
           if :: k==NK-1 -> LOAD_R :: else -> skip fi;   /* what a missing fence allows: validated before the copy */
#endif
           res[k] = val[cur]; break
#ifndef SEQLOCK
        :: else -> cur = prev[cur]; steps++
#endif
        fi
     :: cur==0 || steps>NB -> res[k] = 0; break           /* every walk is bounded */
     od; cur = 0; v = 0; steps = 0; k++
  :: else -> break
  od; k = 0;
#ifndef OBS_NOFENCE
  LOAD_R;                              /* PAIR reclaimed-unlink; PAIR wseq-data */
#endif
#ifndef NOVALIDATE
#ifdef SEQLOCK
  if :: r!=S -> goto retry :: else -> skip fi; skip;
#else
  if :: r>S -> goto retry :: else -> skip fi; skip;
#endif
#endif
  d_step { k = 0; do :: k<NK -> assert(res[k]==EXPECTED(k,S)); res[k] = 0; k++ :: else -> break od; k = 0; r = 0; S = 0 };
  goto busy;
retry:
  skip;
  d_step { k = 0; do :: k<NK -> res[k] = 0; k++ :: else -> break od; k = 0; r = 0; S = 0 }; goto again;
busy: skip }

#define CRASH if :: crashes>0 -> crashes--; goto recover :: true fi

inline tick(to) { skip; d_step { q = 0; do :: q<NK -> EXP(q,to) = EXP(q,committed); q++ :: else -> break od; q = 0; committed = to } }

/* a record and its effect */
inline put(p,x) { d_step { jp[count] = p; jo[count] = (p>NB -> word[p-NB-1] : prev[p]); count++;
                           if :: p>NB -> word[p-NB-1] = x :: else -> prev[p] = x fi } }

#ifdef SEQLOCK
inline even(to) { skip; d_step { q = 0; do :: q<NK -> EXPECTED(q,to) = (word[q]==0 -> 0 : val[word[q]]); q++ :: else -> break od; q = 0; wseq = to } }
#endif

inline unwind() {
  do
  :: count>0 -> d_step { count--; if :: jp[count]>NB -> word[jp[count]-NB-1] = jo[count] :: else -> prev[jp[count]] = jo[count] fi;
                         jp[count] = 0; jo[count] = 0 }; CRASH
  :: else -> break
  od }

/* what becomes of the blocks: to limbo in the RCU variant (stamp), free at once in the rwlock variant */
inline settle(what) { skip; d_step { q = 1; do :: q<=NB -> if :: state[q]==what ->
#if defined(SEQLOCK) || defined(ABORTFREE)
    state[q] = FREE
#else
    state[q] = LIMBO; stamp[q] = V
#endif
    :: state[q]==FRESH || state[q]==GONE -> state[q] = LIVE :: else -> skip fi; q++ :: else -> break od; q = 0 } }

active proctype owner() {
  byte state[NB+1], stamp[NB+1], jp[2*NB], jo[2*NB], count, V;
  byte b, k, q, x, nx, ops, newest; bool did;
  byte crashes = CRASHES, aborts = ABORTS, now[NK];
  run observer();
idle:
  skip;
  do
  :: committed<MAXV -> break
#ifndef SEQLOCK
  :: committed<MAXV -> goto gc
  :: goto freePass
#endif
  :: goto finished
  od;

  /* a transaction */
  V = committed+1; ops = OPS;
#if defined(SEQLOCK) && !defined(ODD_LATE)
  wseq = wseq+1; CRASH;
#endif
  do
#if OPS > 1
  :: ops>1 -> ops--                    /* one key, the other, or both */
  :: ops<OPS && count>0 -> break
#endif
  :: ops>0 -> ops--;
     k = (ops<NK -> ops : 0);
     d_step { b = 1; do :: b<=NB && state[b]!=FREE -> b++ :: else -> break od; if :: b<=NB -> state[b] = FRESH :: else -> b = 0 fi };
     if
     :: b==0 -> break
     :: else ->                        /* memory really reused, field by field */
        ver[b] = V; CRASH; prev[b] = word[k]; CRASH; val[b] = V; CRASH;
#ifdef SEQLOCK
        if :: word[k]!=0 && state[word[k]]==LIVE -> state[word[k]] = GONE :: else -> skip fi;
#endif
        put(NB+1+k,b);                 /* PAIR publish-entry */
        CRASH; now[k] = V
     fi; k = 0
  :: else -> break
  od; ops = 0; b = 0;
#if defined(SEQLOCK) && defined(ODD_LATE)
  wseq = wseq+1; CRASH;
#endif
  if
  :: aborts>0 -> aborts--; goto abort
  :: true -> skip
  fi; skip;
#if defined(SEQLOCK) && defined(EVEN_EARLY)
  even(wseq+1); CRASH;
#endif
  d_step { k = 0; do :: k<NK -> EXP(k,V) = now[k]; k++ :: else -> break od; k = 0; committed = V };
  CRASH;
  settle(GONE);
  goto emptied;

abort:
  unwind(); settle(FRESH);
  d_step { k = 0; do :: k<NK -> now[k] = EXP(k,committed); k++ :: else -> break od; k = 0 };
  tick(V); CRASH;
emptied:
  skip;
  d_step { k = 0; do :: k<2*NB -> jp[k] = 0; jo[k] = 0; k++ :: else -> break od; k = 0; count = 0; V = 0 };
#ifdef SEQLOCK
#ifndef EVEN_EARLY
  even(wseq+1); CRASH;
#endif
#endif
  goto idle;

#ifndef SEQLOCK
gc:
  V = committed+1;
#ifndef RECLAIMED_LATE
  reclaimed = committed; CRASH;        /* before the first unlink; then a release fence */
#endif
  k = 0;
  do
  :: k<NK -> nx = word[k];
     do
     :: nx!=0 && prev[nx]!=0 -> x = prev[nx]; put(nx,prev[x]); state[x] = GONE; did = 1; CRASH; x = 0
     :: else -> break
     od; nx = 0; k++
  :: else -> break
  od; k = 0;
  if
  :: did -> did = 0; tick(V); CRASH; settle(GONE)
  :: else -> skip
  fi;
#ifdef RECLAIMED_LATE
  reclaimed = committed; CRASH;
#endif
  goto emptied;

freePass:
  x = committed;
#ifndef FREEPASS_NO_RECLAIMED
  if :: x>reclaimed -> reclaimed = x; CRASH :: else -> skip fi; skip;    /* before the first bit; then a release fence */
#endif
  d_step { q = 1; do :: q<=NB -> if :: state[q]==LIMBO && stamp[q]<=x -> state[q] = FREE; stamp[q] = 0 :: else -> skip fi; q++ :: else -> break od; q = 0 };
  CRASH; x = 0;
  goto idle;
#endif

recover:
  skip;
  d_step { b = 0; k = 0; q = 0; x = 0; nx = 0; ops = 0; did = 0 };
#if defined(SEQLOCK) && defined(RECOVER_EVEN_FIRST)
  if :: wseq%2==1 -> even(wseq+1); CRASH :: else -> skip fi;
#endif
  if
  :: V!=0 && V==committed ->           /* it committed */
     settle(GONE)
  :: V!=0 && V!=committed -> unwind(); settle(FRESH); tick(committed+1); CRASH
  :: V==0 -> tick(committed+1); CRASH
  fi;
  d_step { k = 0; do :: k<2*NB -> jp[k] = 0; jo[k] = 0; k++ :: else -> break od; k = 0; count = 0; V = 0;
           k = 0; do :: k<NK -> now[k] = EXP(k,committed); k++ :: else -> break od; k = 0 };
#ifdef SEQLOCK
#ifdef WSEQ_BACK
  if :: wseq%2==1 -> even(wseq-1); CRASH :: else -> skip fi;
#else
  if :: wseq%2==1 -> even(wseq+1); CRASH :: else -> skip fi;
#endif
#endif
  goto idle;

finished: skip }
