internal import CacheBase
public import CacheCore
internal import FetchVocabulary
internal import CurlTransport
internal import EngineAPI

/// Makes the services that transfer requests over the network. Loads and opens nothing before the first request.
public struct NetworkServiceFactory: Sendable {
  private let logger: (any TransferLogger)?
  private let warn: @Sendable (CacheError) -> Void

  /// A factory whose services pass `log` a line about each request, without secrets, and `warn` the warnings about requests
  /// that succeeded.
  public init(
    log: (@Sendable (String) -> Void)? = nil, warn: @escaping @Sendable (CacheError) -> Void = { _ in }
  ) {
    self.warn = warn
    logger = log.map { TransferLines(write: $0) }
  }

  /// Makes a service under the limits of `transport`. Its headers belong to the origin, which adds them itself.
  public func makeService(_ transport: Configuration.Transport) -> any DataTransferService {
    var service: any DataTransferService = HTTPTransferService(
      timeout: transport.timeout, totalTimeout: transport.demands.maxTime,
      content: transport.isStreamed ? .streamed : .whole(limit: transport.maxResponseBytes),
      settings: transport.settings, options: transport.options, environment: ProcessEnvironment.value(of:))
    if transport.demands.isInsecure { service = UnprovedTransfer(base: service, warn: warn) }
    if let logger { service = LoggingTransferService(service, logger: logger) }
    let patience = transport.demands.retries.map { RetryingTransferService.Patience(retries: $0) }
    let retrying = RetryingTransferService(
      service, patience: patience ?? RetryingTransferService.Patience(), now: { SystemWallClock().now.sinceEpoch })
    return LimitedTransferService(retrying, limit: transport.maxConcurrentRequests)
  }
}

extension Configuration.Transport {
  /// The names of the settings of its limits.
  var settings: LimitSettings {
    LimitSettings(timeout: section.map { "\($0).timeout" }, size: section.map { "\($0).maxResponseBytes" })
  }

  fileprivate var options: TransportOptions {
    var options = TransportOptions()
    options.proxy = network.proxy
    options.authorityFile = network.authorityFile
    options.clientCertificate = network.clientCertificate.map {
      TransportOptions.ClientCertificate(file: $0, keyFile: network.clientKey)
    }
    options.isInsecure = demands.isInsecure
    options.addressFamily = demands.addressFamily
    options.connectTimeout = demands.connectTimeout
    return options
  }
}

/// A command's demands on its transfers beyond the configuration; by default none.
struct TransferDemands: Hashable {
  /// The time limit for a whole transfer; `nil` for none.
  var maxTime: Duration?
  /// How often to repeat a request if the server is busy, fails or cannot be reached; `nil` for twice, and only if the
  /// server is busy.
  var retries: Int?
  /// The settings that override the configured ones.
  var network = Configuration.Network()
  /// Whether to accept servers without proof of their identity. Their responses are not stored.
  var isInsecure = false
  /// Whether to ask for compressed responses, and decompress them after they leave the cache.
  var isCompressed = false
  /// The only kind of addresses to connect to; `nil` for any.
  var addressFamily: TransportOptions.AddressFamily?
  /// The time limit for a connection; `nil` for that of each wait.
  var connectTimeout: Duration?
}

/// Logs transfers as lines for people, such as `GET https://example.com/a?...: 200, 7181 bytes, 120 ms`.
struct TransferLines: TransferLogger {
  let write: @Sendable (String) -> Void

  func log(_ record: TransferRecord) {
    let milliseconds = record.duration / .milliseconds(1)
    let outcome =
      if let status = record.status {
        "\(status), \(record.byteCount) bytes"
      } else {
        record.failure?.rawValue ?? "no response"
      }
    write("\(record.method) \(record.url): \(outcome), \(Int(milliseconds.rounded())) ms")
  }
}

/// Warns of each response from a server whose identity was not proved.
struct UnprovedTransfer: DataTransferService {
  let base: any DataTransferService
  let warn: @Sendable (CacheError) -> Void

  func transfer(_ request: HTTP.Request) async throws(CacheError) -> HTTP.Response {
    let response = try await base.transfer(request)
    if request.isSecure {
      warn(
        CacheError(.insecure, "the identity of the server was not verified, and its response is not stored"))
    }
    return response
  }
}
