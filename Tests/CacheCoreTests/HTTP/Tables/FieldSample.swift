/// A field whose storage and update the suite checks, with two values for it.
struct FieldSample: Sendable {
  let name: String
  let first: String
  let second: String
  /// Whether a cache stores the field.
  let isStored: Bool
  /// What the suite expects of a cache if a 304 has the field.
  let updating: Updating

  enum Updating: Sendable {
    case required, asked, forbidden
  }

  private init(
    _ name: String, _ first: String? = nil, _ second: String? = nil, isStored: Bool = true,
    updating: Updating = .asked
  ) {
    self.name = name
    self.first = first ?? "first-\(name)"
    self.second = second ?? "second-\(name)"
    self.isStored = isStored
    self.updating = updating
  }

  /// Whether the content fits the field: an invented length would cut it short.
  var hasContent: Bool { name != "Content-Length" }

  static let all: [FieldSample] = [
    FieldSample("Test-Header", updating: .required),
    FieldSample("X-Test-Header", updating: .required),
    FieldSample("Content-Foo", updating: .required),
    FieldSample("X-Content-Foo", updating: .required),
    FieldSample("Cache-Control", "max-age=1", "max-age=3600", updating: .required),
    FieldSample("Connection", isStored: false),
    FieldSample("Content-Encoding"),
    FieldSample("Content-Length", "5", "10", updating: .forbidden),
    FieldSample("Content-Location", "/foo", "/bar"),
    FieldSample("Content-MD5", "rL0Y20zC+Fzt72VPzMSk2A==", "N7UdGUp1E+RbVvZSTy1R8g=="),
    FieldSample("Content-Range"),
    FieldSample("Content-Security-Policy", "default-src 'self'", "default-src 'self' cdn.example.com"),
    FieldSample("Content-Type", "text/plain", "text/plain;charset=utf-8"),
    FieldSample("Clear-Site-Data", "cache", "cookies"),
    FieldSample("ETag", "\"abcdef\"", "\"ghijkl\""),
    FieldSample("Expires", "Fri, 01 Jan 2038 01:01:01 GMT", "Mon, 11 Jan 2038 11:11:11 GMT"),
    FieldSample("Keep-Alive", isStored: false),
    FieldSample("Proxy-Authenticate", isStored: false),
    FieldSample("Proxy-Authentication-Info", isStored: false),
    FieldSample("Proxy-Authorization", isStored: false),
    FieldSample("Proxy-Connection", isStored: false),
    FieldSample("Public-Key-Pins"),
    FieldSample("Set-Cookie", "a=b", "a=c"),
    FieldSample("Set-Cookie2", "a=b", "a=c"),
    FieldSample("TE", isStored: false),
    FieldSample("Transfer-Encoding", isStored: false),
    FieldSample("Upgrade", isStored: false),
    FieldSample("X-Frame-Options", "deny", "sameorigin"),
    FieldSample("X-XSS-Protection", "1", "1; mode=block"),
  ]
}
