/// Where the daemon shows figures, health and the status page; the file's key `monitoring`.
struct MonitoringConfiguration: Sendable, Equatable {
  /// A path, or ``Scalars/passed``.
  var socket: String?
  var mode: UInt32?
  var listen: (host: String, port: Int)?

  static func == (left: MonitoringConfiguration, right: MonitoringConfiguration) -> Bool {
    left.socket == right.socket && left.mode == right.mode && left.listen?.host == right.listen?.host
      && left.listen?.port == right.listen?.port
  }
}

/// The keys of `monitoring`.
enum MonitoringKeyword: String, CaseIterable, Sendable {
  case socket
  case mode
  case listen
}
