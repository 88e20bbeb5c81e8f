import CShims

/// What two processes must have in common to share pthread objects: written at creation, compared at attach.
public struct PlatformFingerprint: Equatable, Sendable {
  public let architecture: String
  public let libcVersion: String
  public let mutexByteCount: UInt32
  public let rwlockByteCount: UInt32

  public static var current: PlatformFingerprint {
    unsafe PlatformFingerprint(
      architecture: String(cString: shmos_architecture()), libcVersion: String(cString: shmos_libc_version()),
      mutexByteCount: shmos_mutex_size(), rwlockByteCount: shmos_rwlock_size())
  }
}
