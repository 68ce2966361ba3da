internal import FetchVocabulary

/// The server that an origin asks: its address, what every request carries, and the service that sends requests.
public struct OriginServer: Sendable {
  /// How many redirects in a row a request follows.
  private static let maxRedirects = 5

  /// The server's address.
  public let baseURL: BaseURL
  private let fields: HTTPFields
  private let secretFields: HTTPFields
  private let credentials: OriginCredentials
  private let clientIdentity: String?
  private let transfer: any DataTransferService
  let secrets: SecretTexts

  /// Creates a server.
  ///
  /// - Parameters:
  ///   - fields: header fields for every request. They replace the origin's own.
  ///   - secretFields: further header fields, whose values are never shown.
  ///   - clientIdentity: a digest of the client's certificate; `nil` if it has none.
  public init(
    _ baseURL: BaseURL, fields: HTTPFields = [:], secretFields: HTTPFields = [:],
    credentials: OriginCredentials = .none, clientIdentity: String? = nil, transfer: any DataTransferService
  ) {
    self.baseURL = baseURL
    self.fields = fields
    self.secretFields = secretFields
    self.credentials = credentials
    self.clientIdentity = clientIdentity
    self.transfer = transfer
    secrets = SecretTexts(secretFields.lines.map(\.value) + [credentials.secret].compactMap { $0 })
  }

  /// The request for `endpoint` as the caching rules examine it: with all that tells clients apart, but without a key in
  /// its URL.
  func message(for endpoint: Endpoint) -> HTTPRequest {
    var request = endpoint.httpRequest
    request.clientIdentity = clientIdentity
    request.fields = request.fields.replacing(with: credentials.fields).replacing(with: fields).replacing(
      with: secretFields)
    request.secretFields = Set(secretFields.lines.map(\.name))
    request.secretParameters = HTTPFields(credentials.query.map { HTTPFields.Field($0.name, $0.value) })
    return request
  }

  /// The request for `endpoint` as it is sent.
  func httpRequest(for endpoint: Endpoint) -> HTTPRequest {
    var request = message(for: endpoint)
    guard !credentials.query.isEmpty else { return request }
    request.url += (endpoint.query.isEmpty ? "?" : "&") + Endpoint.text(of: credentials.query)
    return request
  }

  /// Sends the request for `endpoint`, with `conditions` added, and returns the answer, whatever its status. Follows
  /// redirects if that is safe.
  ///
  /// - Throws: `CacheError`: what the transfer throws, without secrets; `invalidAnswer` after too many redirects.
  func send(
    _ endpoint: Endpoint, conditions: HTTPFields, origin: String
  ) async throws(CacheError) -> HTTPResponse {
    var request = httpRequest(for: endpoint)
    request.fields = request.fields.replacing(with: conditions)
    for _ in 0...Self.maxRedirects {
      let response = try await send(request, origin: origin)
      guard let redirect = try Redirect(response.head, to: request) else { return response }
      request = redirect.request
    }
    throw .invalidAnswer(origin, "more than \(Self.maxRedirects) redirects for \(endpoint.subject)")
  }

  private func send(_ request: HTTPRequest, origin: String) async throws(CacheError) -> HTTPResponse {
    do throws(CacheError) {
      return try await transfer.transfer(request)
    } catch {
      throw secrets.withheld(from: error, origin: origin)
    }
  }
}

extension OriginServer: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The server's address.
  public var description: String { baseURL.description }

  /// The same as `description`.
  public var debugDescription: String { description }

  /// Shows the address, and how credentials are sent.
  public var customMirror: Mirror { Mirror(self, children: ["baseURL": baseURL, "credentials": credentials]) }
}

extension HTTPFields {
  /// These fields, with lines replaced by those of `others` that have the same name.
  fileprivate func replacing(with others: HTTPFields) -> HTTPFields {
    let kept = lines.filter { !others.contains($0.name) }
    return HTTPFields(kept + others.lines)
  }
}
