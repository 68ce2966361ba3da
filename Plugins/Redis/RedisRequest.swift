internal import EngineAPI

/// Commands for the master of one slot, which are sent until each has its reply.
///
/// Only what was surely not executed is sent again, and reads. Commands that are sent again may be executed after the others.
struct RedisRequest {
  private let nodes: RedisNodes
  private let commands: [RedisCommand]
  private let slot: Int?
  private let isRead: Bool
  /// When to give up.
  private let deadline: ContinuousClock.Instant
  /// Whether to wait for a server that replaces the one that is lost. Calls that begin while the loss is known do not wait.
  private let waitsForSuccessor: Bool

  /// The replies so far, by the positions of their commands.
  private var replies: [Int: RedisValue] = [:]
  /// The node to which the slot is being migrated, and the positions of the commands that the master has sent there.
  private var importer: (address: RedisAddress, positions: [Int])?
  /// Why some commands of the last attempt have no reply.
  private var trouble: CacheError?
  /// Whether the master must be looked for before the next attempt.
  private var needsSearch = false
  /// Whether it is pointless to try again at once.
  private var needsPause = false
  private var hasMoved = false
  /// Whether the servers take no calls at the moment.
  private var isRefused = false
  private var pause = Duration.milliseconds(2)

  init(_ commands: [RedisCommand], slot: Int?, isRead: Bool, _ nodes: RedisNodes) {
    self.nodes = nodes
    self.commands = commands
    self.slot = slot
    self.isRead = isRead
    deadline = .now.advanced(by: nodes.options.timeout)
    waitsForSuccessor = nodes.master(of: slot)?.isDown != true
  }

  /// The replies in order, with the errors that a later attempt would not avoid.
  mutating func run() async throws(CacheError) -> [RedisValue] {
    while true {
      let node = importer.map { nodes.node(at: $0.address) } ?? nodes.master(of: slot)
      if let node, let replies = try await attempt(on: node) { return replies }
      if node == nil {
        trouble = .unreachable(nodes.options.description, "no node has this part of the store")
        needsSearch = true
        needsPause = true
      }
      try await prepare(after: node)
    }
  }

  /// Sends the commands without a reply, or those for the importer, to `node`, and returns all replies if there are.
  private mutating func attempt(on node: RedisNode) async throws(CacheError) -> [RedisValue]? {
    let isFirst = trouble == nil
    let importing = importer
    importer = nil
    needsSearch = false
    needsPause = false
    isRefused = false
    do throws(RedisDisconnection) {
      if isFirst {
        let answers = try await node.send(commands, isChange: !isRead)
        // Nearly all calls end here.
        if !answers.contains(where: { $0.error != nil }) { return answers }
        for (position, answer) in answers.enumerated() { take(answer, for: position, from: node) }
      } else {
        let positions = importing?.positions ?? commands.indices.filter { replies[$0] == nil }
        var selected = positions.map { commands[$0] }
        if importing != nil { selected = selected.flatMap { [RedisCommand("ASKING"), $0] } }
        let answers = try await node.send(selected, isChange: !isRead)
        for (number, position) in positions.enumerated() {
          take(answers[importing == nil ? number : 2 * number + 1], for: position, from: node)
        }
      }
    } catch {
      try take(error)
    }
    if replies.count == commands.count { return commands.indices.compactMap { replies[$0] } }
    // Reads can belong together, as those of a transaction do.
    if isRead, importer == nil { replies = [:] }
    return nil
  }

  private mutating func take(_ reply: RedisValue, for position: Int, from node: RedisNode) {
    guard let error = reply.error else {
      replies[position] = reply
      return
    }
    switch (error.word, error.target(from: node.address)) {
    case ("MOVED", let target?) where nodes.isCluster:
      if let slot { nodes.move(slot, to: target) }
      // Two nodes that name each other are about to agree.
      needsPause = hasMoved
      hasMoved = true
    case ("ASK", let target?) where nodes.isCluster:
      nodes.noteImport()
      importer = (target, (importer?.positions ?? []) + [position])
    case ("LOADING", _), ("BUSY", _), ("MASTERDOWN", _), ("CLUSTERDOWN", _), ("TRYAGAIN", _):
      needsSearch = error.word != "TRYAGAIN"
      isRefused = needsSearch
      needsPause = true
    case ("READONLY", _) where nodes.findsServers:
      needsSearch = true
      needsPause = true
    default:
      replies[position] = reply
      return
    }
    trouble = CacheError(error, store: nodes.options.location.url(of: node.address))
  }

  /// Records that no replies have come.
  ///
  /// - Throws: `CacheError` if nothing can be sent again, or it would not help.
  private mutating func take(_ error: RedisDisconnection) throws(CacheError) {
    switch error {
    case .unanswered(let error):
      guard isRead else { throw error.notingThatItMayBeDone }
      // A server that ends the connection before it answers will do so again, unless another one takes its place.
      guard error.code == .unreachable, nodes.findsServers || trouble == nil else { throw error }
      trouble = error
    case .notSent(let error):
      // Nothing but the server has what it has: without it there is nothing to wait for.
      guard error.code == .busy || (error.code == .unreachable && nodes.findsServers) else { throw error }
      trouble = error
    }
    needsSearch = true
    needsPause = true
  }

  /// Waits a little, and looks for the master, if necessary.
  private mutating func prepare(after node: RedisNode?) async throws(CacheError) {
    let trouble = trouble ?? .unreachable(nodes.options.description, "there is no reply")
    if ContinuousClock.now >= deadline {
      // Later calls do not wait all this time again.
      if trouble.code == .unreachable, nodes.findsServers { node?.markDown() }
      if isRefused { nodes.noteRefusal(of: slot) }
      throw trouble
    }
    if isRefused, nodes.isRefused(slot) { throw trouble }
    if needsPause {
      do { try await Task.sleep(for: pause) } catch { throw .cancelled }
      pause = min(pause * 2, .milliseconds(100))
    }
    guard needsSearch, nodes.findsServers else { return }
    try await nodes.findMasters()
    if !waitsForSuccessor, let node, node.isDown, node === nodes.master(of: slot) { throw trouble }
  }
}
