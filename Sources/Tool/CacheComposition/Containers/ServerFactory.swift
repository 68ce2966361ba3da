internal import CachedFetching
internal import FetchVocabulary
internal import HTTPTransfer

/// Makes the servers that origins ask.
struct ServerFactory: Sendable {
  /// The configuration, which knows the source of each value.
  let configuration: Configuration
  /// The client's name for servers.
  let userAgent: String
  /// Makes the service that transfers an origin's requests, under its configured limits.
  let makeTransfer: @Sendable (Configuration.Transport) -> any DataTransferService

  /// A missing secret matters only once the server is asked: the cache answers without it.
  func makeServer(
    _ url: String, _ secrets: OriginSecrets, _ transport: Configuration.Transport
  ) throws(CacheError) -> OriginServer {
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
      try BaseURL(url), fields: fields, secretFields: secrets.secretFields, credentials: secrets.credentials,
      clientIdentity: files.clientIdentity, transfer: transfer)
  }
}

/// Stands in for a transfer that cannot be made: every request fails for the same reason, without leaving the process.
struct UnavailableTransfer: DataTransferService {
  let reason: CacheError

  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse { throw reason }
}
