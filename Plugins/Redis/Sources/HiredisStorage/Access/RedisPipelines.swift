internal import StorageSPI
internal import Synchronization

/// The fast way for calls that ask one server once: a pipeline to each server.
///
/// It has no answer where anything is unusual, such as an error, a silent server, an encrypted connection, or a change that replicas
/// must confirm. `RedisRouter` knows what to do then.
final class RedisPipelines: Sendable {
  private struct State {
    var pipelines: [RedisAddress: RedisPipeline] = [:]
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
      let pipeline = pipeline(to: address)
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

  private func pipeline(to address: RedisAddress) -> RedisPipeline? {
    state.withLock { state in
      if let pipeline = state.pipelines[address] { return pipeline }
      if state.isClosed { return nil }
      let pipeline = RedisPipeline(address, router.pool, silence: router.options.silence)
      state.pipelines[address] = pipeline
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
