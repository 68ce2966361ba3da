internal import Synchronization

/// The names of answered batches that servers still remember. The next batch on the same part replaces one of them, so
/// that a server remembers one name per concurrent call rather than one per batch.
///
/// The name of a batch with an unknown outcome is never among them: it expires on the server.
final class RedisBatchNames: Sendable {
  private let names = Mutex<[Int: [String]]>([:])

  /// Takes a name that `part` may forget, if there is one.
  func take(_ part: Int) -> String? { names.withLock { $0[part]?.popLast() } }

  /// Records what `part` remembers now that it has answered `application` with `verdict`.
  func settle(_ application: RedisApplication, _ verdict: RedisApplication.Verdict) {
    guard !application.name.isEmpty else { return }
    let isDone = if case .done = verdict.outcome { true } else { false }
    guard let name = isDone ? application.name : application.formerName else { return }
    names.withLock { $0[application.part, default: []].append(name) }
  }
}
