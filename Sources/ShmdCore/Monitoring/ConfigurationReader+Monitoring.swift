extension ConfigurationReader {
  /// Reads the key `monitoring`.
  mutating func readMonitoring(_ node: Node) {
    guard let values = values(of: node, "monitoring", ListeningKeyword.self) else { return }
    configuration.monitoring = readListening(
      node, "monitoring", values.map { ($0.key.rawValue, $0.value) }, port: 9464)
  }

  /// Once what else listens is read too: one of two servers at one place could not listen, and would name the other a stranger.
  mutating func checkPlaces(line: Int) {
    guard let monitoring = configuration.monitoring, let resp = configuration.resp?.listening else { return }
    let places: [(key: ListeningKeyword, isOne: Bool)] = [
      (.socket, monitoring.path != nil && monitoring.path == resp.path),
      (.listen, monitoring.listen != nil && monitoring.listen == resp.listen),
    ]
    for place in places where place.isOne {
      complain(line, "monitoring: '\(place.key.rawValue)' is that of 'resp', too; give each server its own")
    }
  }
}
