public import CacheData
public import CacheDomain
public import StorageSPI

extension CacheKey {
  /// The version of the scheme below. Entries under keys of another version are never found, and expire by themselves.
  static let schemeVersion = "v1"

  /// The key of the entry that answers `request`: `resource/version/name=value/name=value`, parameters sorted by name,
  /// names and values percent-encoded.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` where the key would be too long.
  public init(for request: some CacheableRequest) throws(CacheError) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Self.usualLength)
    bytes.append(text: type(of: request).resource)
    bytes.append(UInt8(ascii: "/"))
    bytes.append(text: Self.schemeVersion)
    for (name, value) in Self.sorted(request.parameters) {
      bytes.append(UInt8(ascii: "/"))
      bytes.append(percentEncoding: name)
      bytes.append(UInt8(ascii: "="))
      bytes.append(percentEncoding: value)
    }
    do throws(StorageError) {
      try self.init(bytes.span)
    } catch {
      throw CacheError(.invalidRequest, error.message, hint: "shorten what is asked for", cause: error)
    }
  }

  /// What the keys of all requests of one kind begin with, those without parameters excepted.
  public static func prefix(of kind: (some CacheableRequest).Type) -> String {
    "\(kind.resource)/\(schemeVersion)/"
  }

  /// `text` with every byte but the unreserved characters of RFC 3986, section 2.3, written as `%XX`.
  static func percentEncoded(_ text: String) -> String {
    var encoded: [UInt8] = []
    encoded.reserveCapacity(text.utf8.count)
    encoded.append(percentEncoding: text)
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Room for most keys.
  private static let usualLength = 96

  private static func sorted(_ parameters: [(name: String, value: String)]) -> [(name: String, value: String)] {
    let isSorted = parameters.indices.dropFirst().allSatisfy { parameters[$0 - 1].name < parameters[$0].name }
    return isSorted ? parameters : parameters.sorted { $0.name < $1.name }
  }
}

extension [UInt8] {
  fileprivate mutating func append(text: String) {
    text.utf8.span.withUnsafeBufferPointer { append(contentsOf: $0) }
  }

  /// Appends `text` with every byte but the unreserved characters of RFC 3986, section 2.3, written as `%XX`.
  fileprivate mutating func append(percentEncoding text: String) {
    text.utf8.span.withUnsafeBufferPointer { bytes in
      if bytes.allSatisfy(Self.isUnreserved) { return append(contentsOf: bytes) }
      for byte in bytes {
        if Self.isUnreserved(byte) {
          append(byte)
        } else {
          append(contentsOf: [UInt8(ascii: "%"), Self.hexDigit(byte >> 4), Self.hexDigit(byte & 15)])
        }
      }
    }
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}
