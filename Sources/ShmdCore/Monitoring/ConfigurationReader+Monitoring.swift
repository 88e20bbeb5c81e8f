extension ConfigurationReader {
  /// Reads the key `monitoring`.
  mutating func readMonitoring(_ node: Node) {
    guard let values = values(of: node, "monitoring", MonitoringKeyword.self) else { return }
    var monitoring = MonitoringConfiguration()
    for (key, _, node) in values {
      switch key {
      case .socket: monitoring.socket = scalar(node, "monitoring: socket", Scalars.socketPath)
      case .mode: monitoring.mode = scalar(node, "monitoring: mode", Scalars.socketMode)
      case .listen: monitoring.listen = scalar(node, "monitoring: listen", Scalars.loopbackAddress)
      }
    }
    if !values.contains(where: { $0.key == .socket || $0.key == .listen }) {
      complain(node, "monitoring listens nowhere; give it a 'socket', or 'listen: 127.0.0.1:9464', or both")
    }
    if monitoring.socket == Scalars.passed, monitoring.mode != nil {
      complain(node, "monitoring: 'mode' is of a socket that shmd makes; write SocketMode= in the socket unit")
    }
    configuration.monitoring = monitoring
  }
}
