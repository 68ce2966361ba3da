import FetchVocabulary
import Testing
@testable import CacheCore
@testable import HTTPCaching

@Suite(.timeLimit(.minutes(30)))
struct LocalFlightsTests {
  private let flights = LocalFlights()

  /// Boards in a new task, and returns once that task waits as number `count`.
  private func follower(_ key: String = "a", count: Int) async throws -> Follower {
    let task = Task { [flights] in
      await Result { () async throws(CacheError) in try await flights.join(key) }
    }
    while flights.waiters(for: key) < count {
      try Task.checkCancellation()
      await Task.yield()
    }
    return Follower(task: task)
  }

  private func lead(_ key: String = "a") async throws -> FlightTicket {
    try #require(try await flights.join(key).ticket)
  }

  /// Lands in a task that has already been cancelled.
  private func landCancelled(_ ticket: FlightTicket, failure: CacheError? = nil) async {
    await Task { [flights] in
      withUnsafeCurrentTask { $0?.cancel() }
      await flights.finish(ticket, failure.map { .failure($0) } ?? .success(nil))
    }.value
  }

  @Test(arguments: [0, 1, 200])
  func oneLeadsAndTheOthersLandWithIt(count: Int) async throws {
    let ticket = try await lead()
    var followers: [Follower] = []
    for number in 0..<count { followers.append(try await follower(count: number + 1)) }
    await flights.finish(ticket)
    for follower in followers { #expect(try await follower.value.get().hasFinished) }
    #expect(flights.waiters(for: "a") == 0)
  }

  @Test func waitingCallersGetTheFailure() async throws {
    let ticket = try await lead()
    let followers = [try await follower(count: 1), try await follower(count: 2)]
    await flights.finish(ticket, .failure(CacheError(.notFound, "there is none", hint: "look")))
    for follower in followers {
      let failure = try #require(try await follower.value.get().failure)
      #expect((failure.code, failure.message, failure.hint) == (.notFound, "there is none", "look"))
    }
    #expect(try await flights.join("a").ticket != nil, "later callers do not get the failure")
  }

  @Test func theFailureOfACancelledLeaderIsNotShared() async throws {
    let ticket = try await lead()
    let (first, second) = (try await follower(count: 1), try await follower(count: 2))
    await landCancelled(ticket, failure: CacheError(.originUnreachable, "broken off"))
    await flights.finish(try #require(try await first.value.get().ticket))
    #expect(try await second.value.get().hasFinished)
  }

  @Test func flightsForDifferentKeysHaveNothingToDoWithEachOther() async throws {
    let (first, second) = (try await lead("a"), try await lead("b"))
    let follower = try await follower("b", count: 1)
    await flights.finish(first)
    #expect(flights.waiters(for: "b") == 1)
    await flights.finish(second)
    #expect(try await follower.value.get().hasFinished)
  }

  @Test func afterLandingAnotherCallerLeads() async throws {
    let first = try await lead()
    await flights.finish(first)
    let second = try await lead()
    #expect(first != second)
    let follower = try await follower(count: 1)
    await flights.finish(first)
    #expect(flights.waiters(for: "a") == 1, "an old ticket ends no later flight")
    await flights.finish(second)
    await flights.finish(second)
    #expect(try await follower.value.get().hasFinished)
  }

  @Test func aCancelledLeaderIsFollowedByTheFirstWhoWaits() async throws {
    let ticket = try await lead()
    let (first, second) = (try await follower(count: 1), try await follower(count: 2))
    await landCancelled(ticket)
    let inherited = try #require(try await first.value.get().ticket)
    #expect(flights.waiters(for: "a") == 1, "the others go on waiting")
    await flights.finish(ticket)
    #expect(flights.waiters(for: "a") == 1, "the lead has passed on")
    await flights.finish(inherited)
    #expect(try await second.value.get().hasFinished)
  }

  @Test func withoutWaitingCallersACancelledLeaderEndsTheFlight() async throws {
    await landCancelled(try await lead())
    await flights.finish(try await lead())
  }

  @Test func aCancelledFollowerLeavesTheOthersWaiting() async throws {
    let ticket = try await lead()
    let (first, second) = (try await follower(count: 1), try await follower(count: 2))
    first.cancel()
    #expect(await first.value.failure?.code == .cancelled)
    #expect(flights.waiters(for: "a") == 1)
    await flights.finish(ticket)
    #expect(try await second.value.get().hasFinished)
  }

  @Test func aChangeEndsTheFlightsThatItConcerns() async throws {
    let underWay = FlightsUnderWay()
    let flights = LocalFlights(underWay)
    let (first, other) = (
      try #require(try await flights.join("a").ticket), try #require(try await flights.join("b").ticket)
    )
    let alone = flights.begin("a")
    await underWay.outdate { $0 == "a" }
    #expect(flights.changes == 1)
    for ticket in [first, alone] {
      let error = await #expect(throws: CacheError.self) { try await ticket.storing {} }
      #expect(error?.code == .conflict)
    }
    try await other.storing {}
    let second = try #require(try await flights.join("a").ticket)
    try await second.storing {}
    await flights.finish(first)
    #expect(flights.waiters(for: "a") == 0)
    await underWay.outdate { _ in true }
    await #expect(throws: CacheError.self) { try await second.storing {} }
    await flights.finish(second)
    try await #require(try await flights.join("a").ticket).storing {}
  }

  /// Otherwise the change would miss the answer, and the answer would be stored after it.
  @Test func aChangeWaitsForAnAnswerThatIsJustBeingStored() async throws {
    let underWay = FlightsUnderWay()
    let flights = LocalFlights(underWay)
    let ticket = try #require(try await flights.join("a").ticket)
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let events = AsyncStream.makeStream(of: String.self)
    let storing = Task {
      try await ticket.storing {
        events.continuation.yield("begun")
        for await _ in gate { break }
        events.continuation.yield("stored")
      }
    }
    var log = events.stream.makeAsyncIterator()
    #expect(await log.next() == "begun")
    let change = Task {
      await underWay.outdate { _ in true }
      events.continuation.yield("changed")
    }
    while !ticket.isOutdated {
      try Task.checkCancellation()
      await Task.yield()
    }
    open.yield()
    #expect(await log.next() == "stored")
    #expect(await log.next() == "changed")
    try await storing.value
    await change.value
  }

  @Test func whoIsCancelledBeforeBoardingLeavesNoFlight() async throws {
    let task = Task { [flights] in
      withUnsafeCurrentTask { $0?.cancel() }
      return await Result { () async throws(CacheError) in try await flights.join("a") }
    }
    #expect(await task.value.failure?.code == .cancelled)
    await flights.finish(try await lead())
  }
}

/// A task that joins a flight. If the test runs out of time, the task is cancelled too.
private struct Follower: Sendable {
  let task: Task<Result<JoinResult, CacheError>, Never>

  /// The result of joining.
  var value: Result<JoinResult, CacheError> {
    get async {
      await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }

  func cancel() { task.cancel() }
}

extension JoinResult {
  /// The leader's ticket; `nil` if the caller does not lead.
  var ticket: FlightTicket? {
    if case .leading(let ticket) = self { ticket } else { nil }
  }

  /// Whether another caller's flight ended without a failure.
  var hasFinished: Bool {
    if case .finished(.success(nil), _) = self { true } else { false }
  }

  /// The failure of another caller's flight; `nil` if there is none.
  var failure: CacheError? {
    if case .finished(.failure(let failure), _) = self { failure } else { nil }
  }
}

extension Result where Failure == CacheError, Success: Sendable {
  /// Runs `body`, and keeps what it returns or throws.
  init(_ body: () async throws(CacheError) -> Success) async {
    do throws(CacheError) {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }

  /// The error; `nil` after a success.
  var failure: CacheError? {
    if case .failure(let error) = self { error } else { nil }
  }
}
