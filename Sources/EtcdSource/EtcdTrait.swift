public import TableMirror

/// Whether this program was built with the trait `Etcd`, and how it makes sources then.
public enum EtcdTrait {
  /// Makes the source of a mirror; nil: built without the trait.
  public static var makeSource: MirrorSourceMaker? {
    #if Etcd
      { address, access in EtcdSource(address, access) }
    #else
      nil
    #endif
  }
}
