import CShims

/// Asymmetric fences between processes: readers order their store before their loads with a compiler barrier only,
/// and the rare writer makes the kernel fence them all.
///
/// The *global expedited* kind, which reaches every process that registered. The private kind orders no other
/// process and is of no use here.
public enum Membarrier {
  public enum Mode: Sendable {
    /// This process is registered: `heavy()` by anyone fences it, and a light fence is a compiler barrier.
    case light
    /// It is not (an old kernel, or a sandbox that forbids it): every light fence must be a full one.
    case fenced
  }

  /// How this process fences. Registers at the first use, which may take some milliseconds in a process with
  /// several threads. Copy it into whatever the hot path looks at anyway.
  ///
  /// The registration survives fork, and exec ends it together with this value.
  public static let mode: Mode = shmos_membarrier_register_global_expedited() >= 0 ? .light : .fenced

  /// A full fence on every thread that runs in a registered process. False if it was denied: then nothing may be
  /// concluded about processes whose mode is light.
  public static func heavy() -> Bool { shmos_membarrier_global_expedited() >= 0 }
}
