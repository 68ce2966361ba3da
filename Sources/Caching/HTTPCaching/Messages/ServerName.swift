package import CacheBase

/// The names and addresses of servers in URLs.
package enum ServerName {
  /// The longest name in ASCII (RFC 1035, section 2.3.4).
  private static let maximumLength = 255

  /// The functions of libidn2 that are used here. Their types are written here, because they have not changed since 2.0, and a
  /// build then needs no header of libidn2.
  private struct Conversion: Sendable {
    typealias Text = UnsafeMutablePointer<CChar>

    let toASCII: @convention(c) @Sendable (UnsafePointer<CChar>, UnsafeMutablePointer<Text?>, Int32) -> Int32
    let free: @convention(c) @Sendable (Text) -> Void

    init() throws(DynamicLibrary.Failure) {
      let library = try DynamicLibrary("libidn2", versions: ["0"], package: "libidn2-0")
      toASCII = try library.function("idn2_lookup_u8")
      free = try library.function("idn2_free")
    }
  }

  /// libidn2, loaded by the first name outside ASCII.
  private static let conversion = Result { () throws(DynamicLibrary.Failure) in try Conversion() }

  /// Why names outside ASCII cannot be used here; `nil` if they can.
  package static var missingLibrary: DynamicLibrary.Failure? {
    if case .failure(let failure) = conversion { failure } else { nil }
  }

  /// The host `host` of a URL in its normal form; `nil` if it is not valid. A name is in lower case, without percent
  /// codes, and in ASCII (UTS 46); an IPv6 address is in its usual notation.
  ///
  /// Cost: a name outside ASCII loads libidn2. Without that library no such name is valid.
  package static func normal(_ host: Substring) -> String? {
    if host.isEmpty { return "" }
    if host.utf8.first == UInt8(ascii: "[") { return address6(host) }
    guard let name = String(validating: PercentEncoding.decoded(host), as: UTF8.self) else { return nil }
    // The library maps some characters to syntax of URLs, such as U+FF0F to a slash. A percent code can hide one, too.
    guard let ascii = name.utf8.allSatisfy({ $0 < 0x80 }) ? name.lowercased() : inASCII(name: name),
      !ascii.utf8.isEmpty, ascii.utf8.allSatisfy(PercentEncoding.isUnreserved), !hasEmptyLabel(ascii)
    else { return nil }
    return ascii
  }

  /// `url` with its host in ASCII. `url` itself if its host is already, or if there is no valid host.
  package static func inASCII(_ url: String) -> String {
    guard !url.utf8.allSatisfy({ $0 < 0x80 }), let host = URLParts(url)?.host,
      !host.utf8.allSatisfy({ $0 < 0x80 }), let name = normal(host)
    else { return url }
    return String(Substring(url.utf8[..<host.startIndex])) + name + String(Substring(url.utf8[host.endIndex...]))
  }

  private static func inASCII(name: String) -> String? {
    guard case .success(let conversion) = conversion, !name.utf8.contains(0) else { return nil }
    var text: Conversion.Text?
    // IDN2_NFC_INPUT and IDN2_NONTRANSITIONAL: composes the name first, and maps it by UTS 46.
    guard conversion.toASCII(name, &text, 1 | 8) == 0, let text else { return nil }
    defer { conversion.free(text) }
    return strlen(text) <= maximumLength ? String(cString: text).lowercased() : nil
  }

  /// Only the root, after the last dot, can have no name.
  private static func hasEmptyLabel(_ name: String) -> Bool {
    name.split(separator: ".", omittingEmptySubsequences: false).dropLast().contains { $0.isEmpty }
  }

  /// The IPv6 address in the brackets `text`, whose zone (RFC 6874) keeps its case; `nil` if it is none.
  private static func address6(_ text: Substring) -> String? {
    let parts = text.dropFirst().dropLast().split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    var (address, buffer) = (in6_addr(), [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN)))
    guard text.utf8.last == UInt8(ascii: "]"), let digits = parts.first,
      inet_pton(AF_INET6, String(digits), &address) == 1,
      inet_ntop(AF_INET6, &address, &buffer, socklen_t(buffer.count)) != nil
    else { return nil }
    let normal = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard parts.count == 2 else { return "[\(normal)]" }
    let zone = parts[1].hasPrefix("25") ? parts[1].dropFirst(2) : parts[1]
    guard !zone.isEmpty, zone.utf8.allSatisfy(PercentEncoding.isUnreserved) else { return nil }
    return "[\(normal)%25\(zone)]"
  }
}
