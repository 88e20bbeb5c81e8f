import Glibc
import TableTestSupport
import TestSupport

/// Compiles programs against the library as it was built for this test, as a package that uses it would.
struct ClientCompiler {
  private let compiler: String
  private let arguments: [String]

  struct Unavailable: Error, CustomStringConvertible {
    let description: String
  }

  init() throws {
    let products = WorkerProcess.productDirectory
    guard access("\(products)/Modules/SharedTable.swiftmodule", R_OK) == 0 else {
      throw Unavailable(description: "no SharedTable.swiftmodule in \(products)/Modules")
    }
    guard let compiler = Self.findCompiler() else {
      throw Unavailable(description: "no swiftc: neither SWIFT_EXEC nor the toolchain of this process nor PATH has one")
    }
    self.compiler = compiler
    // The maps of C modules that SwiftPM made; a client's build has the like. Not those of what plugins run, which may be the same modules.
    var maps: [String] = []
    for name in Self.entries(of: products) where name.hasSuffix(".build") && !name.hasSuffix("-tool.build") {
      let map = "\(products)/\(name)/module.modulemap"
      if access(map, R_OK) == 0 { maps += ["-Xcc", "-fmodule-map-file=\(map)"] }
    }
    // Of all diagnostics here some are found only when code is generated: hence `-c`. A process for each file, so that
    // an error in one leaves the others their own.
    arguments =
      [
        "-c", "-j", "2", "-swift-version", "6", "-module-name", "Client", "-disable-batch-mode",
        "-continue-building-after-errors", "-diagnostic-style", "llvm", "-I", "\(products)/Modules",
        "-module-cache-path", "\(products)/ClientModuleCache",
      ] + maps
  }

  /// Compiles each text as a file of one module.
  /// - Returns: the messages of the errors in each.
  func compile(_ texts: [String]) throws -> [[String]] {
    try Self.withDirectory { directory in
      var names: [String] = []
      for (index, text) in texts.enumerated() {
        names.append("\(directory)/case\(index).swift")
        try Self.write(text, to: names[index])
      }
      let ended = try WorkerProcess.run(
        "/usr/bin/env", ["-C", directory, compiler] + arguments + names)
      let lines = (ended.errors + ended.output).split(separator: "\n")
      let found = names.map { name in
        lines.filter { $0.hasPrefix("\(name):") && $0.contains(": error: ") }.map(String.init)
      }
      // A failure that belongs to no file is one of the set-up, and would pass for the wrong reason.
      let isExplained = ended.exit == .code(0) || found.contains { !$0.isEmpty }
      guard isExplained else { throw Unavailable(description: "\(ended.exit): \(ended.errors)\(ended.output)") }
      return found
    }
  }

  // MARK: - Files

  /// The compiler of the toolchain whose libraries this process runs on: beside another one the modules are unreadable.
  private static func findCompiler() -> String? {
    var candidates: [String] = []
    if let chosen = getenv("SWIFT_EXEC") { candidates.append(String(cString: chosen)) }
    if let maps = try? read("/proc/self/maps") {
      let library = "/lib/swift/linux/libswiftCore.so"
      for line in maps.split(separator: "\n") where line.hasSuffix(library) {
        guard let path = line.split(separator: " ").last else { continue }
        candidates.append(path.dropLast(library.count) + "/bin/swiftc")
      }
    }
    if let path = getenv("PATH") {
      candidates += String(cString: path).split(separator: ":").map { "\($0)/swiftc" }
    }
    return candidates.first { access($0, X_OK) == 0 }
  }

  private static func entries(of directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names.sorted()
  }

  private static func withDirectory<R>(_ body: (String) throws -> R) throws -> R {
    var template = Array("/tmp/sharedtable-client-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw Unavailable(description: "mkdtemp: \(String(cString: strerror(errno)))")
    }
    let directory = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
    defer {
      for name in entries(of: directory) where name != "." && name != ".." { unlink("\(directory)/\(name)") }
      rmdir(directory)
    }
    return try body(directory)
  }

  private static func write(_ text: String, to path: String) throws {
    guard let file = fopen(path, "we") else {
      throw Unavailable(description: "\(path): \(String(cString: strerror(errno)))")
    }
    fputs(text, file)
    fclose(file)
  }

  private static func read(_ path: String) throws -> String {
    guard let file = fopen(path, "re") else { throw Unavailable(description: path) }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      if count == 0 { return String(decoding: bytes, as: UTF8.self) }
      bytes += buffer[..<count]
    }
  }
}
