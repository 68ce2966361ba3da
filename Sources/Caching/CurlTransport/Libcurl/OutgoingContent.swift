internal import CacheCore
internal import FetchVocabulary
internal import HTTPCaching

/// The content of a request, on its way from the task that makes it to the thread that sends it.
final class OutgoingContent: Sendable {
  /// If fewer bytes than this wait to be sent, more are requested.
  private static let lowWater = 65536

  /// The next part of the content to send.
  enum Portion: Equatable {
    /// This many bytes.
    case bytes(Int)
    /// Nothing now, but more later.
    case later
    /// Nothing more.
    case end
  }

  private struct State {
    var bytes: [UInt8] = []
    var offset = 0
    /// Whether these are the last bytes.
    var isComplete = true
    /// Whether libcurl has asked for bytes.
    var isStarted = false
    /// Whether libcurl has received bytes.
    var isTouched = false
    /// Whether libcurl was told to wait for more.
    var isAwaited = false
    var isStopped = false
    var feeder: Task<Void, Never>?

    var isWanted: Bool { isStarted && !isComplete && bytes.count - offset < OutgoingContent.lowWater }
  }

  private let stream: StreamedContent?
  private let state: TaskMonitor<State>

  /// Creates the content of `request`.
  init(_ request: HTTP.Request) {
    stream = request.stream
    state = TaskMonitor(State(bytes: request.body, isComplete: stream == nil))
  }

  /// Starts to fetch the content. Calls `onMore` when there is more and libcurl is waiting for it, and `onFailure` if
  /// fetching fails.
  func feed(onMore: @escaping @Sendable () -> Void, onFailure: @escaping @Sendable (CacheError) -> Void) {
    guard let stream else { return }
    let feeder = Task {
      do throws(CacheError) {
        var count = 0
        while await isWanted() {
          guard let piece = try await stream.next() else { break }
          count += piece.count
          if let length = stream.length, count > length {
            throw .unsendableContent("it is longer than the announced \(length) bytes")
          }
          if supply(piece) { onMore() }
        }
        if let length = stream.length, count < length {
          throw .unsendableContent("it has \(count) bytes instead of the announced \(length)")
        }
        if supply(nil) { onMore() }
      } catch {
        onFailure(error)
      }
    }
    let isStopped = state.withLock { state in
      state.feeder = feeder
      return state.isStopped
    }
    if isStopped { feeder.cancel() }
  }

  /// Stops fetching.
  func stop() {
    let feeder = state.withLock { state in
      state.isStopped = true
      defer { (state.feeder, state.bytes, state.offset) = (nil, [], 0) }
      return state.feeder
    }
    feeder?.cancel()
    state.signalAll()
  }

  /// Copies as many bytes as are there and fit to `target`.
  func take(_ target: UnsafeMutableRawBufferPointer) -> Portion {
    let (portion, isWanted) = state.withLock { state -> (Portion, Bool) in
      let count = min(target.count, state.bytes.count - state.offset)
      state.bytes.withUnsafeBytes { bytes in
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[state.offset..<state.offset + count]))
      }
      state.offset += count
      (state.isStarted, state.isTouched) = (true, state.isTouched || count > 0)
      state.isAwaited = count == 0 && !state.isComplete
      return (count > 0 ? .bytes(count) : state.isComplete ? .end : .later, state.isWanted)
    }
    if isWanted { state.signalAll() }
    return portion
  }

  /// Returns to the beginning; `false` if the beginning is gone.
  func rewind() -> Bool {
    state.withLock { state in
      guard stream == nil || !state.isTouched else { return false }
      if stream == nil { state.offset = 0 }
      return true
    }
  }

  /// Waits until libcurl wants more; `false` if it never will.
  private func isWanted() async -> Bool {
    await state.wait { $0.isStopped ? false : $0.isWanted ? true : nil } ?? false
  }

  /// Adds `piece`, or with `nil` the end. Returns whether libcurl is waiting for it.
  private func supply(_ piece: [UInt8]?) -> Bool {
    state.withLock { state in
      guard !state.isStopped, piece?.isEmpty != true else { return false }
      if let piece {
        state.bytes.removeFirst(state.offset)
        state.offset = 0
        state.bytes += piece
      } else {
        state.isComplete = true
      }
      defer { state.isAwaited = false }
      return state.isAwaited
    }
  }
}
