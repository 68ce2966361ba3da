public import FetchVocabulary

/// A request whose answer can be stored. Its parts make the canonical key of the entry.
public protocol CacheableRequest: Sendable, Hashable {
  /// The kind of resource, and the namespace of its entries: lower-case letters and digits.
  static var resource: String { get }

  /// The namespace of this request's entry; by default `resource`.
  var namespace: String { get }

  /// Everything that the answer depends on, including the origin, and no secrets. The order does not matter, but keys
  /// are made faster if the names are sorted.
  var parameters: [(name: String, value: String)] { get }
}

extension CacheableRequest {
  /// The kind of resource.
  public var namespace: String { Self.resource }
}

/// A source of answers that the cache does not have: a server, or the sample data in the program.
public protocol ResponseOrigin<Request, Response>: Sendable {
  /// The kind of request.
  associatedtype Request: CacheableRequest
  /// The kind of answer.
  associatedtype Response: Sendable

  /// The origin's name. It is part of every entry's key, so that answers of two origins never mix.
  var name: String { get }

  /// Whether asking the origin is so cheap that concurrent fetches need not share one request.
  var isInProcess: Bool { get }

  /// The request as the caching rules examine it, without conditions.
  ///
  /// - Throws: `CacheError` with the code `invalidRequest` if the request makes no sense.
  func message(for request: Request) throws(CacheError) -> HTTPRequest

  /// Asks the origin.
  ///
  /// - Parameters:
  ///   - request: what to ask for.
  ///   - conditions: header fields that make the request conditional on the stored response; empty for none.
  /// - Throws: `CacheError`: `originUnreachable`, `originRefused`, `notFound`, `invalidAnswer`, `invalidRequest`,
  ///   `cancelled`.
  func answer(to request: Request, conditions: HTTPFields) async throws(CacheError) -> OriginAnswer<Response>
}

extension ResponseOrigin {
  /// `false`: by default, an origin is not in this process.
  public var isInProcess: Bool { false }

  /// A stand-in for the request to an origin that is not reached over HTTP.
  public func message(for request: Request) throws(CacheError) -> HTTPRequest {
    HTTPRequest(url: "\(name):\(Request.resource)")
  }
}

/// The answer of an origin.
public struct OriginAnswer<Response: Sendable>: Sendable {
  /// The status and the header fields, which decide how the answer may be stored and reused.
  public let head: HTTPResponseHead
  /// The whole, valid answer; `nil` if the origin confirms the stored response (status 304).
  public let response: Response?
  /// The status that the origin sent. It differs from that of `head` if the origin only completed the stored response.
  public let status: Int

  /// Creates an answer. By default its status is that of `head`.
  public init(head: HTTPResponseHead, response: Response?, status: Int? = nil) {
    self.head = head
    self.response = response
    self.status = status ?? head.status
  }
}
