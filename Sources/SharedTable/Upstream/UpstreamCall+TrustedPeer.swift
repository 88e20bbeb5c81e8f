import TableEngine

extension UpstreamCall {
  /// Any process that may write the table can put the path of a socket of its own into it. So the library sends nothing unless the user who
  /// listens there could have made the table: its owner, or one whom everybody trusts with a table. A number that several users have in
  /// this process' user namespace is nobody's, also where the table's owner has it.
  func checkPeer(_ connection: borrowing UpstreamConnection, _ path: String) throws(TableError) {
    let owner = try table.administration.rights().owner
    let peer = connection.peerUser.flatMap { TrustedOwners.isOfOneUser($0) ? $0 : nil }
    if let peer, TrustedOwners.users([owner]).include(peer, for: .takingPart) { return }
    throw TableError(
      .notPermitted, table: table.name,
      "user \(peer.map(String.init) ?? "unknown") listens at \(path), who is neither the table's owner nor shmd's user; nothing was "
        + "written, see who may write to that directory")
  }
}
