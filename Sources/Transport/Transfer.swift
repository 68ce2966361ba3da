internal import HTTPMessages
internal import Synchronization

/// One request and its response, between the tasks that wait for it and the thread that carries it.
///
/// The thread puts in what comes (`receive`, `finish`) and takes out what is sent (`takeContent`); tasks take out the
/// head and the content. Either side only locks this state, and never waits for the other with it locked.
final class Transfer: Sendable {
  private enum Wanted { case head, content }
  private enum End { case whole, failure(TransportError) }

  private struct State {
    var interim: [HTTPResponseHead] = []
    var head: HTTPResponseHead?
    var trailers: HTTPFields = [:]
    /// The content that came and was not read.
    var waiting = ByteQueue()
    /// Whether libcurl was told to stop reading until the reader has caught up.
    var isPaused = false
    var end: End?
    var readers: [(wanted: Wanted, continuation: CheckedContinuation<Void, Never>)] = []

    func has(_ wanted: Wanted) -> Bool {
      end != nil || (wanted == .head ? head != nil : waiting.count > 0)
    }

    /// The readers that need not wait any longer.
    mutating func takeReady() -> [CheckedContinuation<Void, Never>] {
      let ready = readers.filter { has($0.wanted) }
      readers = readers.filter { !has($0.wanted) }
      return ready.map(\.continuation)
    }
  }

  let request: OutgoingRequest
  let content: OutgoingContent
  private let loop: TransferLoop
  private let bufferSize: Int
  private let state = Mutex(State())

  init(_ request: OutgoingRequest, loop: TransferLoop, bufferSize: Int) {
    self.request = request
    self.loop = loop
    self.bufferSize = max(1, bufferSize)
    content = OutgoingContent(request.content)
  }

  // MARK: For tasks

  /// Begins the transfer.
  func start() {
    loop.post(.start(self))
    content.feed { [loop] in
      loop.post(.resume(self))
    } onFailure: {
      self.end(.failure(self.request.error(.content, $0)))
    }
  }

  /// Waits for the head of the final response.
  func head() async throws(TransportError) -> HTTPResponseHead {
    while true {
      if Task.isCancelled { cancel() }
      // A response that broke off after its head has been received as far as it goes; one that was cancelled has not.
      switch state.withLock({ ($0.head, $0.end) }) {
      case (_, .failure(let error)) where error.code == .cancelled: throw error
      case (let head?, _): return head
      case (nil, .failure(let error)): throw error
      case (nil, _): await wait(for: .head)
      }
    }
  }

  /// Waits for more content, and takes a piece of it; `nil` at the end.
  func next() async throws(TransportError) -> [UInt8]? {
    while true {
      if Task.isCancelled { cancel() }
      let (piece, end, isToResume) = state.withLock { state in
        let piece = state.waiting.takeFirst()
        let isToResume = state.isPaused && state.waiting.count <= bufferSize / 2
        if isToResume { state.isPaused = false }
        return (piece, state.end, isToResume)
      }
      if isToResume { loop.post(.resume(self)) }
      if let piece { return piece }
      switch end {
      case .whole: return nil
      case .failure(let error): throw error
      case nil: await wait(for: .content)
      }
    }
  }

  /// Ends the transfer at once, unless it has ended.
  func cancel() { end(.failure(request.error(.cancelled))) }

  /// Ends the transfer at once with the error `code`, unless it has ended.

  var interim: [HTTPResponseHead] { state.withLock(\.interim) }
  var trailers: HTTPFields { state.withLock(\.trailers) }
  /// Whether libcurl was told to stop reading, and how much content waits.
  var backlog: (isPaused: Bool, count: Int) { state.withLock { ($0.isPaused, $0.waiting.count) } }

  private func wait(for wanted: Wanted) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if state.has(wanted) { return true }
          state.readers.append((wanted, continuation))
          return false
        }
        if isReady { continuation.resume() }
      }
    } onCancel: {
      cancel()
    }
  }

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

  func receive(interim head: HTTPResponseHead) { state.withLock { $0.interim.append(head) } }

  func receive(_ head: HTTPResponseHead) { state.withLock { $0.head = head } }

  /// Takes content. False where so much waits for the reader that it is not taken, and libcurl has to pause: the reader
  /// posts `resume` later.
  func receive(_ piece: [UInt8]) -> Bool {
    state.withLock { state in
      if state.end != nil { return true }
      guard state.waiting.count == 0 || state.waiting.count + piece.count <= bufferSize else {
        state.isPaused = true
        return false
      }
      // Whether libcurl pauses does not change by that: the reader has it resume.
      state.waiting.append(piece)
      return true
    }
  }

  /// Ends the transfer as libcurl says, unless it has ended; then the readers get what still waits, then `rest`, and
  /// after it the end.
  func finish(_ rest: [UInt8] = [], trailers: HTTPFields, _ error: TransportError?) {
    state.withLock { state in
      guard state.end == nil else { return }
      state.waiting.append(rest)
      state.trailers = trailers
      state.end = error.map { .failure($0) } ?? .whole
    }
    content.stop()
    wake()
  }

  /// Wakes the readers that can go on.
  func wake() {
    for reader in state.withLock({ $0.takeReady() }) { reader.resume() }
  }
}
