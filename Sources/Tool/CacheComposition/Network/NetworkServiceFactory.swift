public import CacheData
internal import CacheDomain
internal import CacheNetwork
internal import Glibc
internal import ResponseStorage
public import StorageSPI
internal import Transport

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
      timeout: transport.timeout, totalTimeout: transport.demands.maxTime, limit: transport.maxResponseBytes,
      excess: transport.isStreamed ? .streamed : .refused, options: TransportOptions(transport),
      environment: environment)
    if transport.demands.isInsecure { service = UnprovedTransfer(base: service, warn: warn) }
    if let logger { service = LoggingTransferService(service, logger: logger) }
    let patience = transport.demands.retries.map { RetryingTransferService.Patience(retries: $0) }
    let retrying = RetryingTransferService(
      service, patience: patience ?? RetryingTransferService.Patience(), now: { [clock] in clock.now.sinceEpoch })
    return LimitedTransferService(retrying, limit: transport.maxConcurrentRequests)
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
