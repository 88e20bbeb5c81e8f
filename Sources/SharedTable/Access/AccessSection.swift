/// Where the sections of accessors come from. The one place to change for accessors to run on something else than the
/// table itself.
enum AccessSection {
  static func read<Output>(
    _ accessor: ReadAccessor<Output>, on chosen: Table?, timeout: Duration?
  ) throws -> Output {
    let table = try accessor.scope.table(chosen)
    return try table.read(timeout: timeout) { (view: borrowing ReadView) in
      try accessor.body(AccessRun(table, section: view.section))
    }
  }

  static func barrier<Output>(
    _ accessor: Accessor<Output>, on chosen: Table?, timeout: Duration?
  ) throws -> Output {
    let table = try accessor.scope.table(chosen)
    return try table.barrier(timeout: timeout) { (_: inout Transaction) in
      let run = AccessRun(table, section: nil)
      let output = try accessor.body(run)
      try run.writeBack()
      return output
    }
  }
}
