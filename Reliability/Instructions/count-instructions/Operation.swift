/// What is counted. The names are those of bars.txt.
enum Operation: String, CaseIterable {
  /// A copy into the caller's buffer.
  case getParticipant = "get-participant"
  case getObserver = "get-observer"
  case getRWLock = "get-rwlock"
  /// The same of a table that mirrors another store: its bar is that of any table.
  case getMirrored = "get-mirrored"
  /// A read section that looks at one value in place.
  case sectionOfOne = "section-of-1"
  /// The same with ten values: counted for the section, not for the look.
  case sectionOfTen = "section-of-10"
  /// An existing key gets a new value, each in a barrier of its own.
  case set
  /// The same with a hundred in each barrier, counted for each key.
  case setOfHundred = "set-of-100"
  /// An existing key goes, each in a barrier of its own.
  case remove
  /// A number under a text key, copied out: what those of the layers above are compared with.
  case getTyped = "get-typed"
  /// A `SharedStruct` with a field not all of whose bits are values.
  case getStruct = "get-struct"
  /// One that is there gets a new value.
  case setStruct = "set-struct"
  case dictionaryGet = "dictionary-get"
  case setContains = "set-contains"
  case cacheHit = "cache-hit"
  /// The same with an element whose time will come.
  case cacheHitExpiring = "cache-hit-expiring"
  /// The same by the call that would compute what is missing.
  case cacheHitOrCompute = "cache-hit-or-compute"
  /// A property with the wrapper `@Shared`.
  case sharedRead = "shared-read"
  case onceRead = "once-read"
  case guardedRead = "guarded-read"
  /// An element of an array with 400 of them.
  case arrayElement = "array-element"
  /// A copy of an array of 400, counted for each element.
  case arrayWalk = "array-walk"
  /// A visit of a set of 400, beside ten thousand other keys, counted for each element.
  case setWalk = "set-walk"
  /// One element more, in a barrier of its own.
  case arrayAppend = "array-append"
  /// An element of an array gets a new value, in a barrier of its own.
  case arraySet = "array-set"
  /// An element that is there gets a new value.
  case cacheSet = "cache-set"
  /// A new element pushes another one out of a full cache.
  case cacheSetNew = "cache-set-new"
  /// An element that is there gets a new value, in a barrier of its own.
  case dictionarySet = "dictionary-set"
  /// All of a dictionary of ten elements, beside ten thousand other keys.
  case dictionaryWalk = "dictionary-walk"
  /// Ten elements more, and emptied again.
  case dictionaryEmpty = "dictionary-fill-and-empty"
  /// An element is removed and added again, counted for both together.
  case setInsertAndRemove = "set-insert-and-remove"
  case dictionarySetAndRemove = "dictionary-set-and-remove"
  case cacheSetAndRemove = "cache-set-and-remove"
  /// A key that is there gets a new value in a barrier of this key.
  case keyedBarrier = "keyed-barrier"
  /// A value behind an accessor is changed in place.
  case guardedChange = "guarded-change"
  /// A key that is there gets a new value in an asynchronous barrier of a queue, of which 400 are submitted together.
  case barrierBurst = "barrier-burst"
  /// A key is read in an awaited read of a queue with nothing in its way.
  case awaitRead = "await-read"
  /// A key that is there gets a new value in an awaited barrier of a queue with nothing in its way.
  case awaitBarrier = "await-barrier"
  /// A value is set in a call of a host actor that does nothing else, awaited before the next call.
  case hostActorCall = "host-actor-call"
  /// The same in a closure that runs in the actor's isolation, with nothing in its way.
  case hostRun = "host-run"

  /// How often it is done in the shorter of the two runs; twice as often in the longer one.
  ///
  /// Each table hashes with a seed of its own, so the loads of two runs differ by up to a hundred thousand instructions.
  /// The operations of a run are so many that their share of that is below one instruction in a hundred. A key can be
  /// removed once only, and a removal costs so much that fewer do.
  var times: Int {
    switch self {
    case .getParticipant, .getObserver, .getRWLock, .getMirrored: 100_000
    case .sectionOfOne, .sectionOfTen, .set, .setOfHundred: 20_000
    case .getTyped, .getStruct, .dictionaryGet, .setContains, .cacheHit, .cacheHitExpiring, .cacheHitOrCompute,
      .sharedRead, .onceRead, .guardedRead, .arrayElement, .arrayWalk, .setWalk:
      100_000
    case .setStruct, .dictionarySet, .cacheSet, .arraySet, .awaitRead, .awaitBarrier, .hostRun: 20_000
    case .arrayAppend, .cacheSetNew, .setInsertAndRemove, .dictionarySetAndRemove, .cacheSetAndRemove, .keyedBarrier,
      .guardedChange:
      6_000
    case .dictionaryWalk, .dictionaryEmpty: 400
    case .remove: 5_000
    case .barrierBurst: 8_000
    case .hostActorCall: 2_000
    }
  }
}
