internal import CacheCore

/// A line of an export, which anybody may have written: what can be read is written so that the same is read again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let entry = try? ExportedEntry.decode(Array(UnsafeBufferPointer(start: start, count: count))) else { return 0 }
  var line: [UInt8] = []
  entry.encode(to: &line)
  precondition((try? ExportedEntry.decode(line)) == entry, "what was written is read as something else")
  return 0
}
