import FetchVocabulary
import HTTPCaching
import CacheBase
import Synchronization
import Testing

@testable import CacheCore

/// One transfer, many readers, and one commit.
@Suite(.timeLimit(.minutes(10))) struct ResponseBroadcastTests {
  private static let piece = [UInt8](repeating: 7, count: 65_536)

  @Test func everyReaderGetsEverythingAndOneCommitToo() async throws {
    let origin = ManualOrigin()
    let broadcast = origin.broadcast(body: [1, 2], limit: 100)
    let readers = try (0..<3).map { _ in try #require(broadcast.reader()) }
    async let contents = readers.asyncMap { try await $0.whole() }
    origin.send([3], [], [4, 5])
    origin.end()
    #expect(try await contents == Array(repeating: [1, 2, 3, 4, 5], count: 3))
    #expect(origin.outcomes == ["complete 5"] && origin.pulls == 4)
  }

  /// Nobody has read to the end before the commit was tried.
  @Test func theEndComesAfterTheCommit() async throws {
    let origin = ManualOrigin()
    let isCommitted = Mutex(false)
    let broadcast = origin.broadcast(limit: 100) { _ in
      for _ in 0..<100 { await Task.yield() }
      isCommitted.withLock { $0 = true }
      return nil
    }
    let reader = try #require(broadcast.reader())
    origin.send([1])
    origin.end()
    #expect(try await reader.whole() == [1])
    #expect(isCommitted.withLock { $0 })
  }

  /// Otherwise the store could be closed while the commit continues.
  @Test func aCommitWithoutReadersIsWaitedFor() async throws {
    let (origin, background) = (ManualOrigin(), BackgroundWork())
    let begun = AsyncStream.makeStream(of: Void.self)
    let isLeft = Mutex(false)
    let isCommitted = Mutex(false)
    let broadcast = origin.broadcast(limit: 100, background: background) { _ in
      begun.continuation.finish()
      while !isLeft.withLock({ $0 }), !Task.isCancelled { await Task.yield() }
      for _ in 0..<100 { await Task.yield() }
      isCommitted.withLock { $0 = true }
      return nil
    }
    let reader = try #require(broadcast.reader())
    origin.send([1])
    origin.end()
    for await _ in begun.stream {}
    #expect(background.count == 0)
    reader.release()
    #expect(background.count == 1)
    isLeft.withLock { $0 = true }
    #expect(await background.finish().isEmpty && isCommitted.withLock { $0 })
  }

  @Test func anErrorOfTheOwnerTakesThePlaceOfTheEnd() async throws {
    let origin = ManualOrigin()
    let broadcast = origin.broadcast(limit: 100) { _ in CacheError(.ioFailed, "full") }
    let reader = try #require(broadcast.reader())
    origin.send([1])
    origin.end()
    #expect(try await reader.next() == [1])
    let error = await #expect(throws: CacheError.self) { try await reader.next() }
    #expect(error?.code == .ioFailed)
  }

  @Test func aPieceIsPassedOnBeforeTheNextOneCame() async throws {
    let origin = ManualOrigin()
    let reader = try #require(origin.broadcast(limit: 100).reader())
    for number in UInt8(0)..<10 {
      origin.send([number])
      #expect(try await reader.next() == [number])
    }
    origin.end()
    for _ in 0..<2 { #expect(try await reader.next() == nil) }
  }

  @Test func aSlowReaderDelaysNobodyAndALateOneJoins() async throws {
    let origin = ManualOrigin()
    let broadcast = origin.broadcast(limit: 1 << 24)
    let (slow, fast) = (try #require(broadcast.reader()), try #require(broadcast.reader()))
    for _ in 0..<20 {
      origin.send(Self.piece)
      #expect(try await fast.next()?.count == 65_536)
    }
    let late = try #require(broadcast.reader())
    origin.end()
    #expect(try await fast.next() == nil)
    for reader in [slow, late, try #require(broadcast.reader())] {
      #expect(try await reader.whole().count == 1_310_720)
    }
    #expect(origin.outcomes == ["complete 1310720"])
  }

  /// Content above the limit is not stored, and there is never much more of it than the slowest reader has taken.
  @Test(arguments: [true, false]) func contentAboveTheLimitIsOnlyPassedOn(isAnnounced: Bool) async throws {
    let (count, limit) = (100, 100_000)
    let origin = ManualOrigin(length: isAnnounced ? 65_536 * count : nil)
    let broadcast = origin.broadcast(limit: limit)
    let readers = [try #require(broadcast.reader()), try #require(broadcast.reader())]
    for _ in 0..<count { origin.send(Self.piece) }
    origin.end()
    for number in 1...count {
      for reader in readers {
        #expect(try await reader.next()?.count == 65_536)
        // The pieces in the window, the piece that fills it, and one that is requested.
        #expect(origin.pulls <= number + 6)
      }
    }
    #expect(broadcast.reader() == nil)
    for reader in readers { #expect(try await reader.next() == nil) }
    #expect(origin.outcomes == ["too large"])
  }

  /// Who got more than the limit can rely on that, for example to say that it is not stored.
  @Test func theOwnerKnowsThatThereIsTooMuchBeforeAReaderGetsIt() async throws {
    let origin = ManualOrigin()
    let isKnown = Mutex(false)
    let broadcast = origin.broadcast(limit: 1) { _ in
      for _ in 0..<100 { await Task.yield() }
      isKnown.withLock { $0 = true }
      return nil
    }
    let reader = try #require(broadcast.reader())
    origin.send([1], [2])
    for piece in [[1], [2]] as [[UInt8]] { #expect(try await reader.next() == piece) }
    #expect(isKnown.withLock { $0 })
  }

  @Test func aFailureComesAfterTheBytesBeforeIt() async throws {
    let origin = ManualOrigin()
    let broadcast = origin.broadcast(limit: 100) { outcome in
      guard case .brokenOff(_, let error) = outcome else { return nil }
      return CacheError(error.code, "\(error.message); the cache kept what arrived")
    }
    let readers = [try #require(broadcast.reader()), try #require(broadcast.reader())]
    origin.send([1], [2])
    origin.end(CacheError(.originUnreachable, "broke off"))
    for reader in readers {
      #expect(try await reader.next() == [1])
      #expect(try await reader.next() == [2])
      for _ in 0..<2 {
        let error = await #expect(throws: CacheError.self) { try await reader.next() }
        #expect(error?.message == "broke off; the cache kept what arrived")
      }
    }
    #expect(origin.outcomes == ["originUnreachable after 2"] && broadcast.reader() == nil)
  }

  @Test func theTransferEndsWithItsLastReader() async throws {
    let origin = ManualOrigin()
    let broadcast = origin.broadcast(limit: 100)
    var (first, second) = (broadcast.reader(), broadcast.reader())
    origin.send([1])
    #expect(try await first?.next() == [1])
    first = nil
    origin.send([2])
    #expect(try await second?.next() == [1])
    #expect(try await second?.next() == [2])
    #expect(origin.outcomes.isEmpty)
    let waiting = Task { [second] in try await second?.next() }
    second = nil
    waiting.cancel()
    let error = await #expect(throws: CacheError.self) { try await waiting.value }
    #expect(error?.code == .cancelled)
    #expect(await origin.outcome() == "cancelled after 2")
    #expect(broadcast.reader() == nil)
  }

  /// A reader that does not read holds up content above the limit, until it leaves.
  @Test func aReaderThatLeavesHoldsNobodyUp() async throws {
    let origin = ManualOrigin(length: 1 << 20)
    let broadcast = origin.broadcast(limit: 10)
    var idle = broadcast.reader()
    let reader = try #require(broadcast.reader())
    for _ in 0..<16 { origin.send(Self.piece) }
    origin.end()
    async let content = reader.whole()
    _ = try await idle?.next()
    idle = nil
    #expect(try await content.count == 1 << 20)
  }

  @Test func aTransferThatIsToContinueNeedsNoReader() async throws {
    for hasReader in [true, false] {
      let origin = ManualOrigin()
      let broadcast = origin.broadcast(limit: 100)
      var reader = hasReader ? broadcast.reader() : nil
      broadcast.continueWithoutReaders()
      origin.send([1])
      if hasReader { #expect(try await reader?.next() == [1]) }
      reader = nil
      origin.send([2])
      origin.end()
      #expect(await origin.outcome() == "complete 2")
    }
  }

  /// Without readers there is nobody for content that cannot be stored.
  @Test func aTransferThatIsToContinueEndsAboveTheLimit() async throws {
    let origin = ManualOrigin()
    let broadcast = origin.broadcast(limit: 1)
    broadcast.continueWithoutReaders()
    origin.send([1], [2])
    await origin.abandoned()
    #expect(origin.outcomes == ["too large"])
  }

  @Test func aBroadcastThatNobodyReadsReleasesItsSource() async {
    let origin = ManualOrigin()
    _ = origin.broadcast(limit: 1)
    await origin.abandoned()
    #expect(origin.pulls == 0 && origin.outcomes.isEmpty)
  }

  /// Readers that come, read and leave as they like: each gets the beginning of the content without a gap.
  @Test(arguments: 0..<20 as Range<UInt64>) func manyReaders(seed: UInt64) async throws {
    var numbers = SeededGenerator(seed: seed)
    let content = (0..<3_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let origin = ManualOrigin()
    let broadcast = origin.broadcast(limit: Bool.random(using: &numbers) ? 3_000 : 1_000)
    let lasting = try #require(broadcast.reader())
    let plans = (0..<8).map { _ in (Int.random(in: 0...50, using: &numbers), Int.random(in: 0...400, using: &numbers)) }
    try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
      group.addTask { try await lasting.whole() }
      for (delay, count) in plans {
        group.addTask {
          for _ in 0..<delay { await Task.yield() }
          guard let reader = broadcast.reader() else { return nil }
          var taken: [UInt8] = []
          for _ in 0..<count {
            guard let piece = try await reader.next() else { break }
            taken += piece
          }
          return taken
        }
      }
      for start in stride(from: 0, to: 3_000, by: 10) {
        origin.send(Array(content[start..<start + 10]))
        if Bool.random(using: &numbers) { await Task.yield() }
      }
      origin.end()
      var longest = 0
      for try await taken in group {
        guard let taken else { continue }
        #expect(content.starts(with: taken))
        longest = max(longest, taken.count)
      }
      #expect(longest == 3_000)
    }
  }
}

/// An origin whose content comes as the test says.
private final class ManualOrigin: Sendable {
  private struct State {
    var pulls = 0
    var outcomes: [String] = []
  }

  private let pieces = AsyncStream.makeStream(of: Result<[UInt8], CacheError>.self)
  private let decided = AsyncStream.makeStream(of: String.self)
  private let released = AsyncStream.makeStream(of: Void.self)
  private let state = Mutex(State())
  private let length: Int?

  init(length: Int? = nil) { self.length = length }

  /// The number of pulls, and the outcomes that the owner was told.
  var pulls: Int { state.withLock(\.pulls) }
  var outcomes: [String] { state.withLock(\.outcomes) }

  func send(_ pieces: [UInt8]...) { for piece in pieces { self.pieces.continuation.yield(.success(piece)) } }

  func end(_ error: CacheError? = nil) {
    if let error { pieces.continuation.yield(.failure(error)) }
    pieces.continuation.finish()
  }

  /// Waits for the next outcome that the owner learns.
  func outcome() async -> String? { await decided.stream.first { _ in true } }

  /// Waits until the content is released before its end, or has failed.
  func abandoned() async { for await _ in released.stream { return } }

  func broadcast(
    body: [UInt8] = [], limit: Int, background: BackgroundWork = BackgroundWork(),
    settle: @escaping @Sendable (ResponseBroadcast.Outcome) async -> CacheError? = { _ in nil }
  ) -> ResponseBroadcast {
    let (stream, released) = (pieces.stream, released.continuation)
    let rest = StreamedContent(length: length, whenEnded: { released.finish() }) { [self] () async throws(CacheError) in
      state.withLock { $0.pulls += 1 }
      for await piece in stream { return try piece.get() }
      if Task.isCancelled { throw .cancelled }
      return nil
    }
    return ResponseBroadcast(
      HTTP.Response(HTTP.ResponseHead(status: 200), body: body, rest: rest), limit: limit, background: background
    ) {
      let text =
        switch $0 {
        case .complete(let content): "complete \(content.count)"
        case .brokenOff(let part, let error): "\(error.code.rawValue) after \(part.count)"
        case .tooLarge: "too large"
        }
      self.state.withLock { $0.outcomes.append(text) }
      self.decided.continuation.yield(text)
      return await settle($0)
    }
  }
}

extension StreamedContent {
  fileprivate func whole() async throws -> [UInt8] {
    var content: [UInt8] = []
    while let piece = try await next() { content += piece }
    return content
  }
}

extension [StreamedContent] {
  fileprivate func asyncMap(_ transform: @escaping @Sendable (StreamedContent) async throws -> [UInt8]) async throws
    -> [[UInt8]]
  {
    var results: [[UInt8]] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
