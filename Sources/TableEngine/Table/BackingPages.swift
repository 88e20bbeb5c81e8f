import Glibc
import SharedMemory

/// The pages behind the two objects: claims them before the first store into them, so that a full file system is an
/// error here and never a SIGBUS later (G9), and gives them back.
final class BackingPages: Sendable {
  let data: SharedObject
  let control: SharedObject

  init(data: SharedObject, control: SharedObject) {
    self.data = data
    self.control = control
  }

  func allocateData(offset: Int, count: Int) throws(EngineError) { try allocate(data, offset, count) }
  func allocateControl(offset: Int, count: Int) throws(EngineError) { try allocate(control, offset, count) }

  /// Of both objects.
  var allocatedBytes: Int { [data, control].reduce(0) { $0 + ((try? $1.status().allocated) ?? 0) } }

  /// Ranges of which nothing counts any more. Failing only leaves the pages where they are.
  func giveBackData(_ range: Range<Int>) { giveBack(data, range) }
  func giveBackControl(_ range: Range<Int>) { giveBack(control, range) }

  /// Does anything lie in whole pages of this range? False where the system does not tell.
  func hasControlPages(_ range: Range<Int>) -> Bool {
    let first = roundUp(range.lowerBound, to: Int(getpagesize()))
    return first < range.upperBound && ((try? control.hasMemory(in: first..<range.upperBound)) ?? false)
  }

  private func giveBack(_ object: SharedObject, _ range: Range<Int>) {
    if !range.isEmpty { try? object.giveBack(offset: range.lowerBound, count: range.count) }
  }

  private func allocate(_ object: SharedObject, _ offset: Int, _ count: Int) throws(EngineError) {
    do {
      try object.allocate(offset: offset, count: count)
    } catch {
      // What a tmpfs says where the process's control group is at its limit of memory.
      if error.errno == ENOMEM { throw .full(.fileSystem) }
      throw EngineError.Shortage(error).map { .full($0) } ?? .system(error)
    }
  }
}
