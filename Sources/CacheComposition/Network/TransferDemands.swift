/// What one command asks of its transfers beyond the configuration.
public struct TransferDemands: Sendable, Hashable {
  /// How long a whole transfer may take; `nil` for as long as it goes on.
  public var maxTime: Duration?
  /// How often a request is tried again whose server is busy, fails or cannot be reached; `nil` for twice, and only
  /// where the server is busy.
  public var retries: Int?
  /// What takes the place of the configured settings.
  public var network: Configuration.Network
  /// Whether servers are believed without a proof of who they are. What they answer is then not stored.
  public var isInsecure: Bool
  /// Whether compressed answers are asked for, and the compression undone behind the cache.
  public var isCompressed: Bool

  /// The given demands; by default none.
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
