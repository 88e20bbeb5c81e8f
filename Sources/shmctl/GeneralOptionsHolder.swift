import SharedTable
import ToolSupport

/// Options of which the general ones are a part.
protocol GeneralOptionsHolder {
  var general: GeneralOptions { get set }
}

extension GeneralOptionsHolder {
  var givenTrust: [RawArgument] { general.givenTrust }

  var json: Bool {
    get { general.json }
    set { general.json = newValue }
  }

  var quiet: Bool {
    get { general.quiet }
    set { general.quiet = newValue }
  }

  /// Nil if the command line has none.
  var givenTimeout: TimeSpan? {
    get { general.givenTimeout }
    set { general.givenTimeout = newValue }
  }

  var timeout: TimeSpan { general.timeout }

  func open(_ name: String) throws -> Table { try general.open(name) }

  func trustedOwners() throws -> Table.TrustedOwners { try general.trustedOwners() }
}
