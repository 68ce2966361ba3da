internal import Synchronization

/// The names of batches that servers still remember although they were answered. The next batch on the same part takes
/// the place of one, so that a server remembers one name for each call at once and not one for each batch.
///
/// The name of a batch with an unknown outcome is never among them: it expires on the server.
final class RedisBatchNames: Sendable {
  private let names = Mutex<[Int: [String]]>([:])

  /// A name that `part` need not remember any more, if there is one.
  func take(_ part: Int) -> String? { names.withLock { $0[part]?.popLast() } }

  /// Notes what `part` remembers after `application` was answered with `verdict`.
  func settle(_ application: RedisApplication, _ verdict: RedisApplication.Verdict) {
    guard !application.name.isEmpty else { return }
    let isDone = if case .done = verdict.outcome { true } else { false }
    guard let name = isDone ? application.name : application.formerName else { return }
    names.withLock { $0[application.part, default: []].append(name) }
  }
}
