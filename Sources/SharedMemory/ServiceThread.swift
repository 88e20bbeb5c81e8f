import CShims
import Glibc

/// A thread of the library's own, which gets none of the process's signals: those are for the program's threads. A fault in it is a
/// signal of its own and reaches the program's handler.
public enum ServiceThread {
  /// Starts `run` in a new thread, which nobody joins.
  /// - Parameter run: captures nothing; names the thread by ``name(_:)`` if it likes.
  /// - Throws: what pthread_create(3) says, EAGAIN at the limit of threads.
  public static func start(
    _ argument: UnsafeMutableRawPointer? = nil,
    _ run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  ) throws(SystemError) {
    pthread_detach(try unsafe startJoinable(argument, run))
  }

  /// As ``start(_:_:)``, for a caller that joins the thread.
  public static func startJoinable(
    _ argument: UnsafeMutableRawPointer?, _ run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
  ) throws(SystemError) -> pthread_t {
    var all = sigset_t()
    var mask = sigset_t()
    unsafe sigfillset(&all)
    // A fault whose signal is blocked ends the process without its handler, which would report it.
    for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS] { unsafe sigdelset(&all, fault) }
    unsafe pthread_sigmask(SIG_BLOCK, &all, &mask)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &mask, nil) }
    var thread = pthread_t()
    let failure = unsafe pthread_create(&thread, nil, run, argument)
    guard failure == 0 else { throw SystemError(call: "pthread_create", errno: failure) }
    return thread
  }

  /// Names the calling thread, for people: at most 15 bytes.
  public static func name(_ name: StaticString) {
    unsafe shmos_name_thread(UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self))
  }
}
