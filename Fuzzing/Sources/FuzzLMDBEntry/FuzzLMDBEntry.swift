internal import EngineAPI

@testable internal import LMDBStorage

/// A value of the LMDB engine: what can be read is written so that the same is read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  guard let entry = LMDBEntry(bytes), let metadata = entry.metadata() else { return 0 }
  let fullKey = entry.fullKey().flatMap { String(validating: $0, as: UTF8.self) } ?? ""
  let written = LMDBEntry.header(metadata, fullKey: fullKey) + Array(entry.payload)
  written.withUnsafeBytes { written in
    let again = LMDBEntry(written)
    precondition(again?.metadata() == metadata, "the metadata is read as something else")
    precondition(again?.payload.elementsEqual(entry.payload) == true, "the payload is read as something else")
  }
  return 0
}
