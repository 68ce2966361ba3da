/// What a server is asked.
public struct HTTPRequest: Sendable, Hashable {
  /// The method, such as GET; methods are case-sensitive.
  public var method: String
  /// The absolute URL, without a fragment and without credentials.
  public var url: String
  /// The header fields.
  public var fields: HTTPFields
  /// The content; empty where there is none.
  public var body: [UInt8]

  /// A request with the given parts.
  public init(method: String = "GET", url: String, fields: HTTPFields = [:], body: [UInt8] = []) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
  }
}

/// A final answer of a server.
public struct HTTPResponse: Sendable, Hashable {
  /// The status and header fields.
  public var head: HTTPResponseHead
  /// The content as it was received, after the coding of the transfer was undone.
  public var body: [UInt8]

  /// A response with the given parts.
  public init(_ head: HTTPResponseHead, body: [UInt8] = []) {
    self.head = head
    self.body = body
  }
}

/// The status and the header fields of a response.
public struct HTTPResponseHead: Sendable, Hashable {
  /// The status, from 100 to 599.
  public var status: Int
  /// The header fields.
  public var fields: HTTPFields

  /// A head with the given parts.
  public init(status: Int, fields: HTTPFields = [:]) {
    self.status = status
    self.fields = fields
  }
}
