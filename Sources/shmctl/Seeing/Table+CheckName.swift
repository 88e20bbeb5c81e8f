import SharedTable

extension Table {
  /// For a command that looks at the table again and again.
  /// - Throws: a complaint if the name does not lead to this table any more.
  func checkName() throws(Complaint) {
    guard administration.isNamed else {
      throw Complaint(.noSuchTable, table: name, "it was removed or replaced; 'shmctl tables' lists what there is")
    }
  }
}
