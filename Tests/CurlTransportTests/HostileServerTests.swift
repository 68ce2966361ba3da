import Foundation
import CacheBase
import HTTPCaching
import SeededNumbers
import TestOrigin
import Testing
import CurlTransport

/// A server that sends arbitrary data: each request ends with a response or an error, another server's responses are
/// unharmed, and no connection stays open.
///
/// `CACHECTL_HOSTILE_MINUTES` makes the test run that long, starting with `CACHECTL_SEED`. A round depends only on its
/// seed, except for the order of concurrent events.
@Suite(.timeLimit(.minutes(120)))
struct HostileServerTests {
  private static let variables = ProcessInfo.processInfo.environment

  @Test func everyRequestEnds() async throws {
    let minutes = Self.variables["CACHECTL_HOSTILE_MINUTES"].flatMap { Double($0) } ?? 0
    let first = Self.variables["CACHECTL_SEED"].flatMap { UInt64($0) } ?? 1
    let end = ContinuousClock.now + .seconds(60 * minutes)
    let before = OpenDescriptors.all
    var round = first
    repeat {
      try await play(round)
      round += 1
    } while round < first + 4 || ContinuousClock.now < end
    // No other test runs then.
    guard minutes > 0 else { return }
    for _ in 0..<6000 where OpenDescriptors.all > before { poll(nil, 0, 10) }
    #expect(OpenDescriptors.all <= before)
    print("\(round - first) rounds of hostile answers, from the seed \(first) on")
  }

  private func play(_ round: UInt64) async throws {
    let server = try TestServer { HostileResponse.response(seed: UInt64($0.path.dropFirst()) ?? 0) }
    // Use a new server: surplus data may arrive as the answer to the next request.
    let soundServer = try TestServer(script: [TestResponse("hello")])
    do {
      let service = HTTPTransferService.plain()
      await withTaskGroup { group in
        for task in 0..<4 {
          group.addTask {
            for number in 0..<25 {
              await Self.send(to: server.url, service, seed: round &* 1000 + UInt64(task * 100 + number))
            }
          }
        }
      }
      let sound = try await service.get(soundServer.url)
      #expect(sound.body == Array("hello".utf8), "round \(round)")
    }
    #expect(OpenDescriptors.connections(to: server.port) == 0, "round \(round)")
  }

  /// Sends one request, and reads a random part of the response.
  private static func send(to url: String, _ service: HTTPTransferService, seed: UInt64) async {
    var numbers = SeededGenerator(seed: ~seed)
    let request = HTTPRequest(
      method: numbers.pick(["GET", "GET", "HEAD", "POST", "DELETE"]), url: "\(url)/\(seed)")
    let pieces = numbers.isOne(in: 4) ? Int.random(in: 0..<3, using: &numbers) : Int.max
    let task = Task { try await read(request, service, pieces: pieces) }
    if numbers.isOne(in: 10) {
      for _ in 0..<Int.random(in: 0..<100, using: &numbers) { await Task.yield() }
      task.cancel()
    }
    let codes: Set<CacheError.Code> = [.originUnreachable, .invalidAnswer, .cancelled]
    switch await task.result {
    case .success(let status): #expect((200...999).contains(status), "seed \(seed)")
    case .failure(let error):
      #expect((error as? CacheError).map { codes.contains($0.code) } == true, "\(seed): \(error)")
    }
  }

  private static func read(_ request: HTTPRequest, _ service: HTTPTransferService, pieces: Int) async throws -> Int {
    let response = try await service.transfer(request)
    var count = 0
    while count < pieces, try await response.rest?.next() != nil { count += 1 }
    return response.head.status
  }
}
