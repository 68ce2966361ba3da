internal import StorageSPI

@testable internal import LMDBStorage

/// A value of the LMDB engine: what can be read is written so that the same is read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = UnsafeRawBufferPointer(start: start, count: count)
  guard let entry = try? LMDBEntry(bytes), let metadata = try? entry.metadata() else { return 0 }
  let fullKey = (try? entry.fullKey()).flatMap { String(validating: $0, as: UTF8.self) } ?? ""
  let written = LMDBEntry.header(metadata, fullKey: fullKey) + Array(entry.payload)
  written.withUnsafeBytes { written in
    let again = try? LMDBEntry(written)
    precondition((try? again?.metadata()) == metadata, "the metadata is read as something else")
    precondition(again?.payload.elementsEqual(entry.payload) == true, "the payload is read as something else")
  }
  return 0
}
