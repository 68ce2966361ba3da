internal import FetchVocabulary
internal import StorageSPI

extension PayloadCodec where Value: JSONPayload {
  /// Stores payloads as JSON, which every engine's native tool can show.
  public static var json: PayloadCodec {
    PayloadCodec(
      .json,
      encode: { value throws(CacheError) in
        var json = JSONWriter()
        value.write(to: &json)
        return (json.bytes, "application/json")
      },
      decode: { bytes, key, _ throws(CacheError) in try decodeJSON(bytes, key) })
  }

  private static func decodeJSON(_ bytes: Span<UInt8>, _ key: CacheKey) throws(CacheError) -> Value {
    var json = JSONReader(bytes)
    do throws(JSONReader.Failure) {
      let value = try Value(json: &json)
      try json.end()
      return value
    } catch {
      throw CacheError(
        .damaged, "entry \(key) holds JSON of another shape: \(error)", key: key.text, cause: error)
    }
  }
}
