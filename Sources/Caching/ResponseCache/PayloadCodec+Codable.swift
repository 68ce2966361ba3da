internal import FetchVocabulary
public import CacheCore
internal import EngineAPI

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PayloadCodec where Value: Codable {
  /// Stores a `String` as its UTF-8, `[UInt8]` and Foundation's `Data` unchanged, and everything else as JSON: by the
  /// value's own functions if it is a `JSONPayload`, which is several times faster, otherwise by Foundation's coder.
  public static var codable: PayloadCodec {
    PayloadCodec(
      "codable", encode: { value throws(CacheError) in (try encodeStandard(value), contentType) },
      decode: { bytes, key, contentType throws(CacheError) in try decodeStandard(bytes, key, contentType) })
  }

  /// The content type of the payload: the type decides, not the value, because a cast of a value finds a `String` in a
  /// `String?`, and `[UInt8]` in every empty array.
  private static var contentType: String {
    if Value.self == String.self { return "text/plain; charset=utf-8" }
    if Value.self == [UInt8].self || Value.self == Data.self { return "application/octet-stream" }
    return "application/json"
  }

  private static func encodeStandard(_ value: Value) throws(CacheError) -> [UInt8] {
    if Value.self == String.self, let text = value as? String { return Array(text.utf8) }
    if Value.self == [UInt8].self, let bytes = value as? [UInt8] { return bytes }
    if Value.self == Data.self, let data = value as? Data { return Array(data) }
    guard Value.self is any JSONPayload.Type, let payload = value as? any JSONPayload else {
      return try encodeJSON(value)
    }
    var json = JSONWriter()
    payload.write(to: &json)
    return json.bytes
  }

  private static func encodeJSON(_ value: Value) throws(CacheError) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.withoutEscapingSlashes]
    do {
      return Array(try encoder.encode(value))
    } catch {
      throw CacheError(.malformed, "a value of type \(Value.self) cannot be encoded: \(error)", cause: error)
    }
  }

  private static func decodeStandard(
    _ bytes: Span<UInt8>, _ key: CacheKey, _ storedType: String
  ) throws(CacheError) -> Value {
    // A text can look like JSON, and JSON is a text.
    guard storedType == contentType else { throw notThisType(key, "it is \(storedType)") }
    if Value.self == String.self {
      guard let text = bytes.withUnsafeBufferPointer({ String(validating: $0, as: UTF8.self) }) as? Value else {
        throw notThisType(key, "it is not UTF-8")
      }
      return text
    }
    if Value.self == [UInt8].self, let bytes = bytes.withUnsafeBufferPointer({ Array($0) }) as? Value { return bytes }
    if Value.self == Data.self, let data = bytes.withUnsafeBufferPointer({ Data($0) }) as? Value { return data }
    if let payload = Value.self as? any JSONPayload.Type {
      guard let value = try decodePayload(payload, bytes, key) as? Value else { throw notThisType(key, "") }
      return value
    }
    return try decodeJSON(bytes, key)
  }

  private static func decodePayload<Payload: JSONPayload>(
    _ type: Payload.Type, _ bytes: Span<UInt8>, _ key: CacheKey
  ) throws(CacheError) -> Payload {
    try PayloadCodec<Payload>.decodeJSON(bytes, key)
  }

  private static func decodeJSON(_ bytes: Span<UInt8>, _ key: CacheKey) throws(CacheError) -> Value {
    do {
      // The decoder keeps nothing of the bytes, so that they need not be copied.
      return try bytes.withUnsafeBufferPointer { buffer in
        guard let start = UnsafeMutableRawPointer(mutating: buffer.baseAddress) else {
          return try JSONDecoder().decode(Value.self, from: Data())
        }
        return try JSONDecoder().decode(
          Value.self, from: Data(bytesNoCopy: start, count: buffer.count, deallocator: .none))
      }
    } catch {
      throw notThisType(key, "\(error)", cause: error)
    }
  }

  private static func notThisType(_ key: CacheKey, _ reason: String, cause: (any Error)? = nil) -> CacheError {
    .wrongType(key, "holds no \(Value.self): \(reason)", cause: cause)
  }
}

extension PayloadCodec {
  /// Creates a codec from two functions over bytes.
  ///
  /// - Parameters:
  ///   - identifier: names the format, such as "user-v2". Codecs with the same identifier and value type must decode
  ///     alike: a value that one has decoded is reused by the others. A cache makes no resources with two codecs of one
  ///     identifier and value type that two places in the program have made.
  ///   - contentType: the media type of the bytes, for people and for native tools.
  ///   - encode: makes the bytes.
  ///   - decode: reads the bytes; throws if `encode` cannot have made them.
  public init(
    _ identifier: String, contentType: String = "application/octet-stream", file: StaticString = #fileID,
    line: UInt = #line, encode: @escaping @Sendable (Value) throws -> [UInt8],
    decode: @escaping @Sendable ([UInt8]) throws -> Value
  ) {
    self.init(
      identifier,
      encode: { value throws(CacheError) in
        do {
          return (try encode(value), contentType)
        } catch {
          throw CacheError(.malformed, "a value cannot be encoded as \(identifier): \(error)", cause: error)
        }
      },
      decode: { bytes, key, _ throws(CacheError) in
        do {
          return try decode(bytes.withUnsafeBufferPointer { Array($0) })
        } catch {
          throw CacheError.wrongType(key, "cannot be decoded as \(identifier): \(error)", cause: error)
        }
      })
    place = (file, line)
  }
}
