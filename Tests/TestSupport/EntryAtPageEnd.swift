import Glibc

/// Runs `body` with a directory's entry that ends where its page does, as the last one in a buffer of readdir(3) may: whoever
/// reads more of it than the name gets SIGSEGV.
public func withEntryAtPageEnd<R>(
  named name: String, _ body: (UnsafeMutablePointer<dirent>) throws -> R
) rethrows -> R {
  let pages = mmap(nil, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)!
  precondition(pages != MAP_FAILED && mprotect(pages + 4096, 4096, PROT_NONE) == 0)
  defer { munmap(pages, 8192) }
  let nameOffset = MemoryLayout<dirent>.offset(of: \.d_name)!
  let bytes = Array(name.utf8) + [0]
  // As the kernel does: a multiple of 8 bytes.
  let length = (nameOffset + bytes.count + 7) & ~7
  let entry = pages + 4096 - length
  entry.storeBytes(of: UInt16(length), toByteOffset: MemoryLayout<dirent>.offset(of: \.d_reclen)!, as: UInt16.self)
  (entry + nameOffset).copyMemory(from: bytes, byteCount: bytes.count)
  return try body(entry.assumingMemoryBound(to: dirent.self))
}
