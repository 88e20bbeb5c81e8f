/* slots.pml: claiming, leaving and clearing slots, while threads die anywhere and the reclaimer scans.
 *
 * Two slots, USERS threads that claim the first slot they get, announce themselves, read, leave; each may die at any step,
 * in the middle of claiming too: the robust mutex tells the next. One owner of W, who replaces the block that `word`
 * names, scans and frees, and clears the slots of the dead on the way; it may die there too. Threads' stores pass a TSO
 * store buffer. What a slot says of the rwlock (rw) is held for ever by the dead: `abandoned` must say so before the
 * slot forgets it.
 *
 * Parameters: USERS, GETS (of each; PINNED: sections; MARKS: or a stay in the rwlock), MAXV versions, DEATHS (of threads), CRASHES (of the owner of W).
 * Every other -D is an injected bug or a thing shown to be harmless; see README.md.
 */
#ifndef USERS
#define USERS 2
#endif
#ifndef GETS
#define GETS 1
#endif
#ifndef MAXV
#define MAXV 2
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#define NS   2
#define NB   (MAXV+1)
#define IDLE 255
#define PEND 64
#define NOSLOT 9

/* a slot's robust mutex */
#define FREE 0
#define BUSY 1
#define DEAD 2

byte committed = 1, word = 1;
bool used[NB+1];
byte snapOf[NS] = IDLE, pinOf[NS] = IDLE, mutexOf[NS];
bool rwOf[NS], abandoned, light;
byte highWater;
chan sb[USERS] = [3] of { byte, byte };  /* {3*slot: snapshot, 3*slot+1: pin, 3*slot+2: rw; value} */
/* ghosts */
bool doomed[USERS], over[USERS], heldByDead[NS];

#define SNAP 0
#define PIN  1
#define RW   2
#define STORE(t,s,which,v) sb[t]!3*(s)+(which),v
#define LOCKED(t) empty(sb[t])
inline drainOne(t) { sb[t]?a,v; if :: a%3==SNAP -> snapOf[a/3] = v :: a%3==PIN -> pinOf[a/3] = v :: else -> rwOf[a/3] = v fi; a = 0; v = 0 }

proctype storeBuffers() { byte a, v, t;
end: do :: atomic { nempty(sb[0]) -> drainOne(0) }
#if USERS > 1
        :: atomic { nempty(sb[1]) -> drainOne(1) }
#endif
     od }

/* PAIR rw-reap: the mark first, then the slot forgets it */
#ifdef RESET_FIRST
#define NOTED skip
#define NOTED_LATE if :: rw -> abandoned = 1 :: else -> skip fi; rw = 0
#elif defined(LOST_MARK)
#define NOTED skip
#define NOTED_LATE skip
#else
#define NOTED if :: rwOf[s] -> abandoned = 1 :: else -> skip fi
#define NOTED_LATE skip
#endif

proctype user(byte me) {
  byte s = NOSLOT, i, e, S, n = GETS; bool rw;
  {
    /* PAIR light-flag: before the first light read; sequentially consistent */
#ifndef FLAG_LATE
    atomic { LOCKED(me) -> light = 1 }
#endif
    /* claim: the first slot that can be had */
    do
    :: atomic { i<NS && mutexOf[i]==FREE -> mutexOf[i] = BUSY; s = i; break }
    :: atomic { i<NS && mutexOf[i]==DEAD -> mutexOf[i] = BUSY; s = i }
#ifdef RESET_FIRST
       rw = rwOf[s]; STORE(me,s,RW,0); LOCKED(me);
#endif
       NOTED; NOTED_LATE;
       break
    :: i<NS && mutexOf[i]==BUSY -> i++
    :: i==NS -> goto leave            /* slotsExhausted */
    od;
#ifndef NO_RESET
    STORE(me,s,SNAP,IDLE); STORE(me,s,PIN,IDLE); STORE(me,s,RW,0);
#endif
    /* PAIR slots-high-water: a compare-and-swap, before anything is announced */
#ifndef HIGH_WATER_LATE
    atomic { LOCKED(me) -> if :: highWater<s+1 -> highWater = s+1 :: else fi }
#endif
    atomic { LOCKED(me) -> assert(snapOf[s]==IDLE && pinOf[s]==IDLE && !rwOf[s]);   /* inherits nothing */
             assert(!heldByDead[s] || abandoned); heldByDead[s] = 0 }
    do
    :: n>0 -> n--;
#ifdef PINNED
       e = committed; STORE(me,s,PIN,e);                         /* a section: pin as well */
#endif
       e = committed; STORE(me,s,SNAP,PEND+e);                   /* PAIR heavy-light */
       S = committed; e = word;                                  /* PAIR pend-committed, PAIR publish-entry */
#ifdef HIGH_WATER_LATE
       highWater = (s+1>highWater -> s+1 : highWater);
#endif
       atomic { assert(used[e]); S = 0 }
       assert(used[e]);
#ifdef FLAG_LATE
       light = 1;
#endif
       STORE(me,s,SNAP,IDLE); e = 0                              /* PAIR slot-scan */
#ifdef PINNED
       ; STORE(me,s,PIN,IDLE)
#endif
#ifdef MARKS
    :: n>0 -> n--;                                               /* the rwlock variant: INTENT, an exchange; inside; idle */
       atomic { LOCKED(me) -> rwOf[s] = 1 }
       STORE(me,s,RW,0)
#endif
    :: n==0 -> break
    od;
    STORE(me,s,SNAP,IDLE); STORE(me,s,PIN,IDLE); STORE(me,s,RW,0);
    atomic { LOCKED(me) -> mutexOf[s] = FREE; s = NOSLOT };
leave:
    atomic { over[me] = 1; i = 0; s = NOSLOT }
  } unless { atomic { doomed[me] && empty(sb[me]) -> doomed[me] = 0; over[me] = 1;
      if :: s!=NOSLOT && mutexOf[s]==BUSY -> mutexOf[s] = DEAD; if :: rwOf[s] -> heldByDead[s] = 1 :: else fi :: else fi;
      s = NOSLOT; i = 0; e = 0; S = 0; n = 0; rw = 0 } }
}

proctype killer() {
  byte i, deaths = DEATHS;
end: do
  :: atomic { deaths>0 -> deaths--; i = 0; do :: break :: i<USERS-1 -> i++ od;
       if :: !over[i] -> doomed[i] = 1 :: else fi; i = 0 }
  :: deaths==0 -> break
  od
}

/* the owner of W dies while it clears a slot: the mutex is a dead owner's again */
#define CRASH if :: crashes>0 -> crashes--; if :: mine -> mutexOf[s] = DEAD; mine = 0 :: else -> skip fi; goto again :: true fi

inline HEAVY() {
  d_step { t = 0; do :: t<USERS -> do :: nempty(sb[t]) -> drainOne(t) :: empty(sb[t]) -> break od; t++ :: else -> break od; t = 0 }
}

active proctype owner() {
  byte a, v, t, s, C, m, hw, old, ss, sp, crashes = CRASHES; bool rw, mine, f;
  atomic { used[1] = 1; run storeBuffers();
    s = 0; do :: s<USERS -> run user(s); s++ :: else -> break od; s = 0;
#if DEATHS > 0
    run killer();
#endif
    skip }
  do
  :: committed<MAXV ->
#ifdef FLAG_EARLY                       /* looked at before the unlink */
     f = light;
#endif
#ifdef HIGH_WATER_EARLY
     hw = highWater;
#endif
     atomic { old = word; used[committed+1] = 1 }
     word = committed+1;               /* PAIR publish-entry */
     committed = committed+1;          /* PAIR pend-committed */
again:
     m = committed;
     C = committed;
#ifndef FLAG_EARLY
     f = light;                        /* PAIR light-flag: after C and a fence */
#endif
     if :: f -> HEAVY() :: else -> skip fi; f = 0;               /* PAIR heavy-light: C before HEAVY, slots after (I2) */
#ifndef HIGH_WATER_EARLY
     hw = highWater;                   /* PAIR slots-high-water */
#endif
     s = 0;
     do
     :: s<hw -> ss = snapOf[s]; sp = pinOf[s];                   /* PAIR slot-scan */
        if
#ifdef CLEAR_UNLOCKED
        :: (ss!=IDLE || sp!=IDLE) && mutexOf[s]!=BUSY -> NOTED; snapOf[s] = IDLE; pinOf[s] = IDLE; ss = IDLE; sp = IDLE
#else
        :: atomic { (ss!=IDLE || sp!=IDLE) && mutexOf[s]!=BUSY -> mine = 1; rw = (mutexOf[s]==DEAD); mutexOf[s] = BUSY }
           CRASH;
           if :: rw -> NOTED; CRASH :: else -> skip fi; rw = 0;
           snapOf[s] = IDLE; CRASH; pinOf[s] = IDLE; CRASH; rwOf[s] = 0; CRASH;
           atomic { assert(!heldByDead[s] || abandoned); heldByDead[s] = 0; mutexOf[s] = FREE; mine = 0; ss = IDLE; sp = IDLE }
#endif
        :: else -> skip
        fi;
        if :: ss!=IDLE && ss-PEND<m -> m = ss-PEND :: else -> skip fi;
        if :: sp<m -> m = sp :: else -> skip fi;
        ss = 0; sp = 0; s++
     :: else -> break
     od; s = 0;
     if :: C<m -> m = C :: else -> skip fi;
     if :: old!=0 && old<m -> used[old] = 0 :: else -> skip fi;  /* its stamp is old+1 */
     C = 0; m = 0; hw = 0; old = 0
  :: committed==MAXV -> break
  od
}
