internal import EngineSupport
internal import StorageSPI

@testable internal import PlistStorage

/// A file of the plist engine: what can be read is written so that the same is read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let table = try? PlistDecoder.decode(bytes, namespace: "cities") else { return 0 }
  let written = PlistEncoder.encode(table, namespace: "cities")
  let again = try? PlistDecoder.decode(written, namespace: "cities")
  precondition(again?.entries == table.entries, "what was written is read as something else")
  return 0
}
