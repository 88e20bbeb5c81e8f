import TableMirror

/// What a table mirrors, and how it is admitted there.
struct UpstreamConfiguration: Sendable, Equatable {
  var settings: MirrorSettings
  var access = MirrorAccess()

  /// As a configuration writes it.
  var written: String {
    let parts: [(UpstreamKeyword, String?)] = [
      (.address, settings.address.description), (.authorities, access.authorities), (.certificate, access.certificate),
      (.key, access.key), (.user, access.user), (.passwordFile, access.passwordFile),
      (.values, settings.valueForm.rawValue), (.resync, settings.resync.rawValue),
      (.leases, settings.leases.rawValue),
    ]
    let words = parts.compactMap { key, value in value.map { "\(key.rawValue): \(ConfigurationText.quoted($0))" } }
    return "{\((words + ["check: \(settings.checkInterval.written)"]).joined(separator: ", "))}"
  }
}

/// The keys of a table's `upstream`.
enum UpstreamKeyword: String, CaseIterable, Sendable {
  case address
  case authorities
  case certificate
  case key
  case user
  case passwordFile = "password-file"
  case values
  case resync
  case leases
  case check
}
