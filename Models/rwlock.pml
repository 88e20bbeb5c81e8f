/* The rwlock variant: readers and the barrier exclude each other, and any of them may be killed anywhere.
 *
 * glibc's rwlocks are used only through tryrdlock, trywrlock and unlock, and nobody ever unlocks for the dead:
 * an instance that the dead may hold is left behind by moving the table to the next *generation*, whose instance
 * is fresh. The protocol, as it is to be coded; a label names the place in the code that belongs to it.
 *
 * In ctl, all atomic; sequentially consistent unless something else is said:
 *   W             robust process-shared mutex
 *   generation    from 1; its instance is instances[generation % 8]; stored only by the owner of W
 *   abandoned     newest generation that the dead may hold; 0 at first; only ever raised (CAS)
 *   drained       no living reader is inside any generation but this one; 1 at first; stored by the owner of W
 *   writerWaiting slot + 1 of the writer that waits or runs, or 0; stored by the owner of W
 *   hint          1: some reader may have raised its slot.wait
 *   readersEvent, ownerEvent   futex words: += 1, then wake all
 *   slot.rw       0 = IDLE, else generation << 2 | (1 = INTENT, 2 = HELD)
 *   slot.wait     0, or (wseq >> 1) + 1 as it was when this reader began to wait
 *   slot.mutex    robust; its thread holds it for life
 * At creation: generation 1, drained 1, all else 0, instance 1 initialised. A thread claims its slot (mutex) before.
 * (The model counts generations from 0 and abandoned from 1.)
 * In data: wseq, odd from before the first change to after the last, or after the repair. wseq >> 1 counts barriers.
 *
 * stale() = wseq odd or abandoned >= generation.   passes() = writerWaiting == 0
 *           or (slot.wait != 0 and slot.wait - 1 < wseq >> 1)    // a barrier ended since this reader began to wait
 * Every wait below: about 2,000 tries of its condition with a pause between; then, until the caller's deadline:
 *   e = acq(event); condition again; its slow step, if it has one; futexWait(event, e, min(20 ms, what is left)).
 *   A wake-up may be lost; that costs 20 ms. The slow step is what finds the dead.
 *
 * enterRead(deadline)                                              PAIR rw-intent
 *   the thread is inside this table already (own record, by uuid): depth += 1; return      // asks no flag, no lock
 *   again:
 *     g = generation
 *     not passes():                            goto slow
 *     xchg(slot.rw, g << 2 | INTENT)                                 // a full fence: the load below must not overtake it
 *     generation != g:                         slot.rw = 0; ownerEvent += 1, wake; goto slow    PAIR rw-generation
 *     tryrdlock(instances[g % 8]) not 0:       slot.rw = 0; goto slow             // EBUSY, EAGAIN, EDEADLK alike
 *     generation != g or wseq odd:             unlock(that instance); slot.rw = 0; goto slow
 *     slot.rw = rel(g << 2 | HELD)
 *     if slot.wait != 0: slot.wait = 0; if writerWaiting != 0: ownerEvent += 1, wake         // rw-polite waits for it
 *     note in the thread's own record: g, depth 1; return
 *   slow:                                                            // slot.rw is 0: never sleep with an INTENT
 *     if slot.wait == 0: slot.wait = (acq(wseq) >> 1) + 1; hint = 1  // in this order
 *     spins left: pause; goto again
 *     slow step (before the first sleep and every 20 ms):
 *       r = trylock(W)
 *       EBUSY: nothing.   0 or EOWNERDEAD: inherit(r); if stale(): recover(deadline); unlockW()
 *     past the deadline, or recover timed out (after unlockW): slot.wait = 0; throw timeout, naming writerWaiting's slot
 *     wait on readersEvent; goto again
 *
 * leaveRead()
 *   depth -= 1; more left: return
 *   unlock(instances[g % 8]), then slot.rw = rel(0)                  // in this order; g from the thread's own record
 *   if writerWaiting != 0 or generation != g: ownerEvent += 1, wake
 *
 * write(deadline, body)
 *   the thread is inside this table already: throw wouldDeadlock
 *   r = W by trylock, then by pthread_mutex_clocklock(CLOCK_MONOTONIC, deadline); timeout: throw
 *   inherit(r)
 *   if stale(): recover(deadline)                                    // timeout: goto leave
 *   writerWaiting = own slot + 1
 *   if hint != 0:                                                    PAIR rw-polite
 *     hint = 0                                                       // before the scan
 *     each slot s: wait until s.wait == 0 or s.wait - 1 >= wseq >> 1; slow step: probe(s)
 *       if s.wait != 0 (it waits for us, not for the last): hint = 1
 *     a wait here is also given up after 20 ms (that reader is stopped): its stamp is marked, which later writers pass
 *     over as if it were 0; go on. Fairness, not safety.
 *   loop:                                                            PAIR rw-exclusive
 *     trywrlock(instances[generation % 8]) == 0: break
 *     abandoned >= generation: fresh(deadline); break                // timeout: goto lower
 *     slow step: probe(s) for each slot with s.rw >> 2 == generation
 *     past the deadline: goto lower (the error names a slot with s.rw >> 2 == generation)
 *     wait on ownerEvent
 *   if drained != generation: drain(deadline)                        // timeout: unlock the instance; goto lower
 *   wseq += 1; body, journaled; on a throw undo; retiring and freeing too; wseq = rel(wseq + 1)
 *   unlock(instances[generation % 8])                                // before W: else a kill between leaves it locked
 *   lower: writerWaiting = 0
 *   leave: unlockW(); readersEvent += 1, wake if hint != 0
 *
 * inherit(r)      // stored at once, so that a timeout or a second death cannot lose what EOWNERDEAD told
 *   r == EOWNERDEAD: raise(abandoned, generation); writerWaiting = 0; hint = 1
 * unlockW()       // on every path out, errors too
 *   r was EOWNERDEAD: pthread_mutex_consistent(W);   pthread_mutex_unlock(W)
 *
 * recover(deadline)                                                PAIR rw-recover
 *   fresh(deadline)                                                  // timeout: throw
 *   if wseq odd:
 *     drain(deadline)                        // timeout: throw, and the instance STAYS write-locked: whoever comes
 *     repair (journal)                       //   next finds wseq odd and takes another
 *     wseq = rel(wseq + 1)
 *   unlock(instances[generation % 8]); readersEvent += 1, wake
 *
 * fresh(deadline)                                                  PAIR rw-fresh
 *   c = the first of generation+1 ... generation+7 whose index c % 8 no slot names: for each slot s with s.rw != 0
 *       and (s.rw >> 2) % 8 == c % 8: probe(s), and if s.rw still names the index, c is not free
 *   none free: wait on ownerEvent, from the beginning; past the deadline throw
 *   zero the bytes of instances[c % 8]; pthread_rwlock_init, process-shared; trywrlock (cannot fail)
 *   xchg(generation, c)                                              // last; a full fence: drain's loads come after
 *
 * drain(deadline)                                                  PAIR rw-drain
 *   each slot s: wait on ownerEvent until s.rw == 0 or s.rw >> 2 == generation; slow step: probe(s)
 *   drained = generation
 *
 * probe(s)
 *   trylock(s.mutex)   EBUSY: it lives (or is being reaped).   0: nobody's slot: unlock
 *                      EOWNERDEAD: reap(s); consistent; unlock; ownerEvent += 1, wake
 * reap(s)         // also by a new thread that claims the slot (and then keeps the mutex)   PAIR rw-reap
 *   s.rw != 0: raise(abandoned, s.rw >> 2);   then s.rw = 0, then s.wait = 0 (and the slot's other fields)
 * raise(word, v)  // CAS until word >= v; never a plain store
 *
 * INTENT and HELD mean the same to the protocol (may hold); HELD is for people and for errors that name the holder.
 *
 * Checked: no reader inside while x or y changes, x == y for every reader; no process touches an instance that was
 * initialised for another generation; everyone alive comes to its end after any deaths (no invalid end state);
 * at most one barrier begins after a reader has raised slot.wait and hint and before it is in; at most one entry
 * of each reader while a writer waits. A kill comes between any two shared steps, in recovery and reaping too;
 * the kernel's marks (slot, W) come one by one, in either order. A wait is a guard here: it is left when a try could
 * succeed or, -DTIMEOUTS times in all, by giving up.
 *
 * Not modelled: the inside of glibc's try calls and unlock (atomic: a kill finds them done or not), the futexes,
 * memory weaker than sequential consistency but for -DPLAININTENT, the 20 ms bound of rw-polite, nesting (it does
 * nothing shared), more than 3 instances, wrapping counters, a stopped (not dead) process other than by timeout.
 *
 * Start later, to see rarer things: -DOLDREADER (generation 1 has come while reader 0 was in generation 0),
 * -DOLDDEAD (the thread of slot 0 died in generation 0 and nobody noticed); -DCLAIM adds a thread that claims slot 0.
 *
 * Injected bugs, each of which must be found: UNLOCKDEADR, UNLOCKDEADW (unlock for the dead), REUSE (an instance a living
 * slot names), NOPRE (no look at generation before tryrdlock), NOINTENT (slot marked after tryrdlock), PLAININTENT
 * (the load of generation overtakes the INTENT), NODRAIN, DRAINONCE (a drain that timed out is forgotten), BUMPFIRST
 * (generation before the write lock), FLAGSTAYS (writerWaiting of the dead), FORGETDEAD (EOWNERDEAD not stored),
 * LOSTDEAD (reaping does not raise abandoned), ABSTORE (raise is a plain store), IDLEFIRST (slot.rw = 0 before unlock),
 * WFIRST (W before the instance), NOREADERW (readers never try W), NOPOLITE, NOPASS, HINTLATE, NOFLAG.
 * Second defences: alone, each may be missing (ok), together they may not: the look at generation after tryrdlock
 * (NOPOST) stands behind the fence of INTENT (PLAININTENT); the look at wseq (NOWSEQ) behind "stays write-locked"
 * (UNLOCKODD).
 *
 * -DFOREVER adds the writer's liveness against readers that never stop (LTL, weak fairness):
 *   spin -a -DFOREVER rwlock.pml && gcc -O2 -DCOLLAPSE -DNFAIR=3 -o pan pan.c && ./pan -a -f
 */
#ifndef NR
#define NR 2            /* reader slots (at most 3) */
#endif
#ifndef NW
#define NW 1            /* writers */
#endif
#ifndef NI
#define NI 2            /* rwlock instances; the code has 8: fewer make reuse come sooner */
#endif
#ifndef READS
#define READS 1
#endif
#ifndef WRITES
#define WRITES 1
#endif
#ifdef FOREVER          /* readers never stop: the writer must still get in (LTL, weak fairness) */
#define LOOP
ltl writerGetsIn { <> (over[NR]) }
#endif
#ifdef LOOP
#define STEP 0
#else
#define STEP 1
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 0
#endif
#ifdef CLAIM
#define NC 1            /* one new thread that claims slot 0 when its thread has died */
#else
#define NC 0
#endif
#define NP (NR+NW+NC)

#define IDLE 0
#define INTENT 1
#define HELD 2
#define FREE 0          /* states of a slot's robust mutex */
#define BUSY 1
#define OWNERDEAD 2

/* what lies in ctl */
byte gen = 0;           /* generation */
byte abandoned = 0;     /* newest generation that the dead may hold, plus 1 */
byte drained = 0;       /* no living reader is inside any generation but this one */
byte wseq = 0;
byte flag = 0;          /* writerWaiting: slot + 1 */
bool hint = 0;          /* some reader may have raised its wait stamp */
bool wr[NI];            /* the instances: write-locked, */
byte rd[NI];            /* ... read-locked so many times */
byte rws[NR], rwg[NR];  /* slot.rw: state and generation, one word */
byte stamp[NR];         /* slot.wait: barriers ended when it began to wait, plus 1 */
byte sm[NR];            /* slot's robust mutex */
byte wown = 0;          /* W: owner + 1 */
bool wdead = 0;         /* W: next owner gets EOWNERDEAD */
bool x = 0, y = 0;      /* the data: equal, unless half-written */
bool journal = 0, jold = 0;

/* ghosts: the checker's, not the protocol's */
byte igen[NI];          /* generation for which the instance was last initialised */
byte inside = 0;        /* living readers in their sections */
byte begun = 0;         /* barriers begun */
byte passed = 100;      /* readers that entered while a writer waits; 100 = none waits */
byte begunAt[NR];       /* ... when the reader raised its stamp */
byte crashes = CRASHES, touts = TIMEOUTS;
bool kill[NP], over[NP];

#define IDX(g)    ((g) % NI)
#define ODD       (wseq & 1)
#define ENDED     (wseq >> 1)
#define NAMES(i,g) (rws[i] != IDLE && IDX(rwg[i]) == IDX(g))
#define LIVES(i)  (sm[i] == BUSY)
#define STALE     (ODD || abandoned > gen)      /* recovery is due */

#define USES(i,g) (NAMES(i,g) && LIVES(i))
#define DEADIN(i) (rws[i] != IDLE && rwg[i] == gen && sm[i] == OWNERDEAD)
#if NR == 1
#define USED(g)   USES(0,g)
#define DEADHERE  DEADIN(0)
#elif NR == 2
#define USED(g)   (USES(0,g) || USES(1,g))
#define DEADHERE  (DEADIN(0) || DEADIN(1))
#else
#define USED(g)   (USES(0,g) || USES(1,g) || USES(2,g))
#define DEADHERE  (DEADIN(0) || DEADIN(1) || DEADIN(2))
#endif
#if NI == 2
#define NONEFREE  USED(gen+1)
#else
#define NONEFREE  (USED(gen+1) && USED(gen+2))
#endif

#define TIMEOUT(when) atomic { touts > 0 && (when) -> touts--; out = 1 }

/* a reader whose wait began before the last barrier ended passes the flag */
#define OLD(i)    (stamp[i] != 0 && stamp[i] - 1 < ENDED)
#if defined(NOFLAG)
#define PASSES(i) true
#elif defined(NOPASS)
#define PASSES(i) (flag == 0)
#else
#define PASSES(i) (flag == 0 || OLD(i))
#endif

/* PAIR rw-reap: the mutex of a dead thread's slot is ours now */
inline reap(s) {
#ifndef LOSTDEAD
  if
  :: atomic { rws[s] != IDLE ->
#ifdef ABSTORE
       abandoned = rwg[s] + 1
#else
       if :: abandoned < rwg[s] + 1 -> abandoned = rwg[s] + 1 :: else fi
#endif
     }
  :: atomic { rws[s] == IDLE -> skip }
  fi;
#endif
  atomic { rws[s] = IDLE; rwg[s] = 0 }
  atomic { stamp[s] = 0; begunAt[s] = 0 }
}
inline probed(s) {                    /* trylock said EOWNERDEAD */
  reap(s);
#ifdef UNLOCKDEADR
  atomic { assert(rd[IDX(gen)] > 0); rd[IDX(gen)]-- }
#endif
  atomic { sm[s] = FREE; mine = 0 }   /* consistent, unlock */
}
#define TAKE(s) sm[s] = BUSY; mine = s + 1

/* PAIR rw-fresh: W is ours. Ends with the fresh instance write-locked by us and published, or out */
inline fresh() {
  atomic { c = gen + 1; i = 0 }
#ifdef REUSE
  i = NR;
#endif
  do
  :: atomic { i < NR && !NAMES(i,c) -> i++ }
  :: atomic { i < NR && NAMES(i,c) && sm[i] == OWNERDEAD -> TAKE(i) } probed(i)
  :: atomic { i < NR && USES(i,c) -> c++; i = 0;
       if :: IDX(c) == IDX(gen) -> i = NR + 1 :: else fi }
  :: atomic { i == NR + 1 && !NONEFREE -> c = gen + 1; i = 0 }      /* none free: wait, look again */
  :: TIMEOUT(i == NR + 1) break
  :: atomic { i == NR -> rd[IDX(c)] = 0; wr[IDX(c)] = 0; igen[IDX(c)] = c; i = 0 }
#ifdef BUMPFIRST
     gen = c;
#endif
     atomic { assert(rd[IDX(c)] == 0); wr[IDX(c)] = 1 }
#ifndef BUMPFIRST
     gen = c;
#endif
     break
  od;
  atomic { c = 0; i = 0 }
}

/* PAIR rw-drain: the instance of gen is write-locked by us */
inline drain() {
#ifndef NODRAIN
  do
  :: atomic { i < NR && (rws[i] == IDLE || rwg[i] == gen) -> i++ }
  :: atomic { i < NR && rws[i] != IDLE && rwg[i] != gen && sm[i] == OWNERDEAD -> TAKE(i) } probed(i)
  :: TIMEOUT(i < NR) break
  :: i == NR -> break
  od;
#endif
  atomic { i = 0; if :: !out -> drained = gen :: else fi }
}

/* WITNESS=n: that a recoverer dies in step n and another one recovers after it must be *found*: it shows that such deaths
 * are tried at all. */
#ifdef WITNESS
byte stage[NP]; bool diedThere;
#define AT(n) stage[me] = n;
#define RECOVERED ; atomic { assert(!diedThere); stage[me] = 0 }
#define DIED if :: stage[me] == WITNESS -> diedThere = 1 :: else fi; stage[me] = 0;
#else
#define AT(n)
#define RECOVERED
#define DIED
#endif

/* PAIR rw-recover: W is ours and something is STALE */
inline recover() {
  AT(1)
#ifndef UNLOCKDEADW
  fresh();
#else
  atomic { assert(wr[IDX(gen)]); wr[IDX(gen)] = 0 }
#endif
  if
  :: atomic { out -> skip }
  :: atomic { !out && ODD -> skip }
     AT(2)
     drain();
     if
     :: atomic { out ->
#ifdef UNLOCKODD
          wr[IDX(gen)] = 0
#else
          skip                        /* stays write-locked: no one may enter before the repair */
#endif
        }
     :: atomic { !out -> skip }
        if
        :: atomic { journal -> assert(inside == 0); x = jold }
           AT(3) y = jold; AT(4) journal = 0
        :: atomic { !journal -> skip }
        fi;
        AT(5)
        wseq++;
        AT(6)
        wr[IDX(gen)] = 0
     fi
  :: atomic { !out && !ODD -> wr[IDX(gen)] = 0 }
  fi
  RECOVERED
}

/* what EOWNERDEAD tells is stored at once: a later timeout must not lose it */
inline inherit() {
  if
  :: atomic { wdead ->
#ifndef FORGETDEAD
       if :: abandoned < gen + 1 -> abandoned = gen + 1 :: else fi
#endif
     }
#ifndef FLAGSTAYS
     atomic { flag = 0; passed = 100 }
#endif
     hint = 1
  :: atomic { !wdead -> skip }
  fi
}
#ifdef FORGETDEAD
#define DUE (STALE || wdead)
#else
#define DUE STALE
#endif
inline unlockW() { atomic { assert(wown == me + 1); wdead = 0; wown = 0 } }

/* the kernel's part of a death: marks what the thread held, one mutex after the other, in either order */
inline markslots() {
  atomic { skip; if :: slotted -> sm[s] = OWNERDEAD; slotted = 0 :: else fi;
           if :: mine != 0 -> sm[mine-1] = OWNERDEAD; mine = 0 :: else fi }
}
inline markW() { atomic { skip; if :: wown == me + 1 -> wown = 0; wdead = 1 :: else fi } }
inline die() {
  atomic { DIED inside = inside - inme; inme = 0; g = 0; k = 0; c = 0; i = 0; n = 0; ok = 0; out = 0; a = 0; over[me] = 1;
           if :: wown != me + 1 || (mine == 0 && !slotted) -> markslots(); markW(); goto dead :: else fi }
  if :: markslots(); markW() :: markW(); markslots() fi
}

proctype reader(byte me; byte s) {
  byte g, k, c, i, n, mine; bool ok, out, inme, a, slotted = (me < NR);
  {
#ifdef CLAIM
    if
    :: atomic { me >= NR -> skip }    /* a new thread: claims the slot, is its owner from then on */
endc:  atomic { sm[s] != BUSY -> ok = (sm[s] == OWNERDEAD); TAKE(s) }
       if :: atomic { ok -> skip } reap(s) :: atomic { !ok -> skip } fi;
       atomic { mine = 0; slotted = 1; ok = 0 }
    :: atomic { me < NR -> skip }
    fi;
#endif
#ifdef OLDREADER
    if
    :: atomic { me == 0 -> inme = 1; inside++ } goto section       /* long in its section */
    :: atomic { me == 0 -> rws[0] = IDLE; rd[0] = 0; goto intent }                      /* stopped just before its INTENT */
    :: atomic { me != 0 -> skip }
    fi;
#endif
    do
    :: atomic { n == READS -> n = 0; over[me] = 1; break }
    :: atomic { n < READS ->
again: /* PAIR rw-intent */
         g = gen; k = IDX(g) }
       atomic { if :: !PASSES(s) -> goto slow :: else fi }
intent:
#ifdef PLAININTENT                   /* a plain store: the load of gen overtakes it */
       atomic { if :: gen != g -> goto back :: else fi }
#endif
#ifndef NOINTENT
       atomic { rws[s] = INTENT; rwg[s] = g }
#endif
       /* PAIR rw-generation */
#if !defined(NOPRE) && !defined(PLAININTENT)
       atomic { if :: gen != g -> goto back :: else fi }
#endif
       atomic { assert(igen[k] == g);
         if :: wr[k] -> goto back :: else -> rd[k]++ fi }
#ifndef NOPOST
       atomic { if :: gen != g -> goto release :: else fi }
#endif
#ifndef NOWSEQ
       atomic { if :: ODD -> goto release :: else fi }
#endif
       atomic { rws[s] = HELD; rwg[s] = g; inme = 1; inside++;
         if :: passed < 100 -> passed++; assert(passed <= NR) :: else fi;
         if :: stamp[s] != 0 -> assert(begun - begunAt[s] <= 1) :: else fi }
       atomic { stamp[s] = 0; begunAt[s] = 0 }
section:
       a = x;
       atomic { assert(a == y); inside--; inme = 0; a = 0 }
#ifdef IDLEFIRST
       atomic { rws[s] = IDLE; rwg[s] = 0 }
#endif
       atomic { assert(igen[k] == g && rd[k] > 0); rd[k]-- }
       atomic { rws[s] = IDLE; rwg[s] = 0; g = 0; k = 0; n = n + STEP; goto next }
release:
       atomic { assert(igen[k] == g && rd[k] > 0); rd[k]-- }
back:  atomic { rws[s] = IDLE; rwg[s] = 0 }
slow:  atomic { g = 0; k = 0; if :: stamp[s] != 0 -> goto wait :: else -> c = ENDED fi }
       stamp[s] = c + 1;
       atomic { hint = 1; begunAt[s] = begun; c = 0 }
wait:  if                             /* whatever could let us in or make us useful */
       :: atomic { PASSES(s) && !wr[IDX(gen)] && !ODD -> goto again }
#ifndef NOREADERW
       :: atomic { wown == 0 && (wdead || STALE) -> wown = me + 1 }
          inherit();
          if
          :: atomic { DUE -> skip } recover()
          :: atomic { !DUE -> skip }
          fi;
          atomic { assert(wown == me + 1); wdead = 0; wown = 0; if :: !out -> goto again :: else fi }
          atomic { stamp[s] = 0; begunAt[s] = 0; n = READS; out = 0; goto next }
#endif
       :: TIMEOUT(1) atomic { stamp[s] = 0; begunAt[s] = 0; n = READS; out = 0; goto next }
       fi;
next:  skip
    od
  } unless { atomic { kill[me] -> kill[me] = 0 }; die() };
dead: skip
}

proctype writer(byte me) {
  byte g, k, c, i, n, mine, s; bool ok, out, inme, a, slotted;
  {
    do
    :: atomic { n == WRITES || out -> n = 0; out = 0; over[me] = 1; break }
    :: atomic { n < WRITES && !out && wown == 0 -> wown = me + 1 }
       inherit();
       if
       :: atomic { DUE -> skip } recover();
          atomic { if :: out -> goto leave :: else fi }
       :: atomic { !DUE -> skip }
       fi;
       atomic { flag = me + 1; passed = 0 }
#ifndef NOPOLITE
       /* PAIR rw-polite: who waited when the last barrier ended goes first */
       if
#ifdef HINTLATE
       :: atomic { hint -> skip }
#else
       :: atomic { hint -> hint = 0 }
#endif
          do
          :: atomic { i < NR && stamp[i] == 0 -> i++ }
          :: atomic { i < NR && stamp[i] != 0 && !OLD(i) -> hint = 1; i++ }
          :: atomic { i < NR && OLD(i) && sm[i] == OWNERDEAD -> TAKE(i) } probed(i)
          :: TIMEOUT(i < NR) break
          :: i == NR -> break
          od;
#ifdef HINTLATE
          hint = 0;
#endif
          atomic { i = 0; if :: out -> hint = 1 :: else fi }
          atomic { if :: out -> goto lower :: else fi }
       :: atomic { !hint -> skip }
       fi;
#endif
       /* PAIR rw-exclusive */
       do
       :: atomic { rd[IDX(gen)] == 0 && !wr[IDX(gen)] -> wr[IDX(gen)] = 1; break }
       :: atomic { abandoned > gen -> skip } fresh(); break
       :: DEADHERE ->
          do
          :: atomic { i < NR && !DEADIN(i) -> i++ }
          :: atomic { i < NR && DEADIN(i) -> TAKE(i) } probed(i)
          :: i == NR -> i = 0; break
          od
       :: TIMEOUT(1) break
       od;
       atomic { passed = 100; if :: out -> goto lower :: else fi }
#ifdef DRAINONCE
       if :: atomic { abandoned == gen && drained != gen -> drained = gen } drain() :: else fi;
#else
       if :: atomic { drained != gen -> skip } drain() :: atomic { drained == gen -> skip } fi;
#endif
       atomic { if :: out -> wr[IDX(gen)] = 0; goto lower :: else fi }
       atomic { begun++; wseq++ }
       jold = x;
       journal = 1;
       atomic { assert(inside == 0); x = 1 - x }
       atomic { assert(inside == 0); y = 1 - y }
       journal = 0;
       wseq++;
       n++;
#ifdef WFIRST
       atomic { flag = 0; passed = 100 }
       unlockW();
       wr[IDX(gen)] = 0;
       goto done;
#else
       wr[IDX(gen)] = 0;
#endif
lower: atomic { flag = 0; passed = 100 }
leave: unlockW();
done:  skip
    :: TIMEOUT(n < WRITES && !out)
    od
  } unless { atomic { kill[me] -> kill[me] = 0 }; die() };
dead: skip
}

proctype killer() {
  byte i;
end: do
  :: atomic { crashes > 0 -> crashes--; i = 0;
       do :: break :: i < NP - 1 -> i++ od;
       if :: !over[i] -> kill[i] = 1 :: else fi; i = 0 }
  :: crashes == 0 -> break
  od
}

init {
  byte i;
  atomic {
    i = 0; do :: i < NR -> sm[i] = BUSY; i++ :: else -> break od; i = 0;
#ifdef OLDREADER                      /* start later: generation 1, reader 0 still about generation 0 */
    gen = 1; abandoned = 1; igen[1] = 1; rws[0] = HELD; rd[0] = 1;
#endif
#ifdef OLDDEAD                        /* start later: generation 1, the thread of slot 0 died in generation 0 */
    gen = 1; abandoned = 1; igen[1] = 1; rws[0] = HELD; rd[0] = 1; sm[0] = OWNERDEAD; over[0] = 1; i = 1;
#endif
    do :: i < NR -> run reader(i, i); i++ :: else -> break od;
    do :: i < NR + NW -> run writer(i); i++ :: else -> break od;
#ifdef CLAIM
    run reader(i, 0);
#endif
    run killer(); i = 0
  }
}
