/// What a server does with a request: it answers, well or badly, or does not.
public struct TestResponse: Sendable {
  /// What goes over the wire.
  public enum Form: Sendable, Hashable {
    /// A message of HTTP.
    case message
    /// These bytes, whatever they are; then the connection is closed.
    case raw([UInt8])
    /// Nothing: the connection is closed.
    case nothing
  }

  /// How the content of a message is delimited.
  public enum Framing: Sendable, Hashable {
    /// By its true length; in chunks where it has no end.
    case length
    /// By a length that is claimed, true or not; then the connection is closed.
    case claimedLength(Int)
    /// In chunks of at most so many bytes.
    case chunked(Int)
    /// By the end of the connection.
    case close
  }

  /// What goes over the wire.
  public var form = Form.message
  /// The status.
  public var status: Int
  /// The header fields, without those of the framing. A field `Date` is added where there is none.
  public var fields: TestFields
  /// The content.
  public var body: TestBody
  /// The fields after the content, where that is in chunks.
  public var trailers: TestFields = [:]
  /// How the content is delimited.
  public var framing = Framing.length
  /// After how many bytes of the content the connection is closed, with the rest missing; `nil` for none missing.
  public var cut: Int?
  /// How many bytes of a raw answer are sent at a time, with a millisecond in between; `nil` for all.
  public var pieceSize: Int?
  /// Holds the answer back until it is opened.
  public var gate: TestGate?
  /// Holds the content back, after the header, until it is opened.
  public var bodyGate: TestGate?
  /// How many bytes of the content are sent before `bodyGate`.
  public var ungated = 0

  /// An answer with the given parts.
  public init(status: Int = 200, fields: TestFields = [:], body: TestBody = .bytes([])) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// An answer with a text.
  public init(status: Int = 200, fields: TestFields = [:], _ text: String, type: String = "text/plain") {
    self.init(
      status: status, fields: (["Content-Type": type] as TestFields).replacing(with: fields),
      body: .bytes(Array(text.utf8)))
  }

  /// An answer with a document of JSON.
  public static func json(_ text: String, status: Int = 200, fields: TestFields = [:]) -> TestResponse {
    TestResponse(status: status, fields: fields, text, type: "application/json; charset=utf-8")
  }

  /// A page for people in place of an answer, as proxies send it.
  public static func html(_ status: Int, fields: TestFields = [:]) -> TestResponse {
    TestResponse(
      status: status, fields: fields, "<!DOCTYPE html><html><body><h1>\(status)</h1></body></html>",
      type: "text/html; charset=utf-8")
  }

  /// A redirect to `location`.
  public static func redirect(to location: String, status: Int = 302, fields: TestFields = [:]) -> TestResponse {
    TestResponse(status: status, fields: fields.replacing(with: ["Location": location]))
  }

  /// The refusal of a client that asks too often, with or without the time after which it may come back: seconds, or a
  /// date.
  public static func tooManyRequests(retryAfter: String?, _ text: String = "{}") -> TestResponse {
    var response = TestResponse.json(text, status: 429)
    response.fields["Retry-After"] = retryAfter
    return response
  }

  /// Bytes that are no HTTP.
  public static func raw(_ text: String) -> TestResponse { raw(bytes: Array(text.utf8)) }

  /// Bytes that are no text either.
  public static func raw(bytes: [UInt8]) -> TestResponse {
    var response = TestResponse()
    response.form = .raw(bytes)
    return response
  }

  /// The end of the connection without an answer.
  public static var hangUp: TestResponse {
    var response = TestResponse()
    response.form = .nothing
    return response
  }
}
