import CShims
import SharedMemory

struct Exclusion {
  let ctl: Memory
  let data: Memory
  let slots: Slots
  func initialize() throws(SystemError) {}
  func enterShared(slot: Int, deadline: UInt64) throws(EngineError) {}
  func leaveShared(slot: Int) {}
  func enterExclusive(slot: Int, deadline: UInt64) throws(EngineError) {}
  func takeOver(slot: Int, deadline: UInt64) throws(EngineError) {}
  func leaveExclusive(slot: Int) {}
}
