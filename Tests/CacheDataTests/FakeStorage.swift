import CacheData
import CacheDomain
import Synchronization

/// A call that a fetch has made, in a form for tables.
enum Call: Hashable, Sendable {
  case read
  case write(value: Int, validator: String?)
  case ask(validator: String?)
  case remove

  var isAsk: Bool { if case .ask = self { true } else { false } }
}

/// The calls of a fetch, in order.
final class CallLog: Sendable {
  private let calls = Mutex<[Call]>([])

  var all: [Call] { calls.withLock { $0 } }

  func add(_ call: Call) { calls.withLock { $0.append(call) } }
}

/// Pages that carry a number, so that a test can tell them apart.
extension CitiesPageDTO {
  init(value: Int) { self.init(CitiesPage(page: 0, totalPages: 1, totalItems: value, cities: [])) }

  var value: Int { toDomain().totalItems }
}

/// A storage at second 1,000 that holds one answer or none, and fails on demand.
struct FakeStorage: CityResponseStorage {
  static let now = Duration.seconds(1_000)

  let log: CallLog
  var stored: StoredResponse<CitiesPageDTO>?
  var readError: CacheError?
  var writeError: CacheError?
  var keyError: CacheError?

  func response(
    for request: CitiesRequestDTO, isCounted: Bool
  ) async throws(CacheError) -> StoredResponse<CitiesPageDTO>? {
    log.add(.read)
    if let error = readError ?? keyError { throw error }
    return stored
  }

  func store(
    _ response: CitiesPageDTO, head: StoredHead, for request: CitiesRequestDTO,
    confirming confirmed: StoredResponse<CitiesPageDTO>?, token: CoalescingToken?
  ) async throws(CacheError) {
    log.add(.write(value: response.value, validator: head.head.fields["etag"]))
    if let writeError { throw writeError }
  }

  func remove(_ request: CitiesRequestDTO) async throws(CacheError) { log.add(.remove) }

  func key(for request: CitiesRequestDTO) throws(CacheError) -> String {
    if let keyError { throw keyError }
    return Self.key
  }

  static let key = "cities/v1/page=0"
}

extension FetchServices {
  /// Services at second 1,000, with `freshness` for answers without a lifetime.
  static func at1000(_ freshness: FreshnessPolicy = FetchCase.freshness) -> FetchServices {
    FetchServices(rules: HTTPCacheRules(freshness: freshness), now: { FakeStorage.now })
  }
}

extension OriginAnswer {
  /// A complete answer with the entity tag `tag`.
  static func whole(_ response: Response, tag: String? = nil) -> OriginAnswer {
    OriginAnswer(head: HTTPResponseHead(status: 200, fields: tag.map { ["ETag": $0] } ?? [:]), response: response)
  }

  /// A confirmation of the stored answer.
  static var confirmation: OriginAnswer { OriginAnswer(head: HTTPResponseHead(status: 304), response: nil) }
}

/// An origin that behaves as the test says.
struct FakeOrigin: CityOrigin {
  let name = "fake"
  let log: CallLog
  let behaviour: @Sendable () async throws(CacheError) -> OriginAnswer<CitiesPageDTO>

  func answer(
    to request: CitiesRequestDTO, conditions: HTTPFields
  ) async throws(CacheError) -> OriginAnswer<CitiesPageDTO> {
    log.add(.ask(validator: conditions["if-none-match"]))
    return try await behaviour()
  }
}
