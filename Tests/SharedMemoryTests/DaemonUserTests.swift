import Testing

@testable import SharedMemory

@Suite struct DaemonUserTests {
  @Test func aUserIsNamedWhereTheHostKnowsTheName() {
    let passwd = "root:x:0:0:root:/root:/bin/bash\n:x:7:7::/:\nno line\nwww-data:x:33:33::/var/www:/bin/sh\n"
    #expect("\(HostUser(id: 33, in: passwd))" == "user 'www-data' (uid 33)")
    #expect("\(HostUser(id: 7, in: passwd))" == "uid 7")
    #expect("\(HostUser(id: 1000, in: ""))" == "uid 1000")
  }

  @Test func theDaemonIsASystemUserAndNobodyElse() {
    let others = "root:x:0:0:root:/root:/bin/bash\nshmdx:x:77:77::/:/bin/sh\n"
    #expect(DaemonUser.id(in: "") == nil)
    #expect(DaemonUser.id(in: others) == nil)
    #expect(DaemonUser.id(in: others + "shmd:x:996:996:SharedTable daemon:/run/shmd:/usr/sbin/nologin\n") == 996)
    // A person of that name, root under that name, and lines that are none.
    #expect(DaemonUser.id(in: "shmd:x:1000:1000::/home/shmd:/bin/bash\n") == nil)
    #expect(DaemonUser.id(in: "shmd:x:0:0::/:/bin/bash\n") == nil)
    #expect(DaemonUser.id(in: "shmd:x:-5:0::/:/bin/bash\nshmd:x\nshmd\n") == nil)
  }
}
