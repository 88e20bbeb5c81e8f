import EtcdSource
import TableMirror
import ToolSupport

extension ConfigurationReader {
  /// An address, or a mapping with one.
  /// - Returns: nil after a complaint.
  mutating func readUpstream(_ node: Node) -> UpstreamConfiguration? {
    guard EtcdTrait.makeSource != nil else {
      complain(node, "upstream: this shmd was built without etcd; build it with '--traits Etcd', or remove the key")
      return nil
    }
    if node.scalar != nil {
      return scalar(node, "upstream", Scalars.address).map {
        UpstreamConfiguration(settings: MirrorSettings(address: $0))
      }
    }
    guard let values = values(of: node, "upstream", UpstreamKeyword.self) else { return nil }
    guard let address = values.first(where: { $0.key == .address }) else {
      complain(node, "upstream has no 'address'; give it one, as in etcd://HOST:PORT/PREFIX")
      return nil
    }
    guard let address = scalar(address.value, "address", Scalars.address) else { return nil }
    var upstream = UpstreamConfiguration(settings: MirrorSettings(address: address))
    for (key, _, value) in values { read(key, value, into: &upstream) }
    check(upstream, node)
    return upstream
  }

  private mutating func read(_ key: UpstreamKeyword, _ node: Node, into upstream: inout UpstreamConfiguration) {
    let name = key.rawValue
    switch key {
    case .address: break
    case .authorities: upstream.access.authorities = scalar(node, name, Scalars.file)
    case .certificate: upstream.access.certificate = scalar(node, name, Scalars.file)
    case .key: upstream.access.key = scalar(node, name, Scalars.file)
    case .user: upstream.access.user = scalar(node, name) { text throws(Complaint) in text }
    case .passwordFile: upstream.access.passwordFile = scalar(node, name, Scalars.file)
    case .values:
      let value = scalar(node, name) { text throws(Complaint) in
        try Scalars.rawWord(text, "a form of values") as MirrorSettings.ValueForm
      }
      if let value { upstream.settings.valueForm = value }
    case .resync:
      let value = scalar(node, name) { text throws(Complaint) in
        try Scalars.rawWord(text, "an answer") as MirrorSettings.Resync
      }
      if let value { upstream.settings.resync = value }
    case .leases:
      let value = scalar(node, name) { text throws(Complaint) in
        try Scalars.rawWord(text, "a policy for leases") as MirrorSettings.Leases
      }
      if let value { upstream.settings.leases = value }
    case .check:
      if let value = scalar(node, name, Scalars.interval) { upstream.settings.checkInterval = value }
    }
  }

  /// Keys that need each other.
  private mutating func check(_ upstream: UpstreamConfiguration, _ node: Node) {
    let access = upstream.access
    if (access.certificate == nil) != (access.key == nil) {
      complain(node, "upstream: 'certificate' and 'key' belong together; give both, or none")
    }
    if (access.user == nil) != (access.passwordFile == nil) {
      complain(node, "upstream: 'user' and 'password-file' belong together; give both, or none")
    }
    if !upstream.settings.address.isSecure, access.authorities ?? access.certificate != nil {
      complain(node, "upstream: certificates are for TLS, and the address begins with etcd://; write etcds://")
    }
  }
}

extension Scalars {
  static func address(_ text: String) throws(Complaint) -> MirrorAddress {
    do throws(MirrorAddress.Mistake) { return try MirrorAddress(text) } catch { throw Complaint(error.description) }
  }
}
