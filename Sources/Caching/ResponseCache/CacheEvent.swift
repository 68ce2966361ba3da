package import FetchVocabulary

/// How the cache served one call, for metrics.
///
///     let cache = try await Cache(location, observe: { event in
///       metrics.count("cache.\(event.resource).\(event.outcome)")
///       metrics.record("cache.\(event.resource).time", event.duration)
///     })
///
/// There is an event for each call that reads: of a resource, of `value` or `snapshot`, or for a response; and with
/// `cachedThenNetwork` one for each snapshot. Writes, and revalidations in the background, have none.
public struct CacheEvent: Sendable {
  /// The result for the caller.
  public enum Outcome: String, Sendable, CaseIterable {
    /// A fresh entry.
    case hit
    /// A stale entry.
    case stale
    /// An entry that the server has just confirmed.
    case revalidated
    /// The closure's value or the server's response. Another caller might have made the request.
    case fetched
    /// Nothing: there is no such value, or none that may be served without a fetch.
    case missing
    /// An error, or a cancellation.
    case failed
  }

  /// The name of the resource; `values` for values under keys, and `url` for responses.
  public let resource: String
  /// The result for the caller.
  public let outcome: Outcome
  /// How long it took; for a response that is passed on while it arrives, until its head was there.
  public let duration: Duration
}

/// Makes the events of one resource.
package struct Observer: Sendable {
  fileprivate let resource: String
  fileprivate let report: @Sendable (CacheEvent) -> Void

  /// Begins a call.
  package func begin() -> Call { Call(observer: self) }

  /// A call that has begun. A class, so that a call without an observer costs only a pointer.
  package final class Call: Sendable {
    fileprivate let observer: Observer
    private let start = ContinuousClock.now

    fileprivate init(observer: Observer) { self.observer = observer }

    /// Ends the call.
    package func end(_ outcome: CacheEvent.Outcome) {
      observer.report(CacheEvent(resource: observer.resource, outcome: outcome, duration: ContinuousClock.now - start))
    }

    package func end<Value>(_ snapshot: Snapshot<Value>) {
      end(
        snapshot.source == .origin
          ? .fetched : snapshot.isRevalidated ? .revalidated : snapshot.entry.isStale ? .stale : .hit)
    }

    package func end(_ error: CacheError) { end(error.code == .notCached ? .missing : .failed) }
  }
}

extension Cache {
  /// Makes the events of `resource`; `nil` if the program does not observe the cache.
  package func observer(of resource: String) -> Observer? { observe.map { Observer(resource: resource, report: $0) } }
}
