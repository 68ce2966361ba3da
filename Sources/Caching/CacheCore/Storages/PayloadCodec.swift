public import EngineAPI

/// Encodes the values of one type as payloads, and decodes them.
public struct PayloadCodec<Value: Sendable>: Sendable {
  /// Makes the payload and its media type.
  package let encode: @Sendable (Value) throws(CacheError) -> (payload: [UInt8], contentType: String)

  /// Decodes a payload with the media type that is stored for it.
  package let decode: @Sendable (Span<UInt8>, CacheKey, _ contentType: String) throws(CacheError) -> Value

  /// Names the format. A value that one codec has decoded is reused by all codecs of the same name and value type.
  package let identifier: String
  /// The place in the program that makes the codec; `nil` if that is not known.
  package var place: (file: StaticString, line: UInt)?

  /// Creates a codec from two functions.
  ///
  /// - Parameters:
  ///   - identifier: names the format, such as "user-v2". Codecs with the same identifier and value type must decode
  ///     alike: a value that one has decoded is reused by the others. Up to 15 bytes are compared fastest.
  ///   - encode: makes the payload and its media type; throws `invalidAnswer` if a value cannot be encoded.
  ///   - decode: decodes the value from the payload, the key and the media type; throws `wrongType` if `encode` cannot
  ///     have made the payload. It can rely on a checked checksum: a damaged payload does not get here.
  public init(
    _ identifier: String,
    encode: @escaping @Sendable (Value) throws(CacheError) -> (payload: [UInt8], contentType: String),
    decode: @escaping @Sendable (Span<UInt8>, CacheKey, _ contentType: String) throws(CacheError) -> Value
  ) {
    self.identifier = identifier
    self.encode = encode
    self.decode = decode
  }
}

/// A value that is stored as JSON.
///
/// Reading and writing are coded by hand. Every hit pays for reading, and `Decodable` takes ten times
/// as long, plus half a millisecond the first time in a process.
public protocol JSONPayload: Sendable {
  /// Reads what `write` has written. It must skip members that it does not know.
  ///
  /// - Throws: `JSONReader.Failure` if the document has another structure.
  init(json: inout JSONReader) throws(JSONReader.Failure)

  /// Writes the value. Members sorted by name are the fastest to read.
  func write(to json: inout JSONWriter)
}

extension JSONReader {
  /// The value of the member `name`, which the object must have.
  @inlinable
  public func required<Value>(_ value: Value?, _ name: String) throws(Failure) -> Value {
    guard let value else { throw failure("the member '\(name)' is missing") }
    return value
  }
}

extension PayloadCodec where Value: JSONPayload {
  /// Stores payloads as JSON, which every engine's native tool can show.
  public static var json: PayloadCodec {
    PayloadCodec(
      "json",
      encode: { value throws(CacheError) in
        var json = JSONWriter()
        value.write(to: &json)
        return (json.bytes, "application/json")
      },
      decode: { bytes, key, _ throws(CacheError) in try decodeJSON(bytes, key) })
  }

  package static func decodeJSON(_ bytes: Span<UInt8>, _ key: CacheKey) throws(CacheError) -> Value {
    var json = JSONReader(bytes)
    do throws(JSONReader.Failure) {
      let value = try Value(json: &json)
      try json.end()
      return value
    } catch {
      throw .wrongType(key, "holds JSON of another shape: \(error)", cause: error)
    }
  }
}

extension CacheError {
  /// The error for an intact entry, but by another codec, or with a value of another type. Its hint does
  /// not advise removal: the entry might be good for its own reader.
  package static func wrongType(_ key: CacheKey, _ reason: String, cause: (any Error)?) -> CacheError {
    CacheError(
      .wrongType, "entry \(key) \(reason)", hint: "read it as the type that was stored, or fetch or store it again",
      key: key.text, cause: cause)
  }
}
