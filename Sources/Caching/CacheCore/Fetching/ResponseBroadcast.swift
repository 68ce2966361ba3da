/// Content that arrives once, for any number of readers, and for the store when it is complete.
///
/// One task reads the content at the speed of the origin into one buffer, from which each reader takes at its own speed.
/// The buffer holds all of the content up to a limit, so that a slow reader delays nobody and a late one can still join.
/// Content above the limit will not be stored: the buffer then releases what all readers have taken, and the task waits
/// for the slowest of them.
final class ResponseBroadcast: Sendable {
  /// The result of the transfer, for the owner of the content.
  enum Outcome: Sendable {
    /// This is all of it.
    case complete([UInt8])
    /// The transfer failed after this part: `cancelled` if the last reader left.
    case brokenOff([UInt8], CacheError)
    /// There is more than the limit. Readers get it nevertheless.
    case tooLarge
  }

  private struct State {
    /// The content that arrives; `nil` once it has failed, so that its connection is closed.
    var source: StreamedContent?
    /// The pieces in the buffer.
    var pieces: [[UInt8]] = []
    /// The number of pieces that are no longer in the buffer, because all readers have taken them.
    var dropped = 0
    /// The number of bytes in the buffer, and of those that have arrived.
    var held = 0, arrived = 0
    /// Whether there can be more than the limit, so that the buffer need not hold everything.
    var isTooLarge = false
    /// Whether all that will come has arrived. Readers still wait for the owner, unless there is an `end`.
    var hasArrived = false
    /// How it ended, for readers that have taken everything.
    var end: Result<Void, CacheError>?
    /// The number of the piece that each reader takes next.
    var readers: [Int: Int] = [:]
    var readerCount = 0
    var continuesWithoutReaders = false
    var pump: Task<Void, Never>?
    /// Whether the pump waits until readers have taken what the buffer holds.
    var isFull = false

    mutating func append(_ piece: [UInt8]) {
      guard !piece.isEmpty else { return }
      pieces.append(piece)
      held += piece.count
      arrived += piece.count
    }

    /// Releases the pieces that no reader will take.
    mutating func release() {
      guard isTooLarge else { return }
      let count = (readers.values.min() ?? dropped + pieces.count) - dropped
      for piece in pieces.prefix(count) { held -= piece.count }
      pieces.removeFirst(count)
      dropped += count
      isFull = held > ResponseBroadcast.window && !readers.isEmpty
    }
  }

  /// The number of bytes that can wait for the slowest reader of content above the limit.
  private static let window = 256 * 1024

  private let length: Int?
  private let limit: Int
  private let background: BackgroundWork
  private let settle: @Sendable (Outcome) async -> CacheError?
  private let state: TaskMonitor<State>

  /// Creates a broadcast of the content of `response`: `body`, and then `rest`. Nothing is read before there is a reader.
  ///
  /// - Parameters:
  ///   - limit: the largest content that is stored, in bytes.
  ///   - background: the work to which the transfer belongs when it has no reader any more.
  ///   - settle: called once, with the outcome, before any reader gets the end: stores the content, or keeps the part
  ///     that arrived. It returns an error that readers get instead of the end, or of the failure; `nil` for none.
  init(
    _ response: HTTP.Response, limit: Int, background: BackgroundWork,
    settle: @escaping @Sendable (Outcome) async -> CacheError?
  ) {
    length = if let rest = response.rest { rest.length.map { $0 + response.body.count } } else { response.body.count }
    self.limit = limit
    self.background = background
    self.settle = settle
    var state = State(source: response.rest)
    state.append(response.body)
    self.state = TaskMonitor(state)
  }

  /// The content from its beginning, for one more reader; `nil` if the beginning is gone or the transfer has failed.
  ///
  /// `next()` returns `nil` only after `settle` has returned, and throws a failure of the origin after the bytes that
  /// came before it. When the last reader has been released or cancelled before all content has arrived, the transfer is
  /// cancelled.
  func reader() -> StreamedContent? {
    let number: Int? = state.withLock { state in
      if case .failure = state.end { return nil }
      guard state.dropped == 0 else { return nil }
      state.readerCount += 1
      state.readers[state.readerCount] = 0
      start(&state)
      return state.readerCount
    }
    guard let number else { return nil }
    return StreamedContent(
      length: length, trailers: { self.source?.trailers ?? [:] }, whenEnded: { self.leave(number) }
    ) {
      () async throws(CacheError) in
      try await self.next(number)
    }
  }

  /// Reads and stores the content even if it has no reader, unless it is above the limit.
  func continueWithoutReaders() {
    state.withLock { state in
      state.continuesWithoutReaders = true
      start(&state)
    }
    continueInBackground()
  }

  private var source: StreamedContent? { state.withLock { $0.source } }

  private func start(_ state: inout State) {
    if state.pump == nil { state.pump = Task { await self.pump() } }
  }

  // MARK: Readers

  private func next(_ reader: Int) async throws(CacheError) -> [UInt8]? {
    typealias Taken = (result: Result<[UInt8]?, CacheError>, freesPump: Bool)
    let taken = await state.wait { state -> Taken? in
      guard let place = state.readers[reader] else {
        return ((state.end ?? .failure(.cancelled)).map { _ in nil }, false)
      }
      guard place - state.dropped < state.pieces.count else { return state.end.map { ($0.map { _ in nil }, false) } }
      let (piece, wasFull) = (state.pieces[place - state.dropped], state.isFull)
      state.readers[reader] = place + 1
      state.release()
      return (.success(piece), wasFull && !state.isFull)
    }
    guard let taken else { throw .cancelled }
    if taken.freesPump { state.signalAll() }
    return try taken.result.get()
  }

  private func leave(_ reader: Int) {
    state.withLock { state in
      state.readers[reader] = nil
      state.release()
      if state.readers.isEmpty, !state.hasArrived, !state.continuesWithoutReaders || state.isTooLarge {
        state.end = .failure(.cancelled)
        state.pump?.cancel()
      }
    }
    state.signalAll()
    continueInBackground()
  }

  /// Makes the closing of the store wait for the rest of the work, if no reader does.
  private func continueInBackground() {
    let pump = state.withLock { state in state.readers.isEmpty && state.end == nil ? state.pump : nil }
    if let pump { background.add(pump) }
  }

  // MARK: The pump

  private func pump() async {
    var failure: CacheError?
    do throws(CacheError) {
      if max(length ?? 0, state.withLock { $0.arrived }) > limit { try await exceedLimit() }
      while let piece = try await source?.next() { try await receive(piece) }
    } catch {
      failure = Task.isCancelled ? .cancelled : error
    }
    await end(failure)
  }

  private func receive(_ piece: [UInt8]) async throws(CacheError) {
    // The owner knows it before any reader gets more than the limit.
    if state.withLock({ !$0.isTooLarge && $0.arrived + piece.count > limit }) { try await exceedLimit() }
    state.withLock { state in
      state.append(piece)
      state.release()
    }
    state.signalAll()
    if await state.wait({ $0.isFull ? nil : true }) == nil { throw .cancelled }
  }

  /// Informs the owner, and from now on holds only what readers have yet to take.
  private func exceedLimit() async throws(CacheError) {
    let failure = await settle(.tooLarge)
    let hasReaders = state.withLock { state in
      state.isTooLarge = true
      state.release()
      return !state.readers.isEmpty
    }
    if let failure { throw failure }
    if !hasReaders { throw .cancelled }
  }

  private func end(_ failure: CacheError?) async {
    if failure != nil { _ = state.withLock { $0.source.take() } }
    let content: [UInt8]? = state.withLock { state in
      state.hasArrived = true
      if state.isTooLarge { return nil }
      if state.pieces.count == 1 { return state.pieces[0] }
      var content: [UInt8] = []
      content.reserveCapacity(state.held)
      for piece in state.pieces { content += piece }
      return content
    }
    var error = failure
    if let content {
      error = await settle(failure.map { .brokenOff(content, $0) } ?? .complete(content)) ?? failure
    }
    state.withLock { $0.end = $0.end ?? error.map { .failure($0) } ?? .success(()) }
    state.signalAll()
  }
}
