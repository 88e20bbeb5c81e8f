import SharedTable

/// Chapter 10: both sides of the protocol in one process, over one mapping, where a sanitizer sees them.
let threadsGroup = Group(
  number: 10, title: "Sanitizers and threads",
  columns: ["tried", "barriers", "sections", "snapshots", "observed", "opened and closed", "slots claimed"],
  items: [
    Item("threads.rcu", "Readers, writers, gc, snapshots, eviction, observers, opening: threads of one process") {
      run in
      try protocolThreads(run, .rcu)
    },
    Item("threads.rwlock", "The same for the rwlock variant") { run in try protocolThreads(run, .rwlock) },
    Item("threads.turns", "A reader and a writer in turns that only the engine orders", handover),
    Item("threads.shared", "Handles found by name while others make the process forget them", sharedHandles),
  ])
