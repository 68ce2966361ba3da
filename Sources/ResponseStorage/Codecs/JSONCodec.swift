internal import CacheDomain
internal import FoundationEssentials
internal import StorageSPI

extension PayloadCodec where Response: JSONPayload {
  /// Payloads as JSON with sorted keys, which every engine's native tool can show.
  static var json: PayloadCodec {
    PayloadCodec(
      encode: { response throws(CacheError) in (try encodeJSON(response), "application/json") },
      decode: { bytes, key, _ throws(StorageError) in try decodeJSON(bytes, key) })
  }

  private static func encodeJSON(_ response: Response) throws(CacheError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return Array(try encoder.encode(response))
    } catch {
      throw CacheError(.invalidAnswer, "an answer cannot be written as JSON", cause: error)
    }
  }

  private static func decodeJSON(_ bytes: Span<UInt8>, _ key: CacheKey) throws(StorageError) -> Response {
    var json = JSONReader(bytes.withUnsafeBufferPointer { Array($0) })
    do throws(JSONReader.Failure) {
      let response = try Response(json: &json)
      try json.end()
      return response
    } catch {
      throw StorageError(
        .damaged, "entry \(key) holds JSON of another shape: \(error)", hint: "remove it with: cachectl rm \(key)",
        cause: error)
    }
  }
}
