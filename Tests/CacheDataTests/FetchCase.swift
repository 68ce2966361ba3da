import CacheData
import FetchVocabulary

/// One row of the table of fetch tests: the request, and the behaviour of storage and origin.
struct FetchCase: Sendable, CustomStringConvertible {
  /// What the storage holds; times are relative to the fetch.
  enum Stored: CaseIterable, Sendable {
    case none, fresh, tooOld, stale, withinMaxStale, atMaxStale, pastMaxStale, tooOldWithinMaxStale, pastStaleIfError
  }

  enum Answer: CaseIterable, Sendable {
    case modified, notModified, unreachable, invalid, refused, notFound, badRequest, cancelled
  }

  enum Storage: CaseIterable, Sendable { case works, readFails, writeFails, bothFail, readCancelled, writeCancelled }

  static let freshness = FreshnessPolicy(
    timeToLive: .seconds(60), staleIfError: .seconds(300), staleWhileRevalidate: .zero)

  let policy: FetchPolicy
  let stored: Stored
  let answer: Answer
  let storage: Storage

  var description: String { "\(policy), \(stored), \(answer), \(storage)" }

  static let all: [FetchCase] = FetchPolicy.allCases.flatMap { policy in
    Stored.allCases.flatMap { stored in
      Answer.allCases.flatMap { answer in
        Storage.allCases.map { FetchCase(policy: policy, stored: stored, answer: answer, storage: $0) }
      }
    }
  }

  var options: FetchOptions {
    switch stored {
    case .none, .fresh, .stale, .pastStaleIfError: FetchOptions(policy: policy)
    case .tooOld: FetchOptions(policy: policy, maxAge: .seconds(29))
    case .withinMaxStale: FetchOptions(policy: policy, maxStale: .seconds(31))
    case .atMaxStale: FetchOptions(policy: policy, maxStale: .seconds(30))
    case .pastMaxStale: FetchOptions(policy: policy, maxStale: .seconds(29))
    case .tooOldWithinMaxStale: FetchOptions(policy: policy, maxAge: .seconds(20), maxStale: .seconds(10))
    }
  }

  /// The stored response, stored 30 seconds ago and still fresh, or stale for 30 or 300 seconds.
  var storedResponse: StoredResponse<CitiesPageDTO>? {
    let age: Duration
    switch stored {
    case .none: return nil
    case .fresh, .tooOld, .tooOldWithinMaxStale: age = .seconds(30)
    case .stale, .withinMaxStale, .atMaxStale, .pastMaxStale: age = .seconds(90)
    case .pastStaleIfError: age = .seconds(360)
    }
    let storedAt = FakeStorage.now - age
    let head = StoredHead(
      head: HTTPResponseHead(status: 200, fields: ["etag": "v1"]), storedAt: storedAt,
      freshUntil: storedAt + Self.freshness.timeToLive, retainUntil: storedAt + .seconds(3_600))
    return StoredResponse(key: FakeStorage.key, response: CitiesPageDTO(value: 1), head: head)
  }

  var readError: CacheError? {
    switch storage {
    case .readFails, .bothFail: CacheError(.damaged, "the entry is damaged")
    case .readCancelled: .cancelled
    case .works, .writeFails, .writeCancelled: nil
    }
  }

  var writeError: CacheError? {
    switch storage {
    case .writeFails, .bothFail: CacheError(.noSpace, "the disk is full")
    case .writeCancelled: .cancelled
    case .works, .readFails, .readCancelled: nil
    }
  }

  var originError: CacheError? {
    switch answer {
    case .modified, .notModified: nil
    case .unreachable: CacheError(.originUnreachable, "the server is away")
    case .invalid: CacheError(.invalidAnswer, "that is no JSON")
    case .refused: CacheError(.originRefused, "the key is wrong")
    case .notFound: CacheError(.notFound, "there is none")
    case .badRequest: CacheError(.invalidRequest, "there is no page -1")
    case .cancelled: .cancelled
    }
  }

  func answered() throws(CacheError) -> OriginAnswer<CitiesPageDTO> {
    if let originError { throw originError }
    return answer == .modified ? .whole(CitiesPageDTO(value: 2), tag: "v2") : .confirmation
  }
}
