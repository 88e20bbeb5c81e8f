import Glibc
import TestSupport

/// What a process of an item does, by the name of its role. It gets the arguments that follow.
let workerRoles: [String: @Sendable ([String]) throws -> Void] = [
  "stall": stall,
  "step-through": stepThrough,
  "tracer-subject": serveTracerSubject,
  "image-writer": serveImageWriter,
  "collection-writer": serveCollectionWriter,
  "image-checker": serveImageChecker,
  "image-recoverer": serveImageRecoverer,
  "image-maker": serveImageMaker,
  "kill-server": Victim.serve,
  "kill-peer": Peers.serve,
  "storm-daemon": StormRoles.daemon,
  "storm-forker": StormForker.role,
  "storm-holder": StormRoles.holder,
  "storm-observer": StormRoles.observer,
  "storm-reader": StormRoles.reader,
  "storm-untouched": StormRoles.untouched,
  "storm-writer": StormWriter.role,
  "soak-keeper": SoakRoles.keeper,
  "soak-reader": SoakRoles.reader,
  "soak-writer": SoakRoles.writer,
  "neighbour": Neighbour.serve,
  "scribbler": playScribbler,
  "scribbled-on": playScribbledOn,
  "fills-in-barrier": playFillsInBarrier,
  "full-at-create": playFullAtCreate,
  "full-deletes": playFullDeletes,
  "full-shrunk": playFullShrunk,
  "history-worker": HistoryWorker.role,
  "recovery-victim": RecoveryTime.victim,
  "recovery-next": RecoveryTime.next,
  "recovery-repairer": Repair.repairer,
]

/// The role that the command line asks for; nil if it is no worker's.
func workerRole() -> String? {
  CommandLine.arguments.count > 2 && CommandLine.arguments[1] == "worker" ? CommandLine.arguments[2] : nil
}

/// Plays the role and ends; an error is a line on standard error and status 1.
func serveAsWorker(_ role: String) -> Never {
  guard let body = workerRoles[role] else {
    complain("there is no role \(role)")
    exit(2)
  }
  do {
    try body(Array(CommandLine.arguments.dropFirst(3)))
    exit(0)
  } catch {
    complain("\(role): \(error)")
    exit(1)
  }
}

/// A process of this item: the same program in another role.
func startWorker(_ role: String, _ arguments: [String] = [], timeoutSeconds: Int = 120) throws -> WorkerProcess {
  try WorkerProcess("torture", ["worker", role] + arguments, timeoutSeconds: timeoutSeconds)
}
