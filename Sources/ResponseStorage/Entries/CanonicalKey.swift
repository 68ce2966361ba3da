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
    let parameters = request.parameters.sorted { $0.name < $1.name }
    var text = "\(type(of: request).resource)/\(Self.schemeVersion)"
    for (name, value) in parameters { text += "/\(Self.percentEncoded(name))=\(Self.percentEncoded(value))" }
    do throws(StorageError) {
      try self.init(text)
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
    for byte in text.utf8 {
      if isUnreserved(byte) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 15)]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~".utf8.contains(byte)
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }
}
