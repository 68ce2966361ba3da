internal import EngineAPI

@testable internal import PlistStorage

/// A file of the plist engine: what can be read is written so that the same is read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let table = try? PlistFormat.decode(bytes, namespace: "cities", path: "cities.json") else { return 0 }
  let written = PlistFormat.encode(table, namespace: "cities")
  let again = try? PlistFormat.decode(written, namespace: "cities", path: "cities.json")
  precondition(again?.entries == table.entries, "what was written is read as something else")
  return 0
}
