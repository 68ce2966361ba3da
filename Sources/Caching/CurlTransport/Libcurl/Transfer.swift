internal import CacheCore
internal import FetchVocabulary
internal import HTTPCaching

/// A request and its response, shared by the tasks that wait for it and the thread that carries it.
///
/// The thread puts in received data (`receive`, `finish`) and takes out the data to send (`content`); tasks take out
/// the head and the content. Both sides only lock this state, and never wait for each other while holding the lock.
final class Transfer: Sendable {
  private enum End { case whole, failure(CacheError) }

  private struct State {
    var interim: [HTTP.ResponseHead] = []
    var head: HTTP.ResponseHead?
    var trailers: HTTP.Fields = [:]
    /// The content that has arrived but not been read.
    var waiting = ByteQueue()
    /// Whether libcurl was told to stop reading until the reader has caught up.
    var isPaused = false
    var end: End?
  }

  let request: OutgoingRequest
  let content: OutgoingContent
  /// When the transfer began.
  let start = ContinuousClock.now
  private let loop: TransferLoop
  private let bufferSize: Int
  private let state = TaskMonitor(State())

  /// Creates a transfer of which `bufferSize` bytes can wait for their reader. When there are as many, reading from the
  /// connection stops until half of them have been taken.
  init(_ request: OutgoingRequest, loop: TransferLoop, bufferSize: Int = 1 << 20) {
    self.request = request
    self.loop = loop
    self.bufferSize = max(1, bufferSize)
    content = OutgoingContent(request.message)
  }

  // MARK: For tasks

  /// Starts the transfer.
  func begin() {
    loop.post(.start(self))
    content.feed { [loop] in
      loop.post(.resume(self))
    } onFailure: {
      self.end(.failure($0))
    }
  }

  /// Waits for the head of the final response.
  func head() async throws(CacheError) -> HTTP.ResponseHead {
    // If a response breaks off after its head, return that head; if it was cancelled, throw.
    let head = await state.wait { state -> Result<HTTP.ResponseHead, CacheError>? in
      switch (state.head, state.end) {
      case (_, .failure(let error)) where error.code == .cancelled: .failure(error)
      case (let head?, _): .success(head)
      case (nil, .failure(let error)): .failure(error)
      case (nil, _): nil
      }
    }
    return try unlessCancelled(head).get()
  }

  /// Waits for more content, and returns a piece of it; `nil` at the end.
  func next() async throws(CacheError) -> [UInt8]? {
    let next = await state.wait { [bufferSize] state -> (piece: Result<[UInt8]?, CacheError>, isToResume: Bool)? in
      if let piece = state.waiting.takeFirst() {
        let isToResume = state.isPaused && state.waiting.count <= bufferSize / 2
        if isToResume { state.isPaused = false }
        return (.success(piece), isToResume)
      }
      switch state.end {
      case .whole: return (.success(nil), false)
      case .failure(let error): return (.failure(error), false)
      case nil: return nil
      }
    }
    if next?.isToResume == true { loop.post(.resume(self)) }
    return try unlessCancelled(next?.piece).get()
  }

  /// The result that a task has waited for; with `nil` the task was cancelled, and with it the transfer.
  private func unlessCancelled<Output>(_ output: Output?) throws(CacheError) -> Output {
    if let output { return output }
    cancel()
    throw .cancelled
  }

  /// Ends the transfer at once, unless it has already ended.
  func cancel() { end(.failure(.cancelled)) }

  var interim: [HTTP.ResponseHead] { state.withLock { $0.interim } }
  var trailers: HTTP.Fields { state.withLock { $0.trailers } }
  /// Whether libcurl was told to stop reading, and how much content is waiting.
  var backlog: (isPaused: Bool, count: Int) { state.withLock { ($0.isPaused, $0.waiting.count) } }

  private func end(_ end: End) {
    let isNew = state.withLock { state in
      guard state.end == nil else { return false }
      state.end = end
      state.waiting = ByteQueue()
      return true
    }
    guard isNew else { return }
    loop.post(.stop(self))
    content.stop()
    wake()
  }

  // MARK: For the thread of the loop

  var hasEnded: Bool { state.withLock { $0.end != nil } }

  func receive(_ head: HTTP.ResponseHead) {
    state.withLock { state in
      if head.isInterim { state.interim.append(head) } else { state.head = head }
    }
  }

  /// Accepts content. Returns `false` if too much is waiting for the reader, and then libcurl must pause: the reader
  /// posts `resume` later.
  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    state.withLock { state in
      if state.end != nil { return true }
      guard state.waiting.count == 0 || state.waiting.count + bytes.count <= bufferSize else {
        state.isPaused = true
        return false
      }
      // Accepting content does not resume libcurl: the reader does that.
      state.waiting.append(bytes)
      return true
    }
  }

  /// Ends the transfer with libcurl's result, unless it has already ended. Readers then get the waiting data, and then
  /// the end.
  func finish(_ error: CacheError?, trailers: HTTP.Fields = [:]) {
    state.withLock { state in
      guard state.end == nil else { return }
      state.trailers = trailers
      state.end = error.map { .failure($0) } ?? .whole
    }
    content.stop()
    wake()
  }

  /// Wakes the readers.
  func wake() { state.signalAll() }
}

/// A queue of bytes, in pieces of about 64 KiB: libcurl delivers them in pieces of at most 16 KiB. Measured: joining all
/// of them costs more than receiving them.
struct ByteQueue {
  static let pieceSize = 65536

  private var pieces: [[UInt8]] = []
  /// The number of bytes in the queue.
  private(set) var count = 0

  /// Adds bytes at the end.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if bytes.isEmpty { return }
    count += bytes.count
    if pieces.last.map({ $0.count + bytes.count > Self.pieceSize }) ?? true {
      pieces.append([])
      pieces[pieces.count - 1].reserveCapacity(max(bytes.count, Self.pieceSize))
    }
    pieces[pieces.count - 1].append(contentsOf: bytes)
  }

  /// Removes and returns the first piece; `nil` if the queue is empty.
  mutating func takeFirst() -> [UInt8]? {
    if pieces.isEmpty { return nil }
    let piece = pieces.removeFirst()
    count -= piece.count
    return piece
  }
}
