import FetchVocabulary
import Testing
@testable import CacheCore
@testable import HTTPCaching

@Suite(.timeLimit(.minutes(30)))
struct RequestCoalescerTests {
  private let coalescer = RequestCoalescer()

  /// Boards in a new task, and returns once that task waits as number `count`.
  private func follower(_ key: String = "a", count: Int) async throws -> Follower {
    let task = Task { [coalescer] in
      await Result { () async throws(CacheError) in try await coalescer.join(key) }
    }
    while coalescer.waiters(for: key) < count {
      try Task.checkCancellation()
      await Task.yield()
    }
    return Follower(task: task)
  }

  private func lead(_ key: String = "a") async throws -> CoalescingToken {
    try #require(try await coalescer.join(key).token)
  }

  /// Lands in a task that has already been cancelled.
  private func landCancelled(_ token: CoalescingToken, failure: CacheError? = nil) async {
    await Task { [coalescer] in
      withUnsafeCurrentTask { $0?.cancel() }
      await coalescer.finish(token, failure.map { .failure($0) } ?? .success(nil))
    }.value
  }

  @Test(arguments: [0, 1, 200])
  func oneLeadsAndTheOthersLandWithIt(count: Int) async throws {
    let token = try await lead()
    var followers: [Follower] = []
    for number in 0..<count { followers.append(try await follower(count: number + 1)) }
    await coalescer.finish(token)
    for follower in followers { #expect(try await follower.value.get().hasFinished) }
    #expect(coalescer.waiters(for: "a") == 0)
  }

  @Test func waitingCallersGetTheFailure() async throws {
    let token = try await lead()
    let followers = [try await follower(count: 1), try await follower(count: 2)]
    await coalescer.finish(token, .failure(CacheError(.notFound, "there is none", hint: "look")))
    for follower in followers {
      let failure = try #require(try await follower.value.get().failure)
      #expect((failure.code, failure.message, failure.hint) == (.notFound, "there is none", "look"))
    }
    #expect(try await coalescer.join("a").token != nil, "later callers do not get the failure")
  }

  @Test func theFailureOfACancelledLeaderIsNotShared() async throws {
    let token = try await lead()
    let (first, second) = (try await follower(count: 1), try await follower(count: 2))
    await landCancelled(token, failure: CacheError(.originUnreachable, "broken off"))
    await coalescer.finish(try #require(try await first.value.get().token))
    #expect(try await second.value.get().hasFinished)
  }

  @Test func requestsForDifferentKeysHaveNothingToDoWithEachOther() async throws {
    let (first, second) = (try await lead("a"), try await lead("b"))
    let follower = try await follower("b", count: 1)
    await coalescer.finish(first)
    #expect(coalescer.waiters(for: "b") == 1)
    await coalescer.finish(second)
    #expect(try await follower.value.get().hasFinished)
  }

  @Test func afterLandingAnotherCallerLeads() async throws {
    let first = try await lead()
    await coalescer.finish(first)
    let second = try await lead()
    #expect(first != second)
    let follower = try await follower(count: 1)
    await coalescer.finish(first)
    #expect(coalescer.waiters(for: "a") == 1, "an old token ends no later request")
    await coalescer.finish(second)
    await coalescer.finish(second)
    #expect(try await follower.value.get().hasFinished)
  }

  @Test func aCancelledLeaderIsFollowedByTheFirstWhoWaits() async throws {
    let token = try await lead()
    let (first, second) = (try await follower(count: 1), try await follower(count: 2))
    await landCancelled(token)
    let inherited = try #require(try await first.value.get().token)
    #expect(coalescer.waiters(for: "a") == 1, "the others go on waiting")
    await coalescer.finish(token)
    #expect(coalescer.waiters(for: "a") == 1, "the lead has passed on")
    await coalescer.finish(inherited)
    #expect(try await second.value.get().hasFinished)
  }

  @Test func withoutWaitingCallersACancelledLeaderEndsTheRequest() async throws {
    await landCancelled(try await lead())
    await coalescer.finish(try await lead())
  }

  @Test func aCancelledFollowerLeavesTheOthersWaiting() async throws {
    let token = try await lead()
    let (first, second) = (try await follower(count: 1), try await follower(count: 2))
    first.cancel()
    #expect(await first.value.failure?.code == .cancelled)
    #expect(coalescer.waiters(for: "a") == 1)
    await coalescer.finish(token)
    #expect(try await second.value.get().hasFinished)
  }

  @Test func aChangeEndsTheRequestsThatItConcerns() async throws {
    let (first, other) = (
      try #require(try await coalescer.join("a").token), try #require(try await coalescer.join("b").token)
    )
    let alone = coalescer.begin("a")
    try await coalescer.endRequests { $0.contains("a") }
    #expect(coalescer.changes > 0)
    for token in [first, alone] {
      let error = await #expect(throws: CacheError.self) { try await token.storing {} }
      #expect(error?.code == .conflict)
    }
    try await other.storing {}
    let second = try #require(try await coalescer.join("a").token)
    try await second.storing {}
    await coalescer.finish(first)
    #expect(coalescer.waiters(for: "a") == 0)
    try await coalescer.endRequests { _ in true }
    await #expect(throws: CacheError.self) { try await second.storing {} }
    await coalescer.finish(second)
    try await #require(try await coalescer.join("a").token).storing {}
  }

  /// Otherwise the change would miss the answer, and the answer would be stored after it.
  @Test func aChangeWaitsForAnAnswerThatIsJustBeingStored() async throws {
    let token = try #require(try await coalescer.join("a").token)
    let (gate, open) = AsyncStream.makeStream(of: Void.self)
    let events = AsyncStream.makeStream(of: String.self)
    let storing = Task {
      try await token.storing {
        events.continuation.yield("begun")
        for await _ in gate { break }
        events.continuation.yield("stored")
      }
    }
    var log = events.stream.makeAsyncIterator()
    #expect(await log.next() == "begun")
    let change = Task { [coalescer] in
      try await coalescer.endRequests { _ in true }
      events.continuation.yield("changed")
    }
    while !token.isOutdated {
      try Task.checkCancellation()
      await Task.yield()
    }
    open.yield()
    #expect(await log.next() == "stored")
    #expect(await log.next() == "changed")
    try await storing.value
    try await change.value
  }

  @Test func whoIsCancelledBeforeJoiningLeavesNoRequest() async throws {
    let task = Task { [coalescer] in
      withUnsafeCurrentTask { $0?.cancel() }
      return await Result { () async throws(CacheError) in try await coalescer.join("a") }
    }
    #expect(await task.value.failure?.code == .cancelled)
    await coalescer.finish(try await lead())
  }
}

/// A task that joins a request. If the test runs out of time, the task is cancelled too.
private struct Follower: Sendable {
  let task: Task<Result<RequestCoalescer.Joined, CacheError>, Never>

  /// The result of joining.
  var value: Result<RequestCoalescer.Joined, CacheError> {
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

extension RequestCoalescer.Joined {
  /// The leader's token; `nil` if the caller does not lead.
  var token: CoalescingToken? {
    if case .leading(let token) = self { token } else { nil }
  }

  /// Whether another caller's request ended without a failure.
  var hasFinished: Bool {
    if case .finished(.success(nil), _) = self { true } else { false }
  }

  /// The failure of another caller's request; `nil` if there is none.
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
