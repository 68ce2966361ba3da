import Foundation

@testable internal import LMDBStorage

private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("FuzzLMDBFile-\(getpid())")

/// A data file of LMDB as the engine checks it before LMDB may see it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  try? Data(UnsafeBufferPointer(start: start, count: count)).write(to: folder.appendingPathComponent("data.mdb"))
  guard let file = try? LMDBDataFile(in: folder.path) else { return 0 }
  _ = try? file.check()
  _ = file.format
  return 0
}
