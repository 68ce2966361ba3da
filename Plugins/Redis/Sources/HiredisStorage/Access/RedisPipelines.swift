internal import StorageSPI
internal import Synchronization

/// The fast way for calls that ask one server once: two pipelines to each server, one for reads and one for changes, so that
/// no read waits behind a change that the server lets wait (`CLIENT PAUSE WRITE`, as in a failover).
///
/// It has no answer where anything is unusual, such as an error, a silent server, an encrypted connection, or a change that replicas
/// must confirm. `RedisRouter` knows what to do then.
final class RedisPipelines: Sendable {
  private struct Use: Hashable {
    let address: RedisAddress
    let isChange: Bool
  }

  private struct State {
    var pipelines: [Use: RedisPipeline] = [:]
    var isClosed = false
  }

  private let router: RedisRouter
  private let state = Mutex(State())

  /// The pipelines to the servers that `router` asks.
  init(_ router: RedisRouter) { self.router = router }

  /// Whether no connection can be used in this way: OpenSSL's sessions have one user at a time.
  var areUnused: Bool { router.options.encryption != nil }

  /// The answer to `request`. Cost: a round trip.
  ///
  /// - Parameter attempt: set if there is no answer although the server was asked.
  /// - Returns: `nil` if the router has to be asked.
  func answer(_ request: RedisRequest, _ attempt: inout RedisAttempt?) async -> RedisReply? {
    // A cancelled caller's call has its own patience there.
    guard !areUnused, !Task.isCancelled, !(request.isChange && router.options.durability == .full),
      let address = router.topology.owner(of: request.part), !router.pool.isSilent(address),
      let pipeline = pipeline(for: Use(address: address, isChange: request.isChange))
    else { return nil }
    let start = ContinuousClock.now
    switch await pipeline.answer(request) {
    case .answered(let reply) where reply.value.error == nil: return reply
    case .answered, .unsent: return nil
    case .lost(let isSilent):
      attempt = RedisAttempt(start: start, wasSilent: isSilent)
      return nil
    }
  }

  /// Ends all connections.
  func close() {
    let pipelines = state.withLock { state in
      state.isClosed = true
      defer { state.pipelines = [:] }
      return state.pipelines
    }
    for pipeline in pipelines.values { pipeline.close() }
  }

  private func pipeline(for use: Use) -> RedisPipeline? {
    state.withLock { state in
      if let pipeline = state.pipelines[use] { return pipeline }
      if state.isClosed { return nil }
      let pipeline = RedisPipeline(use.address, router.pool, silence: router.options.silence)
      state.pipelines[use] = pipeline
      return pipeline
    }
  }
}

/// That a call asked a server before the router, in vain.
struct RedisAttempt: Sendable {
  /// When the call began: the time to answer counts from then.
  let start: ContinuousClock.Instant
  /// Whether this call has found the server silent.
  let wasSilent: Bool
}
