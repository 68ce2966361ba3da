internal import CacheBase
public import CacheCore
internal import FetchVocabulary
internal import CurlTransport
public import EngineAPI

/// Makes the services that transfer requests over the network. Loads and opens nothing before the first request.
public struct NetworkServiceFactory: Sendable {
  private let clock: any WallClock
  private let environment: @Sendable (String) -> String?
  private let logger: (any TransferLogger)?
  private let warn: @Sendable (CacheError) -> Void

  /// A factory whose services pass `log` a line about each request, without secrets, timed by `clock`. `environment`
  /// returns the value of a variable by its name, for proxies and trusted certificates; by default it reads this
  /// process's environment. `warn` gets the warnings about requests that succeeded.
  public init(
    clock: any WallClock = SystemWallClock(),
    environment: (@Sendable (String) -> String?)? = nil,
    log: (@Sendable (String) -> Void)? = nil, warn: @escaping @Sendable (CacheError) -> Void = { _ in }
  ) {
    self.warn = warn
    self.clock = clock
    self.environment = environment ?? { name in getenv(name).map { String(cString: $0) } }
    logger = log.map { TransferLines(write: $0) }
  }

  /// Makes a service under the limits of `transport`. Its headers belong to the origin, which adds them itself.
  public func makeService(_ transport: Configuration.Transport) -> any DataTransferService {
    var service: any DataTransferService = HTTPTransferService(
      timeout: transport.timeout, totalTimeout: transport.demands.maxTime,
      content: transport.isStreamed ? .streamed : .whole(limit: transport.maxResponseBytes),
      settings: transport.settings, options: TransportOptions(transport), environment: environment)
    if transport.demands.isInsecure { service = UnprovedTransfer(base: service, warn: warn) }
    if let logger { service = LoggingTransferService(service, logger: logger) }
    let patience = transport.demands.retries.map { RetryingTransferService.Patience(retries: $0) }
    let retrying = RetryingTransferService(
      service, patience: patience ?? RetryingTransferService.Patience(), now: { [clock] in clock.now.sinceEpoch })
    return LimitedTransferService(retrying, limit: transport.maxConcurrentRequests)
  }
}

extension Configuration.Transport {
  /// The names of the settings of its limits.
  var settings: LimitSettings {
    LimitSettings(timeout: section.map { "\($0).timeout" }, size: section.map { "\($0).maxResponseBytes" })
  }
}

extension TransportOptions {
  fileprivate init(_ transport: Configuration.Transport) {
    self.init()
    let network = transport.network
    (proxy, authorityFile) = (network.proxy, network.authorityFile)
    clientCertificate = network.clientCertificate.map { ClientCertificate(file: $0, keyFile: network.clientKey) }
    isInsecure = transport.demands.isInsecure
  }
}

/// What a command asks of its transfers beyond the configuration.
public struct TransferDemands: Sendable, Hashable {
  /// The time limit for a whole transfer; `nil` for none.
  public var maxTime: Duration?
  /// How often to repeat a request if the server is busy, fails or cannot be reached; `nil` for twice, and only if the
  /// server is busy.
  public var retries: Int?
  /// The settings that override the configured ones.
  public var network: Configuration.Network
  /// Whether to accept servers without proof of their identity. Their answers are not stored.
  public var isInsecure: Bool
  /// Whether to ask for compressed answers, and decompress them after they leave the cache.
  public var isCompressed: Bool

  /// The demands; by default none.
  public init(
    maxTime: Duration? = nil, retries: Int? = nil, network: Configuration.Network = Configuration.Network(),
    isInsecure: Bool = false, isCompressed: Bool = false
  ) {
    self.maxTime = maxTime
    self.retries = retries
    self.network = network
    self.isInsecure = isInsecure
    self.isCompressed = isCompressed
  }
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
        record.failure?.rawValue ?? "no answer"
      }
    write("\(record.method) \(record.url): \(outcome), \(Int(milliseconds.rounded())) ms")
  }
}

/// Warns of each answer from a server whose identity was not proved.
struct UnprovedTransfer: DataTransferService {
  let base: any DataTransferService
  let warn: @Sendable (CacheError) -> Void

  func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    let response = try await base.transfer(request)
    if request.isSecure {
      warn(
        CacheError(.insecure, "the server did not have to prove who it is, so its answer is not stored"))
    }
    return response
  }
}
