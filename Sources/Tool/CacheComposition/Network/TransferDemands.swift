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
