internal import CacheDomain

/// The server that an origin asks: where it is, what every request carries, and what carries the requests.
public struct OriginServer: Sendable {
  /// Its address.
  public let baseURL: BaseURL
  private let fields: HTTPFields
  private let secretFields: HTTPFields
  private let credentials: OriginCredentials
  private let clientIdentity: String?
  private let transfer: any DataTransferService
  let secrets: SecretTexts

  /// A server.
  ///
  /// - Parameters:
  ///   - fields: the header fields of every request, in place of those that an origin would send.
  ///   - secretFields: more of them, whose values are never shown.
  ///   - clientIdentity: a digest of the certificate that the client shows; `nil` for none.
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

  /// The request for `endpoint` as the rules of caching see it: with the field `Authorization`, which they ask for, and
  /// without a key in its URL.
  func message(for endpoint: Endpoint) -> HTTPRequest {
    var request = endpoint.httpRequest
    request.clientIdentity = clientIdentity
    request.fields = request.fields.replacing(with: credentials.fields).replacing(with: fields).replacing(
      with: secretFields)
    return request
  }

  /// The request for `endpoint` as it is sent.
  func httpRequest(for endpoint: Endpoint) -> HTTPRequest {
    var request = message(for: endpoint)
    guard !credentials.query.isEmpty else { return request }
    request.url += (endpoint.query.isEmpty ? "?" : "&") + Endpoint.text(of: credentials.query)
    return request
  }

  /// The answer to the request for `endpoint`, to which the fields `conditions` are added, whatever its status.
  /// Redirects are followed where that is safe.
  ///
  /// - Throws: `CacheError`: what the transfer throws, with no secret in it; `invalidAnswer` for too many redirects.
  func send(
    _ endpoint: Endpoint, conditions: HTTPFields, origin: String
  ) async throws(CacheError) -> HTTPResponse {
    var request = httpRequest(for: endpoint)
    request.fields = request.fields.replacing(with: conditions)
    for _ in 0...URLQuery.usualRedirects {
      let response = try await send(request, origin: origin)
      guard let redirect = Redirect(response.head, to: request) else { return response }
      request = redirect.request(without: secretFields.replacing(with: credentials.fields))
    }
    throw .invalidAnswer(origin, "more than \(URLQuery.usualRedirects) redirects for \(endpoint.subject)")
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
  /// Its address.
  public var description: String { baseURL.description }

  /// The same as `description`.
  public var debugDescription: String { description }

  /// Shows the address and how credentials are sent.
  public var customMirror: Mirror { Mirror(self, children: ["baseURL": baseURL, "credentials": credentials]) }
}

extension HTTPFields {
  /// These fields, with those of `others` in place of the lines of the same names.
  fileprivate func replacing(with others: HTTPFields) -> HTTPFields {
    let kept = lines.filter { !others.contains($0.name) }
    return HTTPFields(kept + others.lines)
  }
}
