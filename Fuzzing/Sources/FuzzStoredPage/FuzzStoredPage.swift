internal import CacheData
internal import EngineAPI

/// A stored page of cities or movies: what is in a store may have been written by anybody.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  var json = JSONReader(bytes)
  _ = try? CitiesPageDTO(json: &json)
  json = JSONReader(bytes)
  _ = try? MoviesPageDTO(json: &json)
  return 0
}
