/* transaction.pml: the journaled transaction, gc, the free pass and recovery, beside readers with slots.
 *
 * One writer role: it dies (CRASH) between any two of its stores, also inside retire(), undo(), the free pass
 * and recovery, and the next owner of W starts at `recover`. What lies in shared memory survives; what is a
 * register is wiped there. *data* and the slots are global. *ctl* is local to the writer process, which is the
 * same thing because only the owner of W looks at it, and which lets Spin's partial order reduction skip
 * interleavings that no reader can see.
 *
 * Readers' stores to their slots pass a TSO store buffer; HEAVY (membarrier) empties all buffers; LIGHT is nothing.
 *
 * Block b holds an entry {ver, prev, tomb} or, with SPLIT, a sub-table whose one bucket word is prev[b].
 * Parameters: NB blocks, NK keys, MAXV versions begun, OPS operations a transaction, CRASHES, ABORTS,
 *   GETS (0: no get-reader), WALKS (0: no snapshot reader), PINNED (snapshot reader is a zero-copy `read {}`),
 *   ROLLBACKS (0: no savepoints), DELETES, SPLIT, MOVES (entries are moved to other blocks), INBARRIER (free pass inside an open
 *   barrier), RECYCLE (a put takes the block of the oldest superseded version), SB (depth of a store buffer).
 * Every other -D is an injected bug; see README.md.
 */
#ifndef NB
#define NB 4
#endif
#ifndef NK
#define NK 1
#endif
#ifndef MAXV
#define MAXV 4
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
#ifndef ROLLBACKS
#define ROLLBACKS 0
#endif
#ifndef GETS
#define GETS 1
#endif
#ifndef WALKS
#define WALKS 1
#endif
#ifndef SB
#define SB 2
#endif

#define NR    2                        /* slots: 0 the get-reader, 1 the snapshot reader */
#define IDLE  255
#define PEND  64                       /* PEND + e */
#define NONE  255
#define NJ    (2*NB+2)                 /* journal records */
#define NV    (MAXV+CRASHES+2)         /* versions, with the ticks of recoveries */
#define EXP(k,v) expv[(k)*NV+(v)]

/* ---- data ---- */
byte committed = 1;
bool used[NB+1];                       /* the allocator's bits (they lie in ctl; here because readers assert on them) */
byte ver[NB+1], prev[NB+1]; bool tomb[NB+1];
byte keyOf[NB+1];                      /* which key an entry is of: it holds the key itself */
#ifdef SPLIT
byte dir[2];                           /* two directory words of one prefix */
#define WORD(k) prev[dir[0]]
#else
byte word[NK];
#define WORD(k) word[k]
#endif
/* ---- slots ---- */
byte snapOf[NR] = IDLE, pinOf[NR] = IDLE;
chan sb[NR] = [SB] of { byte, byte };  /* {0 snap, 1 pin; value} */
/* ---- ghost: the version of key k's value in version v of the table; 0 absent ---- */
byte expv[NK*NV];

#define BUFFERED(r,which,val) sb[r]!which,val

inline apply(r) { sb[r]?w,v; if :: w==0 -> snapOf[r]=v :: else -> pinOf[r]=v fi; w=0; v=0 }

proctype storeBuffers() { byte w,v;
end: do :: atomic { nempty(sb[0]) -> apply(0) } :: atomic { nempty(sb[1]) -> apply(1) } od }

/* ---- readers ---- */

/* Find key k at snapshot S, touch the entry twice (find, copy out). A touched block must be in use. */
inline walk(S,k,d) {
#ifdef SPLIT
  t = dir[d];
  atomic { assert(used[t]); cur = prev[t]; t = 0 };
#else
  cur = word[k];
#endif
  do
  :: atomic { cur==0 -> assert(EXP(k,S)==0) } break
  :: atomic { cur!=0 -> assert(used[cur]);                     /* never touches a free block */
       if
       :: ver[cur]<=S -> seen = ver[cur]; assert((tomb[cur] -> 0 : seen) == EXP(k,S)); goto copy   /* the version S should see */
       :: else -> cur = prev[cur]
       fi }
  od; goto done;
copy: atomic { assert(used[cur] && ver[cur]==seen); cur = 0; seen = 0 };
done: skip }

#if GETS > 0
proctype getter() { byte e,S,cur,seen,k,n=GETS; byte t;
  do
  :: n>0 -> n--;
     e = committed; BUFFERED(0,0,PEND+e);                      /* PAIR heavy-light, PAIR pend-committed */
#ifdef NORELOAD
     S = e;
#else
     S = committed;
#endif
     e = 0;
#if NK > 1
     if :: k = 0 :: k = 1 fi;
#endif
     walk(S,k,0); BUFFERED(0,0,IDLE); S = 0; k = 0
  :: else -> break
  od }
#endif

#if WALKS > 0
proctype snapshotReader() { byte e,S,cur,seen,k,n=WALKS; byte t;
  e = committed;
#ifdef PINNED
  BUFFERED(1,1,e);
#endif
#ifdef NOPEND
  BUFFERED(1,0,e); S = committed;                              /* announces e, uses S >= e */
#else
  BUFFERED(1,0,PEND+e); S = committed;
  BUFFERED(1,0,S);
#endif
  e = 0;
  do
  :: n>0 -> n--;
#ifndef PINNED
#ifndef NOPIN
     e = committed; BUFFERED(1,1,e); e = 0;                    /* an operation of a long-lived snapshot */
#endif
#endif
#if NK > 1
     if :: k = 0 :: k = 1 fi;
#endif
     walk(S,k,1); k = 0;
#ifndef PINNED
#ifndef NOPIN
     BUFFERED(1,1,IDLE)
#else
     skip
#endif
#endif
  :: else -> break
  od;
  BUFFERED(1,0,IDLE);
#ifdef PINNED
  BUFFERED(1,1,IDLE);
#endif
  S = 0 }
#endif

/* ---- the owner of W ---- */

#define CRASH if :: crashes>0 -> crashes--; goto recover :: true fi

/* records */
#define ALLOC  1                       /* a: block */
#define ALLOCT 2                       /* a: block (a tombstone) */
#define PUT    3                       /* a: place, b: old word; supersedes */
#define PUTNS  4                       /* the same, supersedes nothing (gc) */
#define RETIRE 5                       /* a: block */
#define KEEP   6                       /* a: entry */
#define FILL   7                       /* b: old directory word */
#define VOID   8                       /* was rolled back */
#define DISCARD 9                      /* a: block; its allocation was rolled back */

inline HEAVY() {
#ifdef NOMB
  skip
#else
  d_step { q = 0; do :: q<NR -> do :: nempty(sb[q]) -> sb[q]?w,v; if :: w==0 -> snapOf[q]=v :: else -> pinOf[q]=v fi :: empty(sb[q]) -> break od; q++
           :: else -> break od; q = 0; w = 0; v = 0 }
#endif
}

inline scan() {                        /* PAIR heavy-light, PAIR slot-scan: one slot word at a time; C before HEAVY, slots after (I2) */
  C = committed; HEAVY();
#if GETS > 0
  ss[0] = snapOf[0];                     /* a get-reader has no pin */
#endif
#if WALKS > 0
  ss[1] = snapOf[1]; sp[1] = pinOf[1]
#else
  skip
#endif
}
inline forget() { d_step { ss[0]=IDLE; ss[1]=IDLE; sp[0]=IDLE; sp[1]=IDLE; C=0; m=0 } }

/* ORDER begin-count */
inline begin() {
  jver = committed+1; CRASH;
#ifdef NOTAILS
  skip;
#else
  jlt = ltail; CRASH; jst = stail; CRASH; jrt = rtail; CRASH;
#endif
#ifndef STALE_HEADS
  jsh = shead; CRASH; jrh = rhead; CRASH
#else
  skip
#endif
}

/* ORDER record-count-effect */
#ifdef COUNT_AFTER_EFFECT
#define COUNT
#define LATECOUNT count++; CRASH;
#define COUNTBOTH
#define LATECOUNTBOTH count = count+2; CRASH;
#elif defined(COUNT_BEFORE_RECORD)
#define COUNT
#define LATECOUNT
#define COUNTBOTH
#define LATECOUNTBOTH
#else
#define COUNT count++; CRASH;
#define LATECOUNT
#define COUNTBOTH count = count+2; CRASH;
#define LATECOUNTBOTH
#endif
/* A key's change: the block that is taken for it, and the word that will lead there. Both count by one store */
#ifdef COUNT_BEFORE_RECORD
#define RECORDCHANGE(t,x,p,o) count = count+2; CRASH; d_step { jt[count-2]=t; ja[count-2]=x; jt[count-1]=PUT; ja[count-1]=p; jb[count-1]=o }; CRASH;
#else
#define RECORDCHANGE(t,x,p,o) d_step { jt[count]=t; ja[count]=x; jt[count+1]=PUT; ja[count+1]=p; jb[count+1]=o }; CRASH; COUNTBOTH
#endif
#ifdef COUNT_BEFORE_RECORD
#define RECORD(t,x,y) count++; CRASH; d_step { jt[count-1]=t; ja[count-1]=x; jb[count-1]=y }; CRASH;
#else
#define RECORD(t,x,y) d_step { jt[count]=t; ja[count]=x; jb[count]=y }; CRASH; COUNT
#endif

/* PAIR publish-entry, PAIR chain-prev, PAIR publish-directory. Places: 1..NB the prev of a block, NB+1+k the word of key k */
#ifdef SPLIT
#define PLACE(k) dir[0]
inline setPlace(p,x) { prev[p] = x }
#else
#define PLACE(k) (NB+1+(k))
inline setPlace(p,x) { if :: p>NB -> word[p-NB-1] = x :: else -> prev[p] = x fi }
#endif

inline pickFree() { d_step { b = 1; do :: b<=NB && used[b] -> b++ :: else -> break od } }

inline pushLimbo(x) {
#ifdef NOTICK
  d_step { limbo[lt] = x; stamp[lt] = jver-1; lt++ }; CRASH
#else
  d_step { limbo[lt] = x; stamp[lt] = jver; lt++ }; CRASH
#endif
}

#ifdef DELETES
#define ISTOMB(p) (tomb[sup[p]] && !settled[p])
#define FRESH(p) settled[p] = 0
#define COPY(p,o) settled[p] = settled[o]
#else
#define ISTOMB(p) false
#define FRESH(p) skip
#define COPY(p,o) skip
#endif

/* ORDER commit-retire-empty. After committed = journal.version: idempotent, from the saved tails */
inline retire() {
#ifdef RETIRE_TAIL_NOT_RESET
  lt = ltail; st = stail; rt = rtail; i = 0; b = 0;
#else
  lt = jlt; st = jst; rt = jrt; i = 0; b = 0;
#endif
  do
  :: i<count ->
     if
     :: jt[i]==ALLOCT -> b = ja[i]
     :: jt[i]==PUT ->
        if
#ifdef TOMB_TWICE
        :: jb[i]!=0 -> d_step { sup[st] = jb[i]; supst[st] = jver; FRESH(st); st++ }; CRASH
#else
        :: jb[i]!=0 && !tomb[jb[i]] -> d_step { sup[st] = jb[i]; supst[st] = jver; FRESH(st); st++ }; CRASH
#endif
        :: else -> skip
        fi;
        if
        :: b!=0 -> d_step { sup[st] = b; supst[st] = jver; FRESH(st); st++; b = 0 }; CRASH
        :: else -> skip
        fi
     :: jt[i]==RETIRE -> pushLimbo(ja[i])
     :: jt[i]==KEEP -> d_step { ret[rt] = ja[i]; retst[rt] = jb[i]; rt++ }; CRASH
#ifndef DISCARD_FORGOTTEN
     :: jt[i]==DISCARD -> pushLimbo(ja[i])
#endif
     :: else -> skip
     fi; i++
  :: else -> break
  od;
  ltail = lt; CRASH; stail = st; CRASH; rtail = rt; CRASH; shead = jsh; CRASH; rhead = jrh; CRASH;
  lt = 0; st = 0; rt = 0; i = 0; b = 0 }

/* ORDER undo-empty-tick. Before any tick: idempotent, from the saved tails */
inline undo(freeing) {
#ifndef UNDO_TAIL_NOT_RESET
  ltail = jlt; CRASH;
#endif
  stail = jst; CRASH; rtail = jrt; CRASH;
  lt = ltail; i = count;
  do
  :: i>0 -> i--;
#ifdef UNDO_FORWARD
     i = count-1-i;
#endif
     if
     :: jt[i]==ALLOC || jt[i]==ALLOCT || jt[i]==DISCARD ->
        if
        :: freeing -> clear(ja[i]); CRASH
        :: else ->
#ifndef ALLOC_NO_SET
           used[ja[i]] = 1; CRASH;
#endif
           pushLimbo(ja[i]);
#ifdef UNDO_TAIL_NOT_RESET
           ltail = lt; CRASH
#endif
        fi
     :: jt[i]==PUT || jt[i]==PUTNS -> setPlace(ja[i],jb[i]); CRASH
#ifdef SPLIT
     :: jt[i]==FILL -> dir[0] = jb[i]; CRASH; dir[1] = jb[i]; CRASH
#endif
     :: else -> skip
     fi
#ifdef UNDO_FORWARD
     ; i = count-1-i
#endif
  :: else -> break
  od;
  ltail = lt; CRASH; lt = 0 }

#if ROLLBACKS > 0
inline restore() {
  if
  :: jt[i]==PUT -> setPlace(ja[i],jb[i]); CRASH
#ifdef SPLIT
  :: jt[i]==FILL -> dir[0] = jb[i]; CRASH; dir[1] = jb[i]; CRASH
#endif
  :: else -> skip
  fi }

/* One store: the record's first word. A void record's fields are wiped so that equal states look equal */
inline turn() {
  if
#ifdef ROLLBACK_FREES
  :: jt[i]==ALLOC || jt[i]==ALLOCT || jt[i]==DISCARD -> clear(ja[i]); CRASH; d_step { jt[i] = VOID; ja[i] = 0 }
#else
  :: jt[i]==ALLOC || jt[i]==ALLOCT || jt[i]==DISCARD -> jt[i] = DISCARD
#endif
#ifdef RETIRE_STAYS
  :: jt[i]==RETIRE -> skip
#endif
  :: else -> d_step { jt[i] = VOID; ja[i] = 0; jb[i] = 0 }
  fi; CRASH }

/* ORDER restore-convert. To the savepoint, in the open transaction */
inline rollBack() {
  i = count;
#ifdef ROLLBACK_OLDEST_FIRST
  do :: i>sv -> i--; restore() :: else -> break od;
  do :: i<count -> turn(); i++ :: else -> break od;
  skip;
#elif defined(TURN_FIRST)
  do
  :: i>sv -> i--; d_step { w = jt[i]; m = ja[i]; q = jb[i] }; turn();
     if
     :: w==PUT -> setPlace(m,q); CRASH
#ifdef SPLIT
     :: w==FILL -> dir[0] = q; CRASH; dir[1] = q; CRASH
#endif
     :: else -> skip
     fi
  :: else -> break
  od; skip; d_step { w = 0; m = 0; q = 0 };
#else
  do :: i>sv -> i--; restore(); turn() :: else -> break od;
  skip;
#endif
  d_step { k = 0; do :: k<NK -> pending[k] = marked[k]; k++ :: else -> break od; k = 0; i = 0 } }
#endif

inline tick(to) { d_step { q = 0; do :: q<NK -> EXP(q,to) = EXP(q,committed); pending[q] = EXP(q,committed); q++ :: else -> break od; q = 0; committed = to } }
/* PAIR pend-committed */
inline publish() { d_step { q = 0; do :: q<NK -> EXP(q,jver) = pending[q]; q++ :: else -> break od; q = 0; committed = jver } }

/* a cleared bit; the contents are wiped so that equal states look equal */
inline clear(x) { d_step { used[x] = 0; ver[x] = 0; prev[x] = 0; tomb[x] = 0; keyOf[x] = 0 } }

/* ORDER freeend-bits-head */
inline freeBlocks() {
  i = lhead;
  do :: i<freeEnd -> clear(limbo[i]); CRASH; i++ :: else -> break od;
  lhead = freeEnd; CRASH; i = 0 }

/* ORDER cut-free. Superseded versions, freed where they hang: no reader, now or later, follows `prev` of an entry of
   version <= F. The record stays what it is until the head has moved: a crash on the way frees the same blocks again. */
inline freeInPlace() {
  d_step {
    m = C; i = 0;
#ifdef INPLACE_NO_C
    m = IDLE-1;
#endif
    do
    :: i<NR ->
#ifndef INPLACE_NO_PEND
       if :: ss[i]!=IDLE && ss[i]>=PEND && ss[i]-PEND<m -> m = ss[i]-PEND :: else fi;
#endif
#ifndef INPLACE_NO_SNAPSHOT
       if :: ss[i]<PEND && ss[i]<m -> m = ss[i] :: else fi;
#endif
       i++
    :: else -> break
    od; i = 0 };
#ifndef F_LATE
  if :: m>F -> F = m; CRASH :: else -> skip fi;
#endif
  d_step {
#ifdef F_LATE
    x = (m>F -> m : F);
#else
    x = F;
#endif
    do :: i<NR -> if :: sp[i]<x -> x = sp[i] :: else fi; i++ :: else -> break od; i = 0;
    m = x; x = shead;
    do :: x<stail && supst[x]<=m && !ISTOMB(x) -> x++ :: else -> break od };
#ifdef RECYCLE
  if :: m>R -> R = m; CRASH :: else -> skip fi;
#endif
  if
#ifdef RECYCLE
  :: true -> skip                      /* left for puts to take */
#endif
#ifdef INPLACE_NO_FREEEND
  :: x>shead -> i = shead; do :: i<x -> clear(sup[i]); CRASH; i++ :: else -> break od; i = 0; sfree = x; shead = x; CRASH; jsh = shead; CRASH
#else
  :: x>shead -> sfree = x; CRASH; freeSuperseded();
#ifndef SAVED_HEAD_STALE
     jsh = shead; CRASH               /* an open transaction must not put the head back when it commits */
#endif
#endif
  :: else -> skip
  fi;
#ifdef F_LATE
  if :: C>F -> F = m; CRASH :: else -> skip fi;
#endif
  x = 0; m = 0 }

inline freeSuperseded() {
  i = shead;
  do :: i<sfree -> clear(sup[i]); CRASH; i++ :: else -> break od;
  shead = sfree; CRASH; i = 0 }

/* everything with a stamp <= min(C, live pins, PENDs) is free */
inline freePass() { scan(); freeInPlace(); freeScanned(); forget() }
inline freeScanned() {
  d_step {
    m = C; i = 0;
#ifdef FREE_NO_C
    m = IDLE;
#endif
    do
    :: i<NR ->
#ifndef FREE_NO_PEND
       if :: ss[i]!=IDLE && ss[i]>=PEND && ss[i]-PEND<m -> m = ss[i]-PEND :: else fi;
#endif
#ifndef FREE_NO_PIN
       if :: sp[i]<m -> m = sp[i] :: else fi;
#endif
       i++
    :: else -> break
    od;
    i = lhead; do :: i<ltail && stamp[i]<=m -> i++ :: else -> break od; x = i; i = 0 };
  if
#ifdef FREE_BEFORE_FREEEND
  :: x>lhead -> i = lhead; do :: i<x -> clear(limbo[i]); CRASH; i++ :: else -> break od; freeEnd = x; CRASH; lhead = x; CRASH; i = 0
#elif defined(FREE_NO_FREEEND)
  :: x>lhead -> i = lhead; do :: i<x -> clear(limbo[i]); CRASH; i++ :: else -> break od; lhead = x; freeEnd = x; CRASH; i = 0
#else
  :: x>lhead -> freeEnd = x; CRASH; freeBlocks()
#endif
  :: else -> skip
  fi; x = 0 }

/* who keeps x, whose next newer version is nx (0: x is the head of its chain, so a tombstone) */
inline judge() { d_step {
  need = 0; i = 0;
#ifdef TOMB_WITH_OLDER
  if :: true ->
#else
  if :: nx==0 -> need = (prev[x]!=0 && ver[x]>F)   /* invisible, once nothing older hangs behind it that anybody follows */
     :: else ->
#endif
     do
     :: i<NR ->
        if
        :: ss[i]==IDLE -> skip
#ifndef NEED_NO_PEND
        :: ss[i]!=IDLE && ss[i]>=PEND && (nx==0 || ver[nx]>ss[i]-PEND) -> need = 1
#endif
#ifndef NEED_NO_SNAPSHOT
        :: ss[i]<PEND && ver[x]<=ss[i] && (nx==0 || ss[i]<ver[nx]) -> need = 1
#endif
        :: else -> skip
        fi; i++
     :: else -> break
     od
  fi; i = 0 } }

/* From the newest version down. What lies behind an entry of version <= F is nobody's way any more, and may be gone: cut */
inline findNewer() { d_step {
  k = keyOf[x]; nx = 0; c = WORD(k);
  do
  :: c!=0 && c!=x -> nx = c;
     if :: ver[c]<=F && prev[c]!=x -> c = 0 :: else -> assert(used[c] && m<=NB); c = prev[c]; m++ fi
  :: else -> break
  od;
  passed = (c!=x); c = 0; m = 0 } }

/* y: the version that superseded x; for a tombstone's own record its own version */
inline unlinkOrKeep(y) {
  passed = 0;
  if
  :: !tomb[x] && y<=F -> passed = 1    /* nobody follows what leads to it: nothing to unlink */
  :: else -> findNewer(); assert(!passed || tomb[x])    /* I7: what a ring names hangs in its chain, or is cut off */
  fi;
  if
  :: passed -> RECORD(RETIRE,x,0) LATECOUNT skip
  :: else -> judge();
     if
     :: need -> RECORD(KEEP,x,y) LATECOUNT skip
     :: else ->
        if
        :: nx==0 -> RECORD(PUTNS,PLACE(k),x) setPlace(PLACE(k),0); CRASH; LATECOUNT
#ifdef UNLINK_DANGLING
        :: nx!=0 -> RECORD(PUTNS,nx,x) prev[nx] = prev[x]; CRASH; LATECOUNT
#else
        :: nx!=0 -> RECORD(PUTNS,nx,x) prev[nx] = (ver[x]<=F -> 0 : prev[x]); CRASH; LATECOUNT
#endif
        fi;
        RECORD(RETIRE,x,0) LATECOUNT skip
     fi
  fi; d_step { need = 0; nx = 0; k = 0; passed = 0 } }

#ifdef DELETES
/* Tombstones that every reader, now or later, is at or above: the word of one at the head of its chain leads
   nowhere from now on, in no version and without a journal. Who came by that word before announced a version up to C, so the block
   waits for the one after it. One that was superseded waits for what superseded it, as any version. */
inline settle() {
  p = shead;
  do
  :: p<stail -> x = sup[p];
     if
#ifdef SETTLE_ANY
     :: ISTOMB(p) ->
#else
     :: ISTOMB(p) && supst[p]<=F ->
#endif
        passed = 0; findNewer();
#ifdef SETTLE_BEFORE_WORD
        if :: !passed && nx==0 -> d_step { supst[p] = C+1; settled[p] = 1 }; CRASH :: else -> skip fi;
#endif
        if                             /* the record's new stamp, and that it is settled, are one store */
        :: !passed && nx!=0 ->
#ifdef SETTLE_SUPERSEDED_EARLY
           skip
#else
           supst[p] = ver[nx]
#endif
        :: else ->
           if :: !passed -> setPlace(PLACE(k),0); CRASH :: else -> skip fi;
#ifdef SETTLE_STAMP_C
           supst[p] = C
#else
           supst[p] = C+1
#endif
        fi;
        settled[p] = 1; CRASH; d_step { nx = 0; k = 0; passed = 0 }
     :: else -> skip
     fi; x = 0; p++
  :: else -> break
  od; p = 0 }
#else
#define settle() skip
#endif

/* I6, I7 and what the newest version says; and ring positions back to 0, stale cells wiped: equal states look equal */
inline quiescent() { d_step {
  assert(count==0 && lhead==freeEnd && sfree<=shead);
  i = 1;
  do
  :: i<=NB -> x = 0; b = 0; nx = 0;    /* x: reachable, b: in limbo, nx: in superseded or retained; need: should be there */
     need = 0;
#ifdef SPLIT
     assert(dir[0]==dir[1]);
     if :: dir[0]==i -> x++ :: else fi;
#endif
     k = 0;
     do
     :: k<NK -> c = WORD(k); m = 0;
        do
        :: c!=0 -> if :: c==i -> x++; need = (c!=WORD(k) || tomb[c]) :: else fi; c = (ver[c]<=F -> 0 : prev[c]); m++;
           assert(m<=NB)               /* a chain that leads in circles */
        :: else -> break
        od; k++; m = 0
     :: else -> break
     od;
     q = lhead; do :: q<ltail -> if :: limbo[q]==i -> b++ :: else fi; q++ :: else -> break od;
     q = shead; do :: q<stail -> if :: sup[q]==i -> nx++ :: else fi; q++ :: else -> break od;
     q = rhead; do :: q<rtail -> if :: ret[q]==i -> nx++ :: else fi; q++ :: else -> break od;
     /* I6: each block in use is in one place, a free one in none; I7: what is superseded is named once, and what is named is
        superseded or cut off */
     assert(x>0 -> nx==need : nx<=1);
     assert(x+b+((x==0) -> nx : 0)==used[i]);
     i++
  :: else -> break
  od;
  k = 0;
  do :: k<NK -> c = WORD(k); assert(c==0 || ver[c]<=committed);                                   /* I4 */
        assert(((c==0 || tomb[c]) -> 0 : ver[c]) == EXP(k,committed)); k++ :: else -> break od;   /* G2 */
  /* normal form */
  i = 0; do :: i<2*NB -> if :: lhead+i<ltail -> limbo[i] = limbo[lhead+i]; stamp[i] = stamp[lhead+i] :: else -> limbo[i] = 0; stamp[i] = 0 fi; i++ :: else -> break od;
  ltail = ltail-lhead; lhead = 0; freeEnd = 0;
  i = 0; do :: i<NB+1 -> if :: shead+i<stail -> sup[i] = sup[shead+i]; supst[i] = supst[shead+i]; COPY(i,shead+i) :: else -> sup[i] = 0; supst[i] = 0; FRESH(i) fi; i++ :: else -> break od;
  stail = stail-shead; shead = 0; sfree = 0;
  i = 0; do :: i<2*NB -> if :: rhead+i<rtail -> ret[i] = ret[rhead+i]; retst[i] = retst[rhead+i] :: else -> ret[i] = 0; retst[i] = 0 fi; i++ :: else -> break od;
  rtail = rtail-rhead; rhead = 0;
#ifndef COUNT_BEFORE_RECORD
  i = 0; do :: i<NJ -> jt[i] = 0; ja[i] = 0; jb[i] = 0; i++ :: else -> break od;
#endif
#ifndef STALE_HEADS
  jsh = 0; jrh = 0; jlt = 0; jst = 0; jrt = 0;
#endif
  /* jver keeps its value: recovery compares it */
  i = 0; x = 0; b = 0; nx = 0; k = 0; c = 0; q = 0; need = 0 } }

active proctype owner() {
  /* ctl: the journal */
  byte count, jver, jlt, jst, jrt, jsh, jrh;
  byte jt[NJ], ja[NJ], jb[NJ];
  /* ctl: the rings */
  byte limbo[2*NB+1], stamp[2*NB+1], lhead, freeEnd, ltail;
  byte sup[NB+2], supst[NB+2], shead, sfree, stail;
#ifdef DELETES
  bool settled[NB+2];                  /* a tombstone's record that is freed in place like any other */
#endif
  byte ret[2*NB+1], retst[2*NB+1], rhead, rtail;
  byte F;                              /* `prev` of an entry of this version or an older one leads nowhere */
#ifdef RECYCLE
  byte R;                              /* superseded versions of this stamp or an older one may be freed, or taken */
#endif
  /* registers */
  byte i, x, nx, b, c, k, m, C, lt, st, rt, q, w, v, ops, p;
  bool need, passed;
  byte ss[NR] = IDLE, sp[NR] = IDLE;
#if ROLLBACKS > 0
  byte sv = NONE, rollbacks = ROLLBACKS, marked[NK];   /* the savepoint, and the ghost's values at it */
#endif
  /* ghost */
  byte crashes = CRASHES, aborts = ABORTS, pending[NK];

  atomic {                             /* key 0 has version 1 */
    used[1] = 1; ver[1] = 1; EXP(0,1) = 1; pending[0] = 1;
#ifdef SPLIT
    used[2] = 1; prev[2] = 1; dir[0] = 2; dir[1] = 2;
#else
    word[0] = 1;
#endif
#if GETS + WALKS > 0
    run storeBuffers();
#endif
#if GETS > 0
    run getter();
#endif
#if WALKS > 0
    run snapshotReader()
#else
    skip
#endif
  }
idle:
  skip;
  quiescent();
  do
  :: committed<MAXV -> goto transaction
  :: committed<MAXV && (stail>0 || rtail>0) -> goto gc
  :: ltail>0 || stail>0 -> scan(); freeInPlace(); settle(); freeScanned(); forget(); goto idle
#ifdef MOVES
  :: committed<MAXV -> goto move
#endif
  :: goto finished
  od;

transaction:
  begin(); ops = OPS; passed = 0;
  do
  :: ops>0 -> ops--;
#if NK > 1
     if :: k = 0 :: k = 1 fi;
#endif
again: skip;
     pickFree();
     if
     :: b>NB ->                        /* no room: a free pass, once, or the operation throws */
#ifdef INBARRIER
        if :: !passed -> b = 0; passed = 1; freePass(); goto again :: else -> break fi
#else
        break
#endif
#ifdef INBARRIER
     :: b<=NB && !passed && (ltail>lhead || stail>shead) -> b = 0; passed = 1; freePass(); goto again
#endif
#ifdef RECYCLE
#ifdef RECYCLE_TOMB
     :: shead<stail && supst[shead]<=R ->
#elif defined(RECYCLE_ANY)
     :: shead<stail && !ISTOMB(shead) ->
#else
     :: shead<stail && supst[shead]<=R && !ISTOMB(shead) ->   /* ORDER record-head. A put into the block of the oldest superseded version */
#endif
        b = sup[shead];
#ifdef RECYCLE_HEAD_FIRST
        shead++; CRASH;
        RECORDCHANGE(ALLOC,b,PLACE(k),WORD(k))
#else
        RECORDCHANGE(ALLOC,b,PLACE(k),WORD(k))
        shead++; CRASH;
#endif
#ifndef RECYCLE_SAVED_HEAD_STALE
        jsh = shead; CRASH;
#endif
        d_step { ver[b] = jver; prev[b] = WORD(k); tomb[b] = 0; keyOf[b] = k }; CRASH;
        setPlace(PLACE(k),b); CRASH; LATECOUNTBOTH pending[k] = jver
#endif
     :: b<=NB ->                       /* put */
        RECORDCHANGE(ALLOC,b,PLACE(k),WORD(k)) used[b] = 1; CRASH;
        d_step { ver[b] = jver; prev[b] = WORD(k); tomb[b] = 0; keyOf[b] = k }; CRASH;
        setPlace(PLACE(k),b); CRASH; LATECOUNTBOTH pending[k] = jver
#ifdef DELETES
     :: b<=NB && WORD(k)!=0 && !tomb[WORD(k)] ->
        RECORDCHANGE(ALLOCT,b,PLACE(k),WORD(k)) used[b] = 1; CRASH;
        d_step { ver[b] = jver; prev[b] = WORD(k); tomb[b] = 1; keyOf[b] = k }; CRASH;
        setPlace(PLACE(k),b); CRASH; LATECOUNTBOTH pending[k] = 0
#endif
#ifdef SPLIT
     :: b<=NB ->                       /* a sub-table built aside, the directory words, the old one retired */
        RECORD(ALLOC,b,0) used[b] = 1; CRASH; LATECOUNT
        d_step { ver[b] = 0; prev[b] = WORD(k); tomb[b] = 0 }; CRASH;
        x = dir[0];
        RECORD(FILL,0,x) dir[0] = b; CRASH; dir[1] = b; CRASH; LATECOUNT
        RECORD(RETIRE,x,0) LATECOUNT x = 0
#endif
     fi; b = 0; k = 0
#if ROLLBACKS > 0
  :: sv!=count && rollbacks>0 && ops>0 -> d_step { sv = count; k = 0; do :: k<NK -> marked[k] = pending[k]; k++ :: else -> break od; k = 0 }
  :: sv!=NONE && count>sv && rollbacks>0 -> rollbacks--; rollBack()
#endif
  :: ops==0 -> break
  od; skip; d_step { ops = 0; b = 0; k = 0; passed = 0 };
#if ROLLBACKS > 0
  d_step { sv = NONE; k = 0; do :: k<NK -> marked[k] = 0; k++ :: else -> break od; k = 0 };
#endif
  if
  :: aborts>0 && count>0 -> aborts--; goto abort
  :: count>0 -> publish(); CRASH; retire(); goto emptied
  :: else -> goto idle
  fi;

abort:
#ifdef ABORTFREE
  undo(true);
#else
  undo(false);
#endif
#ifdef TICK_BEFORE_EMPTY
  tick(jver); CRASH; count = 0; CRASH;
#else
  count = 0; CRASH; tick(jver); CRASH;
#endif
  goto idle;

gc:
  scan();
  if :: freeInPlace(); settle() :: true fi;
  begin();
  p = shead;
  do
  :: p<stail -> x = sup[p]; unlinkOrKeep(supst[p]); p++; x = 0;
#ifdef HEAD_EARLY
     shead = p; CRASH;
#endif
     jsh = p; CRASH
  :: break                             /* a batch may end anywhere */
  od;
  if
  :: p==stail ->
     p = rhead;
     do
     :: p<rtail -> x = ret[p]; unlinkOrKeep(retst[p]); p++; x = 0; jrh = p; CRASH
     :: else -> break
     od
  :: true
  fi; p = 0;
  tick(jver); CRASH; retire(); count = 0; CRASH;
#ifdef C_LATE
  C = committed;
#endif
  if :: freeScanned() :: true fi;      /* the same scan serves the free pass */
  forget(); goto idle;

#ifdef MOVES
/* an entry is published again in another block, as the same version, in a transaction that commits as a tick */
move:
  scan(); freeInPlace(); forget();
#if NK > 1
  if :: k = 0 :: k = 1 fi;
#endif
  pickFree(); x = WORD(k);
  if
#ifdef MOVE_YOUNG
  :: b<=NB && x!=0 && !tomb[x] ->
#elif defined(MOVE_TOMB)
  :: b<=NB && x!=0 && ver[x]<=F ->
#else
  :: b<=NB && x!=0 && !tomb[x] && ver[x]<=F ->
#endif
     begin();
     RECORD(ALLOC,b,0) used[b] = 1; CRASH; LATECOUNT
#ifdef MOVE_AS_NEW
     d_step { ver[b] = jver; prev[b] = 0; tomb[b] = tomb[x]; keyOf[b] = k }; CRASH;
#elif defined(MOVE_WITH_PREV)
     d_step { ver[b] = ver[x]; prev[b] = prev[x]; tomb[b] = tomb[x]; keyOf[b] = k }; CRASH;
#else
     d_step { ver[b] = ver[x]; prev[b] = 0; tomb[b] = tomb[x]; keyOf[b] = k }; CRASH;
#endif
#ifdef MOVE_AS_PUT
     RECORD(PUT,PLACE(k),x) setPlace(PLACE(k),b); CRASH; LATECOUNT
#else
     RECORD(PUTNS,PLACE(k),x) setPlace(PLACE(k),b); CRASH; LATECOUNT
#endif
#ifdef MOVE_FREES
     clear(x); CRASH;
#elif defined(MOVE_AS_PUT)
     skip;
#else
     RECORD(RETIRE,x,0) LATECOUNT
#endif
     d_step { b = 0; k = 0; x = 0 };
     tick(jver); CRASH; retire(); count = 0; CRASH
  :: else -> skip
  fi; d_step { b = 0; k = 0; x = 0 };
  goto idle;
#endif

emptied:
  count = 0; CRASH;
  goto idle;

recover:
  skip;
  d_step { i = 0; x = 0; nx = 0; b = 0; c = 0; k = 0; m = 0; C = 0; lt = 0; st = 0; rt = 0; q = 0; w = 0; v = 0; ops = 0; p = 0; need = 0; passed = 0;
    ss[0] = IDLE; ss[1] = IDLE; sp[0] = IDLE; sp[1] = IDLE };
#if ROLLBACKS > 0
  d_step { sv = NONE; k = 0; do :: k<NK -> marked[k] = 0; k++ :: else -> break od; k = 0 };
#endif
#ifndef RECOVER_NO_FREEPASS
  if :: lhead<freeEnd -> freeBlocks() :: else -> skip fi;
#endif
#ifndef RECOVER_NO_INPLACE
  if :: shead<sfree -> freeSuperseded() :: else -> skip fi;
#endif
#if defined(RECYCLE) && !defined(RECYCLE_NO_FINISH)
  if                                   /* a put had taken the block at the head, and not moved the head yet */
  :: count>1 && jver!=committed && jt[count-1]==PUT && shead<stail && sup[shead]==ja[count-2] -> shead++; CRASH
  :: else -> skip
  fi;
#endif
  if
#ifdef COMMITTED_UNDONE
  :: false
#else
  :: count>0 && jver==committed -> retire(); count = 0; CRASH; goto idle
#endif
  :: else ->
#ifndef NOUNDO
     if
     :: count>0 ->
#ifdef RECFREE
        undo(true)
#else
        undo(false)
#endif
     :: else -> skip
     fi;
#endif
#ifdef RECOVER_TICK_FIRST
     tick(committed+1); CRASH; count = 0; CRASH
#else
     count = 0; CRASH; tick(committed+1); CRASH
#endif
  fi;
  goto idle;

finished: skip }
