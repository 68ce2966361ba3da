import CacheData
import CacheDomain
import Synchronization

/// A call that a fetch made, in a form that a table can name.
enum Call: Hashable, Sendable {
  case read
  case write(value: Int, validator: String?)
  case ask(validator: String?)
}

/// The calls of a fetch, in order.
final class CallLog: Sendable {
  private let calls = Mutex<[Call]>([])

  var all: [Call] { calls.withLock { $0 } }

  func add(_ call: Call) { calls.withLock { $0.append(call) } }
}

/// Pages that carry one number, by which a test tells them apart.
extension CitiesPageDTO {
  init(value: Int) { self.init(CitiesPage(page: 0, totalPages: 1, totalItems: value, cities: [])) }

  var value: Int { toDomain().totalItems }
}

/// A storage at second 1,000 that holds one answer or none, and fails where it is told to.
struct FakeStorage: CityResponseStorage {
  static let now = Duration.seconds(1_000)

  let log: CallLog
  var stored: StoredResponse<CitiesPageDTO>?
  var readError: CacheError?
  var writeError: CacheError?
  var factsError: CacheError?

  func response(for request: CitiesRequestDTO) async throws(CacheError) -> StoredResponse<CitiesPageDTO>? {
    log.add(.read)
    if let error = readError ?? factsError { throw error }
    return stored
  }

  func store(
    _ response: CitiesPageDTO, validator: String?, for request: CitiesRequestDTO, lifetime: Lifetime
  ) async throws(CacheError) -> EntryFacts {
    log.add(.write(value: response.value, validator: validator))
    if let writeError { throw writeError }
    return try facts(for: request, lifetime: lifetime)
  }

  func facts(for request: CitiesRequestDTO, lifetime: Lifetime) throws(CacheError) -> EntryFacts {
    if let factsError { throw factsError }
    return Self.facts(storedAt: Self.now, freshUntil: Self.now + lifetime.fresh)
  }

  static func facts(storedAt: Duration, freshUntil: Duration) -> EntryFacts {
    EntryFacts(key: "cities/v1/page=0", storedAt: storedAt, freshUntil: freshUntil, now: now)
  }
}

/// An origin that does what it is told to.
struct FakeOrigin: CityOrigin {
  let name = "fake"
  let log: CallLog
  let behaviour: @Sendable () async throws(CacheError) -> OriginAnswer<CitiesPageDTO>

  func answer(
    to request: CitiesRequestDTO, validator: String?
  ) async throws(CacheError) -> OriginAnswer<CitiesPageDTO> {
    log.add(.ask(validator: validator))
    return try await behaviour()
  }
}
