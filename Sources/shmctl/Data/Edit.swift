import ArgumentParser
import Glibc
import SharedTable
import ToolSupport

struct Edit: TableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit", abstract: "Change a value in an editor.",
    discussion: """
      Opens it in $VISUAL, else $EDITOR, else vi, and stores what was saved if the value in the table is still the one that \
      was opened; else, and if what was saved is not of its type or the editor failed after that, it says where the text is kept. \
      Type and time to live stay. A key that is not there begins empty. No barrier is held meanwhile.
      """)

  @OptionGroup var options: CommonOptions

  @Flag(help: "Allow a key that belongs to a collection; this damages the collection.")
  var force = false

  @Argument(help: "The key.")
  var key: RawArgument

  func run(on table: Table) throws {
    if !force, let collection = try table.read({ view in try view.collection(of: key.bytes) }) {
      throw KeyChange.refusal(of: key.bytes, collection, table)
    }
    let old = try table.entry(forKey: key.bytes)
    if let old, old.type == nil || old.type == .structure {
      throw Complaint(
        .wrongType, table: table.name,
        "the value of '\(key.shown)' is of type \(old.type?.name ?? "unknown"), which is no text; change it by a program of yours"
      )
    }
    // A user who may only observe the table is refused here, by an empty barrier, before the editor starts.
    if table.isObserver { try KeyChange(table, force: force).run([key.bytes]) { _ in } }
    let text = old?.text ?? []
    let draft = try Draft(text)
    let new: [UInt8]
    do {
      new = try draft.edit(limit: table.maximumValueLength)
    } catch {
      if draft.isChanged(from: text) { Self.noteKept(draft) } else { draft.remove() }
      throw error
    }
    if new == text {
      draft.remove()
      if options.json { try printResult(isStored: false) }
      return options.note(table, "key '\(key.shown)' is as it was; nothing was stored")
    }
    try store(new, old, table, draft)
    draft.remove()
    if options.json { try printResult(isStored: true) }
  }

  private func store(_ bytes: [UInt8], _ old: TableEntry?, _ table: Table, _ draft: Draft) throws {
    do {
      let value = try TypedValue(bytes, as: ValueKind(old?.type))
      let isStored = try KeyChange(table, force: force).run([key.bytes]) { tx in
        guard try tx.entry(forKey: key.bytes)?.version == old?.version else { return false }
        try tx.set(key.bytes, value, expires: old?.expiration ?? .never)
        return true
      }
      if isStored { return }
    } catch {
      Self.noteKept(draft)
      throw error
    }
    if options.json { try printResult(isStored: false) }
    options.note(table, "key '\(key.shown)' was changed meanwhile; your text is kept in \(draft.path)")
    throw ExitStatus.notFound
  }

  private static func noteKept(_ draft: Draft) { StandardError.write("your text is kept in \(draft.path)") }

  private func printResult(isStored: Bool) throws {
    var object = JSONObject()
    object.add("key", bytes: key.bytes)
    object.add("stored", isStored)
    try StandardOutput.write(object.line)
  }
}
