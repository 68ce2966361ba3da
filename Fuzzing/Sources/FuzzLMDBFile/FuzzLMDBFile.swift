@testable internal import LMDBStorage

/// A data file of LMDB as the engine checks it before LMDB may see it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let file = UnsafeRawBufferPointer(start: start, count: count)
  guard let pages = try? LMDBMetaPage.both(in: file) else { return 0 }
  for page in pages {
    for extent in [LMDBTreeCheck.Extent.bounded, .full] {
      var check = LMDBTreeCheck(file, page, extent)
      try? check.run()
    }
  }
  return 0
}
