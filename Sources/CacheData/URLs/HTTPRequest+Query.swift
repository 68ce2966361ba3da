internal import CacheDomain
internal import FoundationEssentials

extension HTTPRequest {
  /// The request that `query` describes. The URL is normalised (RFC 3986, section 6.2.2.1 and 6.2.3): scheme and host in
  /// lower case, without a default port, with a path. What it says before an `@` is sent as credentials (RFC 7617) and
  /// does not stay in the URL, nor does the fragment.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` that says what makes no sense.
  init(_ query: URLQuery) throws(CacheError) {
    guard Self.isToken(query.method) else {
      throw CacheError(.invalidRequest, "'\(query.method)' is no method", hint: "use one such as GET or POST")
    }
    var fields = HTTPFields(try query.fields.map { field throws(CacheError) in try Self.field(field) })
    var components = try Self.components(query.url)
    if let credentials = Self.credentials(components), !fields.contains("authorization") {
      fields.append("Authorization", credentials)
    }
    (components.percentEncodedUser, components.percentEncodedPassword, components.fragment) = (nil, nil, nil)
    if !query.body.isEmpty, !fields.contains("content-type") {
      fields.append("Content-Type", "application/x-www-form-urlencoded")
    }
    guard let url = components.string else { throw Self.noURL(query.url) }
    self.init(method: query.method, url: url, fields: fields, body: query.body)
  }

  private static func components(_ text: String) throws(CacheError) -> URLComponents {
    guard var components = URLComponents(string: text), let scheme = components.scheme?.lowercased(),
      let host = components.host?.lowercased(), ["http", "https"].contains(scheme), !host.isEmpty
    else { throw noURL(text) }
    (components.scheme, components.host) = (scheme, host)
    if components.port == (scheme == "https" ? 443 : 80) { components.port = nil }
    if components.percentEncodedPath.isEmpty { components.percentEncodedPath = "/" }
    return components
  }

  private static func credentials(_ components: URLComponents) -> String? {
    guard let user = components.user else { return nil }
    let pair = Data("\(user):\(components.password ?? "")".utf8)
    return "Basic \(pair.base64EncodedString())"
  }

  private static func field(_ field: URLQuery.Field) throws(CacheError) -> HTTPFields.Field {
    let isPrintable = field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    guard isToken(field.name), isPrintable else {
      throw CacheError(.invalidRequest, "a header field is malformed", hint: "write it as 'Name: value'")
    }
    return HTTPFields.Field(field.name, String(FieldList.trimmed(field.value[...])))
  }

  /// RFC 9110, section 5.6.2.
  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.unicodeScalars.allSatisfy {
        $0.isASCII
          && ($0.properties.isAlphabetic || $0.properties.numericType != nil
            || "!#$%&'*+-.^_`|~".unicodeScalars.contains($0))
      }
  }

  /// The text itself is not repeated: it may hold a password.
  private static func noURL(_ text: String) -> CacheError {
    CacheError(.invalidRequest, "that is no URL of a web server", hint: "write it as https://example.com/path")
  }
}
