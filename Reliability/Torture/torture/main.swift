// The torture chamber: every promise about death, damage and exhaustion, tried until it breaks (RELIABILITY.md).
//
// `torture worker ROLE ...` is one process of an item; everything else is Torture's command line.

if let role = workerRole() { serveAsWorker(role) } else { Torture.main() }
