/* eviction.pml: long snapshots, their operations, and the writer that ends them past the budget (G7).
 *
 * A snapshot holds its exact version in a slot of the process's keeper; an operation on it announces the version
 * again, with a pin, in the slot of the thread that runs it, and then looks whether the keeper's slot still stands.
 * The evicting writer changes s to EVICTED|s by compare-and-swap, and scans anew: a live pin still protects s.
 *
 * With HARD also what the code does not do yet: a get that is stopped while it copies is evicted, PEND|e to EVICTED|e.
 * From there on it reads memory that is reused, field by field, and must look at its own slot before it returns.
 *
 * One writer role, which dies (CRASH) between any two stores; its successor starts at `recover`. Holders die at any
 * step, thread or process. A thread's stores to slots pass its TSO store buffer, also those to the keeper's slot: it is
 * the thread that opens and closes a snapshot, not the keeper, that stores there. Journal, rings and bits are atomic
 * here: their crash discipline is transaction.pml's matter. What gc keeps, and looks at again, is modelled exactly.
 *
 * Parameters: USERS (0 or 1: a thread that opens, uses and closes snapshots), HELD (how many at once), OPENS, OPS (how
 *   often in all), SHARED (one more thread uses its snapshot), KEEPERS_FIRST (their slots come first in a scan),
 *   SECTIONS (zero-copy sections of one more thread), HARD with GETS and READS (the same, with gets), MAXV versions begun,
 *   EVICTIONS, DEATHS (of holders), CRASHES (of the writer), NB blocks, BATCH (gc may end a batch anywhere).
 * Every other -D is an injected bug or a thing shown to be harmless; see README.md.
 */
#ifndef USERS
#define USERS 1
#endif
#ifndef HELD
#define HELD 1
#endif
#ifndef OPENS
#define OPENS 1
#endif
#ifndef OPS
#define OPS 1
#endif
#ifndef MAXV
#define MAXV 4
#endif
#ifndef EVICTIONS
#define EVICTIONS 1
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef NB
#define NB 3
#endif
#ifndef GETS
#define GETS 1
#endif
#ifndef READS
#define READS 0
#endif
#ifdef SHARED
#define NSHARED 1
#else
#define NSHARED 0
#endif
#ifdef HARD
#define NHARD 1
#else
#define NHARD 0
#endif
#ifndef SECTIONS
#define SECTIONS 0
#endif
#if SECTIONS > 0
#define NSECTIONS 1
#else
#define NSECTIONS 0
#endif

#define NT    (USERS+NSHARED+NSECTIONS+NHARD) /* threads; each has a slot and a store buffer */
#define NS    (NT+USERS*HELD)          /* slots: theirs, and the keeper's */
#ifdef KEEPERS_FIRST
#define THREAD(t) (USERS*HELD+(t))
#define KEEPER(k) (k)
#else
#define THREAD(t) (t)
#define KEEPER(k) (NT+(k))
#endif

#define IDLE  255
#define PEND  64                       /* PEND + e */
#define EVICTED 128                    /* EVICTED + s */
#define ISPEND(w)    ((w) >= PEND && (w) < EVICTED)
#define ISEVICTED(w) ((w) >= EVICTED && (w) < IDLE)
#define VERSION(w)   ((w) % PEND)
#define NV    (MAXV+2*CRASHES+6)       /* versions, with the ticks of gc and recovery */

/* a slot's robust mutex */
#define FREE  0
#define BUSY  1
#define DEAD  2

/* ---- data ---- */
byte committed = 1, word;
byte ver[NB+1], prev[NB+1];
#ifdef HARD
byte val[NB+1];
#endif
#ifdef BY_RECLAIMED
byte reclaimed;
#endif
/* ---- slots ---- */
byte snapOf[NS] = IDLE, pinOf[NS] = IDLE, mutexOf[NS];
chan sb[NT] = [2] of { byte, byte };   /* {2*slot: snapshot, 2*slot+1: pin; value} */
/* ---- the process that shares a snapshot: its version, and how many use it ---- */
byte handle = IDLE, users;
/* ---- ghosts ---- */
bool used[NB+1];                       /* the allocator's bits */
byte expv[NV];                         /* the value in version v of the table */
#if USERS > 0
bool ended[HELD];                     /* user's snapshot was evicted */
#endif
byte finished;                         /* threads that came to their end */
bool doomed[NT], over[NT];

#define STORE(t,slot,which,x) sb[t]!2*(slot)+(which),x
#define SNAP 0
#define PIN  1
inline drainOne(t) { sb[t]?a,x; if :: a%2==0 -> snapOf[a/2] = x :: else -> pinOf[a/2] = x fi; a = 0; x = 0 }
/* an exchange or a compare-and-swap drains its thread's buffer */
#define LOCKED(t) empty(sb[t])

proctype storeBuffer(byte t) { byte a, x;
end: do :: atomic { nempty(sb[t]) -> drainOne(t) } od }

/* ---- readers ---- */

/* In place, as every reader does that nobody may evict: what it touches is in use and is what S should see. */
inline walk(S) {
  cur = word;
  do
  :: atomic { assert(cur!=0 && used[cur]);
       if :: ver[cur]<=S -> seen = ver[cur]; assert(seen==expv[S]); goto copy :: else -> cur = prev[cur] fi }
  od;
copy: atomic { assert(used[cur] && ver[cur]==seen); cur = 0; seen = 0 };
  skip }

/* PAIR heavy-light, PAIR pend-committed: pin, PEND|e, S, then exact. FENCED: where membarrier does not reach the process */
inline announce(t,slot) {
  skip;
again:
  e = committed; STORE(t,slot,PIN,e); e = committed;
#ifdef FENCED
  atomic { LOCKED(t) -> snapOf[slot] = PEND+e };
#else
  STORE(t,slot,SNAP,PEND+e);
#endif
  S = committed;
#ifdef SETTLE_CAS                      /* what it must do beside an evictor of PENDs */
  atomic { LOCKED(t); if :: snapOf[slot]==PEND+e -> snapOf[slot] = S; e = 0 :: else -> e = 0; goto again fi }
#else
  STORE(t,slot,SNAP,S); e = 0
#endif
}

#ifdef CLOSE_EARLY                     /* an untimely error is not what that bug is about */
#define TOO_OLD_SAID(k) true
#else
#define TOO_OLD_SAID(k) ended[k]
#endif
/* PAIR evict-snapshot: announce, then look */
inline operate(t,k) {
#ifdef LOOK_FIRST
  stands = (snapOf[KEEPER(k)]==S);
#endif
#ifndef NOPIN
#ifndef PIN_LATE
  e = committed; STORE(t,THREAD(t),PIN,e); e = 0;
#endif
#endif
#ifdef ANNOUNCE_PLAIN
  STORE(t,THREAD(t),SNAP,S);
#else
  atomic { LOCKED(t) -> snapOf[THREAD(t)] = S };
#endif
#ifdef PIN_LATE
  e = committed; STORE(t,THREAD(t),PIN,e); e = 0;
#endif
#ifdef UNSEEN
  stands = 1;
#elif !defined(LOOK_FIRST)
  stands = (snapOf[KEEPER(k)]==S);
#endif
  if
  :: atomic { stands -> stands = 0 }
     walk(S)
  :: atomic { !stands -> assert(TOO_OLD_SAID(k)) }     /* snapshotTooOld, and only if it was evicted */
  fi;
#ifdef PIN_FIRST
  STORE(t,THREAD(t),PIN,IDLE); STORE(t,THREAD(t),SNAP,IDLE)
#else
  STORE(t,THREAD(t),SNAP,IDLE); STORE(t,THREAD(t),PIN,IDLE)
#endif
}

/* a death: what is in the store buffer still arrives; then the kernel marks what the dead thread held */
#define DYING unless { atomic { doomed[me] && empty(sb[me]) -> doomed[me] = 0; S = 0; e = 0; cur = 0; seen = 0; stands = 0; n = 0; opens = 0;

#if USERS > 0
proctype user(byte me) {
  byte S, k, e, cur, seen, n, opens, held[HELD] = IDLE; bool stands;
  {
next:
    do
    :: atomic { opens<OPENS && held[0]==IDLE -> k = 0; goto take }
    :: atomic { n<OPS && held[0]!=IDLE -> k = 0; goto use }
    :: atomic { held[0]!=IDLE -> k = 0; goto give }
#if HELD > 1
    :: atomic { opens<OPENS && held[0]!=IDLE && held[1]==IDLE -> k = 1; goto take }
    :: atomic { n<OPS && held[1]!=IDLE -> k = 1; goto use }
    :: atomic { held[1]!=IDLE -> k = 1; goto give }
    :: opens==OPENS && held[0]==IDLE && held[1]==IDLE -> break
#else
    :: opens==OPENS && held[0]==IDLE -> break
#endif
    od;
    atomic { LOCKED(me) -> over[me] = 1; finished++; opens = 0; n = 0; goto done }
take:
    atomic { mutexOf[KEEPER(k)]==FREE -> mutexOf[KEEPER(k)] = BUSY; ended[k] = 0; opens++ }
    announce(me,KEEPER(k));
    /* an exchange: the slot stands before another thread may use the snapshot */
    atomic { LOCKED(me) -> pinOf[KEEPER(k)] = IDLE; held[k] = S;
#ifdef SHARED
             handle = S;
#endif
             S = 0; k = 0; goto next }
use:
    n++; S = held[k]; operate(me,k);
    atomic { S = 0; k = 0; goto next }
give:
#ifdef SHARED
#ifdef CLOSE_EARLY
    handle = IDLE;
#else
    atomic { users==0 -> handle = IDLE }               /* the keeper's slot stands until every operation has ended */
#endif
#endif
    STORE(me,KEEPER(k),SNAP,IDLE); STORE(me,KEEPER(k),PIN,IDLE);
    atomic { LOCKED(me) -> mutexOf[KEEPER(k)] = FREE; held[k] = IDLE; k = 0; goto next };
done: skip
  } DYING over[me] = 1; k = 0;
      do :: k<HELD -> held[k] = IDLE; k++ :: else -> break od; k = 0 }
    /* process or thread: the kernel marks one mutex after the other */
    do
    :: atomic { k<HELD -> if :: mutexOf[KEEPER(k)]==BUSY -> mutexOf[KEEPER(k)] = DEAD :: else fi; k++ }
    :: mutexOf[THREAD(me)]==BUSY -> mutexOf[THREAD(me)] = DEAD
    :: k==HELD && mutexOf[THREAD(me)]!=BUSY -> break
    od;
    atomic { k = 0; finished++ }
  }
}
#endif

#ifdef SHARED
proctype sharer(byte me) {
  byte S, e, cur, seen, n; bool stands;
  do
  :: atomic { n<OPS && handle!=IDLE -> n++; users++; S = handle }
     operate(me,0);
     atomic { users--; S = 0 }
  :: n==OPS || finished==USERS -> n = 0; break
  od;
  atomic { LOCKED(me) -> finished++ }
}
#endif

#if SECTIONS > 0
proctype reader(byte me) {
  byte S, e, cur, seen, n = SECTIONS;
  do
  :: n>0 -> n--;
     announce(me,THREAD(me));
     walk(S);
     STORE(me,THREAD(me),SNAP,IDLE); STORE(me,THREAD(me),PIN,IDLE); S = 0
  :: else -> break
  od;
  atomic { LOCKED(me) -> finished++ }
}
#endif

#ifdef HARD
/* gets, which may be evicted, and zero-copy sections, which may not, in one slot */
proctype getter(byte me) {
  byte S, e, cur, v, seen, steps, gets = GETS, reads = READS; bool valid;
  do
  :: gets>0 -> gets--;
retry:
     e = committed; STORE(me,THREAD(me),SNAP,PEND+e);
     S = committed; cur = word;
     do
     :: cur!=0 && steps<=NB ->         /* every offset and length is checked, every walk bounded */
        v = ver[cur];
        if
        :: v<=S ->
#ifdef VALIDATE_EARLY
           valid = (nempty(sb[me]) || snapOf[THREAD(me)]==PEND+e);
#endif
           seen = val[cur]; break
        :: else -> cur = prev[cur]; steps++
        fi
     :: cur==0 || steps>NB -> break
     od; cur = 0; steps = 0; v = 0;
     /* PAIR evict-get: copy; acquire fence; then our own slot, of which we know our own store */
#ifdef NOVALIDATE
     valid = 1;
#elif defined(BY_RECLAIMED)
     valid = (reclaimed<=S);
#elif !defined(VALIDATE_EARLY)
     valid = (nempty(sb[me]) || snapOf[THREAD(me)]==PEND+e);
#endif
     if
     :: atomic { valid -> assert(seen==expv[S]); valid = 0; seen = 0; S = 0; e = 0 }
     :: atomic { !valid -> seen = 0; S = 0; e = 0; goto retry }
     fi;
     STORE(me,THREAD(me),SNAP,IDLE)
#if READS > 0
  :: reads>0 -> reads--;
     announce(me,THREAD(me));
     walk(S);
     STORE(me,THREAD(me),SNAP,IDLE); STORE(me,THREAD(me),PIN,IDLE); S = 0
#endif
  :: gets==0 && reads==0 -> break
  od;
  atomic { LOCKED(me) -> finished++ }
}
#endif

proctype killer() {
  byte i, deaths = DEATHS;
end: do
  :: atomic { deaths>0 -> deaths--; i = 0;
       
       if :: !over[i] -> doomed[i] = 1 :: else fi; i = 0 }
  :: deaths==0 -> break
  od
}

/* ---- the owner of W ---- */

#if USERS > 0
#define mark(i) if :: i>=KEEPER(0) && i<KEEPER(0)+HELD -> ended[i-KEEPER(0)] = 1 :: else fi
#else
#define mark(i) skip
#endif

/* entries: where they are named */
#define NONE  0
#define SUP   1
#define RET   2
#define LIMBO 3
#define FRESH 4

#define CRASH if :: crashes>0 -> crashes--; goto recover :: true fi

inline HEAVY() {
#ifdef NOMB
  skip
#else
  d_step { i = 0; do :: i<NT -> do :: nempty(sb[i]) -> drainOne(i) :: empty(sb[i]) -> break od; i++ :: else -> break od; i = 0 }
#endif
}

/* PAIR heavy-light, PAIR slot-scan: C before HEAVY, slots after; in each slot the snapshot before the pin (I2) */
inline scan() {
  C = committed;
#ifdef BY_RECLAIMED
  if :: reclaimed<C -> reclaimed = C :: else -> skip fi;
#endif
  HEAVY();
  look() }
inline look() {
  i = 0;
  do
  :: i<NS ->
#ifdef SCAN_PIN_FIRST
     sp[i] = pinOf[i]; ss[i] = snapOf[i];
#else
     ss[i] = snapOf[i]; sp[i] = pinOf[i];
#endif
#ifdef CLEAR_LIVING
     atomic { if :: (ss[i]!=IDLE && VERSION(ss[i])<C) -> snapOf[i] = IDLE; pinOf[i] = IDLE; ss[i] = IDLE; sp[i] = IDLE :: else fi };
#elif DEATHS > 0 && !defined(DEAD_STAY)
     /* behind, and dead: its words protect nobody */
     atomic { if :: mutexOf[i]==DEAD && ((ss[i]!=IDLE && VERSION(ss[i])<C) || sp[i]<C) ->
                      snapOf[i] = IDLE; pinOf[i] = IDLE; mutexOf[i] = FREE; ss[i] = IDLE; sp[i] = IDLE :: else fi };
#endif
     i++
  :: else -> break
  od; i = 0 }

/* PAIR evict-snapshot: marks old snapshots without a pin; a compare-and-swap each, and the crash between */
inline evict() {
  i = 0;
  do
  :: i<NS -> s = snapOf[i];
     if
#ifdef EVICT_NEWEST
     :: s<PEND ->
#else
     :: s<PEND && s<committed ->
#endif
#if defined(EVICT_PINNED) || defined(EVICT_SECTION)
        p = IDLE;
#else
        p = pinOf[i];
#endif
        if
        :: p==IDLE ->
#ifdef EVICT_STORE
           atomic { if :: snapOf[i]==s -> mark(i) :: else fi; snapOf[i] = EVICTED+s }
#else
           atomic { if :: snapOf[i]==s -> snapOf[i] = EVICTED+s; mark(i) :: else fi }
#endif
#ifdef EVICT_SECTION
           ; pinOf[i] = IDLE
#endif
#ifdef NO_RESCAN
           ; ss[i] = snapOf[i]
#endif
           ; CRASH
        :: else -> skip
        fi
#ifdef HARD
     :: ISPEND(s) ->
#ifdef HARD_PINNED
        p = IDLE;
#else
        p = pinOf[i];
#endif
        if
        :: p==IDLE ->
#ifdef HARD_STORE
           snapOf[i] = EVICTED+VERSION(s);
#else
           atomic { if :: snapOf[i]==s -> snapOf[i] = EVICTED+VERSION(s) :: else fi };
#endif
           CRASH
        :: else -> skip
        fi
#endif
     :: else -> skip
     fi; s = 0; p = 0; i++
  :: else -> break
  od; i = 0 }

/* which exact snapshots there are, as a set: what was kept is looked at again when it changes */
#ifdef SIGNATURE_BLIND
#define EVICTED_COUNTS(i) ISEVICTED(ss[i])
#else
#define EVICTED_COUNTS(i) (ISEVICTED(ss[i]) && sp[i]!=IDLE)
#endif
inline signature() { d_step {
  sig = 0; i = 0;
  do
  :: i<NS -> if :: ss[i]<PEND || EVICTED_COUNTS(i) -> sig = sig | (1 << VERSION(ss[i])) :: else fi; i++
  :: else -> break
  od; i = 0 } }

/* who keeps x, whose next newer version is nx */
inline JUDGE() {
  need = 0; i = 0;
  do
  :: i<NS ->
     if
     :: ISPEND(ss[i]) && ver[nx]>VERSION(ss[i]) && need==0 -> need = 2
     :: ss[i]<PEND && ver[x]<=ss[i] && ss[i]<ver[nx] -> need = 1
#ifndef FORGET_EVICTED
     :: ISEVICTED(ss[i]) && sp[i]!=IDLE && ver[x]<=VERSION(ss[i]) && VERSION(ss[i])<ver[nx] -> need = 1
#endif
     :: else
     fi; i++
  :: else -> break
  od; i = 0 }
inline judge() { d_step { JUDGE() } }

/* the oldest entry that this gc is to look at: fresh in superseded, or retained and due */
inline oldest() { d_step {
  x = 0; i = 1;
  do
  :: i<=NB -> if :: (ring[i]==SUP || (ring[i]==RET && due[i])) && un[i]==0 && !keep[i] && (x==0 || ver[i]<ver[x]) -> x = i :: else fi; i++
  :: else -> break
  od;
  nx = 0; i = word; do :: x!=0 && i!=0 && i!=x -> nx = i; i = prev[i] :: else -> break od;
  assert(x==0 || (i==x && nx!=0));     /* I7: what a ring names hangs in its chain */
  i = 0 } }

inline tick() { skip; d_step { expv[committed+1] = expv[committed]; committed = committed+1 } }

/* after gc's commit: the rings move */
inline retire() { d_step {
  i = 1;
  do
  :: i<=NB ->
     if
     :: un[i]!=0 -> ring[i] = LIMBO; stamp[i] = V; due[i] = 0; un[i] = 0
     :: keep[i] -> ring[i] = RET; due[i] = 0; keep[i] = 0
     :: else
     fi; i++
  :: else -> break
  od; i = 0; V = 0 } }

/* everything with a stamp <= min(C, live pins, PENDs) is free */
inline release() {
  d_step { m = C; i = 0;
    do
    :: i<NS -> if :: ISPEND(ss[i]) && VERSION(ss[i])<m -> m = VERSION(ss[i]) :: else fi;
               if :: sp[i]<m -> m = sp[i] :: else fi; i++
    :: else -> break
    od; i = 0;
    x = 1;
    do
    :: x<=NB -> if :: ring[x]==LIMBO && stamp[x]<=m -> used[x] = 0; ring[x] = NONE; stamp[x] = 0
#ifndef HARD
                      ; ver[x] = 0; prev[x] = 0
#endif
                   :: else fi; x++
    :: else -> break
    od; x = 0; m = 0 } }
inline forget() { d_step { i = 0; do :: i<NS -> ss[i] = IDLE; sp[i] = IDLE; i++ :: else -> break od; i = 0; C = 0; sig = 0 } }

/* one pass of gc: its own transaction, then a free pass. What only the owner of W looks at or changes is one step with
   the store beside it. */
inline collect() {
  signature();                         /* ORDER due-signature */
  if
  :: sig!=lastSig ->
#ifdef SIGNATURE_FIRST
     lastSig = sig; CRASH;
#endif
     d_step { i = 1; do :: i<=NB -> due[i] = (ring[i]==RET); i++ :: else -> break od; i = 0 }; CRASH;
#ifndef SIGNATURE_FIRST
     lastSig = sig
#else
     skip
#endif
  :: else -> skip
  fi;
  d_step { V = committed+1; sig = 0 };
  do
  :: atomic { oldest();
       if
       :: x==0 -> break
       :: else -> judge();
          if
          :: need==0 -> un[x] = nx; prev[nx] = prev[x]
          :: else -> keep[x] = 1; if :: need==2 -> pendKept = 1 :: else fi
          fi; x = 0; nx = 0; need = 0; worked = 1
#ifdef BATCH
       :: x!=0 && passes==0 -> x = 0; nx = 0; break
#endif
       fi }
     CRASH
  od;
  if
  :: worked -> worked = 0;
#ifndef KEPT_LATE
     /* ORDER retained-commit: what a pending reader kept is looked at again, whoever dies */
     if :: pendKept -> lastSig = -1; CRASH :: else -> skip fi;
#endif
     tick(); CRASH; retire();
#ifdef KEPT_LATE
     CRASH; if :: pendKept -> lastSig = -1 :: else -> skip fi;
#endif
     pendKept = 0
  :: else -> V = 0
  fi;
  release();
  /* G7: nothing stays that no reader of this scan needs, but for the rest of a batch */
  d_step { x = 1;
    do
    :: x<=NB ->
       if
       :: ring[x]==RET && !due[x] && lastSig!=-1 ->
          nx = word; do :: prev[nx]!=x -> nx = prev[nx] :: else -> break od;
          JUDGE();
          assert(need!=0)
       :: else
       fi; x++
    :: else -> break
    od; x = 0; nx = 0; need = 0 };
  forget() }

active proctype owner() {
  /* ctl */
  byte ring[NB+1], stamp[NB+1], un[NB+1], V;
  bool due[NB+1], keep[NB+1];
  int lastSig;
  /* registers */
  byte i, x, nx, b, s, p, m, C, a, need, passes;
  bool pendKept, worked;
  int sig;
  byte ss[NS] = IDLE, sp[NS] = IDLE;
  /* ghosts */
  byte crashes = CRASHES, evictions = EVICTIONS;

  atomic {
    used[1] = 1; ver[1] = 1; word = 1; expv[1] = 1;
#ifdef HARD
    val[1] = 1;
#endif
    i = 0; do :: i<NT -> mutexOf[THREAD(i)] = BUSY; run storeBuffer(i); i++ :: else -> break od;
#if USERS > 0
    i = 0; do :: i<USERS -> run user(i); i++ :: else -> break od;
#endif
#ifdef SHARED
    run sharer(USERS);
#endif
#if SECTIONS > 0
    run reader(USERS+NSHARED);
#endif
#ifdef HARD
    run getter(NT-1);
#endif
#if DEATHS > 0
    run killer();
#endif
    i = 0
  }
idle:
  do
  :: committed<MAXV -> goto put
  :: committed<MAXV -> goto gc
  :: committed<MAXV && evictions>0 -> evictions--;
#ifdef NO_RESCAN
     scan(); evict(); goto scanned
#elif defined(NO_SECOND_HEAVY)
     scan(); evict(); look(); goto scanned
#else
     evict(); goto gc
#endif
  :: finished==NT -> passes = 3; goto last
  od;

put:
  V = committed+1;
  d_step { b = 1; do :: b<=NB && used[b] -> b++ :: else -> break od };
  if
  :: b>NB -> b = 0; V = 0; goto idle
  :: else -> skip
  fi;
#ifdef HARD
  d_step { used[b] = 1; ring[b] = FRESH }; CRASH; ver[b] = V; CRASH; prev[b] = word; CRASH; val[b] = V; CRASH;
#else
  d_step { used[b] = 1; ring[b] = FRESH; ver[b] = V; prev[b] = word }; CRASH;
#endif
  word = b; CRASH;                     /* PAIR publish-entry */
  d_step { x = prev[b]; ring[x] = SUP; ring[b] = NONE; expv[V] = V; committed = V; V = 0; b = 0; x = 0 };   /* PAIR pend-committed */
  CRASH;
  goto idle;

gc:
  scan();
#if defined(NO_RESCAN) || defined(NO_SECOND_HEAVY)
scanned:
#endif
  collect();
  if :: passes>0 -> goto last :: else -> goto idle fi;

recover:
  skip;
  d_step { i = 0; x = 0; nx = 0; b = 0; s = 0; p = 0; m = 0; C = 0; a = 0; need = 0; sig = 0; pendKept = 0; passes = 0; worked = 0;
    do :: i<NS -> ss[i] = IDLE; sp[i] = IDLE; i++ :: else -> break od; i = 0 };
  if
  :: V!=0 && V==committed -> retire()
  :: else ->
     x = 1;
     do
     :: x<=NB ->
        if
        :: ring[x]==FRESH && word==x -> word = prev[x]; CRASH
        :: un[x]!=0 -> d_step { prev[un[x]] = x; un[x] = 0 }; CRASH
        :: else -> skip
        fi; skip;
        d_step { keep[x] = 0; if :: ring[x]==FRESH -> ring[x] = LIMBO; stamp[x] = committed+1 :: else fi }; x++
     :: else -> break
     od; x = 0; V = 0; tick(); CRASH
  fi;
  goto idle;

last:                                  /* everybody is at its end: three passes of gc find everything */
  if
  :: passes>1 || (passes==1 && lastSig==-1) -> passes--; goto gc
  :: else -> skip
  fi;
  d_step { x = 1; do :: x<=NB -> assert(ring[x]==NONE); x++ :: else -> break od }
}
