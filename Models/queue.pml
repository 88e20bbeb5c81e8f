/* queue.pml (PAIR queue-gate): a barrier queue's gate and order (Sources/SharedTable/Queues), inside one process.
 *
 * READERS readers, each on a stripe of its own, come ROUNDS times; BARRIERS threads bring one barrier each. A reader that
 * finds the gate closed submits itself under the lock and waits for its turn, or (JOINS) belongs to an outer section and
 * goes away again. A barrier may give up while it waits (QUITS). Counting, looking at the gate, closing it and looking at
 * each stripe are steps of their own; what else happens under the lock is read by nobody else.
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

bool gate;              /* what readers look at */
byte count[READERS];    /* the stripes */
bool lock;              /* the queue's; below is under it */
chan waiting = [N] of { byte, byte };
bool turn[N];
bool isGateClosed, isBarrierOn;
byte reads, barriers;
byte inside, alone;     /* for the assertions */
byte atEnd;

inline acquire() { atomic { !lock -> lock = true } }
inline release() { lock = false }

/* SubmissionOrder.proceed */
inline proceed() {
  do
  :: isBarrierOn || empty(waiting) -> break
  :: else ->
       waiting ? <kind, who>;
       if
       :: kind == READ -> waiting ? kind, who; reads++; turn[who] = true
       :: else -> admitBarrier()
       fi
  od;
  if
  :: barriers == 0 && isGateClosed -> isGateClosed = false; gate = false
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
  :: isFree -> waiting ? kind, who; isBarrierOn = true; turn[who] = true
  :: else -> break
  fi;
  stripe = 0
}

inline section() { inside++; assert(alone == 0); inside-- }

proctype reader(byte me) {
  byte round, kind, who, stripe;
  bool isFree, closed;
  do
  :: round == ROUNDS -> break
  :: round < ROUNDS ->
#ifdef ENTER_LATE
       closed = gate; count[me]++;
#else
       count[me]++; closed = gate;
#endif
       if
       :: !closed ->
            section();
#ifdef LEAVE_LATE
            closed = gate; count[me]--;
#else
            count[me]--; closed = gate;
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

proctype bringer(byte me) {
  byte kind, who, stripe;
  bool isFree;
  acquire();
  barriers++;
#ifdef CLOSE_LATE
  waiting ! BARRIER, me;
  proceed();
  if :: !isGateClosed && barriers > 0 -> isGateClosed = true; gate = true :: else fi;
#else
  if :: !isGateClosed -> isGateClosed = true; gate = true :: else fi;
  waiting ! BARRIER, me;
  proceed();
#endif
  release();
  if
  :: turn[me] -> turn[me] = false;
     alone++;
     assert(alone == 1 && inside == 0);
     alone--;
     acquire(); isBarrierOn = false; barriers--; proceed(); release()
#ifdef QUITS
  :: acquire();
     if
     :: turn[me] -> turn[me] = false; isBarrierOn = false; barriers--; proceed()
     :: else ->
          waiting ?? BARRIER, eval(me);
          barriers--;
          proceed()
     fi;
     release()
#endif
  fi;
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
  assert(!gate && !isGateClosed && !isBarrierOn && reads == 0 && barriers == 0 && empty(waiting));
  i = 0;
  do
  :: i < READERS -> assert(count[i] == 0); i++
  :: i == READERS -> break
  od
}
