import SharedTable

extension Table {
  /// What to do about a damaged table that shmd stores, as a further part of a complaint; empty if it does not, or its store never held it.
  var adviceIfStored: String {
    guard comesBackFromStore else { return "" }
    return
      "; shmd stores it: 'shmctl drop \(name)' brings it back from its store, and a repair removes from the store, "
      + "too, what it gives up"
  }
}
