internal import Base

/// What the parts of messages may consist of (RFC 9110, section 5).
package enum HTTPSyntax {
  /// Whether `text` is a token (section 5.6.2), as methods and the names of fields are.
  package static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isTokenByte) }

  /// Whether `byte` is a character of tokens.
  package static func isTokenByte(_ byte: UInt8) -> Bool {
    byte.isASCIILetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  /// Whether `text` can be sent as the value of a field: it has no control character but tabs (section 5.5).
  package static func isFieldValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }
  }
}

extension HTTPRequest {
  /// Whether `method` asks for a representation, with content or without: GET or HEAD. Its requests have no content.
  package static func retrieves(_ method: String) -> Bool { method == "GET" || method == "HEAD" }

  /// Whether the method is GET or HEAD: it asks for a representation, with content or without.
  package var retrieves: Bool { Self.retrieves(method) }

  /// Whether the method changes nothing at its origin (RFC 9110, section 9.2.1).
  package var isSafe: Bool { retrieves || method == "OPTIONS" || method == "TRACE" }
}

extension HTTPResponseHead {
  /// The statuses that send a request elsewhere by `Location` (RFC 9110, section 15.4).
  package static let redirectStatuses: Set = [301, 302, 303, 307, 308]
}
