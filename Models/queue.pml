/* queue.pml (PAIR queue-gate): a barrier queue's gate and order (Sources/SharedTable/Queues), inside one process.
 *
 * READERS readers, each on a stripe of its own, come ROUNDS times; BARRIERS threads bring one barrier each. A reader that
 * finds the gate closed submits itself under the lock and waits for its turn, or (AWAITS) is submitted there whatever the order says, or
 * (JOINS) belongs to an outer section and goes away again. A barrier enters by the gate if the order knows of nobody; one that finds a reader inside then leaves again. Else it
 * submits itself under the lock, and may give up while it waits (QUITS). Counting, looking at the gate, closing it, looking at each
 * stripe and each change of the gate's word are steps of their own; what else happens under the lock is read by nobody else. Who takes
 * the lock first takes the gate over, and with it a barrier that has entered there.
 *
 * Asserted: barriers run alone; at the end nobody waits (an invalid end state is a submission whose turn never came),
 * nothing is counted and the gate is open.
 * A store that passes a later load of the same thread, as a missing sequentially consistent order would let it, is that
 * load done first: ENTER_LATE, LEAVE_LATE, CLOSE_LATE. Every -D but the parameters is an injected bug; see README.md.
 */
#ifndef READERS
#define READERS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef BARRIERS
#define BARRIERS 2
#endif
#define N (READERS+BARRIERS)
#define READ 1
#define BARRIER 2

/* the gate's word */
#define FREE 0
#define ENTERED 1       /* by a barrier that the order knows nothing of */
#define CLOSED 2
#define ORDERED 4       /* to barriers, not to reads */
#define SHUTS (ENTERED|CLOSED)

byte gate;              /* what readers and entering barriers look at */
byte count[READERS];    /* the stripes */
bool lock;              /* the queue's; below is under it */
chan waiting = [N] of { byte, byte };
bool turn[N];
bool isGateClosed, isGateOrdered, isTurnOfBarrier;
byte reads, barriers;
byte inside, alone;     /* for the assertions */
byte atEnd;

/* The first step under it is takeOverGate. */
inline acquire() {
  atomic { !lock -> lock = true };
  if
  :: isGateClosed || isGateOrdered
  :: else ->
       atomic { hasEntered = (gate == ENTERED); gate = gate + ORDERED };
#ifdef NOT_TAKEN_OVER
       hasEntered = false;
#endif
       if
       :: hasEntered -> isGateClosed = true; gate = CLOSED; barriers++; isTurnOfBarrier = true
       :: else -> isGateOrdered = true
       fi;
       hasEntered = false
  fi
}
/* giveGateBack */
inline release() {
  if
#ifdef READS_LET_BARRIERS_IN
  :: isGateOrdered && empty(waiting) -> isGateOrdered = false; gate = FREE
#else
  :: isGateOrdered && reads == 0 && empty(waiting) -> isGateOrdered = false; gate = FREE
#endif
  :: else
  fi;
  lock = false
}

/* SubmissionOrder.proceed */
inline proceed() {
  do
  :: isTurnOfBarrier || empty(waiting) -> break
  :: else ->
       waiting ? <kind, who>;
       if
       :: kind == READ -> waiting ? kind, who; reads++; turn[who] = true
       :: else -> admitBarrier()
       fi
  od;
  if
  :: barriers == 0 && isGateClosed -> isGateClosed = false; isGateOrdered = true; gate = ORDERED
  :: else
  fi
}

/* The head is a barrier. */
inline admitBarrier() {
  isFree = (reads == 0);
  stripe = 0;
#ifndef GATE_UNWATCHED
  do
  :: !isFree || stripe == READERS -> break
  :: isFree && stripe < READERS -> isFree = (count[stripe] == 0); stripe++
  od;
#endif
  if
  :: isFree -> waiting ? kind, who; isTurnOfBarrier = true; turn[who] = true
  :: else -> break
  fi;
  stripe = 0
}

inline section() { inside++; assert(alone == 0); inside-- }

proctype reader(byte me) {
  byte round, kind, who, stripe;
  bool isFree, closed, hasEntered;
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
#ifdef ENTER_LATE
       closed = (gate & SHUTS) != 0; count[me]++;
#else
       count[me]++; closed = (gate & SHUTS) != 0;
#endif
       if
       :: !closed ->
            section();
#ifdef LEAVE_LATE
            closed = (gate & SHUTS) != 0; count[me]--;
#else
            count[me]--; closed = (gate & SHUTS) != 0;
#endif
#ifndef LEAVE_UNSEEN
            if
            :: closed -> acquire(); proceed(); release()
            :: else
            fi
#endif
       :: else ->
            count[me]--;
            if
            :: acquire();
               if
               :: barriers == 0 -> reads++; release()
               :: else ->
                    waiting ! READ, me;
#ifndef TURNED_BACK_UNSEEN
                    proceed();
#endif
                    release();
                    turn[me] -> turn[me] = false
               fi;
               section();
               acquire(); reads--; proceed(); release()
#ifdef AWAITS
            /* an awaited read, which is submitted whatever the order says */
            :: acquire();
               waiting ! READ, me;
#ifdef AWAITED_UNSEEN
               if :: len(waiting) == 1 && !isTurnOfBarrier -> proceed() :: else fi;
#else
               if :: !isTurnOfBarrier -> proceed() :: else fi;
#endif
               release();
               turn[me] -> turn[me] = false;
               section();
               acquire(); reads--; proceed(); release()
#endif
#ifdef JOINS
            :: acquire();
#ifndef TURNED_BACK_UNSEEN
               proceed();
#endif
               release()
#endif
            fi
       fi;
       closed = false; kind = 0; who = 0; isFree = false;
       round++
  od;
  atEnd++
}

inline barrierSection() {
  alone++;
  assert(alone == 1 && inside == 0);
  alone--
}

/* Is any reader counted? */
inline lookAtStripes() {
  isFree = true;
  stripe = 0;
  do
  :: !isFree || stripe == READERS -> break
  :: isFree && stripe < READERS -> isFree = (count[stripe] == 0); stripe++
  od;
  stripe = 0
}

inline leave() {
  atomic { hasEntered = (gate == ENTERED); if :: hasEntered -> gate = FREE :: else fi };
#ifdef LEAVES_BLINDLY
  if :: !hasEntered -> gate = FREE; hasEntered = true :: else fi;
#endif
  if
  :: hasEntered -> hasEntered = false
  :: else -> acquire(); isTurnOfBarrier = false; barriers--; proceed(); release()
  fi
}

proctype bringer(byte me) {
  byte kind, who, stripe;
  bool isFree, hasEntered;
#ifdef ENTER_BY_GATE_LATE
  lookAtStripes();
  atomic { hasEntered = (gate == FREE); if :: hasEntered -> gate = ENTERED :: else fi };
#else
  atomic { hasEntered = (gate == FREE); if :: hasEntered -> gate = ENTERED :: else fi };
  if :: hasEntered -> lookAtStripes() :: else fi;
#endif
  if
  :: hasEntered ->
       hasEntered = false;
       if
       :: isFree -> barrierSection(); leave(); goto done
       :: else -> leave()
       fi
  :: else
  fi;
  isFree = false;
  acquire();
  barriers++;
#ifdef CLOSE_LATE
  waiting ! BARRIER, me;
  proceed();
  if :: !isGateClosed && barriers > 0 -> isGateClosed = true; isGateOrdered = false; gate = CLOSED :: else fi;
#else
  if :: !isGateClosed -> isGateClosed = true; isGateOrdered = false; gate = CLOSED :: else fi;
  waiting ! BARRIER, me;
  /* behind others, or a barrier, it changes nothing for anybody */
  if :: len(waiting) == 1 && !isTurnOfBarrier -> proceed() :: else fi;
#endif
  release();
  if
  :: turn[me] -> turn[me] = false;
     barrierSection();
     leave()
#ifdef QUITS
  :: acquire();
     if
     :: turn[me] -> turn[me] = false; isTurnOfBarrier = false; barriers--; proceed()
     :: else ->
          waiting ?? BARRIER, eval(me);
          barriers--;
          proceed()
     fi;
     release()
#endif
  fi;
done:
  atEnd++
}

init {
  byte i;
  atomic {
    do
    :: i < READERS -> run reader(i); i++
    :: i >= READERS && i < N -> run bringer(i); i++
    :: i == N -> break
    od
  }
  atEnd == N;
  assert(gate == FREE && !isGateClosed && !isGateOrdered && !isTurnOfBarrier && reads == 0 && barriers == 0 && empty(waiting));
  i = 0;
  do
  :: i < READERS -> assert(count[i] == 0); i++
  :: i == READERS -> break
  od
}
