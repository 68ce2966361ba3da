/// The parts of a URL reference (RFC 3986, section 4.1), as they are written, without the fragment.
///
/// It works on bytes, because a combining mark after a slash would merge with it into another character. Cost: one pass
/// over the text for each kind of part, and no copies except for the scheme.
package struct URLParts: Sendable {
  /// The scheme in lower case; `nil` in a relative reference.
  package private(set) var scheme: String?
  /// The text before the last `@` of the authority: a user, and optionally a password. `nil` if there is none.
  package private(set) var userInfo: Substring?
  /// The host, with an IPv6 address in brackets; empty if the authority has none, `nil` if there is no authority.
  package private(set) var host: Substring?
  /// The port, from 0 to 65,535; `nil` if there is none.
  package private(set) var port: Int?
  /// The path: empty, or everything from the slash after the authority on. In a relative reference it can begin without
  /// a slash.
  package private(set) var path: Substring
  /// The text after the question mark; `nil` if there is none.
  package private(set) var query: Substring?

  /// The host, and the port if there is one; `nil` if the reference names no server.
  package var authority: String? {
    guard let host, !host.isEmpty else { return nil }
    return port.map { "\(host):\($0)" } ?? String(host)
  }

  /// Parses `text`; `nil` if its scheme, host or port is invalid, or if it has control characters.
  package init?(_ text: String) {
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    var rest = text.utf8.prefix { $0 != UInt8(ascii: "#") }
    if let mark = rest.firstIndex(of: UInt8(ascii: "?")) {
      query = Substring(rest[mark...].dropFirst())
      rest = rest[..<mark]
    }
    path = ""
    if let colon = rest.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }),
      rest[colon] == UInt8(ascii: ":")
    {
      guard Self.isScheme(rest[..<colon]) else { return nil }
      scheme = Substring(rest[..<colon]).lowercased()
      rest = rest[colon...].dropFirst()
    }
    if rest.starts(with: "//".utf8) {
      let authority = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") }
      rest = rest[authority.endIndex...]
      guard readAuthority(authority) else { return nil }
    }
    path = Substring(rest)
  }

  private mutating func readAuthority(_ text: Substring.UTF8View) -> Bool {
    var rest = text
    // Browsers take a backslash for a slash: the host would depend on the reader.
    guard !rest.contains(UInt8(ascii: "\\")) else { return false }
    if let mark = rest.lastIndex(of: UInt8(ascii: "@")) {
      userInfo = Substring(rest[..<mark])
      rest = rest[mark...].dropFirst()
    }
    let isAddress = rest.first == UInt8(ascii: "[")
    let end =
      isAddress
      ? rest.firstIndex(of: UInt8(ascii: "]")).map { rest.index(after: $0) } : rest.lastIndex(of: UInt8(ascii: ":"))
    let name = rest[..<(end ?? rest.endIndex)]
    let tail = rest[name.endIndex...]
    guard Self.isHost(name), tail.isEmpty || tail.first == UInt8(ascii: ":") else { return false }
    host = Substring(name)
    guard tail.count > 1 else { return true }
    guard let number = Digits.number(Substring(tail.dropFirst())), number <= UInt16.max else { return false }
    port = number
    return true
  }

  private static func isScheme(_ text: Substring.UTF8View) -> Bool {
    guard let first = text.first, first.isASCIILetter else { return false }
    return text.allSatisfy { $0.isASCIILetterOrDigit || "+-.".utf8.contains($0) }
  }

  /// Whether `text` can be a host. Non-ASCII characters are allowed, and not checked.
  private static func isHost(_ text: Substring.UTF8View) -> Bool {
    if text.first == UInt8(ascii: "[") {
      return text.last == UInt8(ascii: "]") && text.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/\\@".utf8.contains($0) }
    }
    return text.allSatisfy {
      $0 >= 0x80 || PercentEncoding.isUnreserved($0) || "%!$&'()*+,;=".utf8.contains($0)
    }
  }
}
