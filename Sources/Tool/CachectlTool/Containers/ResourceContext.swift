public import CacheCore
internal import FetchVocabulary
internal import CurlTransport

/// What the container of a resource is made of: the store, the services of every fetch, and its servers.
public struct ResourceContext: Sendable {
  /// The open store.
  public let store: EntryStore
  /// The configuration, with the resource's section.
  public let configuration: Configuration
  /// The caching rules, the clock, and the fetches under way, for `fetch`.
  public let services: FetchServices
  /// The client's name for servers.
  let userAgent: String
  /// Makes the service that transfers an origin's requests, under its configured limits.
  let makeTransfer: @Sendable (Configuration.Transport) -> any DataTransferService

  /// The server at `address`, for an origin that asks one.
  ///
  /// Its requests carry the configured headers, and `credentials` made of the configured `secret`. A secret that is not
  /// set fails the first request, not this call: the cache still answers with what was stored without it.
  ///
  /// - Throws: `CacheError` if `address` is not the address of a server.
  public func server(
    at address: String, _ transport: Configuration.Transport, secret: Secret? = nil,
    credentials: (String) -> OriginCredentials = OriginCredentials.bearerToken
  ) throws(CacheError) -> OriginServer {
    let secrets = OriginSecrets(transport.headers, secret: secret, credentials: credentials)
    let files = NetworkFiles(transport.network, of: configuration)
    let transfer: any DataTransferService =
      if let problem = secrets.problem ?? files.problem {
        UnavailableTransfer(reason: problem)
      } else {
        DecodingTransferService(
          makeTransfer(transport), maxResponseBytes: transport.maxResponseBytes, settings: transport.settings)
      }
    var fields: HTTPFields = ["User-Agent": userAgent]
    for line in secrets.plainFields.lines { fields[line.name] = line.value }
    return OriginServer(
      try BaseURL(address), fields: fields, secretFields: secrets.secretFields, credentials: secrets.credentials,
      clientIdentity: files.clientIdentity, transfer: transfer)
  }
}

/// What the configuration adds to each request of an origin, with secrets revealed where possible.
struct OriginSecrets: Sendable {
  /// The fields that may be shown.
  private(set) var plainFields: HTTPFields = [:]
  /// The fields that must not be shown.
  private(set) var secretFields: HTTPFields = [:]
  /// The key or token.
  private(set) var credentials = OriginCredentials.none
  /// Why a secret cannot be sent; `nil` if all can.
  private(set) var problem: CacheError?

  /// The fields for `headers`, and the credentials that `credentials` makes of `secret`.
  init(_ headers: [HeaderSetting], secret: Secret?, credentials makeCredentials: (String) -> OriginCredentials) {
    for header in headers {
      switch header.value {
      case .text(let text): plainFields.append(header.name, text)
      case .secret(let secret): if let value = reveal(secret) { secretFields.append(header.name, value) }
      }
    }
    if let value = secret.flatMap({ reveal($0) }) { credentials = makeCredentials(value) }
  }

  private mutating func reveal(_ secret: Secret) -> String? {
    do throws(ConfigurationError) {
      let value = try secret.reveal()
      if HTTPSyntax.isFieldValue(value) { return value }
      problem = CacheError(
        .originUnavailable, "the value of the environment variable \(secret.variable) has a control character",
        hint: "set \(secret.variable) to a value of one line")
    } catch {
      problem = CacheError(.originUnavailable, error.message, hint: error.hint)
    }
    return nil
  }
}

/// Takes the place of a transfer that cannot be made: every request fails for the same reason, without leaving the process.
struct UnavailableTransfer: DataTransferService {
  let reason: CacheError

  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse { throw reason }
}
