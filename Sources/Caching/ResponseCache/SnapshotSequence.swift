public import FetchVocabulary

/// The results of one fetch, in the order in which they become known, each with its source.
///
/// Iterating it again fetches again. Cancelling the iterating task cancels the fetch.
public struct SnapshotSequence<Value: Sendable>: AsyncSequence, Sendable {
  private let snapshots: Snapshots<Value>
  private let observer: Observer?

  init(_ snapshots: Snapshots<Value>, _ observer: Observer?) {
    self.snapshots = snapshots
    self.observer = observer
  }

  /// A sequence of `values` as if they came from the origin, for tests and previews of what shows them.
  public init(_ values: Value...) {
    self.init(Snapshots(values), nil)
  }

  /// The first value, once `warn` has got its warnings. Of several callers with the same failure, one reports it.
  func first(warn: (CacheWarning) -> Void) async throws -> Value {
    var iterator = makeAsyncIterator()
    // A sequence has a first snapshot, or fails.
    guard let snapshot = try await iterator.next() else { throw CancellationError() }
    for warning in snapshot.takeWarnings() { warn(warning) }
    return snapshot.value
  }

  /// Explains how the first snapshot would be made now. It sends no request, and changes nothing.
  ///
  /// - Throws: `CacheError`: the cache cannot be read, or the request makes no sense.
  @concurrent
  public func explanation() async throws(CacheError) -> FetchExplanation { try await snapshots.explanation() }

  /// Starts a fetch.
  public func makeAsyncIterator() -> Iterator { Iterator(snapshots: snapshots.makeAsyncIterator(), observer: observer) }

  /// The state of a fetch under way.
  public struct Iterator: AsyncIteratorProtocol, Sendable {
    fileprivate var snapshots: Snapshots<Value>.Iterator
    fileprivate let observer: Observer?

    /// The next snapshot; `nil` after the last one or after an error.
    ///
    /// - Throws: what the fetch throws, see `Resource` and `Cache`.
    public mutating func next() async throws -> Snapshot<Value>? { try await next(isolation: nil) }

    /// The next snapshot; `nil` after the last one or after an error. All work leaves `actor`.
    ///
    /// - Throws: what the fetch throws, see `Resource` and `Cache`.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Snapshot<Value>? {
      let result: Result<Snapshot<Value>?, CacheError>
      let call = observer?.begin()
      (result, snapshots) = await Self.next(snapshots)
      do throws(CacheError) {
        let snapshot = try result.get()
        if let snapshot { call?.end(snapshot) }
        return snapshot
      } catch {
        call?.end(error)
        throw error.callersError
      }
    }

    @concurrent
    private static func next(
      _ snapshots: Snapshots<Value>.Iterator
    ) async -> (Result<Snapshot<Value>?, CacheError>, Snapshots<Value>.Iterator) {
      var snapshots = snapshots
      do throws(CacheError) {
        return (.success(try await snapshots.next()), snapshots)
      } catch {
        return (.failure(error), snapshots)
      }
    }
  }
}
