public import FetchVocabulary
internal import Synchronization

/// Limits the number of transfers under way. The others wait for their turn, first come, first served. A transfer lasts
/// until its content has ended or failed, or has been released.
public final class LimitedTransferService: DataTransferService {
  private struct State {
    var free: Int
    var next = 0
    var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
  }

  private let base: any DataTransferService
  private let state: Mutex<State>

  /// Creates a service in front of `base` that sends at most `limit` (1 or more) requests at once.
  public init(_ base: any DataTransferService, limit: Int) {
    self.base = base
    state = Mutex(State(free: limit))
  }

  /// Waits for a turn, and returns the response to `request`.
  ///
  /// - Throws: `CacheError`: what `base` throws; `cancelled`, even while waiting.
  public func transfer(_ request: HTTPRequest) async throws(CacheError) -> HTTPResponse {
    guard await takeTurn() else { throw .cancelled }
    do throws(CacheError) {
      var response = try await base.transfer(request)
      if let rest = response.rest {
        response.rest = rest.whenEnded { self.endTurn() }
      } else {
        endTurn()
      }
      return response
    } catch {
      endTurn()
      throw error
    }
  }

  /// Waits for a turn; `false` if the task was cancelled before the turn came.
  private func takeTurn() async -> Bool {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isDecided: Bool? = state.withLock { state in
          if Task.isCancelled { return false }
          if state.free > 0 {
            state.free -= 1
            return true
          }
          state.waiting.append((number, continuation))
          return nil
        }
        if let isDecided { continuation.resume(returning: isDecided) }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
      }
      waiting?.continuation.resume(returning: false)
    }
  }

  private func endTurn() {
    let next = state.withLock { state in
      if state.waiting.isEmpty {
        state.free += 1
        return nil as CheckedContinuation<Bool, Never>?
      }
      return state.waiting.removeFirst().continuation
    }
    next?.resume(returning: true)
  }
}
