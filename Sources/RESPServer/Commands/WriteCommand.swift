enum WriteCommand: Sendable {
  case set, setnx, setex, psetex, getset, getdel, getex, mset, msetnx, append, setrange
  case incr, decr, incrby, decrby, incrbyfloat
  case del, copy, rename, renamenx, expire, pexpire, expireat, pexpireat, persist, flushdb
}
