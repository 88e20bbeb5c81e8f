#if Etcd
  import Glibc

  /// An authority of a test's own, with certificates for a server and a client, and one that it has not signed.
  final class TestAuthority {
    let directory: String

    init() throws {
      var template = Array("/tmp/etcd-authority-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw Failure("mkdtemp: error \(errno)") }
      directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
      try EtcdServer.run(
        "bash",
        [
          "-ec",
          """
          cd \(directory)
          new="openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
          $new -x509 -days 2 -subj /CN=authority -keyout ca.key -out ca.crt
          for name in server client; do
            $new -subj /CN=$name -keyout $name.key -out $name.csr
            printf 'subjectAltName=IP:127.0.0.1\\nextendedKeyUsage=serverAuth,clientAuth\\n' >extensions
            openssl x509 -req -in $name.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out $name.crt
          done
          $new -x509 -days 2 -subj /CN=stranger -keyout stranger.key -out stranger.crt
          """,
        ])
    }

    deinit { _ = try? EtcdServer.run("rm", ["-rf", directory]) }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// Puts a certificate and its key where a program looks for them.
    func install(_ name: String, as place: String) throws {
      for kind in ["crt", "key"] { try EtcdServer.run("cp", ["\(path(name)).\(kind)", "\(place).\(kind)"]) }
    }
  }

  func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "w") else { throw Failure("\(path): error \(errno)") }
    fputs(text, file)
    fclose(file)
  }
#endif
