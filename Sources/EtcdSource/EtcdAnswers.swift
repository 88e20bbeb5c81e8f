#if Etcd
  import EtcdMessages
  import TableMirror

  extension SourcePosition {
    init(_ header: Etcdserverpb_ResponseHeader) {
      self.init(cluster: header.clusterID, revision: header.revision, term: header.raftTerm)
    }
  }

  extension WatchAnswer {
    init(_ message: Etcdserverpb_WatchResponse) {
      self.init(
        position: SourcePosition(message.header), events: message.events.map { SourceEvent($0) },
        isFragment: message.fragment)
    }
  }

  extension SourceEvent {
    init(_ event: Etcdserverpb_Event) {
      // An event of a type that etcd may have one day is taken for a value that was stored. If its revision is none, the mirror stops.
      let value = event.type == .delete ? nil : Array(event.kv.value)
      self.init(key: Array(event.kv.key), value: value, revision: event.kv.modRevision, lease: event.kv.lease)
    }
  }
#endif
