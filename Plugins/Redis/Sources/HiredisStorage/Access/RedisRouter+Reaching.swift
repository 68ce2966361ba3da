internal import StorageSPI

/// Calls that tolerate unreachable parts of a store, which are those with `gaps`.
extension RedisRouter {
  /// The replies to requests that are each about several of `parts`, or of all parts: what one server has. A request without
  /// an answer is sent again, because its parts may have moved, so it must be safe to repeat.
  ///
  /// - Parameter request: makes the request about some parts.
  /// - Returns: the parts of each request, and the reply. Unreachable parts that the call tolerates are left out.
  func performOnNodes(
    _ parts: [Int]? = nil, _ request: (RedisPartGroup) -> RedisRequest
  ) throws(CacheError) -> [(parts: [Int], reply: RedisReply)] {
    let deadline = ContinuousClock.now.advanced(by: options.timeout)
    var (groups, pause) = (parts.map { topology.groups($0) } ?? topology.groups, Duration.milliseconds(2))
    var answers: [(parts: [Int], reply: RedisReply)] = []
    while true {
      if patience?.isOver == true { throw .abandoned }
      var call = RedisCall(groups.map(request), deadline: deadline)
      makeRound(&call)
      if let failure = call.failure { throw failure }
      var open: [Int] = []
      for (group, reply) in zip(groups, call.replies) {
        if let reply { answers.append((group.parts, reply)) } else { open += group.parts }
      }
      if open.isEmpty { return answers }
      if try goesOnWithout(open, &call, &pause) { return answers }
      groups = topology.groups(open)
    }
  }

  /// The replies to read-only `requests`, in the same order; `nil` for each request whose server cannot be reached.
  func performReachable(_ requests: [RedisRequest]) throws(CacheError) -> [RedisReply?] {
    var call = RedisCall(requests, deadline: .now.advanced(by: options.timeout))
    var pause = Duration.milliseconds(2)
    while true {
      if patience?.isOver == true { throw .abandoned }
      makeRound(&call)
      if let failure = call.failure { throw failure }
      let open = zip(requests, call.replies).filter { $1 == nil }.map(\.0.part)
      if open.isEmpty { return call.replies }
      if try goesOnWithout(open, &call, &pause) { return call.replies }
    }
  }

  /// Prepares the next round for `parts`, or records that they cannot be reached, and returns whether that is so.
  ///
  /// - Throws: `CacheError`, as `prepareNextRound` does, if the call needs all parts, or none can be reached.
  private func goesOnWithout(
    _ parts: [Int], _ call: inout RedisCall, _ pause: inout Duration
  ) throws(CacheError) -> Bool {
    do throws(CacheError) {
      try prepareNextRound(&call, &pause, mayWait: false)
      return false
    } catch {
      guard let gaps, error.code == .unreachable || error.code == .busy else { throw error }
      gaps.add(parts, of: call.pendingServers(topology))
      if gaps.found.parts.count == options.layout.parts.count { throw error }
      return true
    }
  }
}
