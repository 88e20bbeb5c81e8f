extension ConfigurationReader {
  /// Reads the key `monitoring`.
  mutating func readMonitoring(_ node: Node) {
    guard let values = values(of: node, "monitoring", ListeningKeyword.self) else { return }
    configuration.monitoring = readListening(
      node, "monitoring", values.map { ($0.key.rawValue, $0.value) }, port: 9464)
  }
}
